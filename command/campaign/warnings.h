/* What a platform leaves out and times depend on: figures that a campaign compares are those of
 * recline's own values in its place, so the tables say it first. */
#ifndef RECLINE_WARNINGS_H
#define RECLINE_WARNINGS_H

#include <json-glib/json-glib.h>

/* Adds the notes of that kind of one result to the texts, each once; what is added is the caller's
 * with the array (free function g_free()). */
void warnings_take(GPtrArray *texts, JsonObject *result);

/* Prints a line for each. */
void warnings_print(const GPtrArray *texts);

#endif
