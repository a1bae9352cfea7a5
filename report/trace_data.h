/* Puts a trace into a page: columns (report/columns.h) and an object that describes them.
 *
 *     PREFIX-periods     rank by rank, of each period: the time since the beginning of the period
 *                        before
 *     PREFIX-doing       a byte for each period: what was done in it
 *     PREFIX-time        of each line that is a step: the time since the line before
 *     PREFIX-rank        of each such line: its rank + 1, or 0 for the dispatcher
 *     PREFIX-kind        of each such line: its event, an index of `kinds`
 *     PREFIX-number      of each such line: its number in the file, less that of the line before
 *     PREFIX-text-N      a chunk of TEXT_LINES lines, without digests and contents
 *     PREFIX-sent        of each message: number of steps from the last send to its send
 *     PREFIX-received    of each message: number of steps until it is received, + 1, or 0 if it is
 *                        not received
 *     PREFIX-class       of each message: an index of `classes`
 *     PREFIX-to          of each message: its destination
 *     PREFIX-bytes       of each message of a program: its bytes
 *     PREFIX-replays     steps that give the program a message from a log, since the last such step
 *     PREFIX-writes      steps that change the number of writes under way, since the last such
 *                        step, each with that change (signed)
 *
 * Times are nanoseconds in a run and steps in a counterexample.
 */
#ifndef RECLINE_TRACE_DATA_H
#define RECLINE_TRACE_DATA_H

#include <glib.h>
#include <json-glib/json-glib.h>

#include "report/story.h"

/* Adds the columns to `page`, and the object that describes them to the list that is open in
 * `about`. `file` is the name of the trace's file. */
void trace_data_add(GString *page, JsonBuilder *about, const char *prefix, const char *file,
                    const struct story *);

#endif
