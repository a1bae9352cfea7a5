/* Declares, for the files of the explorer, the state that its workers share and the state of each
 * worker.
 *
 *     explorer.c    begins a search, and tells its result
 *     search.c      explores level by level
 *     worker.c       expands states
 *     judge.c        properties
 *     enabled.c      the moves of the state being expanded
 *     local_cache.c  a worker's cache of the rules
 *     views.c        the parts of components that moves read
 *     table_bytes.c         sizes of tables, and of memory
 *     resume.c       saves from which a search goes on
 *     save_midlevel.c   saves in the middle of a level, by a protocol
 *     path.c         the run to a violation
 *     liveness.c     runs that go round for ever
 *     cycles.c       components of states, examined one at a time
 *     lasso.c        a run through one component, as a counterexample
 *     temporal_runs.c  temporal formulas
 *     distributed.c  one search by several processes
 */
#ifndef RECLINE_SEARCH_H
#define RECLINE_SEARCH_H

#include "base/memory.h"
#include "base/platform.h"
#include "verify/distribute/exchange.h"
#include "verify/explore/enabled.h"
#include "verify/explore/explorer.h"
#include "verify/explore/line_cache.h"
#include "verify/explore/local_cache.h"
#include "verify/reduce/crash.h"
#include "verify/reduce/recurrence.h"
#include "verify/reduce/stubborn.h"
#include "verify/reduce/symmetry.h"
#include "verify/state/archive.h"
#include "verify/state/fingerprint.h"
#include "verify/state/frontier.h"
#include "verify/state/model.h"
#include "verify/state/visited.h"

/* Names the bounds of a search. BOUND_ABSTRACTION_WAIT says that there are enough states to be
 * worth a larger abstraction. */
enum bound {
  BOUND_NONE,
  BOUND_MEMORY,
  BOUND_STATES,
  BOUND_TIME,
  BOUND_ABSTRACTION_WAIT,
  BOUND_DISK
};

struct explorer {
  struct model model;
  struct exploration *out;
  struct abstraction *abstraction; /* the abstraction, or NULL if none is needed or there is none */
  struct stubborn *stubborn;       /* NULL: none */
  struct symmetry *symmetry;       /* NULL: none */
  struct crash_reduction *crash;   /* NULL: none */
  bool patient;                    /* making the abstraction may take long */
  bool abstraction_wait; /* a large abstraction would have taken long, so ABSTRACTION_WAIT_STATES
                            states are explored without it first */

  /* The next fields are used with other processes. */
  struct exchange *exchange; /* NULL if there are no other processes */
  bool sent;                 /* this process has sent all states of this level */
  /* all processes have sent all states, and the counts are being added up */
  bool summing;
  struct {
    uint64_t transitions, rests;
  } known; /* the counts of all processes together at the end of the last level */
  /* number of saves of several processes; its parity tells the file of the next save */
  unsigned saves;

  /* packing of fingerprints, or NULL if the visited set keeps states as they are */
  struct packing *fingerprint;
  struct visited visited;

  /* The next fields belong to the search. Workers hold `lock` when they use them. */
  struct platform_lock *lock;
  struct frontier now; /* states of this level that no worker has in its share yet */
  unsigned busy;       /* number of workers that are expanding a chunk */
  bool halt;           /* workers take no more chunks, because a table must be rebuilt */
  bool over;
  enum bound full; /* the bound that was hit; nothing more is stored, but the level is finished */
  struct spill spill[2]; /* files for states of even and odd levels, when memory is short */
  bool spilling;
  struct archive *archive; /* the archive, or NULL if found states stay in memory */
  bool archiving; /* found states go to disk: a state new to the visited set may be there already */
  struct frontier fresh;           /* states of the next level that were not on disk */
  uint64_t level, before, earlier; /* states of this level, and of the two before */
  uint64_t bytes;                  /* memory taken when it was last looked at */
  double began, saved;             /* seconds at the beginning, and at the last save */
  /* steps of the search before a save, or NULL if there was none */
  struct recurrence *steps;
  struct worker *worker;
  unsigned workers;
};

/* Holds a successor that will be put into the visited set. */
struct pending {
  uint32_t *home; /* the place from which on the visited set looks for the state */
  uint32_t state[PACKING_WORDS];
  /* With hash compaction: the fingerprint that the visited set keeps in place of the state. */
  uint32_t fingerprint[FINGERPRINT_WORDS];
};

