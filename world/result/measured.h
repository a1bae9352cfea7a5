/* Makes the result of a run on real MPI from the traces of its processes (mpi/real_trace.c). */
#ifndef RECLINE_MEASURED_H
#define RECLINE_MEASURED_H

#include "world/result/result.h"

/* Reads FOLDER/trace.LIFE.RANK of all lives. `simulated_s` holds measured seconds. Fields that
 * traces do not tell are 0, and a note says which; `audit` is empty, because the run was not
 * judged. The caller ends with result_clear(). Returns false with `error` set to one line
 * `file:line: what, expected what`. */
bool measured_result(const char *folder, struct result *, GError **error);

#endif
