/* A trace in a page: columns (report/columns.h) and an object about it.
 *
 *     PREFIX-periods     of one rank after the other: time since the last one's beginning
 *     PREFIX-doing       what was done in each period, a byte each
 *     PREFIX-time        of each line that is a step: since the line before
 *     PREFIX-rank        its rank + 1; 0: the dispatcher
 *     PREFIX-kind        its event, an index of `kinds`
 *     PREFIX-number      in the file, since the line before
 *     PREFIX-text-N      TEXT_LINES lines each, without digests and contents
 *     PREFIX-sent        of each message: the index of the step that sends it, since that of the
 * last PREFIX-received    steps until it is received, + 1; 0: it is not PREFIX-class       an index
 * of `classes` PREFIX-to          the rank that it is for PREFIX-bytes       of a program's message
 *     PREFIX-replays     steps that give a message from a log to the program, since the last one
 *     PREFIX-writes      steps with a change in the writes to storage that are under way, since the
 *                        last, each with that change (signed)
 *
 * Times are nanoseconds in a run and steps in a counterexample.
 */
#ifndef RECLINE_TRACE_DATA_H
#define RECLINE_TRACE_DATA_H

#include <glib.h>
#include <json-glib/json-glib.h>

#include "report/story.h"

/* Adds the columns to `page` and the object to the list that is open in `about`. `file` is the name
 * of the trace's file. */
void trace_data_add(GString *page, JsonBuilder *about, const char *prefix, const char *file,
                    const struct story *);

#endif
