#include "sim/host/rank/activity.h"

#include <stdlib.h>

struct layer layer;

static GPtrArray *rank_of_actor; /* struct rank, by the number of the rank's actor */

/* ---- whose call it is ---- */

bool layer_wanted(void)
{
  static enum { UNKNOWN, NO, YES } wanted;
  if (wanted == UNKNOWN)
    wanted = getenv("RECLINE_SCENARIO") ? YES : NO;
  return wanted == YES;
}

struct rank *rank_self(void)
{
  if (!rank_of_actor)
    return NULL;
  guint actor = (guint)machine_actor();
  return actor < rank_of_actor->len ? rank_of_actor->pdata[actor] : NULL;
}

void rank_set_self(struct rank *r)
{
  guint actor = (guint)machine_actor();
  if (!rank_of_actor)
    rank_of_actor = g_ptr_array_new();
  if (actor >= rank_of_actor->len)
    g_ptr_array_set_size(rank_of_actor, (gint)actor + 1);
  rank_of_actor->pdata[actor] = r;
}

/* ---- exceptions of C++ ---- */

void exceptions_park(void)
{
  struct rank *r = rank_self();
  if (!r)
    return;
  r->mpi->exceptions = *layer.exceptions;
  *layer.exceptions = (struct exceptions){0};
  layer.parked = true;
}

void exceptions_return(void)
{
  struct rank *r = rank_self();
  if (!r)
    return;
  *layer.exceptions = r->mpi->exceptions;
  r->mpi->exceptions = (struct exceptions){0};
}

void locale_park(locale_t locale)
{
  struct rank *r = rank_self();
  if (!r)
    return;
  r->mpi->libc.locale = locale;
  layer.locales_parked = true;
}

locale_t locale_parked(void)
{
  struct rank *r = rank_self();
  locale_t locale = r ? r->mpi->libc.locale : NULL;
  if (locale)
    r->mpi->libc.locale = NULL;
  return locale ? locale : LC_GLOBAL_LOCALE;
}

/* ---- memory ---- */

static void *checked(const struct rank *r, void *memory)
{
  if (!memory)
    die(DIE_BREACH, "no memory in the arena of rank %d", r->index);
  return memory;
}

void *rank_alloc(struct rank *r, size_t bytes)
{
  heap_enter(r->arena);
  void *memory = malloc(bytes);
  heap_leave();
  return checked(r, memory);
}

void *rank_alloc_unset(struct rank *r, size_t bytes)
{
  return checked(r, heap_unset(r->arena, bytes));
}

void rank_free(void *memory)
{
  free(memory); /* free() finds the arena that owns the memory */
}

/* ---- accounting ---- */

enum activity rank_switch(struct rank *r, enum activity activity)
{
  double *const where[] = {&r->time.compute, &r->time.mpi, &r->time.protocol, &r->time.checkpoint,
                           &r->time.restart};
  enum activity before = r->activity;
  double now = machine_now();
  if (r->restart.on) /* the activity stays the same until the data are put back, whatever the
                        program does */
    activity = ACTIVITY_RESTART;
  activity_note(r, now);
  *where[before] += now - r->since;
  r->since = now;
  r->activity = activity;
  return before;
}
