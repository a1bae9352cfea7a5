/* What programs tell the outside: held by the launcher from when it is said until the shadow world
 * has it leave. Once all programs have ended, the rest leaves.
 *
 * All ranks are one process with one standard output. It is led into a file of our own, and read at
 * the calls in which another rank can go on; what is there then, the calling rank has said. One
 * event OUTPUT stands for all that a rank has said since its last call. Files that the scenario
 * names (output_files) are told the same way: see output_files.h.
 */
#ifndef RECLINE_HELD_OUTPUT_H
#define RECLINE_HELD_OUTPUT_H

#include "sim/host/rank/rank.h"

/* Leads the standard output there, and files. The first time: before anything is said. */
void output_begin(void);

/* It passes at once, as it does without a protocol: nothing is held any more. */
void output_pass(void);

/* What was said since the last call belongs to the rank; before MPI_Init, to that SMPI process. It
 * is dropped while main runs again to where its data are put back (application level): it was said
 * before. */
void output_collect(struct rank *);
void output_collect_early(int process);
void output_adopt_early(struct rank *);

/* Adds bytes to what the rank has said. */
void output_say(struct rank *, const void *, size_t);

/* The event for what the rank has said since the last one, which is held from here on. False:
 * nothing. */
bool output_next(struct rank *, struct move *);

/* What the shadow world has let leave of the rank does so; the event may have let out more. */
void output_leaves(struct rank *);
void output_committed(const struct rcl_event *);

/* Ends the run where a rank opens `path` by MPI-IO, whose files roll back, although writes to it
 * would be outputs. */
void output_refuse_mpi(const struct rank *, const char *path);

/* All programs have ended, and no crash can come. */
void output_ends(void);

/* Into the result. */
void output_report(struct result *);

#endif
