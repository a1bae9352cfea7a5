/* Inside the crash reduction. */
#ifndef RECLINE_CRASH_PARTS_H
#define RECLINE_CRASH_PARTS_H

#include "verify/reduce/crash.h"
#include "verify/state/model.h"
#include "verify/world/world_parts.h"

/* Under the explorer's `rules`. */
struct crash_reduction {
  struct model *model;
  struct intern remains; /* what a crash leaves of a rank, */
  struct intern globals; /* and of GLOBAL */
  struct intern crashed; /* uint32_t[]: remains of all, in which crashes were taken, */
  uint32_t *since;       /* and of each: in which level first, + 1 */
  uint32_t since_room;
  struct intern tried; /* struct trial */
  struct intern falls; /* struct fall, */
  uint32_t *after;     /* and of each: the entry of GLOBAL when the crash has been noticed */
  uint32_t after_room;
  struct intern downs; /* struct fall, */
  uint32_t *became;    /* and of each: what the rank becomes, in `states` */
  uint32_t became_room;
  struct intern states; /* uint32_t[]: values */
  struct intern lines;  /* --audit: uint32_t[]: remains of all and who crashes, */
  uint32_t *led;        /* and of each: where that leads, in `states` */
  uint32_t led_room;
  const char *failed;
};

/* Numbers of classes, by the number of a component; 0: not known. */
struct classes {
  uint32_t *of;
  uint32_t room;
};

struct crash_worker {
  struct crash_reduction *reduction;
  struct model *model;
  const struct position *at;  /* the state being expanded, */
  struct enabled_move *moves; /* and its moves: those that are left */
  uint32_t moves_count;
  uint32_t ranks;
  struct classes globals;
  struct classes **ranks_classes; /* [what remains of GLOBAL][rank] */
  uint32_t lists_count, lists_room;
  const unsigned *level;        /* of the search */
  struct intern crashed, tried; /* of what all know, as far as this one knows it */
  uint32_t *since;              /* of each of `crashed` */
  uint32_t since_room;
};

/* Notes that `failed`, unless something has before. */
static inline void crash_fail(struct crash_reduction *r, const char *failed)
{
  if (!r->failed)
    r->failed = failed;
}

/* ---- crash_trial.c ---- */

/* Tries what DOWN does to the ranks of the worker's state, after a crash of any other. */
void crash_try(struct crash_worker *);

/* Takes the crash of `rank` in the worker's state, and all that follows until all ranks have
 * started again: what remains, `key` of `count` numbers, must tell where that leads. */
void crash_audit(struct crash_worker *, uint32_t rank, const uint32_t *key, uint32_t count);

#endif
