/* Keeps the results of walks: a record of each walk, and the sum of all records. */
#ifndef RECLINE_TALLY_H
#define RECLINE_TALLY_H

#include <stdio.h>

#include "verify/walk/families.h"
#include "verify/walk/walker.h"

/* Records one walk, in plain memory, so that the record can cross a pipe. */
struct walked {
  uint64_t number; /* number of the walk, from 0 */
  uint64_t steps;
  uint32_t families; /* the families from which the world was drawn, or-ed */
  uint16_t ranks;
  uint16_t crashes;
  uint8_t ending; /* how the run ended: enum ending */
  struct reached reached;
};

/* Sums up walks of one kind. */
struct heap {
  uint64_t walks, steps;
  uint64_t seen[REACHES]; /* by event: number of walks that have reached it */
  struct reached reached;
};

struct tally {
  struct heap all;
  struct heap family[FAMILIES];
  uint64_t endings[ENDINGS], crashes;
  /* smallest and largest number of ranks of a walk, or 0 if there is no walk yet */
  unsigned least_ranks, most_ranks;
};

void tally_add(struct tally *, const struct walked *);

/* Holds the subject of the walks, and their result. */
struct outcome {
  const char *what; /* name of the protocol or claim */
  uint64_t seed;
  uint32_t taken; /* the families that were drawn from, or-ed, or 0 for the claim's own world */
  const char *const *judged; /* the judged properties, a list that ends with NULL */
  double seconds;            /* seconds that the walks took; only the JSON has them */
  bool stopped;              /* a signal ended the walks before they were done */
  /* The next fields describe a violation; `property` is NULL if there is none. */
  /* `claim` and `trace` are files, or NULL if there is none */
  const char *property, *text, *claim, *trace;
  uint64_t number; /* number of the walk that found the violation */
  int rank, ranks;
  unsigned moves;
};

/* Prints the summary for people. */
void tally_print(const struct tally *, const struct outcome *);

/* Returns the summary as a JSON object. The caller frees it with g_free(). */
char *tally_json(const struct tally *, const struct outcome *);

#endif
