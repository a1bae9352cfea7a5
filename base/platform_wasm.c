/* Implements platform.h for a browser, with linear memory, one thread and no files. The functions
 * of output.h are here because code that saves refers to them, although a page never calls them. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "base/platform.h"

#include "base/confine.h"
#include "base/memory.h"
#include "base/output.h"

#include <stdlib.h>
#include <time.h>

/* ---- memory ---- */

void platform_prefer_huge_pages(void *memory, size_t bytes)
{
  (void)memory;
  (void)bytes;
}

enum { WASM_PAGE = 1 << 16, LARGE = 1 << 22 };

/* New pages are zero, and take no memory until they are touched; calloc() would touch them. */
void *platform_reserve(size_t bytes)
{
  if (bytes < LARGE)
    return calloc(1, bytes);
  size_t page = __builtin_wasm_memory_grow(0, (bytes + WASM_PAGE - 1) / WASM_PAGE);
  return page == SIZE_MAX ? NULL : (void *)(page * WASM_PAGE);
}

/* Keeps a large piece, because a browser cannot take it back. The page makes an instance of this
 * code for each search. */
void platform_release(void *memory, size_t bytes)
{
  if (bytes < LARGE)
    free(memory);
}

void platform_give_back(void)
{
}

uint64_t platform_memory(void)
{
  /* a quarter of the 4 GiB of addresses, because several tables share these */
  return (uint64_t)1 << 30;
}

uint64_t platform_resident(int id)
{
  (void)id;
  return 0;
}

/* ---- threads ---- */

void platform_parallel(void (*run)(void *), void *items, size_t size, unsigned count)
{
  for (unsigned i = 0; i < count; i++)
    run((char *)items + i * size);
}

struct platform_thread *platform_thread_start(void (*run)(void *), void *item)
{
  (void)run, (void)item;
  return NULL;
}

void platform_thread_join(struct platform_thread *thread)
{
  (void)thread;
}

void platform_yield(void)
{
}

struct platform_lock {
  char none;
};

struct platform_lock *platform_lock_new(void)
{
  static struct platform_lock only; /* always free, because there is one thread */
  return &only;
}

void platform_lock_free(struct platform_lock *lock)
{
  (void)lock;
}

void platform_lock(struct platform_lock *lock)
{
  (void)lock;
}

void platform_unlock(struct platform_lock *lock)
{
  (void)lock;
}

void platform_wait(struct platform_lock *lock)
{
  (void)lock;
}

void platform_wake(struct platform_lock *lock)
{
  (void)lock;
}

/* ---- files ---- */

int platform_file_new(void)
{
  return -1;
}

int platform_file_create(const char *name)
{
  (void)name;
  return -1;
}

int platform_file_open(const char *name)
{
  (void)name;
  return -1;
}

void platform_file_remove(const char *name)
{
  (void)name;
}

void platform_file_close(int file)
{
  (void)file;
}

bool platform_file_write(int file, const void *bytes, size_t size, uint64_t offset)
{
  (void)file, (void)bytes, (void)size, (void)offset;
  return false;
}

bool platform_file_read(int file, void *bytes, size_t size, uint64_t offset)
{
  (void)file, (void)bytes, (void)size, (void)offset;
  return false;
}

bool platform_file_empty(int file)
{
  (void)file;
  return false;
}

struct output *output_open(const char *file)
{
  (void)file;
  return NULL;
}

FILE *output_stream(struct output *output)
{
  (void)output;
  return NULL;
}

bool output_close(struct output *output, bool sync)
{
  (void)output, (void)sync;
  return false;
}

/* ---- the compiler's own ---- */

/* Multiplies 128-bit numbers. clang calls this function, which Debian has in another package. */
unsigned __int128 __multi3(unsigned __int128 a, unsigned __int128 b);

unsigned __int128 __multi3(unsigned __int128 a, unsigned __int128 b)
{
  uint64_t x = (uint64_t)a, y = (uint64_t)b, low = (uint32_t)x, high = x >> 32;
  uint64_t y_low = (uint32_t)y, y_high = y >> 32;
  uint64_t least = low * y_low, middle = high * y_low + (least >> 32);
  uint64_t other = low * y_high + (uint32_t)middle;
  uint64_t top = high * y_high + (middle >> 32) + (other >> 32);
  top += x * (uint64_t)(b >> 64) + (uint64_t)(a >> 64) * y;
  return (unsigned __int128)top << 64 | (other << 32 | (uint32_t)least);
}

/* ---- the clock ---- */

double platform_now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- foreign code: a page holds only recline's own protocols ---- */

bool confine_run(void (*run)(void *data), void *data, struct confine_end *end)
{
  *end = (struct confine_end){0};
  run(data);
  return true;
}

/* Nothing keeps code from touching the bytes around an object, but a change of these bytes is found
 * afterwards. */
enum { AROUND = 64 };

void confine_memory_new(struct confine_memory *m, size_t bytes)
{
  size_t room = (bytes + 7) / 8 * 8 + AROUND;
  *m = (struct confine_memory){.bytes = bytes, .span = room, .base = {memory_table(2, room)}};
  for (int i = 0; i < 2; i++) {
    m->first[i] = m->base[0] + (size_t)i * room;
    m->place[i] = m->first[i] + AROUND;
    m->room[i] = room;
  }
}

void confine_memory_free(struct confine_memory *m)
{
  free(m->base[0]);
  *m = (struct confine_memory){0};
}

bool confine_has(const void *address)
{
  (void)address;
  return false;
}
