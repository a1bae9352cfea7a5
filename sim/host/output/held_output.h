/* Outputs of programs to the outside: the launcher holds each from when it is said until the shadow
 * world lets it leave. Once all programs have ended, the rest leaves.
 *
 * All ranks are one process with one standard output. It is led into a file of our own, and read at
 * the calls in which another rank can go on; new bytes there were said by the calling rank. One
 * event OUTPUT stands for all that a rank has said since its last call. Files that the scenario
 * names (output_files) are told the same way: see output_files.h.
 */
#ifndef RECLINE_HELD_OUTPUT_H
#define RECLINE_HELD_OUTPUT_H

#include "sim/host/rank/rank.h"

/* Leads the standard output and files there. The first call is made before anything is said. */
void output_begin(void);

/* From here on outputs pass at once, as they do without a protocol. */
void output_pass(void);

/* Assigns the output since the last call to the rank or, before MPI_Init, to that SMPI process.
 * While main runs again at the application level, until its data are restored, its output is
 * dropped as a repetition. */
void output_collect(struct rank *);
void output_collect_early(int process);
void output_adopt_early(struct rank *);

/* Adds bytes to what the rank has said. */
void output_say(struct rank *, const void *, size_t);

/* Sets the event for the rank's output since the last event, which is held from here on. Returns
 * false if there is none. */
bool output_next(struct rank *, struct move *);

/* Lets the outputs of the rank leave that the shadow world has released; the event may have
 * released more. */
void output_leaves(struct rank *);
void output_committed(const struct rcl_event *);

/* Ends the run where a rank opens `path` by MPI-IO, whose files roll back, although writes to it
 * would be outputs. */
void output_refuse_mpi(const struct rank *, const char *path);

/* To be called when all programs have ended and no crash can come. */
void output_ends(void);

/* Writes counts and times of outputs into the result. */
void output_report(struct result *);

#endif
