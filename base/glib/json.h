/* Adds members to JSON objects, and gives the text of the result. Belongs to the library
 * recline-base-glib. */
#ifndef RECLINE_JSON_H
#define RECLINE_JSON_H

#include <glib.h>
#include <json-glib/json-glib.h>
#include <stdbool.h>

/* The next four functions add the member `key` to the open object: a text (null for NULL), a whole
 * number, a real number (null if it is not finite) and a truth value. */
void json_add_text(JsonBuilder *builder, const char *key, const char *value);
void json_add_whole(JsonBuilder *builder, const char *key, gint64 value);
void json_add_real(JsonBuilder *builder, const char *key, double value);
void json_add_bool(JsonBuilder *builder, const char *key, bool value);

/* Opens a list or an object as the member `key`. json_builder_end_array() or
 * json_builder_end_object() ends it. */
void json_open_list(JsonBuilder *builder, const char *key);
void json_open_object(JsonBuilder *builder, const char *key);

/* Returns the text of what was built, on several lines if it is `pretty`. The caller frees it. */
char *json_text(JsonBuilder *builder, bool pretty);

/* Prints what was built on standard output, on several lines. */
void json_print(JsonBuilder *builder);

#endif
