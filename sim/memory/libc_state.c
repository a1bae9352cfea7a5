/* Runs certain calls in libc mode, because libc allocates memory in them that it keeps for the
 * process: for locales, the time zone, and names of users and hosts. If that memory lay in the
 * arena of the rank that happens to call first, it would disappear in a rollback. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/next_symbol.h"

#include <grp.h>
#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define KEEPS(TYPE, NAME, PARAMETERS, ARGUMENTS)                                                   \
  IN_LIBC_MODE(TYPE, NAME, PARAMETERS, , next ARGUMENTS)

KEEPS(char *, setlocale, (int category, const char *name), (category, name))
KEEPS(locale_t, newlocale, (int mask, const char *name, locale_t base), (mask, name, base))
KEEPS(locale_t, __newlocale, (int mask, const char *name, locale_t base), (mask, name, base))
KEEPS(locale_t, duplocale, (locale_t locale), (locale))
KEEPS(locale_t, __duplocale, (locale_t locale), (locale))
KEEPS(iconv_t, iconv_open, (const char *to, const char *from), (to, from))
KEEPS(char *, bindtextdomain, (const char *domain, const char *folder), (domain, folder))

/* All functions defined here read the time zone. */
KEEPS(struct tm *, localtime, (const time_t *time), (time))
KEEPS(struct tm *, localtime_r, (const time_t *time, struct tm *broken), (time, broken))
KEEPS(struct tm *, gmtime, (const time_t *time), (time))
KEEPS(struct tm *, gmtime_r, (const time_t *time, struct tm *broken), (time, broken))
KEEPS(char *, ctime, (const time_t *time), (time))
KEEPS(char *, ctime_r, (const time_t *time, char *text), (time, text))
KEEPS(time_t, mktime, (struct tm * broken), (broken))
KEEPS(size_t, strftime, (char *text, size_t size, const char *format, const struct tm *broken),
      (text, size, format, broken))
KEEPS(size_t, strftime_l,
      (char *text, size_t size, const char *format, const struct tm *broken, locale_t locale),
      (text, size, format, broken, locale))

KEEPS(struct passwd *, getpwuid, (uid_t user), (user))
KEEPS(struct passwd *, getpwnam, (const char *name), (name))
KEEPS(struct group *, getgrgid, (gid_t group), (group))
KEEPS(struct group *, getgrnam, (const char *name), (name))
KEEPS(char *, getlogin, (void), ())
KEEPS(char *, ttyname, (int descriptor), (descriptor))
KEEPS(struct hostent *, gethostbyname, (const char *name), (name))
KEEPS(int, getaddrinfo,
      (const char *name, const char *service, const struct addrinfo *hints,
       struct addrinfo **found),
      (name, service, hints, found))
KEEPS(int, getnameinfo,
      (const struct sockaddr *address, socklen_t length, char *name, socklen_t name_size,
       char *service, socklen_t service_size, int flags),
      (address, length, name, name_size, service, service_size, flags))
