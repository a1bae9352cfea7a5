#define _GNU_SOURCE /* O_TMPFILE */
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/exit_codes.h"

/* ---- memory ---- */

void platform_prefer_huge_pages(void *memory, size_t bytes)
{
  madvise(memory, bytes, MADV_HUGEPAGE);
}

void *platform_reserve(size_t bytes)
{
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  madvise(memory, bytes, MADV_NOHUGEPAGE); /* with huge pages one touched byte would take 2 MiB */
  return memory;
}

void platform_release(void *memory, size_t bytes)
{
  munmap(memory, bytes);
}

void platform_give_back(void)
{
  malloc_trim(0);
}

uint64_t platform_memory(void)
{
  static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct rlimit limit;
    if (!getrlimit((__rlimit_resource_t)limits[i], &limit) && limit.rlim_cur != RLIM_INFINITY)
      all = !all || limit.rlim_cur < all ? limit.rlim_cur : all;
  }
  return all;
}

uint64_t platform_resident(int id)
{
  char name[40], text[64] = "";
  unsigned long long pages = 0;
  snprintf(name, sizeof name, "/proc/%d/statm", id);
  FILE *file = fopen(name, "r");
  if (!file)
    return 0;
  if (!fgets(text, sizeof text, file) || sscanf(text, "%*u %llu", &pages) != 1)
    pages = 0;
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- threads ---- */

struct platform_thread {
  pthread_t thread;
  bool started;
  void (*run)(void *);
  void *item;
};

static void *run_thread(void *data)
{
  const struct platform_thread *thread = data;
  thread->run(thread->item);
  return NULL;
}

static void start(struct platform_thread *thread)
{
  thread->started = !pthread_create(&thread->thread, NULL, run_thread, thread);
}

void platform_parallel(void (*run)(void *), void *items, size_t size, unsigned count)
{
  struct platform_thread threads[count];
  for (unsigned i = 0; i < count; i++) {
    threads[i] = (struct platform_thread){.run = run, .item = (char *)items + i * size};
    if (i > 0)
      start(&threads[i]);
  }
  for (unsigned i = 0; i < count; i++)
    if (threads[i].started)
      pthread_join(threads[i].thread, NULL);
    else
      run(threads[i].item);
}

struct platform_thread *platform_thread_start(void (*run)(void *), void *item)
{
  struct platform_thread *thread = malloc(sizeof *thread);
  if (!thread)
    return NULL;
  *thread = (struct platform_thread){.run = run, .item = item};
  start(thread);
  if (thread->started)
    return thread;
  free(thread);
  return NULL;
}

void platform_thread_join(struct platform_thread *thread)
{
  pthread_join(thread->thread, NULL);
  free(thread);
}

void platform_yield(void)
{
  sched_yield();
}

struct platform_lock {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
};

struct platform_lock *platform_lock_new(void)
{
  struct platform_lock *lock = malloc(sizeof *lock);
  if (!lock) {
    fputs("recline: out of memory: no lock\n", stderr);
    _Exit(EXIT_BAD_INPUT);
  }
  pthread_mutex_init(&lock->mutex, NULL);
  pthread_cond_init(&lock->changed, NULL);
  return lock;
}

void platform_lock_free(struct platform_lock *lock)
{
  if (!lock)
    return;
  pthread_mutex_destroy(&lock->mutex);
  pthread_cond_destroy(&lock->changed);
  free(lock);
}

void platform_lock(struct platform_lock *lock)
{
  pthread_mutex_lock(&lock->mutex);
}

void platform_unlock(struct platform_lock *lock)
{
  pthread_mutex_unlock(&lock->mutex);
}

void platform_wait(struct platform_lock *lock)
{
  pthread_cond_wait(&lock->changed, &lock->mutex);
}

void platform_wake(struct platform_lock *lock)
{
  pthread_cond_broadcast(&lock->changed);
}

/* ---- files ---- */

int platform_file_new(void)
{
  const char *folder = getenv("TMPDIR");
  char name[4096];
  folder = folder && *folder ? folder : "/tmp";
  int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || errno != EOPNOTSUPP)
    return file;
  snprintf(name, sizeof name, "%s/.recline-tmp-XXXXXX", folder);
  file = mkstemp(name);
  if (file >= 0)
    unlink(name);
  return file;
}

int platform_file_create(const char *name)
{
  return open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

int platform_file_open(const char *name)
{
  return open(name, O_RDONLY | O_CLOEXEC);
}

void platform_file_remove(const char *name)
{
  unlink(name);
}

void platform_file_close(int file)
{
  close(file);
}

bool platform_file_write(int file, const void *bytes, size_t size, uint64_t offset)
{
  return pwrite(file, bytes, size, (off_t)offset) == (ssize_t)size;
}

bool platform_file_read(int file, void *bytes, size_t size, uint64_t offset)
{
  return pread(file, bytes, size, (off_t)offset) == (ssize_t)size;
}

bool platform_file_empty(int file)
{
  return !ftruncate(file, 0);
}

/* ---- the clock ---- */

double platform_now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
