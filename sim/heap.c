/* The malloc family, switched between libc and the arena of one rank: see heap.h.
 *
 * The allocator of an arena is two-level segregated fit (Masmano et al., ECRTS 2004): free lists
 * by size class, 16 classes to the power of two, two bitmaps to find the next class that has a
 * block, neighbours merged at once. Every operation takes constant time, whatever came before it.
 *
 * Nothing here may call anything that allocates: it would come back in.
 */
#define _GNU_SOURCE
#include "heap.h"

#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

/* glibc's own entry points: no dlsym, which may allocate, and nothing to wait for at start-up. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

/* ---- one arena ------------------------------------------------------------------------------ */

enum {
  UNIT = HEAP_ALIGNMENT, /* sizes inside an arena are counted in units */
  SPLITS = 16,           /* size classes to the power of two; below SPLITS units they are exact */
  SPLITS_LOG = 4,        /* log2 of SPLITS */
  LEVELS = 29,           /* 2^32 units and more fit: see class_of */
  GROW = 1 << 20,        /* bytes; least step by which an arena is made accessible */
  ARENA_LOG_MOST = 34,   /* 16 GiB for each of 4096 ranks: half of a 47-bit address space */
  ARENA_LOG_LEAST = 26   /* 64 MiB */
};

/* Marks of a header, unlikely as data: free() of anything else is noticed. */
enum { BLOCK_USED = 0x5ed0b10c, BLOCK_FREE = 0x0f4eeb10 };

struct block {
  uint32_t before; /* units of the block that ends where this one begins; 0: this is the first */
  uint32_t units;  /* of this block, header included */
  uint32_t mark;
  uint32_t offset; /* of the payload; keeps the payload aligned, otherwise unused */
  /* the payload; while the block is free, it begins with these two */
  struct block *next, *previous;
};

enum { HEADER = 16, LEAST_UNITS = 2 };
static_assert(offsetof(struct block, next) == HEADER, "the payload begins after one unit");
static_assert(sizeof(struct block) == LEAST_UNITS * UNIT, "the least block holds its links");

struct arena {
  char *top;                /* end of the last block */
  uint32_t last_units;      /* of the last block; 0: there is none */
  int rank;                 /* whose */
  uint32_t levels;          /* bit set: that level has a free block */
  uint32_t classes[LEVELS]; /* bit set: that class of the level has one */
  struct block *free[LEVELS][SPLITS];
};

/* Facts about the process, which no rollback undoes, so they are not in the arenas. */
static struct {
  char *base;                   /* of the reserved range; NULL before the first arena */
  int arena_log;                /* log2 of the bytes of an arena */
  char *accessible[HEAP_RANKS]; /* end of what may be touched; NULL: no such arena yet */
  uintptr_t linker, linker_end; /* code of the dynamic linker */
  bool watch;                   /* see watch_caller */
} process;

/* initial-exec: reading it must not allocate. */
static _Thread_local struct arena *current __attribute__((tls_model("initial-exec")));

static void die(const char *complaint)
{
  static const char name[] = "recline heap: ";
  if (write(STDERR_FILENO, name, sizeof name - 1) < 0 ||
      write(STDERR_FILENO, complaint, strlen(complaint)) < 0) {
    /* nothing left to tell it to */
  }
  abort();
}

static char *arena_end(const struct arena *arena)
{
  return (char *)(uintptr_t)arena + ((size_t)1 << process.arena_log);
}

static char *arena_blocks(struct arena *arena)
{
  return (char *)arena + (sizeof *arena + UNIT - 1) / UNIT * UNIT;
}

static void *payload_of(struct block *block)
{
  return (char *)block + HEADER;
}

static struct block *after(struct block *block)
{
  return (struct block *)((char *)block + (size_t)block->units * UNIT);
}

static struct block *before(struct block *block)
{
  return (struct block *)((char *)block - (size_t)block->before * UNIT);
}

static struct block *block_of(void *payload)
{
  struct block *block = (struct block *)((char *)payload - HEADER);
  if ((uintptr_t)payload % UNIT || block->mark != BLOCK_USED)
    die("free or realloc of what is not the start of a block, or was freed before\n");
  return block;
}

/* Units for a payload of `bytes`, or 0 if that is more than an arena can ever hold. */
static uint32_t units_for(size_t bytes)
{
  if (bytes >= (size_t)1 << process.arena_log)
    return 0;
  size_t units = (bytes + HEADER + UNIT - 1) / UNIT;
  return units < LEAST_UNITS ? LEAST_UNITS : (uint32_t)units;
}

struct class
{
  int level, split;
};

