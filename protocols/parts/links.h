/* Has links with sender-based logs, for protocols whose ranks recover on their own.
 *
 * Messages to and from each peer are numbered, over all tags and communicators. A message stays in
 * the log of its sender, with its payload in a slot. The message goes on the wire when the link is
 * up and, if events are logged, the events before the send are stable. The program's send is
 * complete at once; a message that is not on the wire waits in the log, with later messages to the
 * same peer.
 *
 * When a rank has gone back, both ends of a link report the numbers that they have received. Each
 * end sends again the messages that the other end lacks. When the program at an end repeats a send
 * whose message has arrived, that end suppresses the message. Messages overtake each other, because
 * receives name tags. So each end keeps the number up to which all messages have arrived, and the
 * numbers of messages that have arrived ahead of a gap. */
#ifndef RECLINE_LINKS_H
#define RECLINE_LINKS_H

#include "protocols/parts/act.h"
#include "protocols/parts/lists.h"

#include <string.h>

/* Names the words of each message. */
enum { RCL_LINKS_NUMBER, RCL_LINKS_INTERVAL, RCL_LINKS_EPOCH };

struct rcl_link {
  uint32_t sent; /* number of messages that the program has sent to the peer */
  /* number of the last message such that all up to it are on the wire or with the peer */
  uint32_t passed;
  uint32_t received; /* number of the peer's last message such that all up to it have arrived */
  uint32_t up;
};

/* Describes a sent message. */
struct rcl_sent {
  int16_t peer;
  /* 1 if the slot is empty; the entry is removed when the checkpoint is durable */
  uint16_t forgotten;
  uint32_t number, slot;
  uint32_t interval; /* the sender's last checkpoint before the send */
  /* number of events that must be stable before the message passes, or 0 if they are stable */
  uint32_t after;
};

/* Notes the number of a message that has arrived ahead of a gap, either here or at the peer, which
 * has reported the number. */
struct rcl_ahead {
  int16_t peer;
  /* Checkpoint interval of the receiver. Numbers from before the receiver's last checkpoint are
   * kept for that checkpoint. */
  uint16_t interval;
  uint32_t number;
};

struct rcl_links_counts {
  uint32_t log, ahead, had; /* how many entries the lists have */
  uint32_t slots;           /* how many slots were used so far */
};

/* Limits the checkpoints that a protocol notes for a rank, besides the beginning of the program. */
enum { RCL_CHECKPOINTS_MAX = 32 };

static inline uint32_t rcl_checkpoints(const struct rcl_config *config)
{
  return config->capacity < RCL_CHECKPOINTS_MAX ? config->capacity : RCL_CHECKPOINTS_MAX;
}

/* Returns the list that is full when a rank has no room for another checkpoint. */
static inline enum rcl_full rcl_checkpoints_full(const struct rcl_config *config)
{
  return config->capacity < RCL_CHECKPOINTS_MAX ? RCL_FULL_CHECKPOINTS : RCL_FULL_LIMIT;
}

/* Tells where the links lie in the state of a protocol. */
struct rcl_links {
  const struct rcl_config *config;
  struct rcl_links_counts *counts;
  struct rcl_link *link; /* one for each rank, also for this one */
  struct rcl_sent *log;
  /* numbers ahead of a gap that have arrived here, and at the peer */
  struct rcl_ahead *ahead, *had;
  bool held;                /* the program is held, so no message is transmitted */
  uint32_t interval, epoch; /* words of each message that follow its number */
  /* Number of events, and how many of them are stable. Both are 0 if events are not logged. */
  uint32_t events, stable;
};

/* Has the lists that a protocol with links adds to its LISTS. The first of them is
 * `links_memory`. */
#define RCL_LINKS_LISTS(ARRAY, LIST, COUNTS)                                                       \
  ARRAY(links_memory, struct rcl_link, config->ranks)                                              \
  LIST(links_log, struct rcl_sent, config->capacity, (COUNTS).log, RCL_FULL_SENT)                  \
  LIST(links_ahead, struct rcl_ahead, config->capacity, (COUNTS).ahead, RCL_FULL_AHEAD)            \
  LIST(links_had, struct rcl_ahead, config->capacity, (COUNTS).had, RCL_FULL_AHEAD)

