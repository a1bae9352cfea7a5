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
  STUBBORN_KINDS = 3, /* kinds of parts of a pair: messages, control messages, contributions */
  STUBBORN_TURNS = 3  /* a rank's own moves are tried first, then control messages, then messages */
};

struct stubborn {
  struct model *model;
  const struct abstraction *abstraction;
  struct dependence *dependence;
  uint64_t (*turns)[STUBBORN_TURNS]; /* for each rank: its actions, by turn */
};

/* Holds the messages in transit from one rank to another, as the actions by which the receiver
 * takes them in. */
struct queue {
  uint64_t holds[STUBBORN_KINDS];
  /* By kind: 1 + the action that takes in the first message, or 0 if there is no message. For
   * contributions this is always 0, as they have no order. */
  uint8_t head[STUBBORN_KINDS];
};

/* Holds classes by the number of a component's value or, for the coordinator, by a value together
 * with GLOBAL's entry in the abstraction. A class is 0 if it is not known. */
struct class_table {
  uint32_t *of;
  uint32_t room;
};

struct known_global {
  uint32_t entry;     /* entry of GLOBAL in the abstraction */
  uint64_t committed; /* set of the checkpoints up to the committed one, or 0 if it is not known */
};

/* Holds what a worker knows. A choice depends only on the moves and on the class of each
 * component's value. The class of a rank is its row (dependence.h), that of a pair the messages in
 * transit, that of GLOBAL the committed checkpoint. */
struct stubborn_worker {
  const struct stubborn *stubborn;
  struct model *model;
  const struct position *at; /* the state being expanded */
  uint32_t ranks;

  /* numbers and classes of the components of the state that was classified last */
  uint32_t *numbers, *classes;
  uint64_t hash;              /* a sum over the classes */
  uint64_t *factors;          /* factors in `hash` of each class, then of each rank's moves */
  struct class_table *tables; /* for each rank, then for each pair */
  struct known_global *globals;
  uint32_t globals_room;
  struct intern queues; /* struct queue: the classes of pairs */

  char *chosen; /* struct known_choice, by hash: the last choice with that hash */
  size_t chosen_bytes;
};

struct known_choice {
  bool known, unseen;
  /* The moves of each rank, then the chosen moves of each rank, then, as uint32_t[], the
   * classes. */
  uint64_t moves[];
};

/* Returns the action that takes in message `index` of a list, or UINT32_MAX if the abstraction has
 * no such action. */
uint32_t stubborn_action_of_message(const struct stubborn *, uint32_t peer, uint32_t rank,
                                    enum part_kind kind, const struct interned *list,
                                    uint32_t index);

/* Finds the classes of the worker's state. */
void stubborn_classify(struct stubborn_worker *);

/* Returns the row of a rank in the state that was classified last. */
struct row stubborn_row(const struct stubborn_worker *, uint32_t rank);
const struct queue *stubborn_queue(const struct stubborn_worker *, uint32_t from, uint32_t to);
/* returns what known_global.committed contains */
uint64_t stubborn_committed(const struct stubborn_worker *);

/* Returns the note of a choice among `moves` in a state with the present classes, valid until the
 * next call. If the note is `known`, it has the choice. */
struct known_choice *stubborn_known_choice(struct stubborn_worker *, const uint64_t *moves);

#endif
