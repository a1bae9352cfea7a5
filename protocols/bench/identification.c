/* Measures what logging and identification cost, by the form of the logs (envelopes.h): lists with
 * sequential search, or sorted logs with occurrence counts and binary search. The program judges
 * nothing. Its numbers mean something only on a quiet machine.
 *
 *     identification-bench [ROUNDS]      median of ROUNDS (9)
 *
 * In one interval a peer has sent N messages with E different envelopes, and the receiver has
 * received nine tenths of them. As in the paper (section 4.1), each message is logged on both
 * sides; then each envelope of the sender's log is searched in the receiver's log.
 */
#include "protocols/parts/envelopes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MESSAGES_MAX = 1 << 14, ROUNDS_MAX = 99 };

struct log {
  struct rcl_envelopes log;
  uint32_t used;
  struct rcl_envelope item[MESSAGES_MAX];
};

struct cost {
  double logging, identification; /* in nanoseconds for a message */
};

static struct log sent, received, in_transit;

static double now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static void begin(struct log *log, enum rcl_form form)
{
  memset(log->item, 0, sizeof log->item);
  log->used = 0;
  log->log = (struct rcl_envelopes){
      .form = form, .capacity = MESSAGES_MAX, .used = &log->used, .item = log->item};
}

/* Returns envelope `i`. Tags come with a stride through all of them, an order that favours neither
 * form. */
static struct rcl_envelope envelope(uint32_t i, uint32_t envelopes)
{
  return (struct rcl_envelope){.peer = 1, .tag = (int32_t)(i * 7919u % envelopes), .count = 1};
}

static struct cost round_of(enum rcl_form form, uint32_t messages, uint32_t envelopes)
{
  begin(&sent, form);
  begin(&received, form);
  begin(&in_transit, form);
  double start = now();
  for (uint32_t i = 0; i < messages; i++) {
    struct rcl_envelope e = envelope(i, envelopes);
    rcl_envelopes_add(&sent.log, &e);
    if (i % 10)
      rcl_envelopes_add(&received.log, &e);
  }
  double logged = now();
  for (uint32_t i = 0; i < sent.used; i++) {
    struct rcl_envelope one = sent.item[i];
    one.count = 1;
    for (uint32_t k = 0; k < sent.item[i].count; k++)
      if (!rcl_envelopes_take(&received.log, &one))
        rcl_envelopes_add(&in_transit.log, &one);
  }
  double identified = now();
  if (rcl_envelopes_total(&in_transit.log, RCL_ANY) != (messages + 9) / 10)
    abort();
  return (struct cost){(logged - start) / messages, (identified - logged) / messages};
}

static int by_identification(const void *a, const void *b)
{
  double x = ((const struct cost *)a)->identification, y = ((const struct cost *)b)->identification;
  return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
  static struct cost cost[ROUNDS_MAX];
  int rounds = argc > 1 ? atoi(argv[1]) : 9;
  if (rounds < 1 || rounds > ROUNDS_MAX) {
    fprintf(stderr, "identification-bench: expected 1 to %d rounds\n", ROUNDS_MAX);
    return 64;
  }
  printf("%9s %10s  %-7s %8s %14s %21s\n", "messages", "envelopes", "logs", "entries",
         "logging, ns", "identification, ns");
  for (uint32_t messages = 256; messages <= MESSAGES_MAX; messages *= 8)
    for (int k = 0; k < 3; k++)
      for (enum rcl_form form = RCL_LIST; form <= RCL_SORTED; form++) {
        uint32_t envelopes = k == 0 ? 1 : k == 1 ? 16 : messages;
        for (int i = 0; i < rounds; i++)
          cost[i] = round_of(form, messages, envelopes);
        qsort(cost, (size_t)rounds, sizeof *cost, by_identification);
        printf("%9u %10u  %-7s %8u %14.1f %21.1f\n", messages, envelopes,
               form == RCL_LIST ? "list" : "sorted", sent.used, cost[rounds / 2].logging,
               cost[rounds / 2].identification);
      }
  return 0;
}
