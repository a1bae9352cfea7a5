/* Keeps what a rank of optimistic.c knows: its events, the intervals of other ranks on which its
 * events depend, and its checkpoints.
 *
 * Event number k of a rank begins its *interval* k. A dependence is noted at the first event that
 * has it: no event before `event` depends on `interval` of `rank`. Dependences on intervals that
 * are known to be stable are left out, because such intervals can never be lost. */
#ifndef RECLINE_OPTIMISTIC_LOG_H
#define RECLINE_OPTIMISTIC_LOG_H

#include "protocols/parts/links.h"
#include "protocols/parts/transitions.h"

/* Numbers the phases. In RUNNING and CAPTURING a rank has dealt with all failures that it knows
 * of. */
enum phase { RUNNING, CAPTURING, AWAITING, ROLLING, SAVING };

enum control { HAVE = 1, REPORT, LOST, TOLD, DEPENDS, ASK, STABLE, RECEIVED };

/* Tells whether the log on storage has all failures that this rank knows of. */
enum unsaved { SAVED, TO_SAVE, BEING_SAVED };

/* Describes an entry of the event log, which is in the order of events. The entry says one of three
 * things: receive `request` was given a message of (peer, tag); it was cancelled (peer is
 * RCL_NOBODY); or `count` decisions in a row, each an event, came out as `outcome`. */
struct happened {
  uint32_t event;   /* number of the event, or of the first decision in the row, counted from 1 */
  uint32_t request; /* number of the receive, or 0 if the entry is about decisions */
  uint32_t outcome;
  int32_t tag;
  int16_t peer;
  uint16_t pad;
  uint32_t count;
};

/* Notes a dependence on `interval` of `rank`. In the list depends_of() this rank has the dependence
 * from `event` on. In the list told_of() the next message of `from` will bring it. */
struct dependence {
  int16_t rank, from;
  uint32_t event, interval;
};

/* Describes a failure of this rank: the rank's intervals with numbers above `events` are lost. */
struct failure {
  uint32_t incarnation, events;
};

/* Holds what this rank knows of another rank, the peer. */
struct peer {
  /* the peer's last stable interval, as the peer has told us after the last failure */
  uint32_t stable;
  /* interval of the peer of which we have asked the peer to tell when it is stable, or 0 */
  uint32_t asking;
  /* interval of ours of which the peer has asked us to tell when it is stable, or 0 */
  uint32_t asked;
  uint32_t given;    /* event up to which the peer was told our dependences */
  uint32_t handled;  /* incarnation of the peer's last failure whose lost intervals we know */
  uint32_t awaited;  /* 1 if the peer has still to tell us its failures */
  uint32_t released; /* number of our last message that the peer has received for good */
};

/* Describes a checkpoint that a recovery may need. The beginning of the program counts as a
 * checkpoint. */
struct image {
  uint32_t number, events;
};

/* Counts the messages to and from a peer at a checkpoint. */
struct mark {
  uint32_t sent, received;
};

/* Holds outputs up to number `output` (0 if there are none), which were made after `event`
 * events. */
struct waiting {
  uint32_t output, event;
};

struct state {
  uint32_t phase, wanted;
  uint32_t epoch; /* incarnation of the last failure that this rank knows of */
  /* the first event that depends on a lost interval, or 0 if there is none */
  uint32_t cut;
  uint32_t events, stable; /* number of events, and how many of them are stable */
  /* `busy` is 1 while the log is being written, up to event `writing` */
  uint32_t busy, writing;
  uint32_t unsaved;           /* enum unsaved */
  uint32_t storing;           /* checkpoint that is being written, or 0 if there is none */
  uint32_t last;              /* place of the last checkpoint */
  uint32_t happened, depends; /* number of entries in the lists of events and of dependences */
  uint32_t told, failures;    /* number of entries in told_of() and in failures_of() */
  uint32_t replaying;         /* number of events that still have to happen again */
  uint32_t decision,
      /* entry from which decisions are repeated, and how many of its decisions were repeated */
      repeated;
  /* `asked`: outputs for which other ranks were asked; `made`: later outputs */
  struct waiting asked, made;
  struct rcl_links_counts links;
};

/* Lists the peers, the checkpoints with their marks, the events, their dependences, the dependences
 * of each peer's next message, own failures, and the links. */
