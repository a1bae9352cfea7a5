/* The result of a run on real MPI, from the traces of its processes (mpi/real_trace.c). */
#ifndef RECLINE_MEASURED_H
#define RECLINE_MEASURED_H

#include "world/result/result.h"

/* Reads FOLDER/trace.LIFE.RANK of all lives. `simulated_s` are measured seconds then. What traces
 * do not tell is 0, and a note says so; nobody has judged (`audit`). False with `error`, one line
 * `file:line: what, expected what`. The caller ends with result_clear(). */
bool measured_result(const char *folder, struct result *, GError **error);

#endif
