/* Puts a trace into a page: columns (report/columns.h) and an object that describes them.
 *
 *     PREFIX-periods     rank by rank, for each period: the time since the last period began
 *     PREFIX-doing       a byte for each period, which tells the activity
 *     PREFIX-time        for each line that is a step: the time since the last step
 *     PREFIX-rank        for each step: 1 + the rank, or 0 for the dispatcher
 *     PREFIX-kind        for each step: the kind of event, as an index of `kinds`
 *     PREFIX-number      for each step: by how much its line number exceeds that of the last step
 *     PREFIX-text-N      a chunk of TEXT_LINES lines, without digests and contents
 *     PREFIX-sent        for each message: number of steps since the last message was sent
 *     PREFIX-received    for each message: 1 + the number of steps until it is received, or 0 if it
 *                        is never received
 *     PREFIX-class       for each message: its class, as an index of `classes`
 *     PREFIX-to          for each message: the destination
 *     PREFIX-bytes       for each message of a program: the number of bytes
 *     PREFIX-replays     for each step that gives the program a message from a log: the number of
 *                        steps since the last such step
 *     PREFIX-writes      for each step that changes the number of writes under way: the number of
 *                        steps since the last such step, and the change, which is signed
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
