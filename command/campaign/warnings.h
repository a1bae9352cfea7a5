/* Collects a campaign's warnings about values on which times depend and which its platform leaves
 * out. recline assumes these values, so the warnings stand above the tables. */
#ifndef RECLINE_WARNINGS_H
#define RECLINE_WARNINGS_H

#include <json-glib/json-glib.h>

/* Adds the notes of that kind from one result to `texts`, each once. The array owns them (free
 * function g_free()). */
void warnings_take(GPtrArray *texts, JsonObject *result);

/* warnings_print() prints a line for each text; warnings_add_json() adds the member "warnings" to
 * an open object. */
void warnings_print(const GPtrArray *texts);
void warnings_add_json(const GPtrArray *texts, JsonBuilder *);

#endif
