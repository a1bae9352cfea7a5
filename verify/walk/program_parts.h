/* Declares what the files that draw programs share: drawn_messages.c, drawn_calls.c and program.c.
 */
#ifndef RECLINE_PROGRAM_PARTS_H
#define RECLINE_PROGRAM_PARTS_H

#include <stdlib.h>

#include "verify/walk/dice.h"
#include "verify/walk/draft.h"

enum { PROGRAM_RANKS = PROGRAM_RANKS_MAX, PROGRAM_COMMS = 3 };

/* Says how the receives of a rank name messages. */
enum naming { NAMES_BOTH, NAMES_SOURCE, NAMES_TAG, NAMES_NEITHER };

/* Holds a message that is sent and not yet received. */
struct letter {
  uint32_t unit;
  int from, to, tag, comm;
};

/* Holds a receive that is posted and not yet complete. */
struct posted {
  uint32_t unit;
  int rank, name;
  /* the receive was tested, or was one of two for which a wait waited, so it may be complete */
  bool looked;
};

struct maker {
  struct draft *draft;
  struct dice *dice;
  uint32_t assumed; /* what the protocol assumes: enum rcl_assumes, or-ed */
  GArray *letters, *posted;
  uint32_t *near; /* rows of neighbours, or NULL if all ranks are neighbours */
  enum naming naming[PROGRAM_RANKS];
  /* by rank: true if it never sends, so that its decisions change no message */
  bool sink[PROGRAM_RANKS];
  unsigned names[PROGRAM_RANKS]; /* by rank: names of its posted receives, one bit each */
  bool member[PROGRAM_COMMS][PROGRAM_RANKS];
  /* by rank: number of its accesses to windows that are not complete */
  unsigned pending[PROGRAM_RANKS];
};

void program_add(struct maker *, uint32_t unit, int rank, struct operation);
uint32_t program_unit(struct maker *);

/* Returns whether the draft has one of the families. */
bool program_has(const struct maker *, uint32_t families);

/* Returns whether a decision of the rank may differ when it is made again. */
bool program_decides(const struct maker *, int rank);

/* Gives an operation with data a size, if the draft has sizes. */
void program_size(struct maker *, struct operation *);

/* Draws any rank. */
int program_any_rank(struct maker *);

/* Draws a message, receives a message that is under way, or completes a posted receive, or does
 * nothing. */
void program_send(struct maker *);
void program_receive(struct maker *);
void program_complete(struct maker *);

/* Receives all messages under way, and completes all posted receives. */
void program_settle(struct maker *);

/* Draws a call of several ranks (a collective, a communicator, an epoch of windows, or an
 * iteration), or does nothing. */
void program_call(struct maker *);

/* program_begin() draws the operations before all others, program_end() the operations after
 * them. */
void program_begin(struct maker *);
void program_end(struct maker *);

#endif
