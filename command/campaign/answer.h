/* Says in words what a campaign answers: which cell is best, which others are not measurably worse,
 * what the best cell costs, and how many more runs would settle the question. */
#ifndef RECLINE_ANSWER_H
#define RECLINE_ANSWER_H

#include <json-glib/json-glib.h>

#include "command/campaign/table.h"

enum { ANSWER_RUNS_MOST = 10000 };

/* Ranks the cells of a campaign. The cell with the least mean comes first; cells without an ended
 * run come last. A cell is `tied` if its difference from the first cell, taken run by run, may be 0
 * (at 95 %). */
struct ranking {
  unsigned cells;
  unsigned *cell;
  bool *tied;
  /* seconds that the program takes without failures and without a protocol, or NAN if not known */
  double failure_free;
};

struct ranking ranking_of(const struct table *, int field, double failure_free);
void ranking_clear(struct ranking *);

/* Holds a range of the cells of a sweep over numbers, in the order of the numbers. The cells from
 * `first` to `last` lie around the cell `best`, which has the least mean, and are tied with `best`.
 * `next` is the best cell outside or at the edge of the range; more runs could tell `best` from
 * `next`. */
struct range {
  unsigned best, first, last, next;
};

/* Returns the range of a grid with one sweep, whose values are numbers or times. */
struct range range_of(const struct table *, int field);

/* Returns how many more runs of each cell would tell cell `a` from `b`, if means and deviations
 * stay as they are, or 0 if they can be told apart now. Returns at most ANSWER_RUNS_MOST + 1. */
unsigned answer_further_runs(const struct table *, unsigned a, unsigned b, int field);

/* Returns a warning if hardly any of the failures by law struck in the runs of a cell: "only 2
 * failures struck in its 20 runs, too few to tell what failures cost (1.6 expected); about 110
 * further runs of each would meet 10"; or NULL if enough failures struck or none can. If some runs
 * did not end, the text counts only the runs that did, and says so. The caller frees it. */
char *answer_few_failures(const struct table *, unsigned cell);

/* Appends how many runs did not end, if any: " 2 of 6 runs did not end, at each of 9 intervals, so
 * means are over fewer runs." `cells` is the word for several cells. */
void answer_add_missing(GString *, const struct table *, const char *cells);

/* Appends which cells committed far fewer checkpoints than were due, if any. */
void answer_add_short(GString *, const struct table *);

/* Appends how many more runs of each cell would tell the best cell from the cell called `name`. */
void answer_add_further(GString *, unsigned more, const char *name);

struct answer_unit {
  const char *name;
  double seconds;
};

/* Returns the largest unit in which a time has at least `least` units; microseconds if there is
 * none. */
const struct answer_unit *answer_unit(double seconds, double least);

/* Returns a time as a person says it: "32 min", "1.4 h", "350 ms". The caller frees it. */
char *answer_time(double seconds);

/* Returns what a protocol assumes, for people; "" if it is not in the registry. The caller frees
 * it. */
char *answer_assumed(const char *protocol);

/* Returns "costs 3.1 ± 0.2 % of the job" for a cell, or how many times as long it takes; "" if the
 * failure-free time is not known. The caller frees it. */
char *answer_cost(const struct table *, unsigned cell, int field, double failure_free);

/* Returns the answer of a campaign as sentences, without an end of line. The caller frees it. */
char *answer_sentence(const struct table *, const struct ranking *, int field);

/* answer_print_ranking() prints the ranking on standard output, with the assumptions of protocols
 * if there is a sweep over protocols. answer_add_json() adds the ranking to an open object, as the
 * members "answer", "failure_free_s" and "ranking". */
void answer_print_ranking(const struct table *, const struct ranking *, int field);
void answer_add_json(const struct table *, const struct ranking *, int field, JsonBuilder *);

#endif
