/* Allocates in one arena (arena.h).
 *
 * The method is two-level segregated fit (Masmano et al., ECRTS 2004). There is a free list for
 * each size class, and 16 size classes for each power of two. Bitmaps are used to find the next
 * class that has a free block. Free blocks that are neighbours are merged at once. Every operation
 * except arena_give_back() takes constant time. */
#define _GNU_SOURCE
#include "sim/memory/arena.h"
#include "sim/memory/die.h"
#include "sim/memory/heap.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  UNIT = HEAP_ALIGNMENT, /* number of bytes of a unit, in which sizes inside an arena are counted */
  /* number of size classes for each power of two; below SPLITS units, each class has one size */
  SPLITS = 16,
  SPLITS_LOG = 4,  /* log2 of SPLITS */
  LEVELS = 29,     /* enough for 2^32 units, see class_of() */
  GROW = 1 << 20,  /* least number of bytes by which the accessible part of an arena grows */
  HOLE = 1 << 15,  /* free blocks of more bytes than this give their pages back */
  SLACK = 1 << 20, /* number of bytes: so few unused pages are not worth a system call */
  /* The largest number of bytes that all arenas together may keep beyond SLACK (struct slack). */
  SLACK_ALL = 256 << 20,
  ARENA_LOG_MOST = 34, /* 16 GiB for each of 4096 ranks: half of a 47-bit address space */
  ARENA_LOG_LEAST = 26 /* 64 MiB */
};

/* Marks in the header of a block. Data hardly ever look like these marks, so free() of a pointer to
 * anything else is noticed. */
enum { BLOCK_USED = 0x5ed0b10c, BLOCK_FREE = 0x0f4eeb10 };

struct block {
  /* number of units of the block before this one, or 0 if this is the first block */
  uint32_t before;
  uint32_t units; /* number of units of this block, header included */
  uint32_t mark;
  /* The payload begins here. While the block is free, its payload begins with these two
   * pointers. */
  struct block *next, *previous;
};

enum { HEADER = 16, LEAST_UNITS = 2 };
static_assert(offsetof(struct block, next) == HEADER, "the payload begins after one unit");
static_assert(sizeof(struct block) == LEAST_UNITS * UNIT, "the least block holds its links");

struct arena {
  char *top;           /* end of the last block */
  uint32_t last_units; /* number of units of the last block, or 0 if there is none */
  int rank;            /* the rank that owns the arena */
  struct arena_notes notes;
  uint32_t levels;          /* a bit is set if that level has a free block */
  uint32_t classes[LEVELS]; /* by level: a bit is set if that class of the level has a free block */
  struct block *free[LEVELS][SPLITS];
};

/* Counts the bytes of unused pages. A block that is freed either keeps its pages or gives them back
 * to the system. */
struct slack {
  size_t kept; /* number of bytes that were freed and may still have their pages */
  /* number of bytes whose pages were given back and that have taken no new pages since */
  size_t given;
  /* number of bytes that took new pages for large blocks since `more` was last raised */
  size_t again;
  size_t more; /* number of bytes that may be kept beyond SLACK */
};

struct arena_range arena_range;

/* Holds facts about the process. They are not in the arenas, because no rollback may undo them. */
static struct {
  /* by rank: end of the accessible memory of the arena, or NULL if there is no such arena yet */
  char *accessible[HEAP_RANKS];
  /* by rank: end of the memory that may have been touched, if that end is above the top */
  char *touched[HEAP_RANKS];
  struct slack slack[HEAP_RANKS];
  size_t more; /* sum of slack.more over all ranks */
} process;

static char *arena_end(const struct arena *arena)
{
  return (char *)(uintptr_t)arena + ((size_t)1 << arena_range.log);
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
    die(DIE_INPUT, "free or realloc of what is not the start of a block, or was freed before");
  return block;
}

/* Returns the number of units for a payload of `bytes` bytes, or 0 if an arena can never hold so
 * many. */
static uint32_t units_for(size_t bytes)
{
  if (bytes >= (size_t)1 << arena_range.log)
    return 0;
  size_t units = (bytes + HEADER + UNIT - 1) / UNIT;
  return units < LEAST_UNITS ? LEAST_UNITS : (uint32_t)units;
}

