/* Explores one claim (or a scenario with bounds under `check`): from YAML to verdict and trace. */
#ifndef RECLINE_CLAIM_H
#define RECLINE_CLAIM_H

#include "verify/explore/explorer.h"
#include "world/scenario/scenario.h"

struct claim_options {
  uint64_t max_states; /* a bound that replaces the claim's own, or 0 if the claim's own counts */
  /* directory for ID.trace and ID.scenario.yaml, or NULL if nothing is written */
  const char *out;
  unsigned jobs;    /* number of explorations that share the machine's memory; at least 1 */
  unsigned workers; /* threads of each exploration; at least 1 */
  bool stubborn;    /* --reduce por, all */
  bool symmetry;    /* --reduce sym, all */
  bool compact;     /* the visited set keeps fingerprints of states */
  /* stored contents are kept even if no rank will start from them (world_settles()) */
  bool whole;
  bool audit; /* everything that the explorer remembers is computed again and compared */
  /* number of bytes for the tables of all jobs; 0 stands for a share of the machine's memory */
  uint64_t memory;
  /* name of the protocol whose checkpoints replace saves, or NULL if there is none */
  const char *protocol;
  const char *saves; /* directory for ID.save, to go on from, or NULL if nothing is saved */
  /* directory for states when memory is short, or NULL if they stay in memory */
  const char *disk;
  double save_seconds; /* seconds from one save to the next */
  double seconds;      /* seconds of exploring, or 0 for no bound */
  /* lines on standard error show the progress; a terminal shows only the newest line */
  bool progress;
  /* Leads to other processes that check the same claim, or NULL if there are none. */
  const struct transport *transport;
};

enum claim_verdict {
  CLAIM_HOLDS,
  CLAIM_VIOLATED,
  CLAIM_INCONCLUSIVE,
  CLAIM_VACUOUS, /* the claim holds, but no run shows its subject */
  CLAIM_BREACH
};

enum { CLAIM_SIZES = 16 };

/* Holds the result of a claim, in plain memory, so that it can cross a pipe. */
struct claim_result {
  enum claim_verdict verdict;
  uint64_t states, transitions, steps;
  uint64_t resumed;  /* number of states that came from a save */
  uint64_t archived; /* number of states that are on disk because memory was short */
  bool cycles;       /* livelock (property progress) was judged */
  bool recurs;       /* progress was not judged, and some runs may go round for ever */
  /* what runs have shown; it is complete if the verdict is HOLDS or VACUOUS */
  struct reached reached;
  unsigned depth; /* HOLDS: depth of the farthest state; VIOLATED: moves of the run */
  uint64_t bytes; /* number of bytes of the explorer's tables */
  /* bound on the probability that a state was left out, or 0 if no state was */
  double omission;
  /* bound on the probability that a violation was missed because a state was left out */
  double miss;
  /* bound on the probability that two different contents counted as equal, or 0 if none was
   * compared */
  double collision;
  uint64_t peak_rss; /* peak memory of the process that explored, in bytes; the caller sets it */
  double seconds;
  /* the `sizes_count` smallest sizes of messages and of contributions to calls, in bytes,
   * ascending */
  uint32_t sizes[CLAIM_SIZES];
  unsigned sizes_count;
  char reduction[16]; /* the reduction that was used: none, por, sym, all, recovery */
  /* in an audit: number of states without the reduction, and number of states at rest */
  uint64_t full_states, rests;
  char unreduced[80];        /* why no reduction was used, although the options asked for one */
  char no_stubborn_sets[80]; /* why stubborn sets were not used together with the crash reduction */
  char bound[32];            /* INCONCLUSIVE: the bound that was hit */
  char property[32];         /* VIOLATED: the violated property */
  int rank;
  /* HOLDS, VACUOUS: the properties that no run gave an occasion to judge, separated by ", " */
  char unjudged[256];
  /* VIOLATED, VACUOUS, BREACH: what was seen; INCONCLUSIVE: more about the bound, or "" */
  char text[256];
  char trace[512]; /* path of the trace that was written, or "" if none was */
};

/* Explores `claim`. Returns false with `error` set (`file:line: what, expected what`) if its
 * script, a property or a fault is wrong, or if the trace cannot be written. */
bool claim_check(const struct scenario *claim, const struct claim_options *, struct claim_result *,
                 GError **error);

/* Judges the claim as claim_check() does, without exploring it. */
bool claim_valid(const struct scenario *claim, GError **error);

/* Returns the claim's script as its protocol sees it (script_spell_out()), which the caller frees
 * with script_free(), or NULL with `error` set as above. */
struct script *claim_script(const struct scenario *claim, GError **error);

/* Sets up the world of a valid claim, without its memory. The caller ends with world_clear(), and
 * keeps the script until then. */
void claim_world(const struct scenario *claim, const struct script *, struct world *);

/* Returns the names of the properties that are checked; the list ends with NULL. The claim names
 * these properties. If it names none, they are the default properties, `progress` as far as the
 * search shows it, and of the properties that the protocol promises those about memory and
 * `once-per-failure`. `recovers` (no run gives up) is added, because a run that gives up says
 * nothing about later states. `line-invariant` is added if the protocol states one, unless the
 * claim expects a violation of another property, which programs must be able to see. The caller
 * frees the array, but not the names. */
GPtrArray *claim_properties(const struct scenario *claim);

/* Returns "holds", "violated", "inconclusive", "vacuous" or "breach". */
const char *claim_verdict_name(enum claim_verdict);

/* Returns when a run with that number of moves has violated its property: "by step 31" (steps count
 * from 0), or "before step 0". The caller frees it. */
char *claim_when(unsigned moves);

/* Returns the name of the verdict that a claim expects, or "holds" if the claim states none. */
const char *claim_expected(const struct scenario *claim);

#endif
