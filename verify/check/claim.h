/* One claim (or scenario with bounds under `check`), explored: from YAML to verdict and trace. */
#ifndef RECLINE_CLAIM_H
#define RECLINE_CLAIM_H

#include "verify/explore/explorer.h"
#include "world/scenario/scenario.h"

struct claim_options {
  uint64_t max_states;  /* over the claim's own bound; 0: the claim's */
  const char *out;      /* directory for ID.trace and ID.scenario.yaml; NULL: nothing is written */
  unsigned jobs;        /* explorations that share the machine's memory; at least 1 */
  unsigned workers;     /* threads of each; at least 1 */
  bool stubborn;        /* --reduce por, all */
  bool symmetry;        /* --reduce sym, all */
  bool compact;         /* the visited set keeps fingerprints */
  bool whole;           /* keep contents that no rank will start from (world_settles()) */
  bool audit;           /* run what the explorer remembers again, and compare */
  uint64_t memory;      /* bytes for the tables of all jobs; 0: a share of the machine's */
  const char *protocol; /* of checkpoints that are taken in place of saves; NULL: none */
  const char *saves;    /* directory for ID.save, to go on from; NULL: nothing is saved */
  const char *disk;     /* directory for states when memory is short; NULL: they stay in memory */
  double save_seconds;  /* from one save to the next */
  double seconds;       /* of exploring; 0: no bound */
  bool progress;        /* a line on standard error now and then; overwritten on a terminal */
  const struct transport *transport; /* to the other processes that check it; NULL: none do */
};

enum claim_verdict {
  CLAIM_HOLDS,
  CLAIM_VIOLATED,
  CLAIM_INCONCLUSIVE,
  CLAIM_VACUOUS, /* it holds, and no run shows what it is about */
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
  bool recurs;            /* it was not, and some runs may go round for ever */
  struct reached reached; /* by runs; HOLDS, VACUOUS: all that they show */
  unsigned depth;         /* HOLDS: of the farthest state; VIOLATED: moves of the run */
  uint64_t bytes;         /* of the explorer's tables */
  double omission;        /* at most so likely is it that a state was left out; 0: none was */
  double miss;            /* and that a violation was missed for that */
  double collision;  /* at most so likely is it that two contents that differ counted as equal; 0:
                        none was looked at */
  uint64_t peak_rss; /* bytes; of the process that explored, set by the caller */
  double seconds;
  uint32_t sizes[CLAIM_SIZES]; /* of messages, and of contributions to calls, in bytes; the smallest
                                  ones, ascending; so many: */
  unsigned sizes_count;
  char reduction[16];          /* that was used: none, por, sym, all, recovery */
  uint64_t full_states, rests; /* audited: without reduction; its states at rest */
  char unreduced[80];          /* why it is none, although one was asked for */
  char no_stubborn_sets[80];   /* why it is without stubborn sets, where crashes are reduced */
  char bound[32];              /* INCONCLUSIVE */
  char property[32];           /* VIOLATED */
  int rank;
  char unjudged[256]; /* HOLDS, VACUOUS: properties that no run gave an occasion to judge, ", "
                         between them */
  char text[256];     /* VIOLATED, VACUOUS, BREACH; INCONCLUSIVE: empty, or more than the bound */
  char trace[512];    /* path of the trace written; empty: none */
};

/* Explores `claim`. False with `error` set (`file:line: what, expected what`) when its script, a
 * property or a lie is wrong or the trace cannot be written. */
bool claim_check(const struct scenario *claim, const struct claim_options *, struct claim_result *,
                 GError **error);

/* The same checks of the input without exploring. */
bool claim_valid(const struct scenario *claim, GError **error);

/* Its script, as its protocol sees it (script_spell_out()), for script_free(). NULL with `error`
 * set as above. */
struct script *claim_script(const struct scenario *claim, GError **error);

/* The world of a claim that is valid, without its memory; world_clear() frees it. The script is the
 * caller's. */
void claim_world(const struct scenario *claim, const struct script *, struct world *);

/* The properties that are checked, names that end with NULL: those of the claim, and that no run
 * ends by giving up, of whose states nothing would be said; and `line-invariant` of a protocol that
 * states one, unless a violation is expected, which is to be what the programs see of it. Where the
 * claim names none, the default ones, those about memory and `once-per-failure` that the protocol
 * promises and, as far as the search shows it, `progress`. The array is the caller's, the names are
 * not. */
GPtrArray *claim_properties(const struct scenario *claim);

/* "holds", "violated", "inconclusive", "vacuous", "breach". */
const char *claim_verdict_name(enum claim_verdict);

/* The expectation of a claim, by the same names; "holds" where it states none. */
const char *claim_expected(const struct scenario *claim);

#endif
