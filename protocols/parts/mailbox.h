/* Messages that a protocol holds in slots: taken from a channel before the program asked for them,
 * or needed once more after a restart. Shared by protocols; hosts have no use for it.
 *
 * A mailbox is a list of entries in the order in which receives are to find them. An entry whose
 * message the program has been `given` stays only as long as its protocol needs the payload.
 */
#ifndef RECLINE_MAILBOX_H
#define RECLINE_MAILBOX_H

#include "protocols/parts/act.h"

#include <string.h>

struct kept {
  uint32_t slot;
  int16_t peer, comm;
  int32_t tag;
  uint8_t given; /* the program has it */
  uint8_t late;  /* it crosses the recovery line forwards: part of the checkpoint under way */
  uint16_t pad;
  uint32_t epoch, number; /* what its sender put on it, where the protocol needs that later */
};

/* A mailbox in the caller's memory: `*used` entries of `capacity`, the others zero. */
struct mailbox {
  uint32_t capacity;
  uint32_t *used;
  struct kept *item;
};

/* The lowest slot that is free, looked for 64 at a time. */
static inline uint32_t mailbox_free_slot(const struct mailbox *box)
{
  for (uint32_t first = 1;; first += 64) {
    uint64_t taken = 0;
    for (uint32_t i = 0; i < *box->used; i++)
      if (box->item[i].slot - first < 64)
        taken |= UINT64_C(1) << (box->item[i].slot - first);
    for (uint32_t k = 0; k < 64; k++)
      if (!(taken >> k & 1))
        return first + k;
  }
}

/* Keeps the message that has arrived; NULL, and the protocol gives up, when the mailbox is full. */
static inline struct kept *mailbox_keep(struct mailbox *box, const struct event *arrived,
                                        struct actions *actions)
{
  if (*box->used == box->capacity) {
    give_up(actions, REASON_FULL);
    return NULL;
  }
  uint32_t slot = mailbox_free_slot(box);
  act(actions, ACTION_KEEP)->slot = slot;
  struct kept *entry = &box->item[(*box->used)++];
  *entry = (struct kept){
      .slot = slot, .peer = arrived->peer, .comm = arrived->comm, .tag = arrived->tag};
  return entry;
}

/* The first message for this receive that the program does not have; NULL when there is none. */
static inline struct kept *mailbox_find(const struct mailbox *box, const struct event *receive)
{
  for (uint32_t i = 0; i < *box->used; i++) {
    struct kept *entry = &box->item[i];
    if (!entry->given && entry->comm == receive->comm &&
        (receive->peer == ANY || receive->peer == entry->peer) &&
        (receive->tag == ANY || receive->tag == entry->tag))
      return entry;
  }
  return NULL;
}

static inline void mailbox_deliver(const struct kept *entry, uint32_t request,
                                   struct actions *actions)
{
  struct action *deliver = act(actions, ACTION_DELIVER);
  deliver->request = request;
  deliver->slot = entry->slot;
  deliver->peer = entry->peer;
  deliver->tag = entry->tag;
}

static inline void mailbox_forget(struct mailbox *box, struct kept *entry, struct actions *actions)
{
  act(actions, ACTION_FORGET)->slot = entry->slot;
  uint32_t i = (uint32_t)(entry - box->item);
  --*box->used;
  memmove(entry, entry + 1, (*box->used - i) * sizeof *entry);
  box->item[*box->used] = (struct kept){0};
}

static inline bool mailbox_has_own_slots(const struct mailbox *box)
{
  for (uint32_t i = 0; i < *box->used; i++)
    for (uint32_t j = 0; j < i; j++)
      if (box->item[i].slot == box->item[j].slot)
        return false;
  return true;
}

#endif
