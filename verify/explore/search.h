/* Inside the explorer: what its workers share, and what each has for itself.
 *
 *     explorer.c    sets up, tells what came out
 *     search.c       explores level by level
 *     worker.c       expands states
 *     enabled.c      the moves of the state being expanded
 *     local_cache.c  a worker's cache of the rules
 *     size.c         memory taken, and memory there is
 *     resume.c       saves to go on from
 *     path.c         the run to a violation
 *     liveness.c     runs that go round for ever
 */
#ifndef RECLINE_SEARCH_H
#define RECLINE_SEARCH_H

#include "verify/base/memory.h"
#include "verify/base/platform.h"
#include "verify/explore/enabled.h"
#include "verify/explore/explorer.h"
#include "verify/explore/local_cache.h"
#include "verify/reduce/crash.h"
#include "verify/reduce/stubborn.h"
#include "verify/reduce/symmetry.h"
#include "verify/state/fingerprint.h"
#include "verify/state/frontier.h"
#include "verify/state/model.h"
#include "verify/state/visited.h"

struct explorer {
  struct model model;
  struct exploration *out;
  struct abstraction *abstraction; /* NULL: none is needed, or there is none */
  struct stubborn *stubborn;       /* NULL: none */
  struct symmetry *symmetry;       /* NULL: none */
  struct crash_reduction *crash;   /* NULL: none */

  struct packing *fingerprint; /* NULL: the visited set keeps states as they are */
  struct visited visited;

  /* The search. Workers that come here hold `lock`. */
  struct platform_lock *lock;
  struct frontier now; /* states of this level that are in no share yet */
  unsigned busy;       /* workers that are expanding a chunk */
  bool halt;           /* workers take no more chunks: a table must be rebuilt */
  bool over;
  const char *full;      /* the bound that was hit: nothing more is stored, the level is finished */
  struct spill spill[2]; /* of the states of even and odd levels, when memory is short */
  bool spilling;
  uint64_t level, before, earlier; /* states of this level, and of the two before */
  uint64_t bytes;                  /* memory taken when it was last looked at */
  double saved;                    /* seconds at the last save */
  struct worker *worker;
  unsigned workers;
};

/* A successor on its way to the visited set. */
struct pending {
  uint32_t *home; /* where it is looked for */
  uint32_t state[PACKING_WORDS];
  uint32_t fingerprint[FINGERPRINT_WORDS]; /* where that is what is looked for */
};

enum { PENDING = 32, RECENT = 1 << 15 };

/* States outside of tables, one behind the other: `numbers` of all components each. */
struct states {
  uint32_t *numbers;
  uint32_t count, room;
};

/* The number of the head, of each number of a rank; 0: not known. */
struct heads {
  uint32_t *of;
  uint32_t room;
};

/* A move out of the state being expanded. */
struct transition {
  uint64_t to;   /* place in the visited set; of the state itself: WAY_STAYS */
  uint32_t move; /* in rules_cache.moves */
};

#define TRANSITION_STAYS UINT64_MAX

struct transitions {
  struct transition *item;
  uint32_t count, room;
};

struct worker {
  _Alignas(MEMORY_LINE) struct explorer *e;
  struct local_cache cache;

  /* The state being expanded. */
  struct position at;            /* numbers of the heads of ranks are `components` further on */
  struct heads *heads;           /* of each rank */
  const struct packing *packing; /* of `state`; NULL: there was none yet */
  uint32_t state[PACKING_WORDS]; /* packed, with tag 0 */
  uint64_t hash;
  struct enabled enabled;     /* its moves; */
  struct enabled_move *moves; /* those among which a reduction chooses */
  uint32_t moves_count, moves_room;
  struct stubborn_worker *stubborn; /* NULL: none */
  struct symmetry_worker *symmetry; /* NULL: none */
  struct crash_worker *crash;       /* NULL: none */
  bool wrong; /* it violates a property: the first one seen, and by which move */
  struct verdict why;
  uint32_t why_move; /* in rules_cache.moves; 0: the state itself does */

  /* Where its successors go: to the visited set, or, when `among` is set, the first one that is in
   * there is noted, or, when `outgoing` is set, all are listed there. */
  struct pending pending[PENDING];
  unsigned pending_count;
  uint32_t *recent;       /* successors that were put of late, and need not be put again, by hash */
  uint32_t tag;           /* of successors */
  struct frontier share;  /* states of this level that are its own to expand */
  struct frontier later;  /* those that are new */
  struct states unplaced; /* found no place, or do not fit the packing */
  const struct visited *among;
  bool found;
  uint32_t found_move;
  uint32_t found_state[PACKING_WORDS];
  struct transitions *outgoing;

  struct states violating; /* states expanded that violate a property */
  struct reached reached;  /* by moves of which nothing was known: others show nothing new */
  uint64_t states, transitions, rests;
};

/* Of states at that depth, in the visited set. */
static inline uint32_t tag_of(unsigned level)
{
  return level % TAG_MASK + 1;
}

/* ---- worker.c ---- */

void worker_init(struct worker *, struct explorer *);
void worker_clear(struct worker *);

/* Expands `state`. */
void worker_expand(struct worker *, const struct packing *, const uint32_t *state);

/* Expands all states of `chunk`, which it frees; their successors are placed. */
void worker_expand_chunk(struct worker *, struct chunk *chunk);

/* Adds a state that wears no tag yet to the visited set and, if it is new there, to those to be
 * expanded on the next level. FULL: neither. */
enum visited_answer worker_add(struct worker *, const uint32_t *state, uint64_t hash);

/* The verdict on programs that end with these histories, one of each rank, as no run without
 * failures does. */
void worker_wrong_outcome(const struct content *histories, uint32_t ranks, struct verdict *);

/* Moves that the world may well never make: only others count as progress. */
static inline bool is_fault(const struct move *move)
{
  return move->kind == MOVE_CRASH || move->kind == MOVE_FAULT || world_cut(move) >= 0 ||
         (move->kind == MOVE_DETECT && move->fault == DETECT_FALSELY);
}

/* Adds what the worker has counted to what all have. Under `lock`. */
void worker_account(struct worker *);

void states_add(struct states *, const uint32_t *numbers, uint32_t components);

/* ---- search.c ---- */

/* Expands level after level, from e->now on, until there is a verdict. */
void explorer_search(struct explorer *);

/* ---- size.c ---- */

/* Bytes that the visited set may grow to. */
size_t explorer_memory(const struct explorer *);

/* Bytes of all tables; while no worker runs. */
uint64_t explorer_bytes(const struct explorer *);

/* Bytes of the states to be expanded, as far as they are in memory. */
uint64_t explorer_queue_bytes(const struct explorer *);

/* ---- path.c ---- */

/* Fills in the run to the first of the violating states in the order of a search by one worker,
 * whatever the number of workers. All are at depth out->depth, the smallest. */
void path_write(struct explorer *);

/* ---- liveness.c ---- */

/* When all states were seen: looks for a run that goes round for ever against property `progress`.
 * Where there is one, the verdict is VIOLATED, and the run is filled in. */
void liveness_judge(struct explorer *);

#endif
