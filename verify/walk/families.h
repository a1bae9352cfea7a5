/* Lists the families of worlds: features that a world of a walk may have. Tells which families a
 * protocol takes. */
#ifndef RECLINE_FAMILIES_H
#define RECLINE_FAMILIES_H

#include <stdint.h>

#include "protocols/protocol.h"

/* Lists the families as flags, of which a world has any number. */
enum family {
  /* These families concern the program. */
  FAMILY_WILDCARDS = 1 << 0, /* receives from any source, with any tag */
  /* messages of several tags that are received in an order other than that of sending */
  FAMILY_TAGS = 1 << 1,
  FAMILY_COLLECTIVES = 1 << 2,   /* calls of all ranks */
  FAMILY_COMMUNICATORS = 1 << 3, /* messages and calls on communicators of some ranks */
  FAMILY_OUTPUTS = 1 << 4,       /* outputs to the outside */
  FAMILY_WINDOWS = 1 << 5,       /* one-sided communication in epochs of fences */
  FAMILY_LOCKS = 1 << 6,         /* one-sided communication under locks */
  FAMILY_CHOICES = 1 << 7,       /* random choices */
  FAMILY_BRANCHES = 1 << 8,      /* operations that depend on choices */
  FAMILY_NONBLOCKING = 1 << 9,   /* receives that are posted early, tested, or cancelled */
  FAMILY_SYNCHRONOUS = 1 << 10,  /* sends that wait for their receivers */
  FAMILY_ITERATIONS = 1 << 11,   /* iterations that no message crosses */
  /* messages to any rank at any time, which the receiver takes at once */
  FAMILY_FREE = 1 << 12,
  /* messages of many sizes, from no bytes to more than an eager limit */
  FAMILY_SIZES = 1 << 13,
  /* These families concern the machine. */
  FAMILY_CRASHES = 1 << 14,         /* more than one crash, also several at once */
  FAMILY_NODES = 1 << 15,           /* ranks that crash together */
  FAMILY_LEVELS = 1 << 16,          /* levels of storage whose contents crashes take away */
  FAMILY_CUT_STEPS = 1 << 17,       /* crashes within a step */
  FAMILY_WRITES = 1 << 18,          /* writes that a crash leaves whole or torn */
  FAMILY_FALSE_DETECTION = 1 << 19, /* living ranks are declared dead */
  FAMILY_CONTROL_ORDER = 1 << 20,   /* control messages overtake each other */
  FAMILY_NO_ORDER = 1 << 21,        /* messages overtake each other, against MPI */
  FAMILY_FIFO = 1 << 22,            /* channels deliver in the order of sending */
  FAMILY_TOPOLOGIES = 1 << 23,      /* messages between declared neighbours only */
  FAMILY_CONNECTIONS = 1 << 24,     /* connections are closed for captures and restarts */
  FAMILY_PLACES = 1 << 25,          /* checkpoints at safe points only */
  FAMILY_TIGHT = 1 << 26            /* lists with little more room than is used */
};
enum { FAMILIES = 27 };

/* Has the names of families in reports, in the order of the flags. The array ends with NULL. */
extern const char *const family_names[FAMILIES + 1];

/* Returns the families, or-ed, whose worlds `protocol` accepts according to its declaration
 * (rcl_place.assumes and others). */
uint32_t families_taken(const struct rcl_protocol *protocol);

/* Returns the assumptions of the protocol (enum rcl_assumes, or-ed); all assumptions if it declares
 * nothing. */
uint32_t families_assumed(const struct rcl_protocol *protocol);

#endif