struct class
{
  int level, split;
};

/* Returns the class whose sizes begin at or below `units`. */
static struct class class_of(uint32_t units)
{
  if (units < SPLITS)
    return (struct class){0, (int)units};
  int log = 31 - __builtin_clz(units);
  return (struct class){log - SPLITS_LOG + 1, (int)(units >> (log - SPLITS_LOG)) & (SPLITS - 1)};
}

static void list_insert(struct arena *arena, struct block *block)
{
  REQUIRE((char *)after(block) <= arena->top, "a free block ends within the arena");
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
  REQUIRE(block->mark == BLOCK_FREE, "a block in a free list is free");
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

/* Returns a free block of at least `units` units, and leaves it in its list. In the class of
 * `units` itself, a block may be too small, so only the first block is tried. In a higher class,
 * every block is large enough. */
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

/* Writes the new length of this block into the next block or, if this is the last block, into the
 * arena. */
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

/* Makes the arena accessible up to `end`. The steps grow with the arena, so that there are few
 * calls and hardly any wasted pages. */
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

/* Returns the address behind which memory is all zeros. */
static char *end_of_touched(const struct arena *arena)
{
  char *touched = process.touched[arena->rank];
  return touched < arena->top ? arena->top : touched;
}

/* Moves the top up. Returns false if the arena is full. */
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

/* ---- giving memory back ---- */

/* Gives back the complete pages between two addresses. Returns the start of the first page, or NULL
 * if the pages could not be given back and so are not all zeros. */
static char *discard(char *start, char *end)
{
  uintptr_t page = (uintptr_t)getpagesize();
  uintptr_t first = ((uintptr_t)start + page - 1) / page * page,
            last = (uintptr_t)end / page * page;
  int saved = errno;
  bool failed = first < last && madvise((void *)first, last - first, MADV_DONTNEED);
  errno = saved;
  return failed ? NULL : (char *)first;
}

void arena_give_back(struct arena *arena)
{
  struct class least = class_of(HOLE / UNIT);
  for (int level = least.level; level < LEVELS; level++)
    for (int split = 0; split < SPLITS; split++)
      for (struct block *block = arena->free[level][split]; block; block = block->next)
        discard((char *)(block + 1), (char *)after(block));
  char *fresh = discard(arena->top, process.accessible[arena->rank]);
  if (fresh)
    process.touched[arena->rank] = fresh;
  struct slack *slack = &process.slack[arena->rank];
  slack->given += slack->kept;
  slack->kept = 0;
}

/* Lets an arena keep twice as many bytes if its program allocates large blocks again and again.
 * Blocks that are larger than what the arena may keep take new pages each time. */
static void learn_slack(struct slack *slack)
{
  size_t more = SLACK + slack->more;
  if (slack->again < more || process.more + more > SLACK_ALL)
    return;
  slack->again = 0;
  slack->more += more;
  process.more += more;
}

/* Notes that `freed` bytes were freed and are now part of a hole of `hole` bytes. Their pages are
 * not given back each time. Otherwise a program that frees and allocates again and again would pay
 * for fresh pages. */
static void add_slack(struct arena *arena, size_t freed, size_t hole)
{
  struct slack *slack = &process.slack[arena->rank];
  if (hole < HOLE)
    return;
  slack->kept += freed;
  if (slack->kept <= SLACK + slack->more + (size_t)(arena->top - (char *)arena) / 4)
    return;
  learn_slack(slack);
  arena_give_back(arena);
}

/* Notes that `bytes` bytes of a hole of `hole` bytes are in use again. */
static void take_slack(struct arena *arena, size_t bytes, size_t hole)
{
  struct slack *slack = &process.slack[arena->rank];
  if (hole < HOLE)
    return;
  size_t kept = bytes < slack->kept ? bytes : slack->kept, again = bytes - kept;
  if (again > slack->given)
    again = slack->given;
  slack->kept -= kept;
  slack->given -= again;
  if (bytes > SLACK)
    slack->again += again;
}

/* ---- blocks ---- */

/* Frees a used block. Merges the block with free neighbours, and lists it or lowers the top.
 * Returns the number of bytes of the hole that the block is now part of. */
static size_t release(struct arena *arena, struct block *block)
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
    process.touched[arena->rank] = end_of_touched(arena);
    arena->last_units = block->before;
    arena->top = (char *)block;
    block->mark = 0;
    return SIZE_MAX;
  }
  tell_next(arena, block);
  list_insert(arena, block);
  return (size_t)block->units * UNIT;
}