/* Returns the links at `memory`, which is links_memory(); `counts` lies in the same state. */
static inline struct rcl_links rcl_links_at(const struct rcl_config *config,
                                            const struct rcl_links_counts *counts, void *memory)
{
  struct rcl_links links = {.config = config, .counts = rcl_at(counts, 0), .link = memory};
  links.log = (struct rcl_sent *)(links.link + config->ranks);
  links.ahead = (struct rcl_ahead *)(links.log + config->capacity);
  links.had = links.ahead + config->capacity;
  return links;
}

/* ---- lists of numbers ---- */

static inline bool rcl_links_add(const struct rcl_links *links, struct rcl_ahead *list,
                                 uint32_t *count, int peer, uint32_t number)
{
  if (*count == links->config->capacity)
    return false;
  list[(*count)++] = (struct rcl_ahead){
      .peer = (int16_t)peer, .interval = (uint16_t)links->interval, .number = number};
  return true;
}

static inline bool rcl_links_has(const struct rcl_ahead *list, uint32_t count, int peer,
                                 uint32_t number)
{
  for (uint32_t i = 0; i < count; i++)
    if (list[i].peer == peer && list[i].number == number)
      return true;
  return false;
}

/* Removes the numbers of `peer` up to `last` that were noted in `interval` or later. */
static inline void rcl_links_drop(struct rcl_ahead *list, uint32_t *count, int peer, uint32_t last,
                                  uint32_t interval)
{
  uint32_t left = 0;
  for (uint32_t i = 0; i < *count; i++)
    if (list[i].peer != peer || list[i].number > last || list[i].interval < interval)
      list[left++] = list[i];
  memset(&list[left], 0, (*count - left) * sizeof *list);
  *count = left;
}

/* ---- the log ---- */

/* Empties the slot of a payload that is not needed any more. The entry stays until
 * rcl_links_compact(). */
static inline void rcl_links_forget(struct rcl_sent *entry, struct rcl_actions *actions)
{
  entry->forgotten = true;
  rcl_act(actions, RCL_ACTION_FORGET)->slot = entry->slot;
}

/* Removes entries whose slots are empty. */
static inline void rcl_links_compact(const struct rcl_links *links)
{
  uint32_t left = 0, *count = &links->counts->log;
  for (uint32_t i = 0; i < *count; i++)
    if (!links->log[i].forgotten)
      links->log[left++] = links->log[i];
  memset(&links->log[left], 0, (*count - left) * sizeof *links->log);
  *count = left;
}

/* Drops logged messages to the peer up to number `received`. The peer will never ask for these
 * again. */
static inline void rcl_links_drop_sent(const struct rcl_links *links, int peer, uint32_t received,
                                       struct rcl_actions *actions)
{
  for (uint32_t i = 0; i < links->counts->log; i++)
    if (links->log[i].peer == peer && links->log[i].number <= received)
      rcl_links_forget(&links->log[i], actions);
  rcl_links_compact(links);
}

/* Checks an invariant: the log has all numbers from the first that is not released up to `sent`. A
 * peer will never ask for messages up to its number in `released`. */
static inline bool rcl_links_log_is_whole(const struct rcl_links *links, const uint32_t *released)
{
  uint32_t found[links->config->ranks];
  memset(found, 0, sizeof found);
  for (uint32_t i = 0; i < links->counts->log; i++)
    found[links->log[i].peer] += links->log[i].number > released[links->log[i].peer];
  for (int i = 0; i < links->config->ranks; i++)
    if (links->link[i].sent > released[i] && found[i] != links->link[i].sent - released[i])
      return false;
  return true;
}

/* ---- sending ---- */

static inline bool rcl_links_may_pass(const struct rcl_links *links, int to)
{
  return !links->held && links->link[to].up;
}

/* Transmits the messages that wait for the peer, if they may pass and all events before them are
 * stable. Leaves out the messages that the peer has. */
