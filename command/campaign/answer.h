/* What a campaign answers, in words: which cell is best, which others are not measurably worse,
 * what the best one costs, how many runs more would settle it. */
#ifndef RECLINE_ANSWER_H
#define RECLINE_ANSWER_H

#include <json-glib/json-glib.h>

#include "command/campaign/table.h"

enum { ANSWER_RUNS_MOST = 10000 };

/* The cells of a campaign, the least mean first; cells of which no run ended are last. A cell is
 * `tied` where its difference from the first, run by run, is not known to be above 0 (95 %). */
struct ranking {
  unsigned cells;
  unsigned *cell;
  bool *tied;
  double failure_free; /* seconds of the program without failures and protocol; NAN: not known */
};

struct ranking ranking_of(const struct table *, int field, double failure_free);
void ranking_clear(struct ranking *);

/* Returns how many runs more of each cell would tell cell `a` from `b`, if their means and
 * deviations are as they were seen; 0: they are told apart. At most ANSWER_RUNS_MOST + 1. */
unsigned answer_further_runs(const struct table *, unsigned a, unsigned b, int field);

/* Returns what is to be said where hardly any failure struck in the runs of a cell: "only 2
 * failures struck in its 20 runs, too few to tell what failures cost"; NULL where there were
 * enough. The caller frees it. */
char *answer_few_failures(const struct table *, unsigned cell);

/* Appends how many runs more of each would tell the best cell from the one of that name. */
void answer_add_further(GString *, unsigned more, const char *name);

struct answer_unit {
  const char *name;
  double seconds;
};

/* Returns the largest unit in which a time has at least `least` units; microseconds if there is
 * none. */
const struct answer_unit *answer_unit(double seconds, double least);

/* A time for a person: "32 min", "1.4 h", "350 ms". The caller frees it. */
char *answer_time(double seconds);

/* "costs 3.1 ± 0.2 % of the job" of a cell, or how many times as long it takes; "" where the
 * failure-free time is not known. The caller frees it. */
char *answer_cost(const struct table *, unsigned cell, int field, double failure_free);

/* The sentences of a campaign, without an end of line; the caller frees them. */
char *answer_sentence(const struct table *, const struct ranking *, int field);

/* The ranking as lines on standard output, with what protocols assume where these are swept; and as
 * members "answer", "failure_free_s" and "ranking" of an object that is open. */
void answer_print_ranking(const struct table *, const struct ranking *, int field);
void answer_add_json(const struct table *, const struct ranking *, int field, JsonBuilder *);

#endif
