/* What the world, the trace printer and the explorer need from the operating system: address space,
 * threads, locks, files for states that do not fit into memory, the clock. A host without these (a
 * browser) replaces platform.c; this header names no type of the system.
 */
#ifndef RECLINE_PLATFORM_H
#define RECLINE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- memory ---- */

/* A hint that `memory`, `bytes` long, is read at random places: huge pages save TLB misses. */
void platform_prefer_huge_pages(void *memory, size_t bytes);

/* Returns zeroed address space whose pages are taken when they are first written; NULL: there is
 * too little. */
void *platform_reserve(size_t bytes);
void platform_release(void *memory, size_t bytes);

/* Gives the pages of what has been freed back to the system, as far as it takes them. */
void platform_give_back(void);

/* Physical memory of the machine in bytes, or what a limit of the process leaves; 0: not known. */
uint64_t platform_memory(void);

/* Returns the resident memory of process `id` in bytes; 0: there is no such process. */
uint64_t platform_resident(int id);

/* ---- threads ---- */

/* Calls `run` for each of `count` items of `size` bytes: for the first item in this thread, for
 * each other in a thread of its own if one can be started. Returns when all have ended. */
void platform_parallel(void (*run)(void *), void *items, size_t size, unsigned count);
void platform_yield(void);

/* Runs `run(item)` in a thread of its own; the second returns when it has ended, and frees the
 * thread. NULL: there is no thread, and nothing has run. */
struct platform_thread *platform_thread_start(void (*run)(void *), void *item);
void platform_thread_join(struct platform_thread *);

/* A mutual-exclusion lock with one condition to wait for. Ends the process where there is no memory
 * for it. */
struct platform_lock *platform_lock_new(void);
void platform_lock_free(struct platform_lock *); /* may be NULL */
void platform_lock(struct platform_lock *);
void platform_unlock(struct platform_lock *);
void platform_wait(struct platform_lock *); /* unlocks, waits for platform_wake(), locks again */
void platform_wake(struct platform_lock *); /* all that wait */

/* ---- files ---- */

/* A new temporary file without a name, in TMPDIR or /tmp. Negative: there is none. */
int platform_file_new(void);
void platform_file_close(int file);

/* A file of that name: empty, made where there is none; or as it is. Negative: there is none. */
int platform_file_create(const char *name);
int platform_file_open(const char *name);
void platform_file_remove(const char *name); /* a file that is open stays readable */

/* Writes or reads all of `bytes` at that offset; false: it cannot. */
bool platform_file_write(int file, const void *bytes, size_t size, uint64_t offset);
bool platform_file_read(int file, void *bytes, size_t size, uint64_t offset);
bool platform_file_empty(int file); /* makes it zero bytes long */

/* ---- the clock ---- */

double platform_now(void); /* seconds since a fixed instant; never goes back */

#endif
