/* Has logs of envelopes, for protocols that identify messages by their envelopes.
 *
 * Source: "Event Logging" (a variant of the Chandy-Lamport algorithm for MPI that needs no FIFO
 * channels), sections 3.3.1 (a log is a list, searched from its beginning) and 4.2 (a log is sorted
 * by a hash of the envelope, counts the occurrences of each envelope, and is searched by
 * bisection).
 *
 * Messages with one envelope are received in the order in which they were sent (MPI 3.1, section
 * 3.5), so a log need not tell such messages apart: a match takes the oldest one.
 *
 * A list keeps the order in which its messages were logged; a sorted log does not. */
#ifndef RECLINE_ENVELOPES_H
#define RECLINE_ENVELOPES_H

#include "protocols/protocol.h"

#include <string.h>

struct rcl_envelope {
  int16_t peer, comm;
  int32_t tag;
  uint32_t count; /* number of messages with this envelope; always 1 in a list */
};

enum rcl_form { RCL_LIST, RCL_SORTED };

/* Describes a log in the caller's memory that has room for `capacity` entries and uses the first
 * `*used`. All other entries are zero. */
struct rcl_envelopes {
  enum rcl_form form;
  uint32_t capacity;
  uint32_t *used;
  struct rcl_envelope *item;
};

static inline struct rcl_envelope rcl_envelope_of(const struct rcl_event *event)
{
  return (struct rcl_envelope){
      .peer = event->peer, .comm = event->comm, .tag = event->tag, .count = 1};
}

/* Returns the hash of an envelope. It is perfect, as the paper asks: no two envelopes have the same
 * hash. */
static inline uint64_t rcl_envelope_hash(const struct rcl_envelope *e)
{
  return (uint64_t)(uint16_t)e->peer << 48 | (uint64_t)(uint16_t)e->comm << 32 | (uint32_t)e->tag;
}

/* Returns the index of the first entry whose hash is not below the hash of `e`. */
static inline uint32_t rcl_envelopes_binary_search(const struct rcl_envelopes *log,
                                                   const struct rcl_envelope *e)
{
  uint64_t hash = rcl_envelope_hash(e);
  uint32_t low = 0, high = *log->used;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (rcl_envelope_hash(&log->item[middle]) < hash)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static inline uint32_t rcl_envelopes_sequential_search(const struct rcl_envelopes *log,
                                                       const struct rcl_envelope *e)
{
  uint64_t hash = rcl_envelope_hash(e);
  uint32_t i = 0;
  while (i < *log->used && rcl_envelope_hash(&log->item[i]) != hash)
    i++;
  return i;
}

/* Returns the index of the first entry with this envelope, and sets `found`; or returns the index
 * where a new entry belongs, and clears `found`. */
static inline uint32_t rcl_envelopes_find(const struct rcl_envelopes *log,
                                          const struct rcl_envelope *e, bool *found)
{
  uint32_t i = log->form == RCL_LIST ? rcl_envelopes_sequential_search(log, e)
                                     : rcl_envelopes_binary_search(log, e);
  *found = i < *log->used && rcl_envelope_hash(&log->item[i]) == rcl_envelope_hash(e);
  return i;
}

/* Logs e->count messages. Returns false if the log is full. */
static inline bool rcl_envelopes_add(struct rcl_envelopes *log, const struct rcl_envelope *e)
{
  bool found;
  uint32_t i = log->form == RCL_LIST ? *log->used : rcl_envelopes_find(log, e, &found);
  if (log->form == RCL_SORTED && found) {
    log->item[i].count += e->count;
    return true;
  }
  uint32_t entries = log->form == RCL_LIST ? e->count : 1;
  if (log->capacity - *log->used < entries)
    return false;
  memmove(&log->item[i + entries], &log->item[i], (*log->used - i) * sizeof *e);
  for (uint32_t k = 0; k < entries; k++) {
    log->item[i + k] = *e;
    log->item[i + k].count = log->form == RCL_LIST ? 1 : e->count;
  }
  *log->used += entries;
  return true;
}

/* Takes the oldest message with this envelope out of the log. Returns false if there is none. */
static inline bool rcl_envelopes_take(struct rcl_envelopes *log, const struct rcl_envelope *e)
{
  bool found;
  uint32_t i = rcl_envelopes_find(log, e, &found);
  if (!found || --log->item[i].count > 0)
    return found;
  --*log->used;
  memmove(&log->item[i], &log->item[i + 1], (*log->used - i) * sizeof *e);
  log->item[*log->used] = (struct rcl_envelope){0};
  return true;
}

/* Returns how many messages with this envelope the log has. */
static inline uint32_t rcl_envelopes_count(const struct rcl_envelopes *log,
                                           const struct rcl_envelope *e)
{
  bool found;
  uint32_t count = 0, i = rcl_envelopes_find(log, e, &found);
  for (; found && i < *log->used; i++)
    if (rcl_envelope_hash(&log->item[i]) == rcl_envelope_hash(e))
      count += log->item[i].count;
    else if (log->form == RCL_SORTED)
      break;
  return count;
}

/* Returns how many messages from or to `peer` the log has, or how many messages at all if `peer` is
 * RCL_ANY. */
static inline uint32_t rcl_envelopes_total(const struct rcl_envelopes *log, int peer)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < *log->used; i++)
    if (peer == RCL_ANY || log->item[i].peer == peer)
      count += log->item[i].count;
  return count;
}

static inline void rcl_envelopes_clear(struct rcl_envelopes *log)
{
  memset(log->item, 0, *log->used * sizeof *log->item);
  *log->used = 0;
}

/* Returns whether each envelope occurs as often in one log as in the other, whatever their forms.
 */
static inline bool rcl_envelopes_equal(const struct rcl_envelopes *a, const struct rcl_envelopes *b)
{
  for (uint32_t i = 0; i < *a->used; i++)
    if (rcl_envelopes_count(a, &a->item[i]) != rcl_envelopes_count(b, &a->item[i]))
      return false;
  return rcl_envelopes_total(a, RCL_ANY) == rcl_envelopes_total(b, RCL_ANY);
}

#endif