static inline void rcl_links_flush(const struct rcl_links *links, int to,
                                   struct rcl_actions *actions)
{
  struct rcl_link *link = &links->link[to];
  if (!rcl_links_may_pass(links, to))
    return;
  for (uint32_t i = 0; link->passed < link->sent && i < links->counts->log; i++) {
    struct rcl_sent *entry = &links->log[i];
    if (entry->peer != to || entry->number <= link->passed)
      continue;
    if (entry->after > links->stable)
      break;
    entry->after = 0;
    link->passed = entry->number;
    if (rcl_links_has(links->had, links->counts->had, to, entry->number))
      continue;
    struct rcl_action *resend = rcl_act(actions, RCL_ACTION_RESEND);
    resend->peer = entry->peer;
    resend->slot = entry->slot;
    resend->words[RCL_LINKS_NUMBER] = entry->number;
    resend->words[RCL_LINKS_INTERVAL] = entry->interval;
    resend->words[RCL_LINKS_EPOCH] = links->epoch;
  }
  rcl_links_drop(links->had, &links->counts->had, to, link->passed, 0);
}

/* Transmits the message that was just sent, if it `may_pass` and the peer does not have it. */
static inline void rcl_links_transmit(const struct rcl_links *links, int to, bool may_pass,
                                      struct rcl_actions *actions)
{
  struct rcl_link *link = &links->link[to];
  uint32_t number = link->sent;
  bool passes = may_pass && number > link->passed;
  if (passes)
    link->passed = number;
  if (!passes || rcl_links_has(links->had, links->counts->had, to, number)) {
    rcl_act(actions, RCL_ACTION_SUPPRESS);
    return;
  }
  struct rcl_action *transmit = rcl_act(actions, RCL_ACTION_TRANSMIT);
  transmit->words[RCL_LINKS_NUMBER] = number;
  transmit->words[RCL_LINKS_INTERVAL] = links->interval;
  transmit->words[RCL_LINKS_EPOCH] = links->epoch;
}

/* Handles the program's send: logs the message, and transmits it once all events before it are
 * stable. */
static inline void rcl_links_send(const struct rcl_links *links, int to,
                                  struct rcl_actions *actions)
{
  struct rcl_links_counts *counts = links->counts;
  if (counts->log == links->config->capacity) {
    rcl_give_up_full(actions, RCL_FULL_SENT);
    return;
  }
  bool stable = links->stable >= links->events;
  links->log[counts->log++] = (struct rcl_sent){.peer = (int16_t)to,
                                                .number = ++links->link[to].sent,
                                                .slot = ++counts->slots,
                                                .interval = links->interval,
                                                .after = stable ? 0 : links->events};
  rcl_act(actions, RCL_ACTION_KEEP)->slot = counts->slots;
  rcl_links_transmit(links, to, rcl_links_may_pass(links, to) && stable, actions);
}

/* Sends a message that may pass, without a copy in the log. */
static inline void rcl_links_send_unlogged(const struct rcl_links *links, int to,
                                           struct rcl_actions *actions)
{
  links->link[to].sent++;
  rcl_links_transmit(links, to, true, actions);
}

static inline bool rcl_ahead_is_sound(const struct rcl_links *links, const struct rcl_ahead *list,
                                      uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    if (!rcl_is_rank(links->config, list[i].peer))
      return false;
  return true;
}

/* Checks an invariant: each entry of the lists names a rank, and each sent message has a number and
 * a slot. The entry keeps the slot's number when the slot is emptied. */
static inline bool rcl_links_are_sound(const struct rcl_links *links)
{
  for (uint32_t i = 0; i < links->counts->log; i++) {
    const struct rcl_sent *sent = &links->log[i];
    if (!rcl_is_rank(links->config, sent->peer) || !sent->number || !sent->slot)
      return false;
  }
  return rcl_ahead_is_sound(links, links->ahead, links->counts->ahead) &&
         rcl_ahead_is_sound(links, links->had, links->counts->had);
}

/* Checks an invariant: a message that may pass, and whose earlier events are all stable, has
 * passed. */
static inline bool rcl_links_nothing_waits(const struct rcl_links *links)
{
  for (int to = 0; to < links->config->ranks; to++) {
    const struct rcl_link *link = &links->link[to];
    bool waits = rcl_links_may_pass(links, to) && link->passed < link->sent;
    for (uint32_t i = 0; waits && i < links->counts->log; i++)
      if (links->log[i].peer == to && links->log[i].number == link->passed + 1)
        waits = links->log[i].after <= links->stable;
    if (waits)
      return false;
  }
  return true;
}

/* ---- receiving ---- */

/* Notes that message `number` of that peer has arrived. Returns false if the list of messages ahead
 * of a gap is full. */
