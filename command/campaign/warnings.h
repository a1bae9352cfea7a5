/* Collects a campaign's warnings about values on which times depend, but which its platform does
 * not give. recline assumes values for them, so the warnings stand above the tables. */
#ifndef RECLINE_WARNINGS_H
#define RECLINE_WARNINGS_H

#include <json-glib/json-glib.h>

/* Adds the warnings in one result to `texts`, each once. The array owns the texts (free function
 * g_free()). */
void warnings_take(GPtrArray *texts, JsonObject *result);

/* warnings_print() prints a line for each text; warnings_add_json() adds the member "warnings" to
 * an open object. */
void warnings_print(const GPtrArray *texts);
void warnings_add_json(const GPtrArray *texts, JsonBuilder *);

#endif
