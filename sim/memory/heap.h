/* Gives each rank a heap apart from all other memory of the process.
 *
 * All ranks of a simulation live in one process with one malloc. To roll one of them back, its
 * blocks must lie together and apart from the simulator's. librecline_heap.so replaces the malloc
 * family for the whole process, by LD_PRELOAD, and one pointer decides where an allocation goes:
 *
 *     program mode   heap_enter(arena)   the program of that rank runs: its arena
 *     libc mode      heap_leave()        SimGrid, the layer, start-up: the malloc of libc
 *
 * So every entry point of the layer begins with heap_leave() and passes its result to heap_enter()
 * at the end. It would not do to link a malloc into the program, because std::string allocates
 * inside libstdc++, and strdup inside libc.
 *
 * All arenas lie in one reserved range, so that a subtraction and a shift tell the rank of a
 * pointer. An arena has a power of two of bytes: 16 GiB, or less if the address space is limited.
 *
 *     | rank 0             | rank 1             | ... | rank HEAP_RANKS - 1 |
 *     ^ base               ^ base + 2^log       (struct arena_range)
 *
 * An arena holds all that its allocator knows, so that copying the used range back restores the
 * heap, with its free lists:
 *
 *     | struct arena | block | block | block | ... | block |   nothing, or stale    | no access |
 *     ^ start        ^ 16-byte header, payload             ^ top                    ^ accessible
 *     |<-------------------- heap_used ------------------->|
 *
 * Free neighbours become one block. A free block at the top is given up by lowering top, so the
 * used range shrinks again. The pages of large free blocks and those above top go back to the
 * system once they are worth a call. How far the arena is accessible is noted outside, because no
 * rollback may undo it.
 *
 * Which call works on what:
 *
 *                          program mode                              libc mode
 *     malloc, calloc, ...  arena of the rank                         libc
 *     free, arena pointer  the arena that owns it                    the arena that owns it
 *     free, libc pointer   nothing (see heap.c)                      libc
 *     realloc, arena ptr.  the arena that owns it                    the arena that owns it
 *     realloc, libc ptr.   new block in the arena, old one stays     libc
 *
 * The dynamic linker and the runtime of OpenMP always get libc memory: their data belong to no rank
 * and must survive a rollback. Other files handle what libc keeps for the whole process: handlers
 * for its end (atexit.c), open streams and descriptors (open_files.c, output_files.c).
 *
 * With RECLINE_HEAP_WATCH set in the environment, the process ends with a list of callers if
 * SimGrid allocates or frees in program mode, because then some entry point is not wrapped. This is
 * slow.
 *
 * The mode belongs to the calling thread. Threads that a program starts allocate from the arena of
 * the rank that runs.
 *
 * Preloading is not enough. smpirun loads each rank's copy of the program with RTLD_DEEPBIND:
 * symbols are looked for in the program's own libraries first, libc among them, and only then
 * where the preload is. So librecline_heap.so is needed twice:
 *
 *     LD_PRELOAD                  for what is loaded with the simulator: libstdc++, libc, ...
 *     linked into the program     for malloc and free in the program itself: as a direct
 *     ahead of everything         dependency (-Wl,--no-as-needed), before libc
 *
 * Both are the same instance. Without the preload there is only libc mode, and no arena. */
#ifndef RECLINE_HEAP_H
#define RECLINE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define HEAP_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HEAP_RANKS = 4096,   /* ranks that can have an arena: 0 .. HEAP_RANKS - 1 */
  HEAP_ALIGNMENT = 16, /* bytes: least alignment of a payload */
  HEAP_NOBODY = -1     /* heap_owner: the pointer is in no arena */
};

struct arena; /* its memory is never unmapped, so pointers into it stay meaningful */

/* Returns the arena of `rank`; the first call makes it, empty. Returns NULL with errno EINVAL if
 * there is no such rank, ENOMEM if there is no room, ENOTSUP if librecline_heap.so was not
 * preloaded. */
HEAP_API struct arena *heap_arena(int rank);

/* Returns whether the program at the address `inside` gets malloc from this library (see above). */
HEAP_API bool heap_serves(const void *inside);

/* Enters program mode for this arena, or libc mode if it is NULL. */
HEAP_API void heap_enter(struct arena *arena);

/* Sets a function to be called, in libc mode, whenever program mode begins for another arena than
 * the last one. After heap_changed() it is called for the same arena, too. */
HEAP_API void heap_on_change(void (*function)(struct arena *));
HEAP_API void heap_changed(void);

