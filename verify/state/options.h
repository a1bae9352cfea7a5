/* Declares the options of the explorer, and what it tells of its progress. */
#ifndef RECLINE_OPTIONS_H
#define RECLINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"

struct move;
struct temporal;
struct transport;

struct explorer_progress {
  uint64_t states, transitions;
  uint64_t bytes;         /* number of bytes of all tables */
  unsigned depth;         /* depth of the level that is being expanded */
  uint64_t level, before; /* number of states of that level, and of the level before */
  uint64_t left;          /* number of states of that level that no worker has taken yet */
};

enum { EXPLORER_FINGERPRINT = 58 }; /* largest number of bits of a fingerprint */

struct explorer_options {
  /* Moves to take first; the search begins in the state after them. Each move must be possible. */
  const struct move *from;
  unsigned from_count;
  /* Names of the properties to check, in a list that ends with NULL, or NULL for
   * properties_default. */
  const char *const *properties;
  /* Histories with which a failure-free run can end (property `outcome`), as tuples of one struct
   * content for each rank. NULL if `outcome` is not checked. */
  struct intern *outcomes;
  bool collect; /* histories are added to `outcomes` instead of being checked against it */
  /* The formula of property `ltl`, or NULL if there is none. With a formula all runs are explored,
   * without reductions. */
  const struct temporal *temporal;
  unsigned workers; /* number of threads; 0 counts as 1 */
  bool stubborn;    /* partial-order reduction, where it applies */
  bool symmetry;    /* symmetry reduction, where it applies */
  bool orbits;      /* `rests` gets digests of orbits if symmetry applies */
  bool blind;       /* for tests: a reduction takes all moves for independent; sets world.blind */
  /* A table to which the digests of the states at rest are added, uint64_t each, or NULL if they
   * are not collected. */
  struct intern *rests;
  /* For hash compaction: how many bits of a hash the visited set keeps in place of a state, unless
   * the states themselves are needed. 0 if it keeps states. */
  unsigned fingerprint;
  /* In worlds with more states than this number, progress is judged only if steps alone decide it.
   * 0 if it is judged in all worlds, because the claim names it. */
  uint64_t max_cycles;
  bool audit; /* everything that is remembered is computed again and compared, which is slow */
  /* number of states beyond which the search goes no deeper, or 0 for no bound */
  uint64_t max_states;
  /* the search goes no deeper once its tables have this number of bytes; 0 means no bound */
  uint64_t max_bytes;
  double max_seconds; /* seconds after which the search stops within a level, or 0 for no bound */
  /* bytes of states to be expanded that stay in memory, while the others go to disk, or 0 for as
   * many as memory allows */
  uint64_t max_queue;
  /* Prefix of the names of files for found states, when memory is short, or NULL if the search ends
   * then. Only a search by one process may use it. */
  const char *disk;
  /* Is called often, by one thread at a time; may be NULL. */
  void (*progress)(void *data, const struct explorer_progress *);
  void *progress_data;
  /* File for saves, or NULL if there are no saves. If the file exists, the exploration goes on from
   * it. It is removed when a verdict is reached. */
  const char *save;
  /* Seconds between saves, which are made between levels only, or 0 for a save at each level. */
  double save_seconds;
  /* With other processes: the protocol whose checkpoints, taken at any time into the folder `save`,
   * replace saves, or NULL if there is none. */
  const char *protocol;
  /* Digest of everything that determines the world. A save of another world is refused. */
  uint64_t world_digest;
  /* Leads to the other processes, which explore the same world with the same options, or NULL if
   * there are none. */
  const struct transport *transport;
};

#endif
