/* Links with sender-based logs, which the protocols share whose ranks recover on their own.
 *
 * Messages to and from each peer are numbered, over all tags and communicators. A sent one stays in
 * the log of its sender, its payload in a slot. It goes on the wire when the link is up and, if
 * events are logged, those before the send are stable; until then the program's send is complete
 * and the message waits in the log, as do those to the same peer behind it.
 *
 * When a rank has gone back, both ends of a link report what they have received: the other end
 * sends again what is missing, and does not send what is there, although its program may send it
 * again. Receives name tags, so messages overtake each other: what was received is a number up to
 * which all are in, and those that are ahead of a gap.
 */
#ifndef RECLINE_LINKS_H
#define RECLINE_LINKS_H

#include "act.h"

#include <string.h>

struct link {
  uint32_t sent;     /* by the program */
  uint32_t passed;   /* of these, all up to this one are on the wire or with the peer */
  uint32_t received; /* of the peer's, all up to this one have arrived */
  uint32_t up;
};

/* A sent message. */
struct sent {
  int16_t peer;
  uint16_t forgotten; /* its slot is empty; the entry goes when the checkpoint is durable */
  uint32_t number, slot;
  uint32_t interval; /* of the sender: the last checkpoint before it was sent */
  uint32_t after;    /* the number of events that must be stable before it passes; 0: they are */
};

/* The number of a message that arrived, or that the peer says has arrived there, ahead of a gap. */
struct ahead {
  int16_t peer;
  uint16_t interval; /* of the receiver; one from before its last checkpoint is kept for that */
  uint32_t number;
};

struct links_counts {
  uint32_t log, ahead, had; /* entries of the lists */
  uint32_t slots;           /* used so far */
};

/* Where the links lie in the state of a protocol. */
struct links {
  const struct config *config;
  struct links_counts *counts;
  struct link *link; /* one for each rank, this one included */
  struct sent *log;
  struct ahead *ahead, *had; /* arrived here, and at the peer */
  uint32_t interval, epoch;  /* go with each message, behind its number */
  uint32_t events, stable;   /* numbers of events: so far, on stable storage; both 0: no log */
};

static inline size_t links_bytes(const struct config *config)
{
  return (size_t)config->ranks * sizeof(struct link) +
         config->capacity * (sizeof(struct sent) + 2 * sizeof(struct ahead));
}

/* The links that lie at `memory`, after `counts`. */
static inline struct links links_at(const struct config *config, struct links_counts *counts,
                                    void *memory)
{
  struct links links = {.config = config, .counts = counts, .link = memory};
  links.log = (struct sent *)(links.link + config->ranks);
  links.ahead = (struct ahead *)(links.log + config->capacity);
  links.had = links.ahead + config->capacity;
  return links;
}

/* ---- lists of numbers ---- */

static inline bool links_add(const struct links *links, struct ahead *list, uint32_t *count,
                             int peer, uint32_t number)
{
  if (*count == links->config->capacity)
    return false;
  list[(*count)++] = (struct ahead){
      .peer = (int16_t)peer, .interval = (uint16_t)links->interval, .number = number};
  return true;
}

static inline bool links_has(const struct ahead *list, uint32_t count, int peer, uint32_t number)
{
  for (uint32_t i = 0; i < count; i++)
    if (list[i].peer == peer && list[i].number == number)
      return true;
  return false;
}

/* Removes the numbers of `peer` up to `last` that were noted in `interval` or later. */
static inline void links_drop(struct ahead *list, uint32_t *count, int peer, uint32_t last,
                              uint32_t interval)
{
  uint32_t left = 0;
  for (uint32_t i = 0; i < *count; i++)
    if (list[i].peer != peer || list[i].number > last || list[i].interval < interval)
      list[left++] = list[i];
  memset(&list[left], 0, (*count - left) * sizeof *list);
  *count = left;
}

/* ---- sending ---- */

/* Puts on the wire what waits for the peer and depends on stable events only. */
static inline void links_flush(const struct links *links, int to, struct actions *actions)
{
  struct link *link = &links->link[to];
  for (uint32_t i = 0; link->passed < link->sent && i < links->counts->log; i++) {
    struct sent *entry = &links->log[i];
    if (entry->peer != to || entry->number <= link->passed)
      continue;
    if (entry->after > links->stable)
      break;
    entry->after = 0;
    link->passed = entry->number;
    if (links_has(links->had, links->counts->had, to, entry->number))
      continue;
    struct action *resend = act(actions, ACTION_RESEND);
    resend->peer = entry->peer;
    resend->slot = entry->slot;
    resend->words[0] = entry->number;
    resend->words[1] = entry->interval;
    resend->words[2] = links->epoch;
  }
  links_drop(links->had, &links->counts->had, to, link->passed, 0);
}

