/* Describes a world that is drawn and then shrinks: operations that belong together can be taken
 * out, and ranks, too. The world is printed as a claim, and treated like any claim. */
#ifndef RECLINE_DRAFT_H
#define RECLINE_DRAFT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "verify/walk/families.h"
#include "world/script/script.h"

/* Holds an operation of a rank. Operations of one unit stay or are taken out together, such as a
 * send and its receive, or a call on all ranks. */
struct drawn {
  uint32_t unit;
  int16_t rank;
  struct operation op;
};

struct draft {
  const struct rcl_protocol *protocol;
  /* shared object of the protocol, not owned, or NULL if the protocol is recline's own */
  const char *file;
  int ranks;
  uint32_t families; /* the families from which the world is drawn, or-ed */
  GArray *ops;       /* struct drawn, in an order in which the program can run */
  uint32_t units;    /* number of units */
  uint32_t capacity;
  /* values of the protocol's parameters with these names, or 0 if not given */
  uint32_t interval, log, failures;
  bool log_stored; /* true for `protocol.log_in: storage` */
  bool anywhere;   /* checkpoints may be taken anywhere, not only at safe points */
  int levels;      /* number of the hierarchy of storage, or 0 if there is none */
  int checkpoints, crashes, per_node;
  bool closes;
  bool fifo, no_order;
  unsigned hazards;  /* enum hazard, or-ed */
  char topology[32]; /* the declared topology, or "" if there is none */
};

enum { DRAFT_HIERARCHIES = 3, PROGRAM_RANKS_MAX = 64 };

/* Returns the claim as YAML, which the caller frees with g_free(). The claim names the properties
 * that a walk judges. */
char *draft_claim(const struct draft *, const char *id, const char *statement);

/* Returns a copy, which the caller clears with draft_clear(). */
struct draft draft_copy(const struct draft *);
void draft_clear(struct draft *);

/* Takes out the operations of units for which `out` is true. */
void draft_remove_units(struct draft *, const bool *out);

/* Takes out a rank with all units that need it; later ranks move up. Returns false if some unit
 * cannot do without the rank, or if too few ranks are left. Then the draft must not be used any
 * more. */
bool draft_remove_rank(struct draft *, int rank);

#endif
