/* Members of JSON objects, and the text of what was built. In the library recline-base-glib. */
#ifndef RECLINE_JSON_H
#define RECLINE_JSON_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

/* Each adds the member `key` to the object that is open: a text, or null for NULL; a whole number;
 * a number, or null where it is not finite; a truth value. */
void json_add_text(JsonBuilder *builder, const char *key, const char *value);
void json_add_whole(JsonBuilder *builder, const char *key, gint64 value);
void json_add_real(JsonBuilder *builder, const char *key, double value);
void json_add_bool(JsonBuilder *builder, const char *key, bool value);

/* Opens a list or an object as the member `key`; json_builder_end_array() or _object() ends it. */
void json_open_list(JsonBuilder *builder, const char *key);
void json_open_object(JsonBuilder *builder, const char *key);

/* Returns what was built, for the caller to free; on several lines, or on one. */
char *json_text(JsonBuilder *builder, bool pretty);

/* Prints it on standard output, on several lines. */
void json_print(JsonBuilder *builder);

#endif
