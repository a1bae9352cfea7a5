/* Answers questions that programs ask the system: for process numbers, memory, processors, load,
 * random bytes and names of temporary files.
 *
 * The answers of the simulating machine differ from run to run and from machine to machine, and say
 * nothing about the node of a rank. So under a protocol, answers are simulated: they follow from
 * the scenario, the scenario's seed and the rank. Values that cannot be simulated are left out. The
 * result reports once that they are missing.
 */
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/libc/wrap_libc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Returns whether the program of a rank asks, in a run under a protocol. */
static bool is_asked(void)
{
  return layer_wanted() && machine_actor() > 0;
}

/* ---- processes: SMPI numbers them from 1, the parent of all ---- */

IN_PLACE_OF(pid_t, getpid, (void), (), is_asked(), (pid_t)machine_actor())
IN_PLACE_OF(pid_t, smpi_getpid, (void), (), !machine_actor(),
            getpid()) /* without an actor, the caller is a thread */
IN_PLACE_OF(pid_t, gettid, (void), (), is_asked(), (pid_t)machine_actor())
IN_PLACE_OF(pid_t, getppid, (void), (), is_asked(), 1)

/* A rank that sends a signal to itself gets that signal (program_end.c). Signals to other ranks are
 * refused, because for the system the ranks' numbers stand for unrelated processes. */
int kill(pid_t process, int signal)
{
  if (is_asked() && process == (pid_t)machine_actor())
    return signal ? raise(signal) : 0;
  if (is_asked()) {
    errno = ESRCH;
    return -1;
  }
  BEHIND(kill)
  return kill_next(process, signal);
}

/* ---- the node ---- */

IN_PLACE_OF(int, get_nprocs, (void), (), is_asked(), machine_cores())
IN_PLACE_OF(int, get_nprocs_conf, (void), (), is_asked(), machine_cores())

/* Platforms do not say how much memory a node has. To programs, each node appears to have 4 GiB,
 * all of them free. */
enum { PAGE_BYTES = 4096, PAGES = 1 << 20 };

long sysconf(int name)
{
  BEHIND(sysconf)
  if (!is_asked())
    return sysconf_next(name);
  switch (name) {
  case _SC_NPROCESSORS_CONF:
  case _SC_NPROCESSORS_ONLN:
    return machine_cores();
  case _SC_PHYS_PAGES:
  case _SC_AVPHYS_PAGES:
    return PAGES;
  default:
    return sysconf_next(name);
  }
}

int sysinfo(struct sysinfo *info)
{
  if (is_asked()) {
    *info = (struct sysinfo){.uptime = (long)machine_now(),
                             .totalram = PAGES,
                             .freeram = PAGES,
                             .procs = 1,
                             .mem_unit = PAGE_BYTES};
    return 0;
  }
  BEHIND(sysinfo)
  return sysinfo_next(info);
}

IN_PLACE_OF(int, getloadavg, (double load[], int count), (load, count), is_asked(), -1)
IN_PLACE_OF(int, sched_getcpu, (void), (), is_asked(), 0)
IN_PLACE_OF(long, gethostid, (void), (), is_asked(), (long)g_str_hash(machine_host()))

int uname(struct utsname *name)
{
  BEHIND(uname)
  int result = uname_next(name);
  if (result == 0 && is_asked()) {
    g_strlcpy(name->nodename, machine_host(), sizeof name->nodename);
    g_strlcpy(name->release, "0", sizeof name->release);
    g_strlcpy(name->version, "simulated", sizeof name->version);
  }
  return result;
}

/* Gives only times, because the memory, the faults and the switches of the process belong to all
 * ranks. Reading the time is a decision of the program, as by clock() (wrap_clock.c). */
int getrusage(__rusage_who_t who, struct rusage *usage)
{
  static bool reported;
  if (!is_asked()) {
    BEHIND(getrusage)
    return getrusage_next(who, usage);
  }
  if (!reported)
    fprintf(stderr, "recline: getrusage tells times only: all else is 0\n");
  reported = true;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  *usage = (struct rusage){.ru_utime = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000}};
  return 0;
}

/* ---- random bytes ---- */

