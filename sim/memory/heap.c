/* Replaces the functions of the malloc family. They allocate in libc or in the arena of one rank,
 * and heap.h switches between the two.
 *
 * Nothing here may call a function that allocates, because that would call this allocator again. */
#define _GNU_SOURCE
#include "sim/memory/heap.h"
#include "sim/memory/arena.h"
#include "sim/memory/die.h"
#include "sim/memory/next_symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

/* These are glibc's own names for its functions. They work at start-up, and without dlsym, which
 * may allocate. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

/* Holds facts about the process, which no rollback may undo. */
static struct {
  struct code linker, openmp; /* code whose memory always comes from libc */
  bool watch;                 /* calls watch_caller */
  void (*on_change)(struct arena *);
  const struct arena *last; /* the arena that was entered last, since on_change was set */
  struct arena *running;    /* the arena that was entered last: its rank runs */
  bool threads;             /* programs have started threads */
} process;

/* With the TLS model initial-exec, reading this variable does not allocate. */
static _Thread_local struct arena *current __attribute__((tls_model("initial-exec")));
static _Thread_local bool runs_ranks __attribute__((tls_model("initial-exec")));

static void *out_of_memory(void)
{
  errno = ENOMEM;
  return NULL;
}

/* ---- arenas and modes ----------------------------------------------------------------------- */

/* Returns whether a look-up of malloc from `handle` finds this library's malloc. */
static bool finds_us(void *handle)
{
  if (!handle)
    return false;
  bool ours = dlsym(handle, "malloc") == (void *)(uintptr_t)malloc;
  dlclose(handle);
  return ours;
}

EXPORT bool heap_serves(const void *inside)
{
  struct arena *mode = heap_leave();
  struct link_map *map;
  Dl_info info;
  bool found = dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP) != 0;
  bool ours = found && finds_us(dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD));
  heap_enter(mode);
  return ours;
}

static void find_openmp(void);

EXPORT struct arena *heap_arena(int rank)
{
  static bool served;
  struct arena *arena = arena_of_rank(rank);
  if (arena)
    return arena;
  /* The preloaded library is in the global scope. */
  if (!served && !finds_us(dlopen(NULL, RTLD_LAZY))) {
    errno = ENOTSUP;
    return NULL;
  }
  if (!served)
    find_openmp(); /* OpenMP's runtime is loaded with the program */
  served = true;
  return arena_new(rank);
}

EXPORT void heap_on_change(void (*function)(struct arena *))
{
  process.on_change = function;
}

EXPORT void heap_changed(void)
{
  process.last = NULL;
}

EXPORT void heap_enter(struct arena *arena)
{
  if (arena && arena != process.last && process.on_change) {
    process.last = arena;
    process.on_change(arena);
  }
  current = arena;
  if (arena) {
    process.running = arena;
    runs_ranks = true;
  }
}

EXPORT struct arena *heap_leave(void)
{
  struct arena *before_this = current;
  current = NULL;
  return before_this;
}

EXPORT int heap_owner(const void *pointer)
{
  const struct arena *arena = arena_of(pointer);
  return arena ? arena_rank(arena) : HEAP_NOBODY;
}

EXPORT void heap_used(const struct arena *arena, void **start, size_t *length)
{
  arena_used(arena, start, length);
}

EXPORT void heap_give_back(struct arena *arena)
{
  arena_give_back(arena);
}

/* ---- runtimes whose memory no rollback may touch -------------------------------------------- */

static struct code executable(uintptr_t base, const ElfW(Phdr) * header, int count)
{
  struct code code = {0};
  for (int i = 0; i < count; i++)
    if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_X)
      code = (struct code){base + header[i].p_vaddr, base + header[i].p_vaddr + header[i].p_memsz};
  return code;
}

static bool holds(struct code code, uintptr_t address)
{
  return address - code.start < code.end - code.start;
}

/* Returns the code of an object whose first bytes the loader has mapped at `base`. */
static struct code code_at(uintptr_t base)
{
  const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)base;
  return executable(base, (const ElfW(Phdr) *)(base + elf->e_phoff), elf->e_phnum);
}

