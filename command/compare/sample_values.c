/* Collects numbers of runs while files are read. */
#include "command/compare/samples.h"

void samples_add(struct samples *samples, const char *name, double value)
{
  GArray *values = g_hash_table_lookup(samples->values, name);
  if (!values) {
    values = g_array_new(FALSE, FALSE, sizeof(double));
    g_hash_table_insert(samples->values, g_strdup(name), values);
    g_ptr_array_add(samples->names, g_strdup(name));
  }
  g_array_append_val(values, value);
}

void samples_clear(struct samples *samples)
{
  g_free(samples->title);
  g_free(samples->protocol);
  g_free(samples->program);
  if (samples->names)
    g_ptr_array_unref(samples->names);
  if (samples->values)
    g_hash_table_unref(samples->values);
}
