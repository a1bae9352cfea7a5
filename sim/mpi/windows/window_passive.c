/* Passive targets: see window_passive.h. */
#include "sim/mpi/windows/window_passive.h"

#include "sim/host/rank/request.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/waits.h"
#include "sim/host/step/host.h"
#include "sim/host/step/matching.h"
#include "sim/mpi/layer/p2p.h"
#include "sim/mpi/layer/program_calls.h"
#include "sim/mpi/layer/receipt.h"

#include <string.h>

/* Stands for a lock that is not requested, because the program says by MPI_MODE_NOCHECK that no
 * other rank has the lock. */
enum { LOCK_UNCHECKED = -1 };

/* Describes the head of a message. The accesses follow it. */
struct wish {
  int32_t lock; /* the lock that the origin asks for, or LOCK_NONE */
  int32_t unlocks;
  int32_t answer; /* number of bytes of the reply */
  int32_t filler;
};

/* Describes, at the target, a message that waits for its lock. */
struct batch {
  struct lock_wait wait; /* must be the first field */
  struct wish *message;
  int bytes;
  /* if the rank itself wants the lock of its own memory: is set when the rank has that lock;
   * NULL for any other message */
  bool *granted;
};

/* Describes, at the origin, accesses that are under way. */
struct pending_access {
  struct window *window;
  int target;
  struct access *first;
  char *out, *answer;
  struct request *whole;
  bool requested; /* the program has the request, and completes the request itself */
  struct pending_access *next;
};

struct passive {
  /* by target: the lock that this rank has on the target's memory */
  int *lock;
  bool *asked; /* by target: whether that lock has been requested */
  /* by origin: the lock that the origin has on this rank's memory */
  uint8_t *held;
  struct lock_wait *first;                 /* list of batches that wait, in the order of arrival */
  struct pending_access *pending_accesses; /* list of accesses under way, in the order of sending */
};

/* ---- making ---- */

static bool forbids_locks(const struct window *window)
{
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  if (window->info != MPI_INFO_NULL)
    MPI_Info_get(window->info, (char *)(uintptr_t) "no_locks", MPI_MAX_INFO_VAL, value, &found);
  return found && strcmp(value, "true") == 0;
}

void window_passive_begin(struct rank *r, struct window *window)
{
  if (!program_calls("win_lock") || forbids_locks(window))
    return;
  size_t size = (size_t)window->comm->size;
  struct passive *passive = rank_alloc(r, sizeof *passive);
  passive->lock = rank_alloc(r, size * sizeof *passive->lock);
  passive->asked = rank_alloc(r, size * sizeof *passive->asked);
  passive->held = rank_alloc(r, size * sizeof *passive->held);
  window->passive = passive;
  struct window **end = &r->mpi->windows;
  while (*end)
    end = &(*end)->next;
  *end = window;
}

void window_passive_end(struct rank *r, struct window *window)
{
  struct window **place = &r->mpi->windows;
  while (*place && *place != window)
    place = &(*place)->next;
  if (!*place)
    return;
  *place = window->next;
  rank_free(window->passive->lock);
  rank_free(window->passive->asked);
  rank_free(window->passive->held);
  rank_free(window->passive);
  window->passive = NULL;
}

/* ---- at the target: locks ---- */

static void carry_out(struct rank *r, struct window *window, struct batch *batch)
{
  struct wish wish = *batch->message;
  struct comm *comm = window->comm;
  int origin = batch->wait.origin;
  if (wish.lock)
    window->passive->held[origin] = (uint8_t)wish.lock;
  if (batch->granted) {
    *batch->granted = true;
  } else {
    char *answer = rank_alloc(r, (size_t)wish.answer);
    window_carry_out(r, window, (const char *)(batch->message + 1), batch->bytes - (int)sizeof wish,
                     answer);
    if (wish.unlocks)
      window->passive->held[origin] = LOCK_NONE;
    p2p_finish(r, p2p_send(r, answer, wish.answer, MPI_BYTE, origin, TAG_REPLY, comm, P2P_BUFFERED),
               MPI_STATUS_IGNORE);
    rank_free(answer);
  }
  rank_free(batch->message);
  rank_free(batch);
}

