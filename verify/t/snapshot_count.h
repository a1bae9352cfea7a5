/* Counts the states of the reference world cl-c by a formula: a second method beside the search.
 *
 * A state consists of
 * - the ranks that have recorded: none, or rank 0 and some others;
 * - the markers that have been received. Sender and receiver of each have recorded. The first
 *   marker that a rank received made it record, so received markers lead from rank 0 to each
 *   rank that has recorded;
 * - for each rank, the number of messages it has sent, and the number of them under way in each
 *   channel. Before the sender has recorded, these messages are white. While its marker is under
 *   way, the messages in front of the marker are white, and the messages behind it are black. When
 *   the marker has been received, all are black.
 *
 * All such states can be reached, as receivers take messages at any time. Consider a rank that may
 * send K messages, with c numbers of messages under way: one for each channel and colour. These c
 * numbers, the number of received messages and the number of messages not sent yet have the sum K,
 * in (K + c + 1) over (c + 1) ways. The count of states is a sum over the sets of ranks that have
 * recorded and of markers that were received. Each term is the product of these ways over the
 * ranks. */
#ifndef RECLINE_SNAPSHOT_COUNT_H
#define RECLINE_SNAPSHOT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

enum { SNAPSHOT_RANKS = 4 };

struct snapshot {
  int ranks;
  const int *most;   /* messages that each rank may send */
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

/* Returns whether received markers lead from rank 0 to each rank that has recorded, and to no
 * other. */
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

/* Returns the number of states of messages for the ranks that have recorded and these markers. */
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

/* Returns the number of states of cl-c. Rank i may send most[i] messages; there are at most
 * SNAPSHOT_RANKS ranks. */
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
