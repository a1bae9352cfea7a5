/* Puts a trace into a page: columns (report/columns.h) and an object that describes them.
 *
 *     PREFIX-periods     rank by rank: the time since the last period's beginning
 *     PREFIX-doing       what was done in each period, a byte each
 *     PREFIX-time        of each line that is a step: since the line before
 *     PREFIX-rank        its rank + 1; 0: the dispatcher
 *     PREFIX-kind        its event, an index of `kinds`
 *     PREFIX-number      its number in the file, since the line before
 *     PREFIX-text-N      TEXT_LINES lines each, without digests and contents
 *     PREFIX-sent        of each message: the step that sends it, since the last one
 *     PREFIX-received    steps until it is received, + 1; 0: it is not
 *     PREFIX-class       an index of `classes`
 *     PREFIX-to          the rank that it is for
 *     PREFIX-bytes       of a program's message
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