static void carry_out_all(struct rank *r, struct window *window)
{
  struct passive *passive = window->passive;
  struct lock_wait *next;
  while ((next = locks_next(passive->first, passive->held, window->comm->size)) != NULL) {
    struct lock_wait **place = &passive->first;
    while (*place != next)
      place = &(*place)->next;
    *place = next->next;
    carry_out(r, window, (struct batch *)next);
  }
}

static void add(struct rank *r, struct window *window, struct batch batch)
{
  struct lock_wait **end = &window->passive->first;
  while (*end)
    end = &(*end)->next;
  struct batch *last = rank_alloc(r, sizeof *last);
  *last = batch;
  *end = &last->wait;
  carry_out_all(r, window);
}

/* ---- at the target: service ---- */

static bool serves(const struct rank *r)
{
  return (r->mpi->windows || receipts_are_given()) && !r->mpi->algorithm && !r->mpi->call.inside &&
         !layer.repairs;
}

/* Returns the decision: 0 if there is no message, otherwise a number that stands for a source and a
 * window. Still higher numbers stand for receipts. */
static uint32_t next_message(const struct rank *r)
{
  struct found found;
  uint32_t place = 0;
  for (const struct window *each = r->mpi->windows; each; each = each->next, place++)
    if (matching_probe(r, RCL_ANY, TAG_PASSIVE, matching_context(each->comm, false), &found))
      return 1 + place * (uint32_t)layer.ranks + (uint32_t)found.source;
  uint32_t receipt = receipt_due(r);
  return receipt ? place * (uint32_t)layer.ranks + receipt : 0;
}

/* Returns the highest decision that stands for a message. */
static uint32_t messages(const struct rank *r)
{
  uint32_t windows = 0;
  for (const struct window *each = r->mpi->windows; each; each = each->next)
    windows++;
  return windows * (uint32_t)layer.ranks;
}

/* Returns the number of possible decisions, or 0 if the rank may get receipts, because their
 * numbers have no bound. */
static uint32_t decisions(const struct rank *r)
{
  return receipts_are_given() ? 0 : 1 + messages(r);
}

