#include "command/campaign/sweep.h"

#include <string.h>

#include "world/scenario/scenario.h"

enum { CELLS_MAX = 100000 };

/* Returns the end of a value: the next comma that separates values, or the end of the text. */
static const char *end_of_value(const char *at)
{
  int depth = 0;
  char quote = '\0';
  for (; *at; at++) {
    if (quote)
      quote = *at == quote ? '\0' : quote;
    else if (*at == '"' || *at == '\'')
      quote = *at;
    else if (strchr("[{", *at))
      depth++;
    else if (strchr("]}", *at))
      depth--;
    else if (*at == ',' && depth <= 0)
      break;
  }
  return at;
}

static char **split(const char *text)
{
  GPtrArray *values = g_ptr_array_new();
  for (const char *end;; text = end + 1) {
    end = end_of_value(text);
    g_ptr_array_add(values, g_strstrip(g_strndup(text, (gsize)(end - text))));
    if (!*end)
      break;
  }
  g_ptr_array_add(values, NULL);
  return (char **)g_ptr_array_free(values, FALSE);
}

static bool refuse(GError **error, const char *text, const char *why)
{
  g_set_error(error, SCENARIO_ERROR, 0, "--sweep %s: %s", text, why);
  return false;
}

static bool read_sweep(struct grid *grid, const char *text, GError **error)
{
  const char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return refuse(error, text, "no key, expected KEY=VALUE,VALUE...");
  struct sweep *sweep = &grid->sweep[grid->sweeps++];
  *sweep = (struct sweep){g_strndup(text, (gsize)(equals - text)), split(equals + 1)};
  if (!strcmp(sweep->key, "seed"))
    return refuse(error, text, "seeds are those of the runs, expected --runs N");
  for (unsigned i = 0; i + 1 < grid->sweeps; i++)
    if (!strcmp(grid->sweep[i].key, sweep->key))
      return refuse(error, text, "the key is swept twice, expected it once");
  for (char **value = sweep->values; *value; value++) {
    if (!**value)
      return refuse(error, text, "an empty value, expected KEY=VALUE,VALUE...");
    if (g_strv_contains((const char *const *)value + 1, *value))
      return refuse(error, text, "a value is there twice, expected it once");
  }
  grid->cells *= g_strv_length(sweep->values);
  return grid->cells <= CELLS_MAX || refuse(error, text, "expected at most 100000 combinations");
}

bool grid_read(struct grid *grid, char *const *texts, GError **error)
{
  guint count = texts ? g_strv_length((char **)texts) : 0;
  *grid = (struct grid){.sweep = g_new0(struct sweep, count + 1), .cells = 1};
  for (guint i = 0; i < count; i++)
    if (!read_sweep(grid, texts[i], error))
      return false;
  return true;
}

void grid_clear(struct grid *grid)
{
  for (unsigned i = 0; i < grid->sweeps; i++) {
    g_free(grid->sweep[i].key);
    g_strfreev(grid->sweep[i].values);
  }
  g_free(grid->sweep);
}

const char *grid_value(const struct grid *grid, unsigned cell, unsigned sweep)
{
  for (unsigned i = grid->sweeps - 1; i > sweep; i--)
    cell /= g_strv_length(grid->sweep[i].values);
  return grid->sweep[sweep].values[cell % g_strv_length(grid->sweep[sweep].values)];
}

char **grid_settings(const struct grid *grid, unsigned cell, char *const *first)
{
  GPtrArray *words = g_ptr_array_new();
  for (; first && *first; first++)
    g_ptr_array_add(words, g_strdup(*first));
  for (unsigned i = 0; i < grid->sweeps; i++)
    g_ptr_array_add(words, g_strconcat(grid->sweep[i].key, "=", grid_value(grid, cell, i), NULL));
  g_ptr_array_add(words, NULL);
  return (char **)g_ptr_array_free(words, FALSE);
}

bool sweep_number(const char *value, double *number)
{
  char *end = NULL;
  *number = g_ascii_strtod(value, &end);
  return (end != value && !*end) || scenario_seconds(value, number, NULL) ||
         scenario_bytes(value, number, NULL);
}
