/* Puts an answer by theory into words: the sentence, the table, and the notes on what the numbers
 * rest on. */
#ifndef RECLINE_THEORY_WORDS_H
#define RECLINE_THEORY_WORDS_H

#include "command/campaign/costs.h"

/* Holds the place of a cell in the ranking. Times are in seconds, costs are shares of the job. */
struct place {
  const struct cell *cell;
  unsigned number;        /* number of the cell in the grid */
  bool known;             /* theory has an answer; otherwise place_problem() says why not */
  double every, from, to; /* the optimum, and the range that costs at most `more` more, or NAN
                             if the interval does not matter because failures take the images */
  double cost, more;
};

/* Returns whether far fewer checkpoints committed than were due, so that the program does not keep
 * the interval `every`. */
bool place_is_marked(const struct place *);

/* Returns in a line why theory has no answer for a cell, or NULL if it has one. The caller frees
 * it. */
char *place_problem(const struct place *);

/* Returns what the answer for a cell assumes, as texts, one for each assumption. The array frees
 * the texts. */
GPtrArray *place_assumptions(const struct place *);

/* Returns the answer, "Every 32 min to the local disk with c3, by theory: costs 0.28 % of the job;
 * ...", with everything that one must know beside it. The caller frees it. */
char *places_sentence(const struct place *, const struct grid *);

/* places_print() prints the cells in their order. places_print_notes() prints what the numbers rest
 * on, and what is odd about them. */
void places_print(const struct place *, const struct grid *);
void places_print_notes(const struct place *, const struct grid *);

#endif
