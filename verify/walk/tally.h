/* Results of walks: a record of each, and their sum. */
#ifndef RECLINE_TALLY_H
#define RECLINE_TALLY_H

#include <stdio.h>

#include "verify/walk/families.h"
#include "verify/walk/walker.h"

/* One walk. Plain memory, so that it can cross a pipe. */
struct walked {
  uint64_t number; /* from 0 */
  uint64_t steps;
  uint32_t families; /* families that its world was drawn from, or-ed */
  uint16_t ranks;
  uint16_t crashes;
  uint8_t ending; /* enum ending */
  struct reached reached;
};

/* Walks of one kind together. */
struct heap {
  uint64_t walks, steps;
  uint64_t seen[REACHES]; /* number of walks in which it was reached */
  struct reached reached;
};

struct tally {
  struct heap all;
  struct heap family[FAMILIES];
  uint64_t endings[ENDINGS], crashes;
  unsigned least_ranks, most_ranks; /* that a walk had; 0: none yet */
};

void tally_add(struct tally *, const struct walked *);

/* What was walked, and the result. */
struct outcome {
  const char *what; /* protocol or claim */
  uint64_t seed;
  uint32_t taken;            /* families that were drawn from, or-ed; 0: a claim's own world */
  const char *const *judged; /* properties, ends with NULL */
  double seconds;            /* seconds that it took; in JSON only */
  bool stopped;              /* a signal ended it before it was done */
  /* A violation; `property` NULL: none. */
  const char *property, *text, *claim, *trace; /* files; NULL: none */
  uint64_t number;                             /* of the walk that found it */
  int rank, ranks;
  unsigned moves;
};

/* Prints the summary for people. */
void tally_print(const struct tally *, const struct outcome *);

/* Returns the summary as a JSON object, for g_free(). */
char *tally_json(const struct tally *, const struct outcome *);

#endif
