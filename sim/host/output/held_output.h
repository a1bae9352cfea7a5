/* Holds the outputs of programs to the outside. An output is held from the moment at which the
 * program prints it until the shadow world lets it leave. Once all programs have ended, all outputs
 * leave.
 *
 * All ranks are one process with one standard output, which is led into a file of recline's own.
 * The file is read at the calls in which another rank can go on, so new bytes in it were printed by
 * the calling rank. One event OUTPUT stands for all that a rank has printed since its last call.
 * Names here call this what the rank has said. What a program writes to files that the scenario
 * names (output_files) is an output as well: see output_files.h. */
#ifndef RECLINE_HELD_OUTPUT_H
#define RECLINE_HELD_OUTPUT_H

#include "sim/host/rank/rank.h"

/* Leads the standard output, and the files that count as outputs, to this module. The first call
 * must come before any program prints. */
void output_begin(void);

/* Lets outputs pass at once from here on, as they do without a protocol. */
void output_pass(void);

/* output_collect() assigns to the rank what was printed since the last call. Before MPI_Init,
 * output_collect_early() assigns it to the SMPI process, from which output_adopt_early() passes it
 * on to the rank. At the application level, what main prints again before its data are restored is
 * dropped as a repetition. */
void output_collect(struct rank *);
void output_collect_early(int process);
void output_adopt_early(struct rank *);

/* Adds bytes to what the rank has said. */
void output_say(struct rank *, const void *, size_t);

/* Makes an output of what the rank has said since its last output, holds it from here on, and sets
 * the event. Returns false if the rank has said nothing. */
bool output_next(struct rank *, struct move *);

/* output_leaves() lets the outputs of the rank leave that the shadow world has released.
 * output_committed() does the same for all ranks, after an event that may have released more
 * outputs. */
void output_leaves(struct rank *);
void output_committed(const struct rcl_event *);

/* Ends the run if writes to `path`, which a rank opens by MPI-IO, would be outputs, because files
 * of MPI-IO roll back and outputs do not. */
void output_refuse_mpi(const struct rank *, const char *path);

/* Lets all outputs leave. It must be called only when all programs have ended and no crash can
 * come. */
void output_ends(void);

/* Writes counts and times of outputs into the result. */
void output_report(struct result *);

#endif
