/* One claim (or scenario with bounds under `check`), explored: from YAML to verdict and trace. */
#ifndef RECLINE_CLAIM_H
#define RECLINE_CLAIM_H

#include "verify/explore/explorer.h"
#include "world/scenario/scenario.h"

struct claim_options {
  uint64_t max_states;  /* replaces the claim's own bound; 0: the claim's */
  const char *out;      /* directory for ID.trace and ID.scenario.yaml; NULL: nothing is written */
  unsigned jobs;        /* explorations that share the machine's memory; at least 1 */
  unsigned workers;     /* threads of each; at least 1 */
  bool stubborn;        /* --reduce por, all */
  bool symmetry;        /* --reduce sym, all */
  bool compact;         /* the visited set keeps fingerprints */
  bool whole;           /* keep contents that no rank will start from (world_settles()) */
  bool audit;           /* repeat what the explorer remembers, and compare */
  uint64_t memory;      /* bytes for the tables of all jobs; 0: a share of the machine's */
  const char *protocol; /* the protocol whose checkpoints replace saves; NULL: none */
  const char *saves;    /* directory for ID.save, to go on from; NULL: nothing is saved */
  const char *disk;     /* directory for states when memory is short; NULL: they stay in memory */
  double save_seconds;  /* seconds from one save to the next */
  double seconds;       /* seconds of exploring; 0: no bound */
  bool progress;        /* shows a line on standard error now and then, overwritten on a terminal */
  /* Leads to other processes that check the same claim; NULL: there are none. */
  const struct transport *transport;
};

enum claim_verdict {
  CLAIM_HOLDS,
  CLAIM_VIOLATED,
  CLAIM_INCONCLUSIVE,
  CLAIM_VACUOUS, /* the claim holds, and no run shows what it is about */
  CLAIM_BREACH
};

enum { CLAIM_SIZES = 16 };

/* Plain memory, so that it can cross a pipe. */
struct claim_result {
  enum claim_verdict verdict;
  uint64_t states, transitions, steps;
  uint64_t resumed;       /* states that came from a save */
  uint64_t archived;      /* states on disk, as memory was short */
  bool cycles;            /* livelock was judged (property progress) */
  bool recurs;            /* progress was not judged, and some runs may go round for ever */
  struct reached reached; /* what runs have shown; HOLDS, VACUOUS: complete */
  unsigned depth;         /* HOLDS: depth of the farthest state; VIOLATED: moves of the run */
  uint64_t bytes;         /* bytes of the explorer's tables */
  double omission;        /* bound on the probability that a state was left out; 0: none was */
  double miss;            /* bound on the probability that a violation was missed for that */
  double collision;  /* bound on the probability that two different contents counted as equal; 0:
                        none was compared */
  uint64_t peak_rss; /* bytes, peak memory of the process that explored; set by the caller */
  double seconds;
  uint32_t sizes[CLAIM_SIZES]; /* sizes of messages and of contributions to calls, in bytes,
                                  ascending, the smallest ones; their number is `sizes_count` */
  unsigned sizes_count;
  char reduction[16];          /* the reduction that was used: none, por, sym, all, recovery */
  uint64_t full_states, rests; /* audited: states without reduction, and states at rest */
  char unreduced[80];          /* why no reduction was used although one was asked for */
  char no_stubborn_sets[80];   /* why stubborn sets were not used, where crashes are reduced */
  char bound[32];              /* INCONCLUSIVE */
  char property[32];           /* VIOLATED */
  int rank;
  char unjudged[256]; /* HOLDS, VACUOUS: properties that no run gave an occasion to judge, ", "
                         between them */
  char text[256];     /* VIOLATED, VACUOUS, BREACH; INCONCLUSIVE: empty, or more than the bound */
  char trace[512];    /* path of the trace written; empty: none */
};

/* Explores `claim`. Returns false with `error` set (`file:line: what, expected what`) when its
 * script, a property or a fault is wrong or the trace cannot be written. */
bool claim_check(const struct scenario *claim, const struct claim_options *, struct claim_result *,
                 GError **error);

/* Checks the input in the same way without exploring. */
bool claim_valid(const struct scenario *claim, GError **error);

/* Returns its script as its protocol sees it (script_spell_out()), for script_free(); NULL with
 * `error` set as above. */
struct script *claim_script(const struct scenario *claim, GError **error);

/* Sets up the world of a valid claim, without its memory; world_clear() frees it. The script stays
 * the caller's. */
void claim_world(const struct scenario *claim, const struct script *, struct world *);

/* Returns the names of the properties that are checked; the list ends with NULL. They are those of
 * the claim; `recovers` (no run gives up), as nothing would be said of the states of a run that
 * did; and, if the protocol states one, `line-invariant`, unless a violation is expected: then the
 * violation must be one that programs see. Where the claim names none, the default ones, those
 * about memory and `once-per-failure` that the protocol promises and, as far as the search shows
 * it, `progress`. The array is the caller's, the names are not. */
GPtrArray *claim_properties(const struct scenario *claim);

/* Returns "holds", "violated", "inconclusive", "vacuous" or "breach". */
const char *claim_verdict_name(enum claim_verdict);

/* Returns when a run of so many moves was violated: "by step 31" (steps count from 0), or "before
 * step 0". The caller frees it. */
char *claim_when(unsigned moves);

/* Returns what a claim expects, by the same names; "holds" where it states nothing. */
const char *claim_expected(const struct scenario *claim);

#endif
