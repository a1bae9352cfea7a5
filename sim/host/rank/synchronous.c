#include "sim/host/rank/synchronous.h"

#include "sim/host/rank/shadow.h"
#include "sim/net/transport.h"

#include <string.h>

static bool is_needed(void)
{
  return !layer.scenario->schedule && layer.scenario->checkpoint.level != IMAGE_APPLICATION &&
         !g_str_equal(shadow_protocol()->name, "none");
}

bool synchronous_gives_receipts(void)
{
  const struct rcl_place *place = shadow_protocol()->place;
  bool same_again = place && place->assumes & RCL_ASSUMES_SAME_AGAIN;
  return is_needed() && shadow_independent() && !same_again;
}

uint32_t synchronous_number(struct rank *sender, int peer)
{
  if (!is_needed())
    return 0;
  if (!sender->mpi->synchronous_sends)
    sender->mpi->synchronous_sends =
        rank_alloc(sender, (size_t)layer.ranks * sizeof *sender->mpi->synchronous_sends);
  return ++sender->mpi->synchronous_sends[peer];
}

static bool has(const struct taken *taken, uint32_t number)
{
  if (number <= taken->all_to)
    return true;
  for (uint32_t i = 0; i < taken->count; i++)
    if (taken->beyond[i] == number)
      return true;
  return false;
}

/* Returns whether the numbers that a rank has taken are final. They are if the rank lives and, with
 * global recovery, has gone back already. */
static bool is_there(const struct rank *r)
{
  const struct world_rank *me = shadow_rank(r->index);
  bool runs = me->phase == RANK_RUNNING || me->phase == RANK_CAPTURING;
  return r->mpi && !r->dead && runs &&
         (shadow_independent() || me->incarnation == shadow_global()->incarnation);
}

bool synchronous_is_taken(const struct rank *sender, int peer, uint32_t number)
{
  const struct rank *r = &layer.rank[peer];
  return !number || synchronous_gives_receipts() ||
         (is_there(r) && r->mpi->synchronous_taken &&
          has(&r->mpi->synchronous_taken[sender->index], number));
}

void synchronous_return(const struct rank *r)
{
  const struct taken *taken = r->mpi->synchronous_taken;
  for (int peer = 0; taken && peer < layer.ranks; peer++)
    if (taken[peer].all_to || taken[peer].count)
      transport_wake(peer);
}

/* Adds a number to a set. Numbers come in rising order, unless a message waits longer for its
 * receive than a later message. */
static void add(struct rank *r, struct taken *taken, uint32_t number)
{
  if (number != taken->all_to + 1) {
    if (taken->count == taken->room) {
      uint32_t room = 2 * taken->room + 4;
      uint32_t *beyond = rank_alloc(r, room * sizeof *beyond);
      if (taken->count)
        memcpy(beyond, taken->beyond, taken->count * sizeof *beyond);
      rank_free(taken->beyond);
      taken->beyond = beyond;
      taken->room = room;
    }
    taken->beyond[taken->count++] = number;
    return;
  }
  taken->all_to++;
  for (uint32_t i = 0; i < taken->count;)
    if (taken->beyond[i] == taken->all_to + 1) {
      taken->all_to++;
      taken->beyond[i] = taken->beyond[--taken->count];
      i = 0;
    } else {
      i++;
    }
}

static struct taken *of_each(struct rank *r, struct taken **taken)
{
  if (!*taken)
    *taken = rank_alloc(r, (size_t)layer.ranks * sizeof **taken);
  return *taken;
}

static struct due **place_of(const struct rank *r, int source, uint32_t number)
{
  struct due **place = &r->mpi->due;
  while (*place && ((*place)->source != source || (*place)->number != number))
    place = &(*place)->next;
  return place;
}

bool synchronous_is_due(const struct rank *r, int source, uint32_t number)
{
  return *place_of(r, source, number) != NULL;
}

uint32_t synchronous_given(const struct rank *r, int source)
{
  return r->mpi->receipts_given ? r->mpi->receipts_given[source].all_to : 0;
}

void synchronous_give(struct rank *r, int source, uint32_t number)
{
  struct due **place = place_of(r, source, number), *given = *place;
  *place = given->next;
  rank_free(given);
  add(r, &of_each(r, &r->mpi->receipts_given)[source], number);
}

static void make_due(struct rank *r, int source, uint32_t number)
{
  struct due *due = rank_alloc(r, sizeof *due);
  *due = (struct due){source, number, NULL};
  *place_of(r, source, number) = due;
}

void synchronous_take(struct rank *receiver, int source, const struct payload *payload)
{
  if (!payload->synchronous)
    return;
  struct taken *taken = &of_each(receiver, &receiver->mpi->synchronous_taken)[source];
  if (has(taken, payload->synchronous))
    return;
  add(receiver, taken, payload->synchronous);
  if (synchronous_gives_receipts())
    make_due(receiver, source, payload->synchronous);
  else if (!transport_carries(layer.rank[source].transport, payload))
    transport_wake(source);
}
