/* Counts the states of the reference world cl-c by a formula: a second method beside the search.
 *
 * A state is told by
 * - the ranks that have recorded: none, or rank 0 and some others;
 * - the markers that have been received: each from a rank that has recorded by one that has, and
 *   each rank that has recorded can be reached from rank 0 by received markers, as the first one
 *   that it received made it record;
 * - for each rank, how many messages it has sent, and how many of them are under way in each
 *   channel. Before the sender has recorded they are white; where its marker is under way, there
 *   are white ones in front of it and black ones behind; where it has been received, all are black.
 *
 * Each of these can be reached, as receivers take what comes at any time, and nothing else is in a
 * state. A rank that may send K messages and has c such numbers under way has as many states as
 * there are ways to give c numbers, the messages that were received and those not sent yet the sum
 * K: (K + c + 1) over (c + 1). So the count is the sum, over ranks that have recorded and markers
 * that were received, of the product over the ranks. */
#ifndef RECLINE_SNAPSHOT_COUNT_H
#define RECLINE_SNAPSHOT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

enum { SNAPSHOT_RANKS = 4 };

struct snapshot {
  int ranks;
  const int *most;   /* that each rank may send */
  unsigned recorded; /* a bit for each rank */
  unsigned received; /* a bit for each channel: sender * ranks + receiver */
};

static inline uint64_t snapshot_choose(int of, int some)
{
  uint64_t ways = 1;
  for (int i = 1; i <= some; i++)
    ways = ways * (uint64_t)(of - some + i) / (uint64_t)i;
  return ways;
}

static inline bool snapshot_received(const struct snapshot *s, int from, int to)
{
  return s->received >> (from * s->ranks + to) & 1;
}

/* Each marker was sent, and each rank that has recorded had a reason to. */
static inline bool snapshot_possible(const struct snapshot *s)
{
  unsigned reached = s->recorded & 1, before = 0;
  while (reached != before) {
    before = reached;
    for (int from = 0; from < s->ranks; from++)
      for (int to = 0; to < s->ranks; to++)
        if (snapshot_received(s, from, to) && before >> from & 1)
          reached |= 1u << to;
  }
  return reached == s->recorded;
}

/* The states of messages, for these markers. */
static inline uint64_t snapshot_ways(const struct snapshot *s)
{
  uint64_t ways = 1;
  for (int rank = 0; rank < s->ranks; rank++) {
    int numbers = 0;
    for (int to = 0; to < s->ranks; to++)
      if (to != rank)
        numbers += s->recorded >> rank & 1 && !snapshot_received(s, rank, to) ? 2 : 1;
    ways *= snapshot_choose(s->most[rank] + numbers + 1, numbers + 1);
  }
  return ways;
}

/* States of cl-c in which rank i may send most[i] messages; at most SNAPSHOT_RANKS ranks. */
static inline uint64_t snapshot_count(int ranks, const int *most)
{
  struct snapshot s = {.ranks = ranks, .most = most};
  uint64_t count = 0;
  for (s.recorded = 0; s.recorded < 1u << ranks; s.recorded++) {
    unsigned channels = 0; /* between ranks that have recorded */
    for (int from = 0; from < ranks; from++)
      for (int to = 0; to < ranks; to++)
        if (from != to && s.recorded >> from & 1 && s.recorded >> to & 1)
          channels |= 1u << (from * ranks + to);
    s.received = channels;
    do { /* all subsets */
      count += snapshot_possible(&s) ? snapshot_ways(&s) : 0;
      s.received = (s.received - 1) & channels;
    } while (s.received != channels);
  }
  return count;
}

#endif