EXPORT void heap_await(struct arena *arena, const void *program)
{
  arena_notes(arena)->awaited = program ? code_at((uintptr_t)program) : (struct code){0};
}

/* Finds the code of ld.so, whose calls are in libc mode. ld.so allocates in the middle of program
 * code: the thread-local block of a library when the block is first touched, or a record that one
 * library needs another library. Such memory must survive a rollback. */
__attribute__((constructor)) static void find_linker(void)
{
  uintptr_t base = getauxval(AT_BASE);
  if (base)
    process.linker = code_at(base);
}

/* Finds the runtime of OpenMP, whose calls are in libc mode, too. All ranks are one thread, so they
 * share the runtime's teams of threads. */
static int visit_openmp(struct dl_phdr_info *object, size_t size, void *unused)
{
  static const char *const names[] = {"/libgomp.so", "/libomp.so", "/libiomp5.so"};
  (void)size;
  (void)unused;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strstr(object->dlpi_name, names[i]))
      process.openmp = executable(object->dlpi_addr, object->dlpi_phdr, object->dlpi_phnum);
  return 0;
}

static void find_openmp(void)
{
  dl_iterate_phdr(visit_openmp, NULL);
}

/* ---- waiting for the program ---------------------------------------------------------------- */

/* Returns whether the program for which the current arena waits is on the stack. If so, the arena
 * no longer waits. */
static bool awaited_runs(void)
{
  struct arena *arena = heap_leave(); /* backtrace may allocate */
  struct code *awaited = &arena_notes(arena)->awaited;
  void *frame[64];
  int count = backtrace(frame, (int)(sizeof frame / sizeof *frame));
  bool runs = false;
  for (int i = 0; i < count; i++)
    runs |= holds(*awaited, (uintptr_t)frame[i]);
  if (runs)
    *awaited = (struct code){0};
  heap_enter(arena);
  return runs;
}

/* ---- watching the simulator ----------------------------------------------------------------- */

static bool in_library(const Dl_info *info, const char *name)
{
  return info->dli_fname && strstr(info->dli_fname, name);
}

/* Ends the process if SimGrid allocates in program mode. The object that SimGrid allocates would
 * lie in a rank's arena, and the next rollback would destroy the object. The damage would show much
 * later. The cause is an entry point that the layer does not wrap. The allocation's owner is the
 * first caller outside libc, libstdc++ and this library. */
static void watch_caller(void)
{
  struct arena *arena = heap_leave(); /* backtrace may allocate */
  void *frame[32];
  int count = backtrace(frame, (int)(sizeof frame / sizeof *frame));
  Dl_info info;
  for (int i = 0; i < count; i++) {
    if (!dladdr(frame[i], &info) || in_library(&info, "/libc.so") ||
        in_library(&info, "/libstdc++.so") || in_library(&info, "/librecline_heap.so"))
      continue;
    if (in_library(&info, "/libsimgrid.so")) {
      backtrace_symbols_fd(frame, count, STDERR_FILENO);
      die(DIE_BREACH, "SimGrid allocates or frees in program mode: an entry point is not wrapped");
    }
    break;
  }
  heap_enter(arena);
}

static bool is_watched; /* the environment variable RECLINE_HEAP_WATCH is set */

__attribute__((constructor)) static void read_watch(void)
{
  is_watched = process.watch = getenv("RECLINE_HEAP_WATCH") != NULL;
}

void heap_serve_simulator(bool on)
{
  process.watch = is_watched && !on;
}

/* ---- threads of programs --------------------------------------------------------------------- */

/* Returns the arena for a thread that a program has started: the arena of the running rank. All
 * ranks are one thread, and that thread waits for the started thread or works beside it. The
 * threads of libgomp serve all ranks in turn. */
static inline struct arena *of_thread(uintptr_t caller)
{
  if (runs_ranks || !process.threads || holds(process.linker, caller) ||
      holds(process.openmp, caller))
    return NULL;
  return process.running;
}

