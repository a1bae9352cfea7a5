/* Declares what the world, the trace printer and the explorer need of the operating system: address
 * space, threads, locks, files for states that do not fit into memory, the clock. In a browser
 * platform_wasm.c takes the place of platform.c, so this header names no type of the system. */
#ifndef RECLINE_PLATFORM_H
#define RECLINE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- memory ---- */

/* Hints that `memory`, `bytes` long, is read at random places, where huge pages save TLB misses. */
void platform_prefer_huge_pages(void *memory, size_t bytes);

/* Returns zeroed address space whose pages are taken when they are first written, or NULL if there
 * is too little. */
void *platform_reserve(size_t bytes);
void platform_release(void *memory, size_t bytes);

/* Gives freed pages back to the system, as far as the allocator can. */
void platform_give_back(void);

/* Returns the physical memory of the machine in bytes, or the limit of the process (RLIMIT_AS,
 * RLIMIT_DATA) if that is smaller, or 0 if it is not known. */
uint64_t platform_memory(void);

/* Returns the resident memory of process `id` in bytes, or 0 if there is no such process. */
uint64_t platform_resident(int id);

/* ---- threads ---- */

/* Calls `run` for each of `count` items of `size` bytes: for the first item in this thread, for the
 * others in new threads or, where none can be started, in this one. Returns when all have ended. */
void platform_parallel(void (*run)(void *), void *items, size_t size, unsigned count);
void platform_yield(void);

/* Runs `run(item)` in a new thread. Returns NULL if there is no thread; then nothing has run.
 * platform_thread_join() returns when the thread has ended, and frees it. */
struct platform_thread *platform_thread_start(void (*run)(void *), void *item);
void platform_thread_join(struct platform_thread *);

/* platform_lock_new() returns a mutual-exclusion lock with one condition to wait for. It ends the
 * process if there is no memory. */
struct platform_lock *platform_lock_new(void);
void platform_lock_free(struct platform_lock *); /* may be NULL */
void platform_lock(struct platform_lock *);
void platform_unlock(struct platform_lock *);
void platform_wait(struct platform_lock *); /* unlocks, waits for platform_wake(), locks again */
void platform_wake(struct platform_lock *); /* wakes all threads that wait */

/* ---- files ---- */

/* Opens a temporary file without a name, in TMPDIR or /tmp. Returns its number, or a negative
 * number if that failed. */
int platform_file_new(void);
void platform_file_close(int file);

/* platform_file_create() makes a file, or empties one that exists, and opens it for reading and
 * writing. platform_file_open() opens an existing file for reading. Both return the file's number,
 * or a negative number if they failed. */
int platform_file_create(const char *name);
int platform_file_open(const char *name);
void platform_file_remove(const char *name); /* a file that is open stays readable */

/* Writes or reads all of `bytes` at that offset. Both return false if they fail. */
bool platform_file_write(int file, const void *bytes, size_t size, uint64_t offset);
bool platform_file_read(int file, void *bytes, size_t size, uint64_t offset);
bool platform_file_empty(int file); /* truncates the file to zero bytes */

/* ---- the clock ---- */

double platform_now(void); /* seconds since a fixed instant; never goes back */

#endif
