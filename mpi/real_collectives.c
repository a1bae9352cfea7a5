/* Makes collectives from messages, in a communicator that only collectives use. If a protocol
 * captures in barriers, a barrier is an event for the protocol. */
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "mpi/real_inside.h"

/* ---- barriers that protocols see ---- */

/* Numbers the sums: first a sum of each word, then COUNT, the number of contributions. */
enum { COUNT = RCL_WORDS, SUMS };

/* Returns the sums of all contributions when all processes have joined. That ends the barrier. */
static void collect(uint32_t sums[SUMS])
{
  MPI_Request request;
  PMPI_Iallreduce(MPI_IN_PLACE, sums, SUMS, MPI_UINT32_T, MPI_SUM, real_wire_comm(), &request);
  for (int done = 0; !done; PMPI_Test(&request, &done, MPI_STATUS_IGNORE))
    real_pump(true);
}

static void seen_barrier(void)
{
  struct rcl_event event = {.kind = RCL_EVENT_COLLECTIVE, .flow = RCL_FLOW_BARRIER};
  uint32_t sums[SUMS];
  enum real_activity before = real_switch(REAL_MPI);
  real_ready();
  event.call = (int32_t)++real.calls;
  real_step(event, NULL);
  REQUIRE(real.answer.kind == RCL_ACTION_JOIN, "a protocol takes part in a barrier");
  memcpy(sums, real.answer.words, sizeof real.answer.words);
  sums[COUNT] = 1;
  collect(sums);
  event.kind = RCL_EVENT_COLLECTED;
  event.contributions = sums[COUNT];
  memcpy(event.words, sums, sizeof event.words);
  real.place = REAL_BARRIER;
  real_step(event, NULL);
  real_ready();
  real.place = REAL_NOWHERE;
  real_switch(before);
}

static bool is_seen(void)
{
  const char *place = real.protocol->captures_at;
  return real.protocol->collectives && place && !strcmp(place, "barriers");
}

/* ---- collectives as messages ---- */

static void receive(int from, void *bytes, size_t size)
{
  struct real_receive *receive = real_post(from, 0, REAL_COLLECTIVES);
  size_t got;
  real_wait(receive);
  void *taken = real_take(receive, &got, NULL, NULL);
  if (got != size)
    real_die(64, "process %d has %zu bytes for a collective, and process %d has sent %zu",
             real.rank, size, from, got);
  if (size)
    memcpy(bytes, taken, size);
  free(taken);
}

void real_broadcast(int root, void *bytes, size_t size)
{
  if (real.rank != root) {
    receive(root, bytes, size);
    return;
  }
  for (int peer = 0; peer < real.ranks; peer++)
    if (peer != root)
      real_send(peer, 0, REAL_COLLECTIVES, bytes, size);
}

void real_gather(int root, const void *bytes, size_t size, void *all)
{
  if (real.rank != root) {
    real_send(root, 0, REAL_COLLECTIVES, bytes, size);
    return;
  }
  for (int peer = 0; peer < real.ranks; peer++) {
    void *to = size ? (char *)all + (size_t)peer * size : NULL;
    if (peer != root)
      receive(peer, to, size);
    else if (size)
      memcpy(to, bytes, size);
  }
}

void real_barrier(void)
{
  real.same = REAL_NOWHERE;
  if (is_seen()) {
    seen_barrier();
    return;
  }
  real_gather(RCL_COORDINATOR_RANK, NULL, 0, NULL);
  real_broadcast(RCL_COORDINATOR_RANK, NULL, 0);
}

/* ---- a collective in which checkpoints may be taken ---- */

static void add(uint64_t *to, const uint64_t *values, unsigned sums, unsigned most)
{
  for (unsigned i = 0; i < sums; i++)
    to[i] += values[i];
  for (unsigned i = sums; i < sums + most; i++)
    to[i] = values[i] > to[i] ? values[i] : to[i];
}

static void contribute(const uint64_t *values, size_t size)
{
  if (is_seen())
    seen_barrier();
  memcpy(real.combined.values, values, size);
  real.combined.count = real.combined.on = 1;
  if (real.rank != RCL_COORDINATOR_RANK)
    real_send(RCL_COORDINATOR_RANK, 0, REAL_COLLECTIVES, values, size);
}

/* Takes one message, if one has come already. So a checkpoint that was requested before the result
 * of the collective came is taken first. */
static void take_one(unsigned sums, unsigned most, bool safe)
{
  struct real_combination *c = &real.combined;
  uint64_t values[REAL_COMBINED];
  struct real_receive *standing = real_standing(REAL_COLLECTIVES);
  bool there = standing->done;
  size_t size;
  if (safe)
    real_safe_point(0);
  else
    real_ready();
  if (!there) {
    real_idle();
    return;
  }
  void *bytes = real_take(standing, &size, NULL, NULL);
  REQUIRE(size == (sums + most) * sizeof *values, "all combine as many values");
  memcpy(values, bytes, size);
  free(bytes);
  if (real.rank == RCL_COORDINATOR_RANK) {
    add(c->values, values, sums, most);
    c->count++;
  } else {
    memcpy(c->values, values, size);
    c->count = (uint32_t)real.ranks;
  }
}

void real_combine(uint64_t *values, unsigned sums, unsigned most, bool safe)
{
  size_t size = (sums + most) * sizeof *values;
  REQUIRE(sums + most <= REAL_COMBINED, "there is room for what is combined");
  if (!real.combined.on)
    contribute(values, size);
  while (real.combined.count < (uint32_t)real.ranks)
    take_one(sums, most, safe);
  if (real.rank == RCL_COORDINATOR_RANK)
    real_broadcast(RCL_COORDINATOR_RANK, real.combined.values, size);
  memcpy(values, real.combined.values, size);
  real.combined = (struct real_combination){0};
}
