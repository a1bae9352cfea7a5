/* Exchanges the data of shared libraries when another rank goes on (library_data.h).
 *
 * The state of a library lies in the library's .data and .bss, and in blocks to which these point.
 * Blocks are allocated in program mode, so they are in the rank's arena already. The data in .data
 * and .bss are copied when another rank goes on: the old rank's data into the old rank's arena, and
 * the new rank's data out of the new rank's arena.
 *
 * A rank begins as a process does: with the data of the library's file, for which constructors are
 * then called. */
#define _GNU_SOURCE
#include "sim/memory/library_data.h"

#include "sim/memory/die.h"
#include "sim/memory/library_scan.h"

#include <dlfcn.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct library library[LIBRARIES];
static int count = -1; /* number of libraries, or -1 if nobody has looked for libraries yet */
static size_t total;   /* number of bytes of the data of all libraries */

/* The rank whose data are in place, or HEAP_NOBODY. The data of other ranks are in their arenas. */
static int holder = HEAP_NOBODY;
static char *saved[HEAP_RANKS];

/* ---- exchange ---- */

/* Copies page by page. Leaves out equal pages, so that pages that no rank has written take no
 * memory. */
static void copy(char *to, const char *from, size_t bytes)
{
  enum { PAGE = 4096 };
  for (size_t at = 0; at < bytes; at += PAGE) {
    size_t part = MIN(PAGE, bytes - at);
    if (memcmp(to + at, from + at, part))
      memcpy(to + at, from + at, part);
  }
}

static void let_out(void)
{
  if (holder == HEAP_NOBODY)
    return;
  char *at = saved[holder];
  for (int i = 0; i < count; at += library[i++].bytes)
    copy(at, library[i].start, library[i].bytes);
  holder = HEAP_NOBODY;
}

/* This function is called when program mode of another arena begins. */
static void let_in(struct arena *arena)
{
  int rank = heap_owner(arena);
  if (rank == holder || !saved[rank])
    return;
  let_out();
  const char *at = saved[rank];
  for (int i = 0; i < count; at += library[i++].bytes)
    copy(library[i].start, at, library[i].bytes);
  holder = rank;
}

void library_data_collect(const struct arena *arena)
{
  int rank = heap_owner(arena);
  if (rank != holder || !saved[rank])
    return;
  let_out();
  holder = rank; /* the data of this rank are still in place */
}

void library_data_restored(const struct arena *arena)
{
  if (holder == heap_owner(arena))
    holder = HEAP_NOBODY;
  heap_changed();
}

/* At the end of the process, after the programs of all ranks, restores the data that libraries made
 * when they were loaded. */
static void close_for_programs(void)
{
  for (int i = 0; i < count; i++)
    copy(library[i].start, library[i].first, library[i].bytes);
  holder = HEAP_NOBODY;
}

/* ---- the runtime of Fortran ---- */

static bool points_to(const struct library *this, int rank)
{
  for (size_t at = 0; at + sizeof(void *) <= this->bytes; at += sizeof(void *)) {
    void *pointer;
    memcpy(&pointer, this->start + at, sizeof pointer);
    if (heap_owner(pointer) == rank)
      return true;
  }
  return false;
}

static void construct(struct library *this, struct arena *arena)
{
  copy(this->start, this->fresh, this->bytes);
  heap_enter(arena);
  for (size_t i = 0; i < this->constructor_count; i++)
    this->constructors[i](0, NULL, environ);
  heap_leave();
}

/* Keeps one constructor of libgfortran that runs for each rank. It makes the units of standard
 * input and output, which lie in the arena. Other constructors make keys of threads. There are too
 * few keys for all ranks, so these constructors run only once. */
static void keep_one_constructor(struct library *this, struct arena *arena)
{
  static constructor *units;
  constructor **all = this->constructors;
  size_t all_count = this->constructor_count;
  this->constructor_count = 1;
  for (size_t i = 0; i < all_count && !units; i++) {
    this->constructors = &all[i];
    construct(this, arena);
    if (points_to(this, heap_owner(arena)))
      units = all[i];
    else
      memcpy(this->fresh, this->start, this->bytes);
  }
  if (!units)
    die(DIE_BREACH, "%s makes no units where it is expected to", this->file);
  this->constructors = &units;
}

/* Closes units at the end of the process, as libgfortran's destructor does for the units that it
 * finds. A unit may still be locked, because a failed statement ends the process or because a rank
 * is in an MPI call within a statement. So locks count as free meanwhile (locks.c). */
static void flush_units(void)
{
  void (*flush)(int *);
  void *symbol = dlsym(RTLD_NEXT, "_gfortran_flush_i4");
  if (!symbol)
    return;
  memcpy(&flush, &symbol, sizeof symbol);
  heap_locks_are_free = true;
  for (int rank = 0; rank < HEAP_RANKS; rank++) {
    if (!saved[rank])
      continue;
    heap_enter(heap_arena(rank));
    flush(NULL); /* all units */
    heap_leave();
  }
  heap_locks_are_free = false;
}

/* Makes each PRINT statement write at once. Buffered text would come rank by rank, which is a
 * different order than without a protocol, and would be lost if the simulation ends early. */
static void begin_fortran(struct library *this, struct arena *arena)
{
  setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "1", 0);
  keep_one_constructor(this, arena);
  atexit(flush_units);
}

/* ---- beginning ---- */

static void look(const void *inside, struct arena *arena)
{
  count = library_scan(inside, library);
  /* the function runs last, because it is registered before the programs begin */
  atexit(close_for_programs);
  for (int i = 0; i < count; i++) {
    total += library[i].bytes;
    if (library_scan_is_fortran(library[i].file))
      begin_fortran(&library[i], arena);
    else if (library[i].thread_local_data)
      fprintf(stderr,
              "recline: all ranks share the thread-local data of %s, and no rollback puts "
              "them back: expected an archive\n",
              library[i].file);
  }
  if (count > 0)
    heap_on_change(let_in);
}

void library_data_begin(struct arena *arena, const void *inside)
{
  int rank = heap_owner(arena);
  if (count < 0)
    look(inside, arena);
  if (count == 0 || saved[rank])
    return;
  let_out();
  heap_enter(arena);
  char *place = calloc(1, total);
  heap_leave();
  if (!place)
    die(DIE_BREACH, "no memory in the arena of rank %d", rank);
  for (int i = 0; i < count; i++)
    construct(&library[i], arena);
  saved[rank] = place;
  holder = rank;
}
