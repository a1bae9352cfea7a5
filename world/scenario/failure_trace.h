/* Reads files that say when the nodes of a machine were down. The first line names the columns,
 * which tell the format:
 *
 *     node,start,end
 *         times in seconds, or with a unit
 *     ...,nodenumz,...,Prob Started,Prob Fixed,...
 *         LANL and CFDR: month/day/year hour:minute
 *     # event_id ... node_id ... event_type event_start_time event_stop_time ...
 *         the Failure Trace Archive's event_trace: blanks, epoch; rows of event_type 0
 */
#ifndef RECLINE_FAILURE_TRACE_H
#define RECLINE_FAILURE_TRACE_H

#include <glib.h>
#include <stdbool.h>

struct outage {
  int node;          /* index of a node */
  double start, end; /* in seconds; the first outage of an archive starts at 0 */
};

/* Reads `file` into `outages`, sorted by start, which the caller frees. A file names a node by its
 * name in `nodes`, which ends with NULL, or, in a plain file, by its index in `nodes`. Nodes of an
 * archive are numbered in the order of their first appearance. On error returns false with `error`,
 * `file:line: what, expected what`. */
bool failure_trace_read(const char *file, char *const *nodes, struct outage **outages,
                        unsigned *count, GError **error);

#endif
