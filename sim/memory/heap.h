/* Gives each rank a heap apart from all other memory of the process.
 *
 * All ranks of a simulation live in one process with one malloc. To roll one rank back, its blocks
 * must lie together and apart from the blocks of the simulator. librecline_heap.so replaces the
 * malloc family for the whole process, by LD_PRELOAD, and one pointer decides where an allocation
 * goes:
 *
 *     program mode   heap_enter(arena)   the program of that rank runs: its arena
 *     libc mode      heap_leave()        SimGrid, the layer, start-up: the malloc of libc
 *
 * So every entry point of the layer begins with heap_leave() and passes its result to heap_enter()
 * at the end. A malloc that is only linked into the program would not suffice, because std::string
 * allocates inside libstdc++, and strdup inside libc.
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
 * used range shrinks again. The pages of large free blocks, and the pages above top, go back to the
 * system once there are enough of them to be worth a call. How far the arena is accessible is noted
 * outside of it, because no rollback may undo this note.
 *
 * Which memory a call works on:
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
 * symbols are looked up first in the program's own libraries, libc among them, and only afterwards
 * in preloaded libraries. So librecline_heap.so is needed twice:
 *
 *     LD_PRELOAD                  for what is loaded with the simulator: libstdc++, libc, ...
 *     linked into the program     for malloc and free in the program itself: as a direct
 *     ahead of everything         dependency (-Wl,--no-as-needed), before libc
 *
 * In both cases it is the same instance of the library. Without the preload there is only libc
 * mode, and no arena. */
#ifndef RECLINE_HEAP_H
#define RECLINE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define HEAP_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HEAP_RANKS = 4096,   /* number of ranks that can have an arena: ranks 0 to HEAP_RANKS - 1 */
  HEAP_ALIGNMENT = 16, /* least alignment of a payload, in bytes */
  HEAP_NOBODY = -1     /* result of heap_owner(): the pointer is in no arena */
};

struct arena; /* the memory of an arena is never unmapped, so pointers into it keep their meaning */

/* Returns the arena of `rank`; the first call makes an empty arena. Returns NULL with errno EINVAL
 * if there is no such rank, ENOMEM if there is no room, ENOTSUP if librecline_heap.so was not
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

/* Serves a program's unlink() and remove() of files that another module rolls back; is called in
 * libc mode. The function returns false for other files. It is NULL if there is no such module. */
HEAP_API extern bool (*heap_unlinks)(const char *path, int *result);

/* Serves a program's open() for reading, because another module rolls some files back; is called in
 * libc mode. The function returns a descriptor, -1 with errno, or HEAP_AS_IT_IS if the named file
 * itself is to be opened. If it is NULL, every named file itself is opened. */
enum { HEAP_AS_IT_IS = -2 };
HEAP_API extern int (*heap_reads)(const char *path, int flags);

/* Serves a program's mkstemp() and similar calls; is called in libc mode. The function returns what
 * those calls return. If it is NULL, libc's functions are called. */
HEAP_API extern int (*heap_invents)(char *name, int flags);

/* If true, pthread_mutex_lock() takes a mutex even if another thread has it. The flag is set at the
 * end of the process, when no other thread goes on. */
HEAP_API extern bool heap_locks_are_free;

/* Enters libc mode. Returns the previous mode as an argument for heap_enter(), where NULL stands
 * for libc mode. */
HEAP_API struct arena *heap_leave(void);

/* Sets whether the simulator itself may allocate in program mode from here on, because it runs an
 * algorithm for the program (RECLINE_HEAP_WATCH in heap.c). */
HEAP_API void heap_serve_simulator(bool on);

/* Returns the rank in whose arena `pointer` lies, or HEAP_NOBODY. */
HEAP_API int heap_owner(const void *pointer);

/* Sets the range to save, which begins on a page; `length` is in bytes. Copying it back to the same
 * place and then calling heap_give_back() restores the arena. Without that call, calloc would take
 * used memory behind the range for fresh memory and would not clear it. */
HEAP_API void heap_used(const struct arena *arena, void **start, size_t *length);

/* Gives back to the system the pages that no block needs, including holes within the used range.
 * These pages read as zeros from then on. The arena itself gives pages back now and then. This
 * function must be called before a capture, which then need not save these pages, and after a
 * restore, for pages beyond the used range. */
HEAP_API void heap_give_back(struct arena *arena);

/* Returns memory of an arena for the layer itself. The memory may hold remains of freed blocks.
 * Returns NULL if no memory is left. Memory for the program, from all functions of the malloc
 * family, is all zeros instead, because a program may send its contents and must send the same
 * contents when it runs again. */
HEAP_API void *heap_unset(struct arena *arena, size_t bytes);

/* Describes files whose writes are outputs. Bytes that programs append to such files are not
 * written, but told to the layer. */
struct heap_outputs {
  bool (*is_one)(const char *path); /* returns whether this absolute path names such a file */
  /* Tells that the program of a rank has appended `size` bytes. If there was no file, the program
   * made it with this mode. If `begins`, the program truncated the file first. */
  void (*said)(int rank, const char *path, unsigned mode, bool begins, const void *, size_t size);
  /* Refuses anything else that the program does with such a file; `what` says what that is
   * ("reads"). Does not return. */
  void (*refuse)(int rank, const char *what, const char *path);
};
HEAP_API void heap_outputs_begin(const struct heap_outputs *);
/* Tells the layer, in libc mode, what the program of an arena has written since the last call. NULL
 * stands for the programs of all arenas. */
HEAP_API void heap_outputs_collect(const struct arena *);

/* Saves, in libc mode, the streams that the program of an arena has open, with their positions.
 * Returns NULL if there is no memory. Until the result is freed, streams that the program closes
 * are kept open in reserve. */
struct heap_files;
HEAP_API struct heap_files *heap_files_save(const struct arena *arena);
/* Makes standard input, in libc mode, a file that the program of that arena has open. */
HEAP_API void heap_files_inherit(const struct arena *arena);
HEAP_API void heap_files_restore(const struct heap_files *);
/* Restores files for a program that begins again: contents as in `then`; open files and positions
 * as in `begun`, which was saved earlier. */
HEAP_API void heap_files_begin_again(const struct heap_files *begun, const struct heap_files *then);
HEAP_API void heap_files_free(struct heap_files *); /* NULL is allowed */

/* Notes that the program at `program` does not run yet, because none of its functions is on the
 * stack. Until it runs, SimGrid allocates in program mode, between constructors and main, namely
 * the words of argv. Each word gets as much room as the longest path needs, so that later blocks
 * lie at the same addresses whatever the path is. If `program` is NULL, the program runs. */
HEAP_API void heap_await(struct arena *arena, const void *program);

#ifdef __cplusplus
}
#endif
#endif