/* This function serves a program's unlink() and remove() of files that another module rolls back;
 * it is called in libc mode. It returns false for other files. NULL: there is none. */
HEAP_API extern bool (*heap_unlinks)(const char *path, int *result);

/* This function serves a program's open() for reading, because another module rolls some files
 * back; it is called in libc mode. It returns a descriptor, -1 with errno, or HEAP_AS_IT_IS if the
 * file itself is to be opened. NULL: every file itself is opened. */
enum { HEAP_AS_IT_IS = -2 };
HEAP_API extern int (*heap_reads)(const char *path, int flags);

/* This function serves a program's mkstemp() and similar calls; it is called in libc mode. It
 * returns what those calls return. NULL: libc's functions are called. */
HEAP_API extern int (*heap_invents)(char *name, int flags);

/* True lets pthread_mutex_lock() take a mutex even if another thread has it. It is set at the end
 * of the process, when no other thread goes on. */
HEAP_API extern bool heap_locks_are_free;

/* Enters libc mode. Returns the mode until now, as an argument for heap_enter(); NULL stands for
 * libc mode. */
HEAP_API struct arena *heap_leave(void);

/* Sets whether the simulator itself may allocate in program mode from here on, because it runs an
 * algorithm for the program (RECLINE_HEAP_WATCH in heap.c). */
HEAP_API void heap_serve_simulator(bool on);

/* Returns the rank in whose arena `pointer` lies, or HEAP_NOBODY. */
HEAP_API int heap_owner(const void *pointer);

/* Sets the range to save, which begins on a page; `length` is in bytes. Copying it back to the same
 * place and then calling heap_give_back() restores the arena. That call is needed, because calloc
 * would take used memory behind the range for fresh memory and not clear it. */
HEAP_API void heap_used(const struct arena *arena, void **start, size_t *length);

/* Gives back to the system the pages that no block needs, also holes within the used range. They
 * read as zeros from then on. The arena does so itself now and then. Call this function before a
 * capture, which then need not save these pages, and after a restore, for pages beyond the used
 * range. */
HEAP_API void heap_give_back(struct arena *arena);

/* Returns memory of an arena for the layer itself. The memory may hold remains of freed blocks.
 * NULL: no memory is left. Memory for the program is all zeros instead, from all functions of the
 * malloc family, because a program may send it and must send the same when it runs again. */
HEAP_API void *heap_unset(struct arena *arena, size_t bytes);

/* Describes files whose writes are outputs. Bytes that programs append to such files are not
 * written, but told to the layer. */
struct heap_outputs {
  bool (*is_one)(const char *path); /* is this absolute path such a file? */
  /* Tells that the program of a rank has appended `size` bytes. If there was no file, the program
   * made it with this mode. `begins`: the program truncated the file first. */
  void (*said)(int rank, const char *path, unsigned mode, bool begins, const void *, size_t size);
  /* Refuses anything else that the program does with such a file; `what` says it ("reads"). Does
   * not return. */
  void (*refuse)(int rank, const char *what, const char *path);
};
HEAP_API void heap_outputs_begin(const struct heap_outputs *);
/* Tells the layer, in libc mode, what the program of an arena (NULL: of all) has written since the
 * last call. */
HEAP_API void heap_outputs_collect(const struct arena *);

/* Saves, in libc mode, the streams that the program of an arena has open, with their positions.
 * NULL: no memory. Until the result is freed, streams that the program closes are kept in
 * reserve. */
struct heap_files;
HEAP_API struct heap_files *heap_files_save(const struct arena *arena);
/* Makes standard input a file that the program of that arena has open. In libc mode. */
HEAP_API void heap_files_inherit(const struct arena *arena);
HEAP_API void heap_files_restore(const struct heap_files *);
/* Restores files for a program that begins again: contents as in `then`; open files and positions
 * as in `begun`, which was saved earlier. */
HEAP_API void heap_files_begin_again(const struct heap_files *begun, const struct heap_files *then);
HEAP_API void heap_files_free(struct heap_files *); /* NULL is allowed */

/* Notes that the program at `program` does not run yet, because none of its functions is on the
 * stack. Until it runs, SimGrid allocates in program mode, between constructors and main: the words
 * of argv. Each word gets as much room as the longest path needs, so that later blocks lie at the
 * same addresses whatever the path is. NULL: the program runs. */
HEAP_API void heap_await(struct arena *arena, const void *program);

#ifdef __cplusplus
}
#endif
#endif