/* The program sends: into the log and, if it `may_pass`, depends on stable events only and the peer
 * has not got it, on the wire. */
static inline void links_offer(const struct links *links, int to, bool may_pass,
                               struct actions *actions)
{
  struct link *link = &links->link[to];
  struct links_counts *counts = links->counts;
  if (counts->log == links->config->capacity) {
    give_up(actions, REASON_FULL);
    return;
  }
  uint32_t number = ++link->sent;
  bool stable = links->stable >= links->events;
  links->log[counts->log++] = (struct sent){.peer = (int16_t)to,
                                            .number = number,
                                            .slot = ++counts->slots,
                                            .interval = links->interval,
                                            .after = stable ? 0 : links->events};
  act(actions, ACTION_KEEP)->slot = counts->slots;
  bool passes = may_pass && stable && number > link->passed;
  if (passes)
    link->passed = number;
  if (!passes || links_has(links->had, counts->had, to, number)) {
    act(actions, ACTION_SUPPRESS);
    return;
  }
  struct action *transmit = act(actions, ACTION_TRANSMIT);
  transmit->words[0] = number;
  transmit->words[1] = links->interval;
  transmit->words[2] = links->epoch;
}

/* ---- receiving ---- */

/* Message `number` of that peer has arrived. False when the list of those ahead is full. */
static inline bool links_arrived(const struct links *links, int from, uint32_t number)
{
  struct link *link = &links->link[from];
  uint32_t *count = &links->counts->ahead;
  if (number != link->received + 1)
    return links_add(links, links->ahead, count, from, number);
  link->received++;
  while (links_has(links->ahead, *count, from, link->received + 1))
    link->received++;
  links_drop(links->ahead, count, from, link->received, links->interval);
  return true;
}

/* ---- after a rollback ---- */

/* Says to the peer what has arrived from it: `have` each that is ahead, then `report` the rest. */
static inline void links_report(const struct links *links, int peer, uint32_t have, uint32_t report,
                                struct actions *actions)
{
  for (uint32_t i = 0; i < links->counts->ahead; i++)
    if (links->ahead[i].peer == peer && links->ahead[i].number > links->link[peer].received)
      tell(actions, peer, have, links->epoch, links->ahead[i].number);
  tell(actions, peer, report, links->epoch, links->link[peer].received);
}

static inline bool links_peer_has(const struct links *links, int peer, uint32_t number)
{
  return links_add(links, links->had, &links->counts->had, peer, number);
}

static inline void links_up(const struct links *links, int peer, uint32_t received)
{
  links->link[peer].up = true;
  links->link[peer].passed = received;
}

static inline void links_down(const struct links *links, int peer)
{
  links->link[peer].up = false;
  links_drop(links->had, &links->counts->had, peer, UINT32_MAX, 0);
}

/* A rank is its own peer: what it has sent to itself it reports to itself. */
static inline void links_to_self(const struct links *links)
{
  int self = links->config->self;
  links_down(links, self);
  for (uint32_t i = 0; i < links->counts->ahead; i++)
    if (links->ahead[i].peer == self && links->ahead[i].number > links->link[self].received)
      links_peer_has(links, self, links->ahead[i].number);
  links_up(links, self, links->link[self].received);
}

/* The program is where it was at `checkpoint`, when it had sent and received what link->sent and
 * link->received say by now. Slots of what is undone are emptied if they are `held`. */
static inline void links_go_back(const struct links *links, uint32_t checkpoint, bool held,
                                 struct actions *actions)
{
  struct links_counts *counts = links->counts;
  uint32_t left = 0;
  for (uint32_t i = 0; i < counts->log; i++) {
    struct sent *entry = &links->log[i];
    entry->forgotten = false;
    if (entry->number <= links->link[entry->peer].sent)
      links->log[left++] = *entry;
    else if (held)
      act(actions, ACTION_FORGET)->slot = entry->slot;
  }
  memset(&links->log[left], 0, (counts->log - left) * sizeof *links->log);
  counts->log = left;
  for (int peer = 0; peer < links->config->ranks; peer++)
    links_drop(links->ahead, &counts->ahead, peer, UINT32_MAX, checkpoint);
}

#endif