static inline bool rcl_links_arrived(const struct rcl_links *links, int from, uint32_t number)
{
  struct rcl_link *link = &links->link[from];
  uint32_t *count = &links->counts->ahead;
  if (number != link->received + 1)
    return rcl_links_add(links, links->ahead, count, from, number);
  link->received++;
  while (rcl_links_has(links->ahead, *count, from, link->received + 1))
    link->received++;
  rcl_links_drop(links->ahead, count, from, link->received, links->interval);
  return true;
}

/* ---- links go down at a failure, and up when the peer has reported ---- */

/* Tells the peer which of its messages have arrived: control message `have` for each one ahead of a
 * gap, then `report`. */
static inline void rcl_links_report(const struct rcl_links *links, int peer, uint32_t have,
                                    uint32_t report, struct rcl_actions *actions)
{
  for (uint32_t i = 0; i < links->counts->ahead; i++)
    if (links->ahead[i].peer == peer && links->ahead[i].number > links->link[peer].received)
      rcl_send_control(actions, peer, have, links->epoch, links->ahead[i].number);
  rcl_send_control(actions, peer, report, links->epoch, links->link[peer].received);
}

static inline bool rcl_links_peer_has(const struct rcl_links *links, int peer, uint32_t number)
{
  return rcl_links_add(links, links->had, &links->counts->had, peer, number);
}

static inline void rcl_links_up(const struct rcl_links *links, int peer, uint32_t received)
{
  links->link[peer].up = true;
  links->link[peer].passed = received;
}

static inline void rcl_links_all_up(const struct rcl_links *links)
{
  for (int peer = 0; peer < links->config->ranks; peer++)
    links->link[peer].up = true;
}

static inline bool rcl_links_are_all_up(const struct rcl_links *links)
{
  for (int peer = 0; peer < links->config->ranks; peer++)
    if (!links->link[peer].up)
      return false;
  return true;
}

static inline void rcl_links_down(const struct rcl_links *links, int peer)
{
  links->link[peer].up = false;
  rcl_links_drop(links->had, &links->counts->had, peer, UINT32_MAX, 0);
}

static inline void rcl_links_all_down(const struct rcl_links *links)
{
  for (int peer = 0; peer < links->config->ranks; peer++)
    rcl_links_down(links, peer);
}

/* Reports a rank's messages to itself. As the rank is its own peer, no control message is sent. */
static inline void rcl_links_to_self(const struct rcl_links *links)
{
  int self = links->config->self;
  rcl_links_down(links, self);
  for (uint32_t i = 0; i < links->counts->ahead; i++)
    if (links->ahead[i].peer == self && links->ahead[i].number > links->link[self].received)
      rcl_links_peer_has(links, self, links->ahead[i].number);
  rcl_links_up(links, self, links->link[self].received);
}

/* Goes back to where the program was at `checkpoint`; link->sent and link->received already have
 * the counts of that moment. If `live`, the undone messages are still in their slots, and these
 * slots are emptied. */
static inline void rcl_links_go_back(const struct rcl_links *links, uint32_t checkpoint, bool live,
                                     struct rcl_actions *actions)
{
  for (uint32_t i = 0; i < links->counts->log; i++) {
    struct rcl_sent *entry = &links->log[i];
    entry->forgotten = entry->number > links->link[entry->peer].sent;
    if (entry->forgotten && live)
      rcl_act(actions, RCL_ACTION_FORGET)->slot = entry->slot;
  }
  rcl_links_compact(links);
  for (int peer = 0; peer < links->config->ranks; peer++)
    rcl_links_drop(links->ahead, &links->counts->ahead, peer, UINT32_MAX, checkpoint);
}

/* Tells all peers, and the rank itself as its own peer, what the rank has received. The rank now
 * stands where it will go on. */
static inline void rcl_links_stand(const struct rcl_links *links, uint32_t have, uint32_t report,
                                   struct rcl_actions *actions)
{
  rcl_links_to_self(links);
  for (int peer = 0; peer < links->config->ranks; peer++)
    if (peer != links->config->self)
      rcl_links_report(links, peer, have, report, actions);
  for (int peer = 0; peer < links->config->ranks; peer++)
    rcl_links_flush(links, peer, actions);
}

#endif
