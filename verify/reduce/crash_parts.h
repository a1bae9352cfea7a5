/* Declares what the files of the crash reduction share. */
#ifndef RECLINE_CRASH_PARTS_H
#define RECLINE_CRASH_PARTS_H

#include "verify/reduce/crash.h"
#include "verify/state/model.h"
#include "world/rules/world_parts.h"

/* Names the state in which a crash with certain remains is taken. */
struct crash_place {
  uint64_t digest; /* digest of the state */
  uint32_t since;  /* 1 + the level of the state, or 0 if no state is known */
  uint32_t chosen; /* number of the state in that level */
};

/* Holds what workers share. It is used under the explorer's lock `rules`. */
struct crash_reduction {
  struct model *model;
  struct intern remains; /* what a crash leaves of a rank */
  /* what a crash leaves of a rank, together with what the outside has seen */
  struct intern outsides;
  struct intern globals; /* what a crash leaves of GLOBAL */
  struct intern crashed; /* uint32_t[]: the remains of all ranks */
  struct crash_place *places;
  uint32_t places_room;
  uint32_t *chosen; /* numbers of the states of this level where crashes are taken */
  uint32_t chosen_count, chosen_room;
  struct intern tried; /* struct trial */
  struct intern falls; /* struct fall */
  /* for each entry of `falls`: the value of GLOBAL after the crash was noticed */
  uint32_t *after;
  uint32_t after_room;
  struct intern downs; /* struct fall */
  uint32_t *became;    /* for each entry of `downs`: what the rank becomes, an index of `states` */
  uint32_t became_room;
  struct intern states; /* uint32_t[]: values */
  /* With --audit, uint32_t[]: the remains of all ranks, and the rank that crashes. */
  struct intern lines;
  uint32_t *led; /* for each entry of `lines`: where it leads, an index of `states` */
  uint32_t led_room;
  const char *failed;
};

/* Holds numbers of classes, by the number of a component, or 0 if the class is not known. */
struct classes {
  uint32_t *of;
  uint32_t room;
};

/* Holds digests, by the number of a component, or 0 if the digest is not known. */
struct digests {
  uint64_t *of;
  uint32_t room;
};

struct crash_worker {
  struct crash_reduction *reduction;
  struct model *model;
  const struct position *at;  /* the state being expanded */
  struct enabled_move *moves; /* the moves of the state that are left */
  uint32_t moves_count;
  uint32_t ranks;
  struct classes globals;
  struct classes **ranks_classes; /* [what remains of GLOBAL][rank] */
  uint32_t lists_count, lists_room;
  const unsigned *level;        /* level of the search */
  struct intern crashed, tried; /* what this worker has seen of the common entries */
  struct crash_place *places;   /* for each entry of `crashed` */
  uint32_t places_room;
  struct digests *digests; /* by component: the digests of the component */
};

/* Notes `failed`, a static text that tells why the reduction is invalid, unless one was noted
 * before. */
static inline void crash_fail(struct crash_reduction *r, const char *failed)
{
  if (!r->failed)
    r->failed = failed;
}

/* ---- crash_remains.c ---- */

/* These functions give a number to what a crash leaves of the loaded state. crash_kept() numbers,
 * together with `out`, the durable parts of the committed checkpoint of `rank`; other stored parts
 * are removed when the rank starts. crash_kept_global() numbers what is left of GLOBAL. */
uint32_t crash_kept(struct crash_reduction *, uint32_t rank, uint32_t out);
uint32_t crash_kept_global(struct crash_reduction *);

/* Sets the remains of the worker's state after a crash: a number for each rank, and one for
 * GLOBAL. */
void crash_remains(struct crash_worker *, uint32_t *key);

/* Proposes the worker's state as the state in which the crash with these remains is taken. */
void crash_propose(struct crash_worker *);

/* ---- crash_trial.c ---- */

/* Tests the effect of DOWN on the ranks of the worker's state after a crash of any other rank, and
 * the effect of START on ranks that have gone back. */
void crash_try(struct crash_worker *);

/* Takes the crash of `rank` in the worker's state, and all that follows until all ranks have
 * started again. The remains, `key` with `count` numbers, must determine where that leads. */
void crash_audit(struct crash_worker *, uint32_t rank, const uint32_t *key, uint32_t count);

#endif
