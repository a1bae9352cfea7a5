/* Counts what Event Logging costs beside its messages: the paper's section 4.1, with section 4.2
 * for sorted logs. Only event-logging.c includes this file.
 *
 *     probe            one for a request of a checkpoint in each send and receive (section 5.1)
 *     logging          one record for each message sent and for each message received (Tlog x Nm);
 *                      in a sorted log also a binary search
 *     identification   for each peer and checkpoint: Tm x R (2 S - 2 R + 3) / 4 by sequential
 *                      search, as the paper expects; or, where the logs are sorted, R binary
 *                      searches in S different envelopes. S is the number of envelopes in the
 *                      peer's send log, R the number of envelopes in this rank's receive logs of
 *                      the peer, of this checkpoint interval and of the previous one
 *
 * The step identifies envelopes one by one as they come, so S and R are counted on the way.
 */
#ifndef RECLINE_EVENT_LOGGING_WORK_H
#define RECLINE_EVENT_LOGGING_WORK_H

#include "protocols/event-logging_state.h"

/* Returns the number of steps of a binary search. */
static uint32_t steps_in(uint32_t entries)
{
  uint32_t steps = 0;
  for (; entries > 0; entries /= 2)
    steps++;
  return steps;
}

static uint32_t entries_of(const struct rank *r, enum which which, int peer)
{
  struct rcl_envelopes log = log_of(r, which);
  uint32_t entries = 0;
  for (uint32_t i = 0; i < *log.used; i++)
    entries += log.item[i].peer == peer;
  return entries;
}

static void count_record(const struct rank *r, enum which which, struct rcl_work *work)
{
  work->records++;
  if (r->variant->form == RCL_SORTED)
    work->matches += steps_in(*log_of(r, which).used);
}

static void count_identification(const struct rank *r, uint32_t sent, int peer,
                                 struct rcl_work *work)
{
  uint32_t held = entries_of(r, RECEIVED, peer) + entries_of(r, ORPHANS, peer) + work->received;
  double s = sent, n = held, expected = n * (2 * s - 2 * n + 3) / 4;
  if (r->variant->form == RCL_SORTED)
    work->matches += n * steps_in(sent);
  else if (expected > 0) /* the formula holds only for logs most of whose messages were received */
    work->matches += expected;
}

/* Counts an envelope of the peer's log. An envelope that is found is removed from this rank's logs
 * at once. */
static void count_envelope(const struct rank *r, const struct rcl_envelope *e,
                           struct rcl_work *work)
{
  bool sorted = r->variant->form == RCL_SORTED;
  uint32_t held = count(r, ORPHANS, e) + count(r, RECEIVED, e),
           found = held < e->count ? held : e->count;
  work->sent += sorted ? 1 : e->count;
  work->received += sorted ? found > 0 : found;
}

static void count_control(const struct rank *r, struct rcl_work *work)
{
  struct rcl_envelope e = envelope_told(r->event);
  if (r->event->control == ENVELOPE) {
    count_envelope(r, &e, work);
  } else if (r->event->control == SEND_LOG) {
    count_identification(r, work->sent, r->event->peer, work);
    work->sent = work->received = 0;
  }
}

static void count_work(const struct rank *r, struct rcl_work *work)
{
  struct rcl_mailbox box = mailbox(r);
  struct rcl_envelope e = rcl_envelope_of(r->event);
  int self = r->config->self;
  switch ((enum rcl_event_kind)r->event->kind) {
  case RCL_EVENT_SEND:
    work->probes++;
    count_record(r, SENT, work);
    break;
  case RCL_EVENT_RECEIVE:
    work->probes++;
    if (rcl_mailbox_find(&box, r->event))
      count_record(r, RECEIVED, work);
    break;
  case RCL_EVENT_ARRIVED:
    if (r->event->request != RCL_NO_REQUEST && !count(r, DROPPED, &e))
      count_record(r, RECEIVED, work);
    break;
  case RCL_EVENT_CAPTURED: /* at this event the rank identifies its messages to itself */
    count_identification(r, entries_of(r, SENT, self), self, work);
    break;
  case RCL_EVENT_CONTROL:
    count_control(r, work);
    break;
  default:
    break;
  }
}

#endif