#define LISTS(ARRAY, LIST)                                                                         \
  ARRAY(peers, struct peer, config->ranks)                                                         \
  LIST(images, struct image, rcl_checkpoints(config) + (size_t)1, state->last + (size_t)1,         \
       rcl_checkpoints_full(config))                                                               \
  LIST(marks_of, struct mark, (rcl_checkpoints(config) + (size_t)1) * (size_t)config->ranks,       \
       (state->last + (size_t)1) * (size_t)config->ranks, rcl_checkpoints_full(config))            \
  LIST(happened_of, struct happened, config->capacity, state->happened, RCL_FULL_EVENTS)           \
  LIST(depends_of, struct dependence, config->capacity, state->depends, RCL_FULL_EVENTS)           \
  LIST(told_of, struct dependence, config->capacity, state->told, RCL_FULL_EVENTS)                 \
  LIST(failures_of, struct failure, config->capacity, state->failures, RCL_FULL_EVENTS)            \
  RCL_LINKS_LISTS(ARRAY, LIST, state->links)
RCL_STATE(LISTS)

#include "protocols/parts/replayed.h" /* events that happen again */

static inline struct peer *peer_of(const struct rank *r, int rank)
{
  return &peers(r->config, r->state)[rank];
}

static inline struct mark *mark_of(const struct rank *r, uint32_t place)
{
  return marks_of(r->config, r->state) + place * (size_t)r->config->ranks;
}

static inline struct image *image_of(const struct rank *r, uint32_t place)
{
  return &images(r->config, r->state)[place];
}

static inline struct image *last_image(const struct rank *r)
{
  return image_of(r, r->state->last);
}

static inline bool recovers(const struct rank *r)
{
  return r->state->phase >= AWAITING;
}

/* ---- dependences ---- */

static inline void add(const struct rank *r, struct dependence *list, uint32_t *count,
                       struct dependence entry)
{
  if (*count == r->config->capacity)
    rcl_give_up_full(r->actions, RCL_FULL_EVENTS);
  else
    list[(*count)++] = entry;
}

/* Notes that the last event depends on that interval, unless the interval is stable or an earlier
 * event depends on it already. */
static inline void depend(const struct rank *r, int rank, uint32_t interval)
{
  struct dependence *list = depends_of(r->config, r->state);
  if (rank == r->config->self || interval <= peer_of(r, rank)->stable)
    return;
  for (uint32_t i = 0; i < r->state->depends; i++)
    if (list[i].rank == rank && list[i].interval >= interval)
      return;
  add(r, list, &r->state->depends,
      (struct dependence){.rank = (int16_t)rank, .event = r->state->events, .interval = interval});
}

/* Notes that the next message of `from` will depend on that interval. */
static inline void hear(const struct rank *r, int from, int rank, uint32_t interval)
{
  struct dependence *list = told_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->told; i++)
    if (list[i].from == from && list[i].rank == rank) {
      list[i].interval = interval;
      return;
    }
  add(r, list, &r->state->told,
      (struct dependence){.from = (int16_t)from, .rank = (int16_t)rank, .interval = interval});
}

/* Notes that the last event is the reception of a message that `from` sent in `interval`. */
static inline void depend_on_message(const struct rank *r, int from, uint32_t interval)
{
  struct dependence *list = told_of(r->config, r->state);
  uint32_t left = 0;
  depend(r, from, interval);
  for (uint32_t i = 0; i < r->state->told; i++)
    if (list[i].from == from)
      depend(r, list[i].rank, list[i].interval);
    else
      list[left++] = list[i];
  memset(&list[left], 0, (r->state->told - left) * sizeof *list);
  r->state->told = left;
}

/* Removes dependences from event `first` on, and dependences on intervals of `rank` up to
 * `stable`. */
static inline void drop_depends(const struct rank *r, uint32_t first, int rank, uint32_t stable)
{
  struct dependence *list = depends_of(r->config, r->state);
  uint32_t left = 0;
  for (uint32_t i = 0; i < r->state->depends; i++)
    if (list[i].event < first && (list[i].rank != rank || list[i].interval > stable))
      list[left++] = list[i];
  memset(&list[left], 0, (r->state->depends - left) * sizeof *list);
  r->state->depends = left;
}

/* Returns the first event that depends on an interval of `rank` after `last`, or 0 if none does. */
static inline uint32_t first_orphan(const struct rank *r, int rank, uint32_t last)
{
  const struct dependence *list = depends_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->depends; i++)
    if (list[i].rank == rank && list[i].interval > last)
      return list[i].event;
  return 0;
}

/* Returns the last interval of `rank` that is not known to be stable and on which events up to
 * `event` depend. Returns 0 if there is none. */