/* The class whose sizes begin at or below `units`. */
static struct class class_of(uint32_t units)
{
  if (units < SPLITS)
    return (struct class){0, (int)units};
  int log = 31 - __builtin_clz(units);
  return (struct class){log - SPLITS_LOG + 1, (int)(units >> (log - SPLITS_LOG)) & (SPLITS - 1)};
}

static void list_insert(struct arena *arena, struct block *block)
{
  struct class class = class_of(block->units);
  struct block **head = &arena->free[class.level][class.split];
  block->mark = BLOCK_FREE;
  block->previous = NULL;
  block->next = *head;
  if (*head)
    (*head)->previous = block;
  *head = block;
  arena->classes[class.level] |= 1u << class.split;
  arena->levels |= 1u << class.level;
}

static void list_remove(struct arena *arena, struct block *block)
{
  struct class class = class_of(block->units);
  if (block->next)
    block->next->previous = block->previous;
  if (block->previous) {
    block->previous->next = block->next;
    return;
  }
  arena->free[class.level][class.split] = block->next;
  if (block->next)
    return;
  arena->classes[class.level] &= ~(1u << class.split);
  if (!arena->classes[class.level])
    arena->levels &= ~(1u << class.level);
}

/* A free block of at least `units`, still in its list. Only the first block of the class that
 * `units` itself falls into is looked at (any of them could be too small); every block of a
 * higher class will do. */
static struct block *list_find(struct arena *arena, uint32_t units)
{
  struct class class = class_of(units);
  struct block *first = arena->free[class.level][class.split];
  if (first && first->units >= units)
    return first;
  uint32_t splits = arena->classes[class.level] & ~((2u << class.split) - 1);
  if (!splits) {
    uint32_t levels = arena->levels & ~((2u << class.level) - 1);
    if (!levels)
      return NULL;
    class.level = __builtin_ctz(levels);
    splits = arena->classes[class.level];
  }
  return arena->free[class.level][__builtin_ctz(splits)];
}

/* Tells the block behind, or the arena if there is none, how long this block is now. */
static void tell_next(struct arena *arena, struct block *block)
{
  struct block *next = after(block);
  if ((char *)next == arena->top)
    arena->last_units = block->units;
  else
    next->before = block->units;
}

static bool at_top(const struct arena *arena, struct block *block)
{
  return (char *)after(block) == arena->top;
}

/* Makes the arena accessible up to `end`, in steps that grow with it: few calls, few pages. */
static bool reach(struct arena *arena, char *end)
{
  char **limit = &process.accessible[arena->rank];
  if (end <= *limit)
    return true;
  size_t room = (size_t)(arena_end(arena) - *limit);
  if ((size_t)(end - *limit) > room)
    return false;
  size_t step = (size_t)(end - *limit) + (size_t)(*limit - (char *)arena) / 4;
  step = (step + GROW - 1) / GROW * GROW;
  if (step > room)
    step = room;
  if (mprotect(*limit, step, PROT_READ | PROT_WRITE))
    return false;
  *limit += step;
  return true;
}

/* Moves top up, or not if the arena is full. */
static bool raise_top(struct arena *arena, size_t units)
{
  if (units * UNIT > (size_t)(arena_end(arena) - arena->top) ||
      !reach(arena, arena->top + units * UNIT))
    return false;
  arena->top += units * UNIT;
  return true;
}

static struct block *append(struct arena *arena, uint32_t units)
{
  struct block *block = (struct block *)arena->top;
  if (!raise_top(arena, units))
    return NULL;
  *block = (struct block){.before = arena->last_units, .units = units, .mark = BLOCK_USED};
  arena->last_units = units;
  return block;
}

/* Gives a used block up: merged with its neighbours into a list, or off the top. */
static void release(struct arena *arena, struct block *block)
{
  if (!at_top(arena, block) && after(block)->mark == BLOCK_FREE) {
    struct block *next = after(block);
    list_remove(arena, next);
    next->mark = 0;
    block->units += next->units;
  }
  if (block->before && before(block)->mark == BLOCK_FREE) {
    struct block *previous = before(block);
    list_remove(arena, previous);
    block->mark = 0;
    previous->units += block->units;
    block = previous;
  }
  if (at_top(arena, block)) {
    arena->last_units = block->before;
    arena->top = (char *)block;
    block->mark = 0;
    return;
  }
  tell_next(arena, block);
  list_insert(arena, block);
}

/* Cuts a used block down to `units`; the rest is released if it can be a block. */
static void cut(struct arena *arena, struct block *block, uint32_t units)
{
  if (block->units < units + LEAST_UNITS)
    return;
  uint32_t rest_units = block->units - units;
  block->units = units;
  struct block *rest = after(block);
  *rest = (struct block){.before = units, .units = rest_units, .mark = BLOCK_USED};
  tell_next(arena, rest);
  release(arena, rest);
}

static void *out_of_memory(void)
{
  errno = ENOMEM;
  return NULL;
}

