/* The heap of one rank, apart from every other memory of the process.
 *
 * All ranks of a simulation live in one process and one malloc. To roll one of them back, its
 * blocks must lie together and apart from the simulator's. librecline_heap.so replaces the malloc
 * family for the whole process, by LD_PRELOAD, and one pointer says where an allocation goes:
 *
 *     program mode   heap_enter(arena)   the program of that rank runs: its arena
 *     libc mode      heap_leave()        SimGrid, the layer, start-up: the malloc of libc
 *
 * So every entry point of the layer begins with heap_leave() and ends with heap_enter() of what
 * that returned. Definitions linked into the program would not do: std::string grows inside
 * libstdc++, and strdup inside libc.
 *
 * All arenas lie in one reserved range, so that "whose is this pointer" is a subtraction and a
 * shift. ARENA_BYTES is less if the address space is limited.
 *
 *     | rank 0             | rank 1             | ... | rank HEAP_RANKS - 1 |
 *     ^ base               ^ base + ARENA_BYTES
 *
 * One arena. All that the allocator knows lies inside, so that copying the used range back
 * restores the heap as it was, free lists and all:
 *
 *     | struct arena | block | block | block | ... | block |   nothing, or stale    | no access |
 *     ^ start        ^ 16-byte header, payload             ^ top                    ^ accessible
 *     |<-------------------- heap_used ------------------->|
 *
 * A block that is freed next to a free one becomes one with it, and a free block at the top is
 * given up by lowering top: the used range shrinks again. The pages of large free blocks, and those
 * above top, are given back to the system when there are enough of them to be worth a call. How far
 * the arena was made accessible is kept outside: it is a fact about the process, which no rollback
 * undoes.
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
 * The dynamic linker and the runtime of OpenMP always get libc memory: what they keep belongs to no
 * rank and must survive a rollback. Three more things that libc keeps for the process are handled
 * here: handlers for its end (atexit.c), open streams and descriptors (open_files.c,
 * output_files.c).
 *
 * With RECLINE_HEAP_WATCH set in the environment, an allocation or free by SimGrid in program mode
 * ends the process with a list of its callers: some entry point is not wrapped. This is slow.
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
 * Both are the same instance. With the second only, there is libc mode and no arena.
 */
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
  HEAP_ALIGNMENT = 16, /* bytes; of every payload, at least */
  HEAP_NOBODY = -1     /* heap_owner: not in any arena */
};

struct arena; /* its memory is never unmapped: pointers into it stay meaningful */

/* Returns the arena of `rank`; the first call makes it, empty. NULL, with errno: EINVAL if there is
 * no such rank, ENOMEM if there is no room, ENOTSUP if librecline_heap.so was not preloaded. */
HEAP_API struct arena *heap_arena(int rank);

/* Returns whether the program that holds the address `inside` finds malloc here: see above. */
HEAP_API bool heap_serves(const void *inside);

/* Enters program mode for this arena; NULL is libc mode. */
HEAP_API void heap_enter(struct arena *arena);

/* Sets a function that is called, in libc mode, whenever program mode of another arena than the
 * last one begins; after heap_changed() also if it is the same arena. */
HEAP_API void heap_on_change(void (*function)(struct arena *));
HEAP_API void heap_changed(void);

/* Sets the function for unlink() and remove() of a program, called in libc mode, for files that
 * another module rolls back; it returns false for other files. NULL: none. */
HEAP_API extern bool (*heap_unlinks)(const char *path, int *result);

/* Sets the function for open() of a program for reading, called in libc mode, for files that
 * another module rolls back: it returns a descriptor, or -1 with errno; HEAP_AS_IT_IS: open the
 * file as it is. NULL: all files are opened as they are. */
enum { HEAP_AS_IT_IS = -2 };
HEAP_API extern int (*heap_reads)(const char *path, int flags);

/* Sets the function for mkstemp() and its like of a program, called in libc mode: it returns what
 * they return. NULL: libc's are called. */
HEAP_API extern int (*heap_invents)(char *name, int flags);

/* Sets whether a thread takes a mutex of pthread_mutex_lock() even from a thread that has it: at
 * the end of the process, when no other thread goes on. */
HEAP_API extern bool heap_locks_are_free;

/* Enters libc mode. Returns the argument by which heap_enter() restores the mode before; NULL was
 * libc mode. */
HEAP_API struct arena *heap_leave(void);

/* Sets whether the simulator itself may allocate in program mode from here on, as it runs an
 * algorithm for the program (RECLINE_HEAP_WATCH in heap.c). */
HEAP_API void heap_serve_simulator(bool on);

/* Returns the rank in whose arena `pointer` lies, or HEAP_NOBODY. */
HEAP_API int heap_owner(const void *pointer);

/* Returns the bytes to save; `length` is in bytes. They start on a page. To copy them back to the
 * same place and then call heap_give_back() restores the arena: memory that was used beyond them
 * must not be taken for fresh memory, which calloc does not clear. */
HEAP_API void heap_used(const struct arena *arena, void **start, size_t *length);

/* Gives the pages that no block needs back to the system, holes within the used range included;
 * they read as zeros from then on. The arena does so itself now and then; to be called before a
 * capture, which then need not save these pages, and after a restore, for pages beyond the used
 * range.
 */
HEAP_API void heap_give_back(struct arena *arena);

/* Returns memory of an arena that may hold remains of freed blocks, for the layer itself. Memory of
 * the program is all zeros, whichever call of the malloc family it uses: contents that it may send
 * must be the same when it runs again. NULL: no memory. */
HEAP_API void *heap_unset(struct arena *arena, size_t bytes);

/* Files whose writes are outputs: bytes that programs append to them are told to the layer instead
 * of being written. */
struct heap_outputs {
  bool (*is_one)(const char *path); /* an absolute path */
  /* The program of a rank has written `size` bytes to the end. If there was no file, it was made
   * before with this mode; `begins`: it was truncated before. */
  void (*said)(int rank, const char *path, unsigned mode, bool begins, const void *, size_t size);
  /* The program does something else with such a file, as `what` says ("reads"). Does not return. */
  void (*refuse)(int rank, const char *what, const char *path);
};
HEAP_API void heap_outputs_begin(const struct heap_outputs *);
/* Tells the layer what the program of an arena (NULL: all) has written since the last call. In libc
 * mode. */
HEAP_API void heap_outputs_collect(const struct arena *);

/* Saves the streams that the program of an arena has open, with their positions. In libc mode.
 * NULL: no memory. Until it is freed, a stream that the program closes stays in reserve. */
struct heap_files;
HEAP_API struct heap_files *heap_files_save(const struct arena *arena);
/* From now on standard input is a file that the program of that arena has open. In libc mode.
 */
HEAP_API void heap_files_inherit(const struct arena *arena);
HEAP_API void heap_files_restore(const struct heap_files *);
/* For a program that begins again: contents are put back to those of `then`; open files and
 * positions to those of `begun`, which was saved earlier. */
HEAP_API void heap_files_begin_again(const struct heap_files *begun, const struct heap_files *then);
HEAP_API void heap_files_free(struct heap_files *); /* NULL is allowed */

/* In program mode, until the program that was loaded at `program` is running (one of its functions
 * is on the stack), it is SimGrid that allocates, which works between constructors and main: the
 * words of argv, which have as much room as a path needs, so that all that comes after lies where
 * it would with any other path. Nothing is called when main begins. NULL: it is running. */
HEAP_API void heap_await(struct arena *arena, const void *program);

#ifdef __cplusplus
}
#endif
#endif