enum { PENDING = 32, RECENT = 1 << 15 };

/* Holds states outside of tables, one after the other; `numbers` has all components of each
 * state. */
struct states {
  uint32_t *numbers;
  uint32_t count, room;
};

/* Describes a move out of the state being expanded. */
struct transition {
  uint64_t to;   /* place in the visited set, or TRANSITION_STAYS for the state itself */
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

  /* The next fields describe the state being expanded. */
  struct position at;
  const struct packing *packing; /* packing of `state`, or NULL if there was no state yet */
  uint32_t state[PACKING_WORDS]; /* packed, with tag 0 */
  uint64_t hash;
  struct enabled enabled;     /* enabled moves of the state */
  struct enabled_move *moves; /* the moves from which a reduction chooses */
  uint32_t moves_count, moves_room;
  struct stubborn_worker *stubborn; /* NULL: none */
  struct symmetry_worker *symmetry; /* NULL: none */
  struct crash_worker *crash;       /* NULL: none */
  struct line_cache *line;          /* NULL if the line invariant is not judged */
  /* the state violates a property; the next fields are the first verdict, and its move */
  bool wrong;
  struct verdict why;
  /* index in rules_cache.moves, or 0 if the state itself violates the property */
  uint32_t why_move;

  /* Successors go into the visited set. If `among` is set, only the first successor that is in
   * `among` is noted instead; if `outgoing` is set, all successors are listed there. */
  struct pending pending[PENDING];
  unsigned pending_count;
  /* by hash: successors that were recently put into the visited set, and need not be put again */
  uint32_t *recent;
  uint32_t tag;          /* tag of successors */
  struct frontier share; /* states of this level that this worker expands */
  struct frontier later; /* new states, of the next level */
  /* states for which the visited set had no place or that do not fit the packing */
  struct states unplaced;
  const struct visited *among;
  bool found;
  uint32_t found_move;
  uint32_t found_state[PACKING_WORDS];
  struct transitions *outgoing;

  struct states violating; /* expanded states that violate a property */
  /* Holds what runs have shown by new moves; known moves show nothing new. */
  struct reached reached;
  uint64_t states, transitions, rests;
};

/* Returns the tag that states at this depth have in the visited set. */
static inline uint32_t tag_of(unsigned level)
{
  return level % TAG_MASK + 1;
}

/* ---- worker.c ---- */

void worker_init(struct worker *, struct explorer *);
void worker_clear(struct worker *);

/* Expands `state`, which is packed by `packing`. */
void worker_expand(struct worker *, const struct packing *, const uint32_t *state);

/* Expands all states of `chunk`, and frees it. All successors are placed. */
void worker_expand_chunk(struct worker *, struct chunk *chunk);

/* Takes the crashes of a state of this level that was expanded without them. */
void worker_take_crashes(struct worker *, const uint32_t *numbers);

/* Adds a state without tag to the visited set and, if it is new there, to the states of the next
 * level. If the answer is FULL, it adds neither. */
enum visited_answer worker_add(struct worker *, const uint32_t *state, uint64_t hash);

/* ---- judge.c ---- */

/* Judges the state being expanded by verdict number `number` (in rules_cache.verdicts) of a move.
 */
void worker_judge_move(struct worker *, uint16_t number, uint32_t move);

/* Judges the state itself: by the line invariant, as an end if all programs have ended, and, if
 * `still`, as a state that only crashes and injected faults leave. */
void worker_judge_state(struct worker *, const struct world_standing *all, bool still);

/* Adds the state's digest to options->rests. */
void worker_note_rest(struct worker *);

/* Sets the verdict of property `outcome` on programs that end with these histories, one for each
 * rank. `outcomes` has the histories of failure-free runs, and the programs' histories are not
 * among them. The text names the ranks whose history no failure-free run has. */
void worker_wrong_outcome(const struct intern *outcomes, const struct content *histories,
                          uint32_t ranks, struct verdict *);

/* Returns whether the move need not happen, so that it does not count as progress. */
static inline bool is_fault(const struct move *move)
{
  return move->kind == MOVE_CRASH || move->kind == MOVE_FAULT || world_cut(move) >= 0 ||
         (move->kind == MOVE_DETECT && move->fault == DETECT_FALSELY);
}

