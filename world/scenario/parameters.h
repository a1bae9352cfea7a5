/* Says which keys of a scenario give values to the parameters of protocols (rcl_config.parameter).
 */
#ifndef RECLINE_SCENARIO_PARAMETERS_H
#define RECLINE_SCENARIO_PARAMETERS_H

#include "world/scenario/scenario.h"

/* Returns the name of a parameter, and sets `*value` to its value in a scenario. Returns NULL
 * behind the last parameter. */
const char *parameter_at(const struct scenario *, unsigned index, uint32_t *value);

/* Holds a parameter that was given a value: its name, the value, and both in a scenario's words,
 * "protocol.exchange=once". */
struct parameter {
  const char *name;
  uint32_t value;
  char *text;
};

/* Reads and checks assignments "KEY=VALUE" to keys that give values to parameters. `set` is a list
 * that ends with NULL. Returns an array of struct parameter, one for each key, which the caller
 * frees with g_array_unref(). Returns NULL with `error` set to one line if a key or a value is
 * wrong. */
GArray *parameters_read(const char *const *set, GError **error);

#endif