static void *arena_malloc(struct arena *arena, size_t bytes)
{
  uint32_t units = units_for(bytes);
  if (!units)
    return out_of_memory();
  struct block *block = list_find(arena, units);
  if (block) {
    list_remove(arena, block);
    block->mark = BLOCK_USED;
    cut(arena, block, units);
  } else {
    block = append(arena, units);
  }
  return block ? payload_of(block) : out_of_memory();
}

static void arena_free(struct arena *arena, void *payload)
{
  release(arena, block_of(payload));
}

static size_t arena_usable(void *payload)
{
  return (size_t)block_of(payload)->units * UNIT - HEADER;
}

/* A block whose payload is aligned: a longer one, whose front is given back. */
static void *arena_memalign(struct arena *arena, size_t alignment, size_t bytes)
{
  if (alignment <= HEAP_ALIGNMENT)
    return arena_malloc(arena, bytes);
  size_t slack = alignment + LEAST_UNITS * UNIT;
  if (bytes > SIZE_MAX - slack)
    return out_of_memory();
  char *payload = arena_malloc(arena, bytes + slack);
  if (!payload)
    return NULL;
  struct block *block = block_of(payload);
  if ((uintptr_t)payload % alignment) {
    /* the front must be able to be a block of its own */
    uintptr_t least = (uintptr_t)payload + LEAST_UNITS * UNIT;
    uintptr_t aligned = (least + alignment - 1) / alignment * alignment;
    uint32_t front = (uint32_t)((aligned - (uintptr_t)payload) / UNIT);
    struct block *rest = (struct block *)((char *)block + (size_t)front * UNIT);
    *rest = (struct block){.before = front, .units = block->units - front, .mark = BLOCK_USED};
    tell_next(arena, rest);
    block->units = front;
    release(arena, block);
    block = rest;
  }
  cut(arena, block, units_for(bytes));
  return payload_of(block);
}

/* Grows a block without moving it: into the free one behind it, or at the top. */
static bool grow_in_place(struct arena *arena, struct block *block, uint32_t units)
{
  uint32_t missing = units - block->units;
  if (at_top(arena, block)) {
    if (!raise_top(arena, missing))
      return false;
    block->units = units;
    arena->last_units = units;
    return true;
  }
  struct block *next = after(block);
  if (next->mark != BLOCK_FREE || next->units < missing)
    return false;
  list_remove(arena, next);
  next->mark = 0;
  block->units += next->units;
  tell_next(arena, block);
  return true;
}

static void *arena_realloc(struct arena *arena, void *payload, size_t bytes)
{
  struct block *block = block_of(payload);
  uint32_t units = units_for(bytes);
  if (!units)
    return out_of_memory();
  if (units <= block->units || grow_in_place(arena, block, units)) {
    cut(arena, block, units);
    return payload;
  }
  void *moved = arena_malloc(arena, bytes);
  if (!moved)
    return NULL;
  memcpy(moved, payload, arena_usable(payload)); /* it is the smaller of the two */
  arena_free(arena, payload);
  return moved;
}

/* ---- arenas and modes ----------------------------------------------------------------------- */

/* Reserves the addresses of all arenas, with less for each if there are not as many addresses
 * (a limit on virtual memory). Nothing is accessible yet, so nothing is charged. */
