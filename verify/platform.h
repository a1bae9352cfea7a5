/* What scenarios need to know of a SimGrid platform file: its hosts. */
#ifndef RECLINE_PLATFORM_H
#define RECLINE_PLATFORM_H

#include <glib.h>
#include <stdbool.h>

/* Ids of all hosts of platform `file`, <cluster>s written out, in the order of the file; ends
 * with NULL; freed with g_strfreev(). On error NULL, and `error` says in one line what is wrong
 * with the file. */
char **platform_hosts(const char *file, GError **error);

/* Whether `host` is there for services (dispatcher, file server), not for ranks: "service-…". */
bool platform_is_service(const char *host);

/* The path of platform `name`: absolute as it is, else in `directory`, else in the folders that
 * the environment variable RECLINE_PLATFORMS lists (separated by colons). Absolute; NULL when it
 * is nowhere. The caller frees it. */
char *platform_find(const char *name, const char *directory);

/* The shortest name under which platform_find() finds `path` again from any directory: relative
 * to a folder of RECLINE_PLATFORMS, or `path` itself. Points into `path`. */
const char *platform_name(const char *path);

#endif
