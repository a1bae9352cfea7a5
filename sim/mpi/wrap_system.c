/* What programs ask the system: process numbers, memory, processors, load, random bytes.
 *
 * The answers of the machine that simulates differ from run to run and from machine to machine, and
 * say nothing about the node of a rank. Under a protocol they are simulated: they follow from the
 * scenario, its seed and the rank. What cannot be simulated is left out, and reported once. */
#include "sim/mpi/wrap.h"
#include "sim/mpi/wrap_libc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Whether the program of a rank asks, under a protocol. */
static bool is_asked(void)
{
  return layer_wanted() && machine_actor() > 0;
}

/* ---- processes: SMPI numbers them from 1, the parent of all ---- */

#define PROCESS(NAME, NUMBER)                                                                      \
  pid_t NAME(void)                                                                                 \
  {                                                                                                \
    if (is_asked())                                                                                \
      return NUMBER;                                                                               \
    BEHIND(pid_t (*)(void), NAME)                                                                  \
    return NAME##_next();                                                                          \
  }

PROCESS(getpid, (pid_t)machine_actor())
PROCESS(gettid, (pid_t)machine_actor())
PROCESS(getppid, 1)

/* A rank that sends itself a signal gets it; to the system, those numbers are other processes. */
int kill(pid_t process, int signal)
{
  if (is_asked() && process == (pid_t)machine_actor())
    return signal ? raise(signal) : 0;
  if (is_asked()) {
    errno = ESRCH;
    return -1;
  }
  BEHIND(int (*)(pid_t, int), kill)
  return kill_next(process, signal);
}

/* ---- the node ---- */

#define PROCESSORS(NAME)                                                                           \
  int NAME(void)                                                                                   \
  {                                                                                                \
    if (is_asked())                                                                                \
      return machine_cores();                                                                      \
    BEHIND(int (*)(void), NAME)                                                                    \
    return NAME##_next();                                                                          \
  }

PROCESSORS(get_nprocs)
PROCESSORS(get_nprocs_conf)

/* No platform says how much memory a node has: as one with nothing but 4 GiB. */
enum { PAGE_BYTES = 4096, PAGES = 1 << 20 };

long sysconf(int name)
{
  BEHIND(long (*)(int), sysconf)
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
  BEHIND(int (*)(struct sysinfo *), sysinfo)
  return sysinfo_next(info);
}

int getloadavg(double load[], int count)
{
  if (is_asked())
    return -1;
  BEHIND(int (*)(double *, int), getloadavg)
  return getloadavg_next(load, count);
}

int sched_getcpu(void)
{
  if (is_asked())
    return 0;
  BEHIND(int (*)(void), sched_getcpu)
  return sched_getcpu_next();
}

long gethostid(void)
{
  if (is_asked())
    return (long)g_str_hash(machine_host());
  BEHIND(long (*)(void), gethostid)
  return gethostid_next();
}

int uname(struct utsname *name)
{
  BEHIND(int (*)(struct utsname *), uname)
  int result = uname_next(name);
  if (result == 0 && is_asked()) {
    g_strlcpy(name->nodename, machine_host(), sizeof name->nodename);
    g_strlcpy(name->release, "0", sizeof name->release);
    g_strlcpy(name->version, "simulated", sizeof name->version);
  }
  return result;
}

/* Its times alone: the memory, faults and switches of the process are those of all ranks. The time
 * is that of clock(), which is a decision of the program (wrap_clock.c). */
int getrusage(__rusage_who_t who, struct rusage *usage)
{
  static bool reported;
  if (!is_asked()) {
    BEHIND(int (*)(__rusage_who_t, struct rusage *), getrusage)
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

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/* The same ones again after a rollback, as their count is part of what is put back. */
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

ssize_t getrandom(void *bytes, size_t count, unsigned flags)
{
  if (is_asked()) {
    fill(bytes, count);
    return (ssize_t)count;
  }
  BEHIND(ssize_t(*)(void *, size_t, unsigned), getrandom)
  return getrandom_next(bytes, count, flags);
}

int getentropy(void *bytes, size_t count)
{
  if (is_asked()) {
    fill(bytes, count);
    return 0;
  }
  BEHIND(int (*)(void *, size_t), getentropy)
  return getentropy_next(bytes, count);
}

/* arc4random(), which older libraries lack, and std::random_device's numbers. */
#define RANDOM_WORD(NAME, PARAMETERS, TYPES, ARGUMENTS)                                            \
  uint32_t NAME PARAMETERS;                                                                        \
  uint32_t NAME PARAMETERS                                                                         \
  {                                                                                                \
    if (!is_asked()) {                                                                             \
      BEHIND(uint32_t(*) TYPES, NAME)                                                              \
      return NAME##_next ARGUMENTS;                                                                \
    }                                                                                              \
    uint32_t word;                                                                                 \
    fill(&word, sizeof word);                                                                      \
    return word;                                                                                   \
  }

RANDOM_WORD(arc4random, (void), (void), ())
RANDOM_WORD(_ZNSt13random_device9_M_getvalEv, (void *device), (void *), (device))

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
  BEHIND(void (*)(void *, size_t), arc4random_buf)
  arc4random_buf_next(bytes, count);
}
