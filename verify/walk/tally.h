/* Keeps the results of walks: a record of each, and their sum. */
#ifndef RECLINE_TALLY_H
#define RECLINE_TALLY_H

#include <stdio.h>

#include "verify/walk/families.h"
#include "verify/walk/walker.h"

/* Records one walk, in plain memory, so that the record can cross a pipe. */
struct walked {
  uint64_t number; /* from 0 */
  uint64_t steps;
  uint32_t families; /* the families from which its world was drawn, or-ed */
  uint16_t ranks;
  uint16_t crashes;
  uint8_t ending; /* enum ending */
  struct reached reached;
};

/* Sums up walks of one kind. */
struct heap {
  uint64_t walks, steps;
  uint64_t seen[REACHES]; /* number of walks that have reached each event */
  struct reached reached;
};

struct tally {
  struct heap all;
  struct heap family[FAMILIES];
  uint64_t endings[ENDINGS], crashes;
  unsigned least_ranks, most_ranks; /* least and most ranks of a walk, or 0 if there is none yet */
};

void tally_add(struct tally *, const struct walked *);

/* Holds the subject of the walks, and their result. */
struct outcome {
  const char *what; /* protocol or claim */
  uint64_t seed;
  uint32_t taken; /* the families that were drawn from, or-ed, or 0 for the claim's own world */
  const char *const *judged; /* properties, ends with NULL */
  double seconds;            /* seconds that it took; in JSON only */
  bool stopped;              /* a signal ended it before it was done */
  /* A violation; `property` NULL: none. */
  const char *property, *text, *claim, *trace; /* files, or NULL if there is none */
  uint64_t number;                             /* of the walk that found it */
  int rank, ranks;
  unsigned moves;
};

/* Prints the summary for people. */
void tally_print(const struct tally *, const struct outcome *);

/* Returns the summary as a JSON object. The caller frees it with g_free(). */
char *tally_json(const struct tally *, const struct outcome *);

#endif
