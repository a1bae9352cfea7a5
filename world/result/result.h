/* Describes the result of a run: the MPI layer fills it in and writes it as result.json, and
 * `recline run` reads it. */
#ifndef RECLINE_RESULT_H
#define RECLINE_RESULT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum run_verdict {
  RUN_COMPLETED, /* the program ended and no rank was ever rolled back */
  RUN_RECOVERED, /* the program ended after at least one rollback */
  /* the protocol gave up, because it has a checkpoint but cannot use it or because a list is
   * full */
  RUN_GAVE_UP,
  RUN_LOST,   /* the protocol does not recover from a crash, and the program did not end */
  RUN_STOPPED /* the last checkpoint is committed and left for another run */
};

/* Holds the simulated seconds of a rank by activity. A result has the means over the ranks, whose
 * sum is simulated_s. Time that a rollback undoes moves from its own field to `lost`. */
struct run_time {
  double compute, mpi, protocol, checkpoint, lost, restart;
};

/* Counts copies in memory. The seconds of these copies are the mean over the ranks; struct run_time
 * contains them, too. */
struct run_copies {
  uint64_t payload_bytes, state_bytes; /* sums over all ranks */
  double payload_s, state_s;
};

/* Holds the times of the runtime's repairs, in seconds, summed over all recoveries. They are 0 if
 * no repair is modelled. */
struct run_repair {
  double detect, revoke, notice, agree, spawn, rebuild;
};

/* Holds the seconds of a phase of a checkpoint (rcl_phase), over the ranks that were in the
 * phase. */
struct run_phase {
  char *name;
  uint32_t checkpoint;
  int ranks;
  double least, mean, most;
  double rank_0; /* of rank 0; negative: it was not in the phase */
};

struct result {
  enum run_verdict verdict;
  int program_exit; /* exit code of the last rank that did not end with 0; `recline run` sets it
                     */
  int ranks;
  unsigned crashes;
  unsigned rollbacks_global, rollbacks_local;
  unsigned checkpoints_committed, checkpoints_aborted, checkpoints_abandoned;
  struct {
    /* the checkpoint of another run from which this run began, or 0 if there is none */
    unsigned from;
    double before_s; /* simulated seconds of that run and of all earlier runs */
    unsigned left;   /* the checkpoint that this run has left for another, or 0 if there is none */
  } restart;
  struct {
    uint64_t sent, late, early, suppressed, replayed, discarded;
  } messages;
  struct {
    /* Numbers of collective calls of all ranks, by the way in which their words travelled. */
    uint64_t separate, combined;
  } control;
  struct {
    uint64_t messages, control, bytes; /* transport_traffic() */
  } network;
  uint64_t stored_bytes; /* number of bytes of the writes that have ended */
  struct {
    uint64_t count, bytes; /* number and bytes of outputs of programs to the outside */
    /* seconds from the moment when the program made an output (after a rollback, made it again)
     * until the output left */
    double delay_mean_s, delay_max_s;
  } output;
  double simulated_s; /* from MPI_Init to the end of the last rank, in simulated seconds */
  struct run_time time;
  struct run_copies copies;
  struct run_repair repair;
  struct run_phase *phases; /* sorted by checkpoint, then in the protocol's order */
  unsigned phases_count;
  uint64_t iterations;        /* iterations of all ranks; repeated iterations count again */
  uint64_t *rank_iterations;  /* one for each rank */
  uint64_t image_bytes;       /* size of the largest image in bytes */
  uint64_t *rank_image_bytes; /* by rank: size of its largest image in bytes */
  uint64_t audit_violations;
  char *audit_first; /* text of the first violation, or NULL if there is none */
  char *gave_up;     /* why the protocol gave up, or NULL if it did not */
  /* notes that the run adds (result_notes.h), a list that ends with NULL, or NULL if there are
   * none */
  char **notes;
  /* the notes about values on which figures depend, a list that ends with NULL, or NULL if there
   * are none */
  char **warnings;
  char *version;                                  /* version of recline */
  char *scenario, *program, *platform, *protocol; /* the scenario's id, the program with its
                                                     arguments, names of platform and protocol */
  uint64_t seed;
};

/* Writes the result as one JSON object (docs/formats.md) with 9 significant digits of seconds and
 * keys in a fixed order, so that the same result gives the same bytes. The file is written under a
 * temporary name and renamed. */
bool result_save(const struct result *, const char *file, GError **error);
bool result_load(const char *file, struct result *, GError **error);
void result_clear(struct result *);
void result_note(struct result *, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Also adds the last note to the warnings. */
void result_warn(struct result *);
char *result_json(const struct result *); /* the caller frees it with g_free() */
const char *run_verdict_name(enum run_verdict);

#endif