static bool reserve(void)
{
  for (int log = ARENA_LOG_MOST; log >= ARENA_LOG_LEAST; log--) {
    void *base = mmap(NULL, (size_t)HEAP_RANKS << log, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      continue;
    process.base = base;
    process.arena_log = log;
    return true;
  }
  return false;
}

/* Whether malloc is found here by whoever looks it up as the owner of `handle` does. */
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

/* The arena of a pointer, or NULL. Below base the difference wraps, and is too large. */
static struct arena *arena_of(const void *pointer)
{
  uintptr_t offset = (uintptr_t)pointer - (uintptr_t)process.base;
  if (!process.base || offset >> process.arena_log >= HEAP_RANKS)
    return NULL;
  size_t rank = offset >> process.arena_log;
  return (struct arena *)(process.base + (rank << process.arena_log));
}

EXPORT struct arena *heap_arena_new(int rank)
{
  if (rank < 0 || rank >= HEAP_RANKS) {
    errno = EINVAL;
    return NULL;
  }
  if (process.accessible[rank]) {
    errno = EEXIST;
    return NULL;
  }
  if (!process.base && !finds_us(dlopen(NULL, RTLD_LAZY))) { /* the global scope: the preload */
    errno = ENOTSUP;
    return NULL;
  }
  if (!process.base && !reserve())
    return out_of_memory();
  struct arena *arena = (struct arena *)(process.base + ((size_t)rank << process.arena_log));
  if (mprotect(arena, GROW, PROT_READ | PROT_WRITE))
    return out_of_memory();
  process.accessible[rank] = (char *)arena + GROW;
  arena->rank = rank; /* all else is zero, as fresh pages are */
  arena->top = arena_blocks(arena);
  return arena;
}

EXPORT void heap_enter(struct arena *arena)
{
  current = arena;
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
  if (!arena)
    return HEAP_NOBODY;
  /* not from arena->rank: the arena of a rank without one cannot be read */
  return (int)(((uintptr_t)arena - (uintptr_t)process.base) >> process.arena_log);
}

EXPORT void heap_used(const struct arena *arena, void **start, size_t *length)
{
  *start = (void *)(uintptr_t)arena;
  *length = (size_t)(arena->top - (const char *)arena);
}

/* ---- the dynamic linker --------------------------------------------------------------------- */

/* ld.so allocates through us as well: the thread-local block of a library that is touched for the
 * first time, the record that one library needs another (made when a symbol is bound lazily).
 * That happens in the middle of program code, and what it keeps would be torn away by the next
 * rollback. So what is called from its code is in libc mode. */
__attribute__((constructor)) static void find_linker(void)
{
  uintptr_t base = getauxval(AT_BASE);
  if (!base)
    return;
  const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)base;
  const ElfW(Phdr) *header = (const ElfW(Phdr) *)(base + elf->e_phoff);
  for (int i = 0; i < elf->e_phnum; i++) {
    if (header[i].p_type != PT_LOAD || !(header[i].p_flags & PF_X))
      continue;
    process.linker = base + header[i].p_vaddr;
    process.linker_end = process.linker + header[i].p_memsz;
  }
}

/* ---- watching the simulator ----------------------------------------------------------------- */

static bool in_library(const Dl_info *info, const char *name)
{
  return info->dli_fname && strstr(info->dli_fname, name);
}

/* A simulator object in a rank's arena is destroyed by the next rollback, and noticed long after,
 * far away. The cause is an entry point that the layer does not wrap. With RECLINE_HEAP_WATCH set,
 * the code that an allocation is for (the first frame outside libc, libstdc++ and this library)
 * is looked up each time, and must not be SimGrid's. */
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
      die("SimGrid allocates or frees in program mode: an entry point is not wrapped\n");
    }
    break;
  }
  heap_enter(arena);
}

__attribute__((constructor)) static void read_watch(void)
{
  process.watch = getenv("RECLINE_HEAP_WATCH") != NULL;
}

/* The arena for a call from `caller`, or NULL for libc. */
static inline struct arena *mode(uintptr_t caller)
{
  if (__builtin_expect(!current, 1))
    return NULL;
  if (caller - process.linker < process.linker_end - process.linker)
    return NULL;
  if (process.watch)
    watch_caller();
  return current;
}

/* ---- the malloc family ---------------------------------------------------------------------- */

/* Only this function of libc has no second name; dlsym does not allocate when it succeeds. */
static size_t libc_usable(void *pointer)
{
  static size_t (*original)(void *);
  if (!original)
    *(void **)&original = dlsym(RTLD_NEXT, "malloc_usable_size");
  return original(pointer);
}

static void *allocate(struct arena *arena, size_t bytes)
{
  return arena ? arena_malloc(arena, bytes) : __libc_malloc(bytes);
}

static void *allocate_aligned(struct arena *arena, size_t alignment, size_t bytes)
{
  return arena ? arena_memalign(arena, alignment, bytes) : __libc_memalign(alignment, bytes);
}

/* A block of libc that the program gives back was allocated before program mode began. It is not
 * freed: the last checkpoint may still hold it, and would then be restored to a pointer whose
 * memory is somebody else's. Nobody here knows when that checkpoint is gone; leaking is safe. */
static void release_any(struct arena *arena, void *pointer)
{
  struct arena *owner = arena_of(pointer);
  if (owner)
    arena_free(owner, pointer);
  else if (!arena)
    __libc_free(pointer);
}

static void *resize(struct arena *arena, void *pointer, size_t bytes)
{
  struct arena *owner = arena_of(pointer);
  if (owner && !bytes) { /* as libc does */
    arena_free(owner, pointer);
    return NULL;
  }
  if (owner)
    return arena_realloc(owner, pointer, bytes);
  if (!arena)
    return __libc_realloc(pointer, bytes);
  if (pointer && !bytes)
    return NULL;
  void *moved = arena_malloc(arena, bytes);
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
  void *payload = arena_malloc(arena, total);
  return payload ? memset(payload, 0, total) : NULL; /* even fresh: a rollback leaves stale bytes */
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
  int saved = errno; /* POSIX: the error is the return value, errno is left alone */
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

/* Obsolete, and more lenient: any alignment is rounded up to a power of two. */
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