static inline uint32_t depends_on(const struct rank *r, int rank, uint32_t event)
{
  const struct dependence *list = depends_of(r->config, r->state);
  uint32_t last = 0;
  for (uint32_t i = 0; i < r->state->depends; i++)
    if (list[i].rank == rank && list[i].event <= event)
      last = list[i].interval;
  return last;
}

/* ---- what others are told of dependences ---- */

/* Tells the peer, before a message, the dependences of this rank that the peer does not know
 * yet. */
static inline void give(const struct rank *r, int to)
{
  const struct dependence *list = depends_of(r->config, r->state);
  struct peer *peer = peer_of(r, to);
  for (uint32_t i = 0; i < r->state->depends && to != r->config->self; i++) {
    if (list[i].event <= peer->given || list[i].rank == to ||
        list[i].interval < depends_on(r, list[i].rank, r->state->events))
      continue;
    if (r->actions->count + 2 + r->state->links.log >= RCL_ACTIONS_MAX(r->config)) {
      rcl_give_up_full(r->actions, RCL_FULL_LIMIT);
      return;
    }
    rcl_send_control(r->actions, to, DEPENDS, r->state->epoch << 16 | (uint16_t)list[i].rank,
                     list[i].interval);
  }
  peer->given = r->state->events;
}

/* Asks the ranks on which events up to `event` depend to tell when these intervals are stable. */
static inline void ask(const struct rank *r, uint32_t event)
{
  for (int i = 0; i < r->config->ranks && !recovers(r); i++) {
    uint32_t interval = depends_on(r, i, event);
    if (interval <= peer_of(r, i)->asking)
      continue;
    peer_of(r, i)->asking = interval;
    rcl_send_control(r->actions, i, ASK, r->state->epoch, interval);
  }
}

/* ---- events ---- */

/* Returns the place of the first entry that begins after `event`. */
static inline uint32_t happened_until(const struct rank *r, uint32_t event)
{
  const struct happened *entry = happened_of(r->config, r->state);
  uint32_t place = 0;
  while (place < r->state->happened && entry[place].event <= event)
    place++;
  return place;
}

static inline struct happened *append(const struct rank *r)
{
  if (r->state->happened == r->config->capacity) {
    rcl_give_up_full(r->actions, RCL_FULL_EVENTS);
    return NULL;
  }
  struct happened *entry = &happened_of(r->config, r->state)[r->state->happened++];
  *entry = (struct happened){.event = ++r->state->events, .count = 1};
  return entry;
}

/* Cuts off the events from `first`, a reception, on: they count as not having happened, and what
 * was written about them is void. */
static inline void cut_off(const struct rank *r, uint32_t first)
{
  struct happened *entry = happened_of(r->config, r->state);
  uint32_t last = first - 1, left = happened_until(r, last);
  memset(&entry[left], 0, (r->state->happened - left) * sizeof *entry);
  r->state->happened = left;
  drop_depends(r, first, RCL_NOBODY, 0);
  r->state->events = last;
  if (r->state->stable > last)
    r->state->stable = last;
  if (r->state->writing > last)
    r->state->writing = last;
  r->state->cut = 0;
}

/* ---- doing it again ---- */

/* Replays all known events of the rank since the last checkpoint. */
static inline void replay(const struct rank *r)
{
  r->state->decision = happened_until(r, last_image(r)->events);
  r->state->repeated = 0;
  r->state->replaying = r->state->events - last_image(r)->events;
}

/* ---- own failures ---- */

/* Notes a failure. It replaces earlier failures with at least as many events, because all that they
 * have lost is lost by it, too. */
static inline void note_failure(const struct rank *r, uint32_t incarnation)
{
  struct failure *list = failures_of(r->config, r->state);
  struct state *state = r->state;
  while (state->failures && list[state->failures - 1].events >= state->events)
    list[--state->failures] = (struct failure){0};
  if (state->failures == r->config->capacity)
    rcl_give_up_full(r->actions, RCL_FULL_EVENTS);
  else
    list[state->failures++] = (struct failure){.incarnation = incarnation, .events = state->events};
}

static inline void tell_failures(const struct rank *r, int to)
{
  const struct failure *failure = failures_of(r->config, r->state);
  for (uint32_t i = 0; i < r->state->failures; i++)
    rcl_send_control(r->actions, to, LOST, failure[i].incarnation, failure[i].events);
  rcl_send_control(r->actions, to, TOLD, r->state->epoch, 0);
}

#endif