static void serve(struct rank *r, uint32_t decision)
{
  if (decision > messages(r)) {
    receipt_give(r, decision - messages(r));
    return;
  }
  uint32_t place = (decision - 1) / (uint32_t)layer.ranks, origin = 0;
  int source = (int)((decision - 1) % (uint32_t)layer.ranks);
  struct window *window = r->mpi->windows;
  for (; place > 0; place--)
    window = window->next;
  origin = (uint32_t)request_source(window->comm, source);
  struct request *receive =
      p2p_receive(r, NULL, 0, MPI_BYTE, (int)origin, TAG_PASSIVE, window->comm, P2P_SIZED);
  p2p_wait(r, receive);
  struct batch batch = {.message = receive->buffer, .bytes = receive->count};
  if (p2p_finish(r, receive, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return;
  batch.wait = (struct lock_wait){.origin = (int)origin, .lock = batch.message->lock};
  add(r, window, batch);
}

struct awaited {
  bool (*done)(const struct rank *, const void *);
  const void *what;
};

static bool is_done_or_served(const struct rank *r, const void *what)
{
  const struct awaited *awaited = what;
  return next_message(r) || awaited->done(r, awaited->what);
}

void window_serve_until(struct rank *r, bool (*done)(const struct rank *, const void *),
                        const void *what)
{
  struct awaited awaited = {done, what};
  uint32_t decision = serves(r);
  while (decision) {
    host_wait(r, is_done_or_served, &awaited);
    decision = host_choose(r, next_message(r), decisions(r));
    if (decision)
      serve(r, decision);
  }
}

static bool is_done(const struct rank *r, const void *request)
{
  return request_is_done(r, request);
}

void window_serve_until_done(struct rank *r, const struct request *request)
{
  waits_for(r, request, 0);
  window_serve_until(r, is_done, request);
}

int window_finish(struct rank *r, struct request *request, MPI_Status *status)
{
  window_serve_until_done(r, request);
  return p2p_finish(r, request, status);
}

void window_serve(struct rank *r)
{
  uint32_t decision = serves(r);
  while (decision) {
    decision = host_choose(r, next_message(r), decisions(r));
    if (decision)
      serve(r, decision);
  }
}

void window_serve_receipts(struct rank *r)
{
  if (receipts_are_given())
    window_serve(r);
}

/* ---- meeting ---- */

static bool is_in(const int *ranks, int count, int rank)
{
  for (int i = 0; i < count; i++)
    if (ranks[i] == rank)
      return true;
  return false;
}

/* Writes those ranks of the window that are members of `comm`, too. Returns the number of these
 * ranks. */
static int common(const struct window *window, const struct comm *comm, int *ranks)
{
  int count = 0;
  for (int i = 0; i < window->comm->size; i++)
    if (is_in(comm->member, comm->size, window->comm->member[i]))
      ranks[count++] = i;
  return count;
}

/* Returns whether all these ranks belong to an earlier window, so that they have met already. */
static bool has_met(struct rank *r, const struct window *window, const int *ranks, int count)
{
  bool met = false;
  for (const struct window *each = r->mpi->windows; each != window && !met; each = each->next) {
    met = true;
    for (int i = 0; i < count && met; i++)
      met = is_in(each->comm->member, each->comm->size, window->comm->member[ranks[i]]);
  }
  return met;
}

static bool both_are_done(const struct rank *r, const void *what)
{
  struct request *const *pair = what;
  return request_is_done(r, pair[0]) && request_is_done(r, pair[1]);
}

/* Makes these ranks wait for each other, by a dissemination barrier. */
static void meet(struct rank *r, struct comm *comm, const int *ranks, int count)
{
  int me = 0;
  while (ranks[me] != comm->rank)
    me++;
  for (int step = 1; step < count; step *= 2) {
    int to = ranks[(me + step) % count], from = ranks[(me - step + count) % count];
    struct request *pair[] = {p2p_send(r, NULL, 0, MPI_BYTE, to, TAG_MEET, comm, 0),
                              p2p_receive(r, NULL, 0, MPI_BYTE, from, TAG_MEET, comm, 0)};
    window_serve_until(r, both_are_done, pair);
    p2p_finish(r, pair[0], MPI_STATUS_IGNORE);
    p2p_finish(r, pair[1], MPI_STATUS_IGNORE);
  }
}

void window_meet(struct rank *r, const struct comm *comm)
{
  if (!serves(r) || comm->size == 1)
    return;
  for (struct window *each = r->mpi->windows; each; each = each->next) {
    int *ranks = rank_alloc(r, (size_t)each->comm->size * sizeof *ranks);
    int count = common(each, comm, ranks);
    if (count > 1 && !has_met(r, each, ranks, count))
      meet(r, each->comm, ranks, count);
    rank_free(ranks);
  }
}

/* ---- at the origin: pending accesses ---- */

/* Completes a pending access when its messages have been sent and received. */
static void end_access(struct rank *r, void *rest)
{
  struct pending_access *pending_access = rest,
                        **place = &pending_access->window->passive->pending_accesses;
  (void)r;
  while (*place != pending_access)
    place = &(*place)->next;
  *place = pending_access->next;
  accesses_finish(pending_access->first, pending_access->answer);
  rank_free(pending_access->out);
  rank_free(pending_access->answer);
}

static void send_off(struct rank *r, struct window *window, int target, struct wish wish,
                     bool requested, struct request *whole)
{
  int bytes = window_bytes(window, target);
  struct pending_access *pending_access = rank_alloc(r, sizeof *pending_access);
  wish.answer = window_answer_bytes(window, target);
  *pending_access =
      (struct pending_access){.window = window,
                              .target = target,
                              .out = window_pack(r, window, target, bytes, sizeof wish),
                              .answer = rank_alloc(r, (size_t)wish.answer),
                              .whole = whole,
                              .requested = requested};
  pending_access->first = window_take(window, target);
  memcpy(pending_access->out, &wish, sizeof wish);
  struct pending_access **end = &window->passive->pending_accesses;
  while (*end)
    end = &(*end)->next;
  *end = pending_access;
  p2p_conclude_with(whole, end_access, pending_access);
  p2p_add(whole, p2p_receive(r, pending_access->answer, wish.answer, MPI_BYTE, target, TAG_REPLY,
                             window->comm, 0));
  p2p_add(whole, p2p_send(r, pending_access->out, bytes + (int)sizeof wish, MPI_BYTE, target,
                          TAG_PASSIVE, window->comm, 0));
}

/* Sends accesses to their target. The first ones after MPI_Win_lock also request the lock. */
static struct request *begin(struct rank *r, struct window *window, int target, bool unlocks,
                             bool requested)
{
  struct passive *passive = window->passive;
  struct request *whole = p2p_whole(r, 2);
  if (target == window->comm->rank) {
    window_access_own(r, window);
    return whole;
  }
  bool checked = passive->lock[target] != LOCK_UNCHECKED;
  struct wish wish = {.lock = checked && !passive->asked[target] ? passive->lock[target] : 0,
                      .unlocks = checked && unlocks};
  passive->asked[target] = true;
  send_off(r, window, target, wish, requested, whole);
  return whole;
}

struct request *window_send(struct rank *r, struct window *window, int target)
{
  if (target != MPI_PROC_NULL)
    return begin(r, window, target, false, true);
  return p2p_whole(r, 0);
}

/* ---- at the origin: epochs ---- */

struct ending {
  const struct window *window;
  int target;
};

static struct pending_access *next_of(const struct ending *ending)
{
  struct pending_access *pending_access = ending->window->passive->pending_accesses;
  while (pending_access && ending->target != WINDOW_ALL && pending_access->target != ending->target)
    pending_access = pending_access->next;
  return pending_access;
}

static bool all_have_ended(const struct rank *r, const void *what)
{
  const struct ending *ending = what;
  for (const struct pending_access *each = ending->window->passive->pending_accesses; each;
       each = each->next)
    if ((ending->target == WINDOW_ALL || each->target == ending->target) &&
        !request_is_done(r, each->whole))
      return false;
  return true;
}

static int await_accesses(struct rank *r, const struct window *window, int target)
{
  struct ending ending = {window, target};
  int result = MPI_SUCCESS;
  window_serve_until(r, all_have_ended, &ending);
  for (struct pending_access *pending_access; (pending_access = next_of(&ending)) != NULL;) {
    struct request *whole = pending_access->whole;
    bool requested = pending_access->requested;
    int error = p2p_wait(r, whole);
    if (!error)
      error = requested ? whole->status.MPI_ERROR : request_retire(&whole, MPI_STATUS_IGNORE);
    result = result ? result : error;
  }
  return result;
}

static bool is_true(const struct rank *r, const void *what)
{
  (void)r;
  return *(const bool *)what;
}

/* Waits at once for the lock of the rank's own memory, because the program itself reads and writes
 * that memory under the lock. */
static void lock_own(struct rank *r, struct window *window, int kind)
{
  bool *granted = rank_alloc(r, sizeof *granted);
  struct wish *wish = rank_alloc(r, sizeof *wish);
  wish->lock = kind;
  add(r, window, (struct batch){{window->comm->rank, kind, NULL}, wish, 0, granted});
  if (!*granted)
    window_serve_until(r, is_true, granted);
  rank_free(granted);
}

static void unlock_own(struct rank *r, struct window *window)
{
  if (window->first[window->comm->rank])
    window_access_own(r, window);
  window->passive->held[window->comm->rank] = LOCK_NONE;
  carry_out_all(r, window);
}

/* Refuses locks that would not work. The order of arrival decides the contents of replies, and some
 * protocols rely on the same contents after a rollback: claims hybrid-needs-determinism,
 * event-logging-orphan-choice and message-tagging-orphan-choice. */
static void refuse(const struct rank *r, const struct window *window)
{
  const struct rcl_place *place = shadow_protocol()->place;
  if (place && place->assumes & RCL_ASSUMES_SAME_AGAIN)
    die(DIE_INPUT,
        "rank %d locks a window under %s, which relies on messages that say the same when they "
        "are sent again: what a lock finds depends on who comes first",
        r->index, shadow_protocol()->name);
  if (layer.repairs)
    die(DIE_INPUT, "rank %d locks a window in a program that repairs itself", r->index);
  if (!window->passive)
    die(DIE_INPUT,
        "rank %d locks a window that was made with \"no_locks\", or before the library that locks "
        "it was loaded",
        r->index);
}

/* Waits for locks of memory that the rank shares, because the program itself reads and writes such
 * memory under the lock. */
static int lock_shared(struct rank *r, struct window *window, int target)
{
  for (int i = 0; i < window->comm->size; i++)
    if (i != window->comm->rank && (target == WINDOW_ALL || i == target))
      begin(r, window, i, false, false);
  return await_accesses(r, window, target);
}

int window_lock(struct rank *r, struct window *window, int kind, int target, int assertions)
{
  struct comm *comm = window->comm;
  refuse(r, window);
  if (target == MPI_PROC_NULL)
    return MPI_SUCCESS;
  if (target != WINDOW_ALL && (target < 0 || target >= comm->size))
    return MPI_ERR_RANK;
  if (kind != MPI_LOCK_EXCLUSIVE && kind != MPI_LOCK_SHARED)
    return MPI_ERR_LOCKTYPE;
  for (int i = 0; i < comm->size; i++) {
    if (target != WINDOW_ALL && i != target)
      continue;
    if (window->passive->lock[i] != LOCK_NONE)
      return MPI_ERR_RMA_SYNC;
    int lock = kind == MPI_LOCK_EXCLUSIVE ? LOCK_EXCLUSIVE : LOCK_SHARED;
    window->passive->lock[i] = assertions & MPI_MODE_NOCHECK ? LOCK_UNCHECKED : lock;
    if (i == comm->rank && !(assertions & MPI_MODE_NOCHECK))
      lock_own(r, window, lock);
  }
  return window->sharing && !(assertions & MPI_MODE_NOCHECK) ? lock_shared(r, window, target)
                                                             : MPI_SUCCESS;
}

bool window_has_epoch(const struct window *window, int target)
{
  if (!window->passive || target >= window->comm->size)
    return false;
  return target < 0 || window->passive->lock[target] != LOCK_NONE;
}

/* Sends accesses to all targets before the rank waits for any target. */
static void begin_all(struct rank *r, struct window *window, int target, bool unlocks)
{
  struct passive *passive = window->passive;
  for (int i = 0; i < window->comm->size; i++) {
    if (target != WINDOW_ALL && i != target)
      continue;
    if (i == window->comm->rank && window->first[i])
      window_access_own(r, window);
    else if (window->first[i] || (unlocks && passive->asked[i]))
      begin(r, window, i, unlocks, false);
  }
}

int window_flush(struct rank *r, struct window *window, int target)
{
  if (!window_has_epoch(window, target))
    return MPI_ERR_RMA_SYNC;
  begin_all(r, window, target, false);
  return await_accesses(r, window, target);
}

int window_unlock(struct rank *r, struct window *window, int target)
{
  int me = window->comm->rank;
  if (!window_has_epoch(window, target))
    return MPI_ERR_RMA_SYNC;
  if (target == MPI_PROC_NULL)
    return MPI_SUCCESS;
  begin_all(r, window, target, true);
  int error = await_accesses(r, window, target);
  if (target == WINDOW_ALL || target == me)
    unlock_own(r, window);
  for (int i = 0; i < window->comm->size; i++)
    if (target == WINDOW_ALL || i == target) {
      window->passive->lock[i] = LOCK_NONE;
      window->passive->asked[i] = false;
    }
  return error;
}
