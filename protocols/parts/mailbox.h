/* Holds messages in slots. A protocol has taken these messages from a channel before the program
 * asked for them, or needs them again after a restart. Protocols share this file; hosts do not use
 * it.
 *
 * A mailbox is a list of entries in the order in which receives are to find them. After the program
 * was `given` a message, the entry stays only as long as the protocol needs the payload. */
#ifndef RECLINE_MAILBOX_H
#define RECLINE_MAILBOX_H

#include "protocols/parts/act.h"

#include <string.h>

struct rcl_kept {
  uint32_t slot;
  int16_t peer, comm;
  int32_t tag;
  uint8_t given; /* 1 if the program was given the message */
  /* 1 if the message is late at the recovery line of the checkpoint under way, so that the
   * checkpoint has to hold it. */
  uint8_t late;
  uint16_t pad;
  uint32_t epoch, number; /* words of the message, if the protocol needs them later */
};

/* Describes a mailbox in the caller's memory that has room for `capacity` entries and uses the
 * first `*used`. All other entries are zero. */
struct rcl_mailbox {
  uint32_t capacity;
  uint32_t *used;
  struct rcl_kept *item;
};

/* Returns the lowest free slot. Looks at 64 slots at a time. */
static inline uint32_t rcl_mailbox_free_slot(const struct rcl_mailbox *box)
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

/* Keeps the message that has arrived, and returns its entry. If the mailbox is full, gives up and
 * returns NULL. */
static inline struct rcl_kept *rcl_mailbox_keep(struct rcl_mailbox *box,
                                                const struct rcl_event *arrived,
                                                struct rcl_actions *actions)
{
  if (*box->used == box->capacity) {
    rcl_give_up_full(actions, RCL_FULL_KEPT);
    return NULL;
  }
  uint32_t slot = rcl_mailbox_free_slot(box);
  rcl_act(actions, RCL_ACTION_KEEP)->slot = slot;
  struct rcl_kept *entry = &box->item[(*box->used)++];
  *entry = (struct rcl_kept){
      .slot = slot, .peer = arrived->peer, .comm = arrived->comm, .tag = arrived->tag};
  return entry;
}

/* Returns the first message for this receive that the program does not have yet, or NULL if there
 * is none. */
static inline struct rcl_kept *rcl_mailbox_find(const struct rcl_mailbox *box,
                                                const struct rcl_event *receive)
{
  for (uint32_t i = 0; i < *box->used; i++) {
    struct rcl_kept *entry = &box->item[i];
    if (!entry->given && entry->comm == receive->comm &&
        rcl_matches(receive->peer, receive->tag, entry->peer, entry->tag))
      return entry;
  }
  return NULL;
}

static inline void rcl_mailbox_deliver(const struct rcl_kept *entry, uint32_t request,
                                       struct rcl_actions *actions)
{
  struct rcl_action *deliver = rcl_act(actions, RCL_ACTION_DELIVER);
  deliver->request = request;
  deliver->slot = entry->slot;
  deliver->peer = entry->peer;
  deliver->tag = entry->tag;
}

static inline void rcl_mailbox_forget(struct rcl_mailbox *box, struct rcl_kept *entry,
                                      struct rcl_actions *actions)
{
  rcl_act(actions, RCL_ACTION_FORGET)->slot = entry->slot;
  uint32_t i = (uint32_t)(entry - box->item);
  --*box->used;
  memmove(entry, entry + 1, (*box->used - i) * sizeof *entry);
  box->item[*box->used] = (struct rcl_kept){0};
}

/* Returns whether every kept message has a rank as its sender and a slot of its own. */
static inline bool rcl_mailbox_is_sound(const struct rcl_config *config,
                                        const struct rcl_mailbox *box)
{
  for (uint32_t i = 0; i < *box->used; i++) {
    const struct rcl_kept *entry = &box->item[i];
    if (!entry->slot || !rcl_is_rank(config, entry->peer))
      return false;
    for (uint32_t j = 0; j < i; j++)
      if (entry->slot == box->item[j].slot)
        return false;
  }
  return true;
}

#endif