static char lock;

static inline void lock_arenas(void)
{
  while (process.threads && __atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
    ;
}

static inline void unlock_arenas(void)
{
  if (process.threads)
    __atomic_clear(&lock, __ATOMIC_RELEASE);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static bool said;
  uintptr_t caller = CALLER;
  struct arena *arena = heap_leave();
  if (!next)
    find_next("pthread_create", &next, sizeof next);
  process.threads = process.threads || arena != NULL;
  if (arena && !said && !holds(process.openmp, caller)) {
    said = true;
    fputs("recline: a thread that lives over a checkpoint is not put back by a rollback\n", stderr);
  }
  int error = next(thread, attributes, start, argument);
  heap_enter(arena);
  return error;
}

/* Returns the arena for a call from `caller`, or NULL for libc. */
static inline struct arena *mode(uintptr_t caller)
{
  if (__builtin_expect(!current, 1))
    return of_thread(caller);
  if (holds(process.linker, caller) || holds(process.openmp, caller))
    return NULL;
  if (__builtin_expect(arena_notes(current)->awaited.end != 0, 0) && !awaited_runs())
    return current;
  if (process.watch)
    watch_caller();
  return current;
}

/* ---- the malloc family ---------------------------------------------------------------------- */

/* malloc_usable_size() is the only function here for which libc has no second name, so dlsym looks
 * it up. dlsym does not allocate when it succeeds. */
static size_t libc_usable(void *pointer)
{
  static size_t (*original)(void *);
  if (!original)
    *(void **)&original = dlsym(RTLD_NEXT, "malloc_usable_size");
  return original(pointer);
}

static void *allocate_locked(struct arena *arena, size_t bytes)
{
  lock_arenas();
  void *payload = arena_malloc(arena, bytes);
  unlock_arenas();
  return payload;
}

EXPORT void *heap_unset(struct arena *arena, size_t bytes)
{
  lock_arenas();
  void *payload = arena_unset(arena, bytes);
  unlock_arenas();
  return payload;
}

static void *allocate(struct arena *arena, size_t bytes)
{
  enum { WORDS = 512 }; /* number of bytes; few paths are longer */
  if (arena && arena_notes(arena)->awaited.end != 0 && bytes < WORDS)
    bytes = WORDS;
  return arena ? allocate_locked(arena, bytes) : __libc_malloc(bytes);
}

static void *allocate_aligned(struct arena *arena, size_t alignment, size_t bytes)
{
  if (!arena)
    return __libc_memalign(alignment, bytes);
  lock_arenas();
  void *payload = arena_memalign(arena, alignment, bytes);
  unlock_arenas();
  return payload;
}

static void release(struct arena *owner, void *pointer)
{
  lock_arenas();
  arena_free(owner, pointer);
  unlock_arenas();
}

static bool is_on_stack(const void *pointer)
{
  enum { STACK = 8 << 20 }; /* number of bytes of a rank's stack, as SimGrid makes it */
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0), at = (uintptr_t)pointer;
  return at > frame && at - frame < STACK;
}

/* Returns whether libc may have allocated a block at that address. The alignment of the address
 * must fit, and so must malloc's header before the address (glibc's struct malloc_chunk). Neither a
 * loaded object nor the stack may lie there. */
static bool may_be_libc_block(const void *pointer)
{
  enum { ALIGNMENT = 16, LOWEST = 1 << 16, LEAST = 32, MAPPED = 2, FLAGS = 7 };
  uintptr_t at = (uintptr_t)pointer, page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
  if (at % ALIGNMENT || at < LOWEST)
    return false;
  const size_t *ahead = (const size_t *)pointer - 2;
  size_t bytes = ahead[1] & ~(size_t)FLAGS;
  Dl_info info;
  if (bytes < LEAST || bytes % ALIGNMENT || dladdr(pointer, &info))
    return false;
  if (ahead[1] & MAPPED)
    return !(((uintptr_t)ahead - ahead[0]) & page) && !((ahead[0] + bytes) & page);
  return !is_on_stack(pointer);
}

