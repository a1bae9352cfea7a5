/* Holds the values that `--set` gives to parameters of a protocol. A proof holds for these values,
 * and for all values of the parameters that have no setting. */
#ifndef RECLINE_PROVE_SETTINGS_H
#define RECLINE_PROVE_SETTINGS_H

#include <glib.h>

struct setting {
  char *parameter; /* its name in rcl_protocol.parameters */
  guint32 value;
  char *text; /* the setting in a scenario's words: "protocol.exchange=once" */
};

/* Reads settings "PARAMETER=VALUE=TEXT", which are separated by commas. Returns them as an array of
 * struct setting, which the caller frees with g_array_unref(). */
GArray *settings_read(const char *words);

/* Returns the setting with that index. */
const struct setting *setting_at(const GArray *settings, guint index);

/* Returns the setting of a parameter, or NULL if it has none. */
const struct setting *setting_of(const GArray *settings, const char *parameter);

/* Returns the texts of all settings, each with a comma and a space behind it; the caller frees the
 * text. */
char *settings_text(const GArray *settings);

#endif
