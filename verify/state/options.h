/* Declares the options of the explorer, and the progress of which it tells. */
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
  uint64_t bytes;         /* bytes of all tables */
  unsigned depth;         /* depth of the level that is being expanded */
  uint64_t level, before; /* states of that level, and of the level before */
  uint64_t left;          /* states of that level that no worker has taken yet */
};

enum { EXPLORER_FINGERPRINT = 58 }; /* the most bits that a fingerprint has */

struct explorer_options {
  /* Moves to take before the first state: the search begins after them. Each must be possible. */
  const struct move *from;
  unsigned from_count;
  /* Names of the properties to check; the list ends with NULL. NULL: properties_default. */
  const char *const *properties;
  /* Histories with which a failure-free run can end (property outcome): tuples of one struct
   * content for each rank. NULL: outcome is not checked. */
  struct intern *outcomes;
  bool collect; /* add to `outcomes` instead of checking against it */
  /* The formula of property `ltl`: all runs are then explored, without reductions. NULL: none. */
  const struct temporal *temporal;
  unsigned workers; /* number of threads; 0 counts as 1 */
  bool stubborn;    /* partial-order reduction, where it applies */
  bool symmetry;    /* symmetry reduction, where it applies */
  bool orbits;      /* `rests` gets digests of orbits, where symmetry applies */
  bool blind;       /* tests: a reduction takes all moves for independent; sets world.blind */
  /* The digests of the states at rest, uint64_t each, are added to this, or NULL if they are not
   * collected. */
  struct intern *rests;
  /* Hash compaction: the visited set keeps this many bits of a hash in place of states, unless the
   * states themselves are needed, or 0 if it keeps states. */
  unsigned fingerprint;
  /* in worlds of more states than this, progress is judged only if steps alone decide it, or 0
   * if it is judged in all worlds, as the claim names progress */
  uint64_t max_cycles;
  bool audit; /* everything that is remembered is computed again and compared, which is slow */
  uint64_t max_states; /* the search goes no deeper when there are more states, or 0 for no bound */
  uint64_t max_bytes;  /* the search goes no deeper when the tables take more, or 0 for no bound */
  double max_seconds;  /* the search stops within a level when the time is up, or 0 for no bound */
  /* bytes of states to be expanded that stay in memory, while the others go to disk, or 0 for as
   * many as memory allows */
  uint64_t max_queue;
  /* Prefix of the names of files for found states, when memory is short, or NULL if the search ends
   * then. One process only. */
  const char *disk;
  /* Called often, by one thread at a time; may be NULL. */
  void (*progress)(void *data, const struct explorer_progress *);
  void *progress_data;
  /* File for saves. If it exists, the exploration goes on from it; it is removed when a verdict is
   * reached. NULL: there are no saves. */
  const char *save;
  /* Seconds between saves, which are made between levels only, or 0 for a save at each level. */
  double save_seconds;
  /* With other processes: the protocol whose checkpoints, taken at any time into the folder `save`,
   * replace saves, or NULL if there is none. */
  const char *protocol;
  /* Digest of all that makes the world: a save of another world is refused. */
  uint64_t world_digest;
  /* Leads to the other processes, which explore the same world with the same options, or NULL if
   * there are none. */
  const struct transport *transport;
};

#endif