/* Ends the run if the program frees a pointer that cannot be a block. */
static void require_block(const void *pointer)
{
  if (!may_be_libc_block(pointer))
    die(DIE_INPUT, "free or realloc of what is not the start of a block, or was freed before");
}

/* Frees a block, unless the block is libc's. Such a block was allocated before program mode began.
 * The last checkpoint may still point to it, and nobody here knows for how long. So the block
 * stays: a leak is safe. */
static void release_any(struct arena *arena, void *pointer)
{
  struct arena *owner = arena_of(pointer);
  if (owner)
    release(owner, pointer);
  else if (!arena)
    __libc_free(pointer);
  else
    require_block(pointer);
}

static void *resize(struct arena *arena, void *pointer, size_t bytes)
{
  struct arena *owner = arena_of(pointer);
  if (owner && !bytes) { /* frees the block, as libc does */
    release(owner, pointer);
    return NULL;
  }
  if (owner) {
    lock_arenas();
    void *moved = arena_realloc(owner, pointer, bytes);
    unlock_arenas();
    return moved;
  }
  if (!arena)
    return __libc_realloc(pointer, bytes);
  if (pointer)
    require_block(pointer);
  if (pointer && !bytes)
    return NULL;
  void *moved = allocate_locked(arena, bytes);
  if (moved && pointer) {
    size_t old = libc_usable(pointer);
    memcpy(moved, pointer, old < bytes ? old : bytes);
  }
  return moved;
}

static bool power_of_two(size_t number)
{
  return number && !(number & (number - 1));
}

EXPORT void *malloc(size_t bytes)
{
  return allocate(mode(CALLER), bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
  struct arena *arena = mode(CALLER);
  size_t total;
  if (!arena)
    return __libc_calloc(count, bytes);
  if (__builtin_mul_overflow(count, bytes, &total))
    return out_of_memory();
  lock_arenas();
  void *payload = arena_malloc(arena, total);
  unlock_arenas();
  return payload;
}

EXPORT void *realloc(void *pointer, size_t bytes)
{
  return resize(mode(CALLER), pointer, bytes);
}

EXPORT void *reallocarray(void *pointer, size_t count, size_t bytes)
{
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total))
    return out_of_memory();
  return resize(mode(CALLER), pointer, total);
}

EXPORT void free(void *pointer)
{
  if (pointer)
    release_any(mode(CALLER), pointer);
}

EXPORT int posix_memalign(void **result, size_t alignment, size_t bytes)
{
  if (alignment % sizeof(void *) || !power_of_two(alignment))
    return EINVAL;
  int saved = errno; /* according to POSIX, the error is returned, and errno must not change */
  void *payload = allocate_aligned(mode(CALLER), alignment, bytes);
  errno = saved;
  if (!payload)
    return ENOMEM;
  *result = payload;
  return 0;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
  if (!power_of_two(alignment)) {
    errno = EINVAL;
    return NULL;
  }
  return allocate_aligned(mode(CALLER), alignment, bytes);
}

/* Rounds any alignment up to a power of two, as this obsolete function does. */
EXPORT void *memalign(size_t alignment, size_t bytes)
{
  size_t rounded = HEAP_ALIGNMENT;
  while (rounded < alignment && rounded <= SIZE_MAX / 2)
    rounded *= 2;
  return allocate_aligned(mode(CALLER), rounded, bytes);
}

EXPORT void *valloc(size_t bytes)
{
  return allocate_aligned(mode(CALLER), (size_t)getpagesize(), bytes);
}

EXPORT void *pvalloc(size_t bytes)
{
  size_t page = (size_t)getpagesize();
  if (bytes > SIZE_MAX - page)
    return out_of_memory();
  return allocate_aligned(mode(CALLER), page, (bytes + page - 1) / page * page);
}

EXPORT size_t malloc_usable_size(void *pointer)
{
  if (!pointer)
    return 0;
  return arena_of(pointer) ? arena_usable(pointer) : libc_usable(pointer);
}
