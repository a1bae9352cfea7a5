/* One rank of a protocol, for the executor: its config, its state, an event and the room for
 * actions, with unknown bytes where a proof is to hold for all. */
#ifndef RECLINE_PROVE_RANK_H
#define RECLINE_PROVE_RANK_H

#include "protocols/text.h"
#include "prove/execute.h"

enum { CONTROLS = 32 };

struct rank_world {
  struct executor x;
  struct value protocol; /* its struct rcl_protocol in the module */
  int self, ranks;
  uint32_t capacity, room; /* of actions */
  uint32_t state_bytes;
  uint32_t config, state, event, list, items, pieces; /* objects */
  struct rcl_protocol traits; /* the protocol as known outside of the module */
  const char *controls[CONTROLS + 1];
  bool drains; /* a step that drains channels was seen: messages may arrive without a receive */
};

/* Clones `module`, which has the protocol of that name; returns false if it has none. */
bool rank_world_init(struct rank_world *, LLVMModuleRef module, const char *name, int self,
                     int ranks, uint32_t capacity);
void rank_world_clear(struct rank_world *);

/* Makes all bytes of the state unknown, and assumes the conditions that hold in each state of the
 * protocol: its lists are within their rooms, bytes that are not in use are zero, its numbered
 * invariants hold. Returns the number of paths that this took; 0: no such state exists, or x.late.
 */
uint64_t rank_assume_state(struct rank_world *);

/* Returns a path that begins with a call of that function of door_bitcode.c; the state is all zero
 * or unknown. */
struct path *rank_path(struct rank_world *, const char *function, const struct value *args,
                       unsigned count);

/* Writes unknown or known bytes of an object in one path. */
void rank_write(struct rank_world *, struct path *, uint32_t object, uint32_t at,
                const struct value *, uint32_t bytes);

/* Reads the bytes of an object in the model of a path. */
void rank_read(struct rank_world *, const struct path *, uint32_t object, void *bytes,
               uint32_t size);

/* The same for the bytes that the object had at first. */
void rank_read_first(struct rank_world *, const struct path *, uint32_t object, void *bytes,
                     uint32_t size);

#endif
