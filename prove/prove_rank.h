/* Gives the executor one rank of a protocol: its config, its state, an event and room for actions.
 * Bytes are unknown where a proof must hold for all their values. */
#ifndef RECLINE_PROVE_RANK_H
#define RECLINE_PROVE_RANK_H

#include "protocols/text.h"
#include "prove/execute/execute.h"
#include "prove/settings.h"

enum { CONTROLS = 32 };

/* Describes the worlds for which a proof holds. */
struct prove_worlds {
  int ranks;
  uint32_t capacity;
  const GArray *set; /* struct setting: values of parameters; all other parameters are unknown */
};

struct rank_world {
  struct executor x;
  struct value protocol; /* the protocol's struct rcl_protocol in the module */
  int self, ranks;
  uint32_t capacity, room; /* `room` is the number of actions that fit */
  const GArray *set;       /* as in struct prove_worlds */
  uint32_t state_bytes;
  uint32_t config, state, event, list, items, pieces; /* numbers of the executor's objects */
  struct rcl_protocol traits; /* the protocol's constants, read from the module */
  const char *controls[CONTROLS + 1], *parameters[RCL_PARAMETERS + 1];
  /* true once a step was seen that drains channels, so that messages may arrive without a
   * receive */
  bool drains;
  bool either; /* true if ARRIVED with a receive and ARRIVED without a receive count as one event */
};

/* Prepares the rank, with a clone of `module`. Returns false if the module has no protocol of that
 * name. */
bool rank_world_init(struct rank_world *, LLVMModuleRef module, const char *name, int self,
                     const struct prove_worlds *);
void rank_world_clear(struct rank_world *);

/* Returns the first setting of a parameter that the protocol does not have, or NULL. */
const struct setting *rank_world_stranger(const struct rank_world *);

/* rank_world_pointer() returns the pointer that a constant of the module has at offset `at`.
 * rank_world_string() returns the text to which such a pointer leads; the caller frees the text
 * with g_free(). */
struct value rank_world_pointer(struct rank_world *, uint32_t object, uint64_t at);
char *rank_world_string(struct rank_world *, const struct value *at);

/* Makes the config and the state of rank `self` of the same world. From then on `w` is about that
 * rank. */
void rank_make(struct rank_world *, int self);

/* Makes all bytes of an object unknown. In models, the name of a word is `prefix` and the place of
 * the word. */
void rank_make_unknown(struct rank_world *, uint32_t object, const char *prefix);

/* These functions return a condition that holds in each state of the protocol, as a term over the
 * words of w->state. The condition of rank_lists_fit() is that lists are within their rooms, and
 * zero behind the last entry. The condition of rank_keeps_invariants() is that the numbered
 * invariants hold. The executor runs the protocol's functions on the states that the solver allows.
 * Both return NULL if no such state exists or if x.late is set. */
Z3_ast rank_lists_fit(struct rank_world *);
Z3_ast rank_keeps_invariants(struct rank_world *);

/* Makes all bytes of the state unknown, and assumes the conditions that hold in each state of the
 * protocol: its lists are within their rooms, unused bytes are zero, and its numbered invariants
 * hold. Returns the number of paths that the executor needed, or 0 if no such state exists or if
 * x.late is set. */
uint64_t rank_assume_state(struct rank_world *);

/* Returns a path that begins with a call of `function`, which is in door_bitcode.c. The state is
 * all zero, or unknown. */
struct path *rank_path(struct rank_world *, const char *function, const struct value *args,
                       unsigned count);

/* Writes bytes, known or unknown, to an object in one path. */
void rank_write(struct rank_world *, struct path *, uint32_t object, uint32_t at,
                const struct value *, uint32_t bytes);

/* Reads the bytes of an object in the model of a path. */
void rank_read(struct rank_world *, const struct path *, uint32_t object, void *bytes,
               uint32_t size);

/* Reads the bytes that the object had at first, in the model of a path. */
void rank_read_first(struct rank_world *, const struct path *, uint32_t object, void *bytes,
                     uint32_t size);

#endif