/* Cuts a used block down to `units`. Releases the rest if it can be a block. Returns the number of
 * bytes of the hole that the rest is part of. */
static size_t cut(struct arena *arena, struct block *block, uint32_t units)
{
  if (block->units < units + LEAST_UNITS)
    return 0;
  uint32_t rest_units = block->units - units;
  block->units = units;
  struct block *rest = after(block);
  *rest = (struct block){.before = units, .units = rest_units, .mark = BLOCK_USED};
  tell_next(arena, rest);
  return release(arena, rest);
}

static void *out_of_memory(void)
{
  errno = ENOMEM;
  return NULL;
}

void *arena_unset(struct arena *arena, size_t bytes)
{
  uint32_t units = units_for(bytes);
  if (!units)
    return out_of_memory();
  struct block *block = list_find(arena, units);
  if (block) {
    take_slack(arena, (size_t)units * UNIT, (size_t)block->units * UNIT);
    list_remove(arena, block);
    block->mark = BLOCK_USED;
    cut(arena, block, units);
  } else {
    take_slack(arena, (size_t)units * UNIT, SIZE_MAX);
    block = append(arena, units);
  }
  return block ? payload_of(block) : out_of_memory();
}

/* Clears memory up to `touched`. Behind that address, all memory is zeros. A block that is too
 * large to be kept has given its pages back when it was freed, so these pages are zeros already. */
static void clear(const struct arena *arena, char *start, char *end, char *touched)
{
  const struct slack *slack = &process.slack[arena->rank];
  uintptr_t page = (uintptr_t)getpagesize();
  char *dirty = end < touched ? end : touched;
  if (start >= dirty)
    return;
  char *zeros = (size_t)(dirty - start) > SLACK + slack->more ? discard(start, dirty) : NULL;
  if (!zeros) {
    memset(start, 0, (size_t)(dirty - start));
    return;
  }
  char *rest = dirty - (uintptr_t)dirty % page;
  memset(start, 0, (size_t)(zeros - start));
  memset(rest, 0, (size_t)(dirty - rest));
}

void *arena_malloc(struct arena *arena, size_t bytes)
{
  char *touched = end_of_touched(arena);
  char *payload = arena_unset(arena, bytes);
  if (payload)
    clear(arena, payload, payload + arena_usable(payload), touched);
  return payload;
}

void arena_free(struct arena *arena, void *payload)
{
  struct block *block = block_of(payload);
  size_t freed = (size_t)block->units * UNIT;
  add_slack(arena, freed, release(arena, block));
}

size_t arena_usable(void *payload)
{
  return (size_t)block_of(payload)->units * UNIT - HEADER;
}

/* Makes a block with an aligned payload out of a longer block. Frees the front of the longer
 * block. */
