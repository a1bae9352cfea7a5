/* Warnings of a campaign: values that a platform leaves out and on which times depend. recline then
 * assumes values, so the warnings stand above the tables. */
#ifndef RECLINE_WARNINGS_H
#define RECLINE_WARNINGS_H

#include <json-glib/json-glib.h>

/* Adds the notes of that kind of one result to the texts, each once; the array owns them (free
 * function g_free()). */
void warnings_take(GPtrArray *texts, JsonObject *result);

/* Prints a line for each, or adds the member "warnings" to an object that is open. */
void warnings_print(const GPtrArray *texts);
void warnings_add_json(const GPtrArray *texts, JsonBuilder *);

#endif
