#include "base/glib/json.h"

#include <math.h>
#include <stdio.h>

void json_add_text(JsonBuilder *builder, const char *key, const char *value)
{
  json_builder_set_member_name(builder, key);
  if (value)
    json_builder_add_string_value(builder, value);
  else
    json_builder_add_null_value(builder);
}

void json_add_whole(JsonBuilder *builder, const char *key, gint64 value)
{
  json_builder_set_member_name(builder, key);
  json_builder_add_int_value(builder, value);
}

void json_add_real(JsonBuilder *builder, const char *key, double value)
{
  json_builder_set_member_name(builder, key);
  if (isfinite(value))
    json_builder_add_double_value(builder, value);
  else
    json_builder_add_null_value(builder);
}

void json_add_bool(JsonBuilder *builder, const char *key, bool value)
{
  json_builder_set_member_name(builder, key);
  json_builder_add_boolean_value(builder, value);
}

void json_open_list(JsonBuilder *builder, const char *key)
{
  json_builder_set_member_name(builder, key);
  json_builder_begin_array(builder);
}

void json_open_object(JsonBuilder *builder, const char *key)
{
  json_builder_set_member_name(builder, key);
  json_builder_begin_object(builder);
}

char *json_text(JsonBuilder *builder, bool pretty)
{
  g_autoptr(JsonNode) root = json_builder_get_root(builder);
  return json_to_string(root, pretty);
}

void json_print(JsonBuilder *builder)
{
  g_autofree char *text = json_text(builder, true);
  printf("%s\n", text);
}
