/* Declares what the files of stubborn sets share.
 *
 *     stubborn.c          the sets
 *     stubborn_classes.c  what a worker knows of values, and its recent choices
 */
#ifndef RECLINE_STUBBORN_PARTS_H
#define RECLINE_STUBBORN_PARTS_H

#include "verify/reduce/dependence.h"
#include "verify/reduce/stubborn.h"
#include "world/rules/world_parts.h"

enum {
  STUBBORN_KINDS = 3, /* of parts of a pair: messages, control messages, contributions */
  STUBBORN_TURNS = 3  /* a rank's own moves are tried first, then control messages, then messages */
};

struct stubborn {
  struct model *model;
  const struct abstraction *abstraction;
  struct dependence *dependence;
  uint64_t (*turns)[STUBBORN_TURNS]; /* for each rank: its actions, by turn */
};

/* Holds the messages in transit between two ranks, as actions of the receiver that take them in. */
struct queue {
  uint64_t holds[STUBBORN_KINDS];
  /* Action that takes in the first message, + 1, or 0 if there is none. Contributions have no
   * first. */
  uint8_t head[STUBBORN_KINDS];
};

/* Holds classes by the number of a component's value or, for the coordinator, of a value together
 * with GLOBAL's entry in the abstraction. 0: not known. */
struct class_table {
  uint32_t *of;
  uint32_t room;
};

struct known_global {
  uint32_t entry;     /* in the abstraction */
  uint64_t committed; /* checkpoints up to the committed one, or 0 if it is not known */
};

/* A choice depends only on the moves and on the class of each component's value: for a rank its row
 * (dependence.h), for a pair the messages in transit, for GLOBAL the committed checkpoint. */
struct stubborn_worker {
  const struct stubborn *stubborn;
  struct model *model;
  const struct position *at; /* the state being expanded */
  uint32_t ranks;

  uint32_t *numbers, *classes; /* numbers of the components of the state classified last */
  uint64_t hash;               /* a sum over the classes */
  uint64_t *factors;           /* hash of each class, then of each rank's moves */
  struct class_table *tables;  /* for each rank, then for each pair */
  struct known_global *globals;
  uint32_t globals_room;
  struct intern queues; /* struct queue: the classes of pairs */

  char *chosen; /* struct known_choice, by hash: the last choice */
  size_t chosen_bytes;
};

struct known_choice {
  bool known, unseen;
  /* Moves of each rank; then the chosen moves; then, as uint32_t[], the classes. */
  uint64_t moves[];
};

/* Returns the action that takes in message `index` of a list, or UINT32_MAX if the abstraction does
 * not have it. */
uint32_t stubborn_action_of_message(const struct stubborn *, uint32_t peer, uint32_t rank,
                                    enum part_kind kind, const struct interned *list,
                                    uint32_t index);

/* Finds the classes of the worker's state. */
void stubborn_classify(struct stubborn_worker *);

/* Returns the row of a rank in the state that was classified last. */
struct row stubborn_row(const struct stubborn_worker *, uint32_t rank);
const struct queue *stubborn_queue(const struct stubborn_worker *, uint32_t from, uint32_t to);
uint64_t stubborn_committed(const struct stubborn_worker *); /* as known_global.committed */

/* Returns the note of a choice among `moves` in a state with the present classes, valid until the
 * next call. If the note is `known`, it has the choice. */
struct known_choice *stubborn_known_choice(struct stubborn_worker *, const uint64_t *moves);

#endif