static void *aligned_unset(struct arena *arena, size_t alignment, size_t bytes)
{
  size_t slack = alignment + LEAST_UNITS * UNIT;
  if (bytes > SIZE_MAX - slack)
    return out_of_memory();
  char *payload = arena_unset(arena, bytes + slack);
  if (!payload)
    return NULL;
  struct block *block = block_of(payload);
  if ((uintptr_t)payload % alignment) {
    /* the front must be large enough for a block */
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

void *arena_memalign(struct arena *arena, size_t alignment, size_t bytes)
{
  if (alignment <= HEAP_ALIGNMENT)
    return arena_malloc(arena, bytes);
  char *touched = end_of_touched(arena);
  char *payload = aligned_unset(arena, alignment, bytes);
  if (payload)
    clear(arena, payload, payload + arena_usable(payload), touched);
  return payload;
}

/* Grows a block without moving it: the block takes over the free block behind it, or the top is
 * raised. */
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

void *arena_realloc(struct arena *arena, void *payload, size_t bytes)
{
  struct block *block = block_of(payload);
  uint32_t units = units_for(bytes);
  size_t had = arena_usable(payload);
  char *touched = end_of_touched(arena), *rest = (char *)payload + (had < bytes ? had : bytes);
  if (!units)
    return out_of_memory();
  if (units <= block->units) {
    size_t freed = (size_t)(block->units - units) * UNIT;
    add_slack(arena, freed, cut(arena, block, units));
  } else if (grow_in_place(arena, block, units)) {
    cut(arena, block, units);
  } else {
    void *moved = arena_malloc(arena, bytes);
    if (!moved)
      return NULL;
    memcpy(moved, payload, had);
    arena_free(arena, payload);
    return moved;
  }
  clear(arena, rest, (char *)payload + arena_usable(payload), touched);
  return payload;
}

/* ---- where arenas lie ----------------------------------------------------------------------- */

/* Reserves the addresses of all arenas. If a limit on virtual memory leaves too few addresses, each
 * arena gets fewer. Nothing is accessible yet, so nothing counts as used. */
static bool reserve(void)
{
  for (int log = ARENA_LOG_MOST; log >= ARENA_LOG_LEAST; log--) {
    void *base = mmap(NULL, (size_t)HEAP_RANKS << log, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      continue;
    arena_range = (struct arena_range){(uintptr_t)base, (uintptr_t)HEAP_RANKS << log, log};
    return true;
  }
  return false;
}

/* Returns the memory that is reserved for `rank`. */
static struct arena *arena_at(int rank)
{
  return (struct arena *)(arena_range.base + ((uintptr_t)rank << arena_range.log));
}

int arena_rank(const struct arena *arena)
{
  /* arena->rank cannot be read if the rank has no arena */
  return (int)(((uintptr_t)arena - arena_range.base) >> arena_range.log);
}

struct arena *arena_of_rank(int rank)
{
  if (rank < 0 || rank >= HEAP_RANKS || !process.accessible[rank])
    return NULL;
  return arena_at(rank);
}

struct arena *arena_new(int rank)
{
  if (rank < 0 || rank >= HEAP_RANKS) {
    errno = EINVAL;
    return NULL;
  }
  if (!arena_range.base && !reserve())
    return out_of_memory();
  struct arena *arena = arena_at(rank);
  if (mprotect(arena, GROW, PROT_READ | PROT_WRITE))
    return out_of_memory();
  process.accessible[rank] = (char *)arena + GROW;
  arena->rank = rank; /* all other fields are zero, because fresh pages are zero */
  arena->top = arena_blocks(arena);
  return arena;
}

struct arena_notes *arena_notes(struct arena *arena)
{
  return &arena->notes;
}

/* Checks that blocks follow each other without gaps up to the top, that each knows the length of
 * the block before it, that no two free blocks are neighbours, and that the lists hold all free
 * blocks. */
static bool is_whole(const struct arena *arena)
{
  size_t free_blocks = 0, listed = 0;
  uint32_t before = 0;
  bool was_free = false;
  char *at = arena_blocks((struct arena *)(uintptr_t)arena);
  while (at < arena->top) {
    const struct block *block = (const struct block *)at;
    bool is_free = block->mark == BLOCK_FREE;
    if (block->before != before || block->units < LEAST_UNITS || (was_free && is_free) ||
        (!is_free && block->mark != BLOCK_USED))
      return false;
    free_blocks += is_free;
    was_free = is_free;
    before = block->units;
    at += (size_t)block->units * UNIT;
  }
  for (int level = 0; level < LEVELS; level++)
    for (int split = 0; split < SPLITS; split++)
      for (const struct block *block = arena->free[level][split]; block; block = block->next)
        listed++;
  return at == arena->top && before == arena->last_units && free_blocks == listed;
}

void arena_used(const struct arena *arena, void **start, size_t *length)
{
  if (checks_are_on && !is_whole(arena))
    die(DIE_INPUT, "rank %d has written past the end of a block of its heap", arena->rank);
  *start = (void *)(uintptr_t)arena;
  *length = (size_t)(arena->top - (const char *)arena);
}