/* Mixes the bits of a number as in Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014. */
static uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/* Makes random bytes. After a rollback, the bytes are the same again, because the number of bytes
 * made so far is rolled back. */
static void fill(void *bytes, size_t count)
{
  struct libc *libc = libc_self();
  uint64_t seed = rank_self() ? layer.scenario->seed : 0;
  uint64_t stream = mix(mix(seed) + (uint64_t)(machine_rank() + 1));
  for (size_t at = 0; at < count; at += sizeof stream) {
    uint64_t word = mix(stream + libc->random_words++);
    memcpy((char *)bytes + at, &word, MIN(sizeof word, count - at));
  }
}

IN_PLACE_OF(ssize_t, getrandom, (void *bytes, size_t count, unsigned flags), (bytes, count, flags),
            is_asked(), fill(bytes, count), (ssize_t)count)
IN_PLACE_OF(int, getentropy, (void *bytes, size_t count), (bytes, count), is_asked(),
            fill(bytes, count), 0)

static uint32_t random_word(void)
{
  uint32_t word;
  fill(&word, sizeof word);
  return word;
}

/* The next functions are arc4random(), which older versions of libc lack, and the function from
 * which std::random_device gets its numbers. */
uint32_t arc4random(void);
IN_PLACE_OF(uint32_t, arc4random, (void), (), is_asked(), random_word())
uint32_t _ZNSt13random_device9_M_getvalEv(void *device);
IN_PLACE_OF(uint32_t, _ZNSt13random_device9_M_getvalEv, (void *device), (device), is_asked(),
            random_word())

uint32_t arc4random_uniform(uint32_t bound);
uint32_t arc4random_uniform(uint32_t bound)
{
  return bound < 2 ? 0 : (uint32_t)((uint64_t)arc4random() * bound >> 32);
}

void arc4random_buf(void *bytes, size_t count);
void arc4random_buf(void *bytes, size_t count)
{
  if (is_asked()) {
    fill(bytes, count);
    return;
  }
  BEHIND(arc4random_buf)
  arc4random_buf_next(bytes, count);
}

/* ---- names of temporary files: random, too ---- */

static int make_file(const char *name, int flags)
{
  return open(name, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
}

static int make_folder(const char *name, int flags)
{
  (void)flags;
  return mkdir(name, S_IRWXU);
}

/* Fills in the placeholder of `name`, which stands before a suffix of length `suffix`. */
static int make_named(char *name, int suffix, int flags, int (*make)(const char *, int))
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  enum { TRIES = 1000 };
  const char *place = "XXXXXX";
  size_t length = strlen(name), end = (size_t)suffix + strlen(place);
  char *random = name + length - end;
  if (suffix < 0 || length < end || strncmp(random, place, strlen(place)) != 0) {
    errno = EINVAL;
    return -1;
  }
  for (int try = 0; try < TRIES; try++) {
    for (size_t i = 0; i < strlen(place); i++)
      random[i] = letters[random_word() % (sizeof letters - 1)];
    if (access(name, F_OK) != 0)
      return make(name, flags);
  }
  errno = EEXIST;
  return -1;
}

static int invent(char *name, int flags)
{
  return make_named(name, 0, flags, make_file);
}

void system_begin(void)
{
  heap_invents = invent;
}

/* Calls without a suffix come from the heap library, through heap_invents. */
#define NAMES_FILE(NAME, PARAMETERS, ARGUMENTS, FLAGS)                                             \
  IN_PLACE_OF(int, NAME, PARAMETERS, ARGUMENTS, is_asked(),                                        \
              make_named(name, suffix, FLAGS, make_file))

NAMES_FILE(mkstemps, (char *name, int suffix), (name, suffix), 0)
NAMES_FILE(mkstemps64, (char *name, int suffix), (name, suffix), 0)
NAMES_FILE(mkostemps, (char *name, int suffix, int flags), (name, suffix, flags), flags)
NAMES_FILE(mkostemps64, (char *name, int suffix, int flags), (name, suffix, flags), flags)
IN_PLACE_OF(char *, mkdtemp, (char *name), (name), is_asked(),
            make_named(name, 0, 0, make_folder) < 0 ? NULL : name)