/* With other processes: sends the state to its owner. Returns false if this process owns it. */
bool worker_send_away(struct worker *, const uint32_t *state);

/* Places the state with these components. A state that does not fit the packing waits until there
 * is a packing that it fits. */
void worker_place(struct worker *, const uint32_t *numbers);

/* Places all pending states. */
void worker_place_pending(struct worker *);

/* Adds the worker's counts to the common counts. The caller holds `lock`. */
void worker_account(struct worker *);

void states_add(struct states *, const uint32_t *numbers, uint32_t components);

/* ---- search.c ---- */

/* Expands level after level, from e->now on, until there is a verdict. */
void explorer_search(struct explorer *);

/* Makes the verdict inconclusive, because `bound`, a static text, was hit. */
static inline void explorer_stop(struct explorer *e, const char *bound)
{
  e->out->verdict = EXPLORER_INCONCLUSIVE;
  e->out->bound = bound;
}

/* Returns whether the time for the search is up (options->max_seconds). */
bool search_is_late(const struct explorer *);

/* ---- distributed.c ---- */

/* Holds the findings of a level. */
struct level {
  uint64_t states, next; /* number of all states so far, and of states of the next level */
  uint64_t violating;
  uint64_t full; /* the bound that was hit (enum bound) */
  uint64_t save; /* whether it is time for a save */
};

/* Takes the states that other processes have sent. */
void distributed_receive(struct explorer *);

/* Returns whether all processes have expanded the level, and all states that they sent to this
 * process are placed. If not, takes the states that have come. */
bool distributed_is_level_over(struct explorer *);

/* Replaces this process's figures of the level, and the counts in e->out, by the sums over all
 * processes. */
void distributed_sum(struct explorer *, struct level *);

/* Adds the states in `found` of each process to those of all others. The packing may become
 * wider. */
void distributed_share(struct explorer *, struct states *found);

/* Saves in all processes. Returns what resume_write() returns. */
const char *distributed_save(struct explorer *);

/* Reads the last save that is complete in all processes, if there is one. Returns what
 * resume_read() returns. */
const char *distributed_resume(struct explorer *);

/* Does what recurrence_solve() does, with the steps of all processes. */
bool distributed_recurs(struct explorer *, const struct recurrence *);

/* Removes the saves of this process. */
void distributed_remove_saves(const struct explorer *);

/* Replaces the other numbers in e->out by the sums over all processes. */
void distributed_conclude(struct explorer *);

/* ---- save_midlevel.c ---- */

/* Begins checkpoints by options->protocol. Returns whether the search goes on from a checkpoint. */
bool checkpoint_begin(struct explorer *);

/* ---- table_bytes.c ---- */

/* Returns the number of bytes to which the visited set may grow. */
size_t explorer_memory(const struct explorer *);

/* Returns the bytes of all tables. No worker may run. */
uint64_t explorer_bytes(const struct explorer *);

/* Returns the number of bytes of states to be expanded that are in memory. */
uint64_t explorer_queue_bytes(const struct explorer *);

/* Returns the number of states found so far, which are all different at the end of a level. */
uint64_t explorer_states(const struct explorer *);

/* Returns the number of bytes that tables may take, or 0 for no bound. This is options->max_bytes,
 * or less with an archive, because states are sorted outside of the visited set. */
uint64_t explorer_most_bytes(const struct explorer *);

/* Makes a packing for all values, if there are more values than the present packing can name. */
void explorer_widen_packing(struct explorer *);

/* ---- path.c ---- */

/* Fills in the run to a violating state. Whatever the number of workers, this is the first
 * violating state in the order of a search by one worker. All violating states are at the smallest
 * depth, out->depth. */
void path_write(struct explorer *);

/* ---- liveness.c ---- */

/* Looks for a run that goes round for ever and violates `progress`, when all states were seen. If
 * there is one, the verdict is VIOLATED, and the run is filled in. Returns whether progress was
 * judged; this is false only if the claim does not name the property (options->max_cycles). */
bool liveness_judge(struct explorer *);

/* ---- temporal_runs.c ---- */

/* Judges the formula in options->temporal when all states were seen. If a run violates it, the
 * verdict is VIOLATED, and the run is filled in. If a bound is hit, the verdict is INCONCLUSIVE. */
void temporal_judge(struct explorer *);

#endif
