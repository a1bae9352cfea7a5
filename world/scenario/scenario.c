#include "world/scenario/scenario.h"

#include <string.h>

#include "world/scenario/scenario_judge.h"

bool scenario_given(const struct scenario *scenario, const char *path)
{
  return g_hash_table_contains(scenario->lines, path);
}

int scenario_line(const struct scenario *scenario, const char *path)
{
  const struct document_place *place = document_find(scenario->lines, path);
  return place ? place->line : 1;
}

bool scenario_complain(const struct scenario *scenario, const char *path, GError **error,
                       const char *format, ...)
{
  va_list values;
  va_start(values, format);
  document_error(error, scenario->file, scenario->lines, path, format, values);
  va_end(values);
  return false;
}

bool scenario_expects_of(const struct scenario *scenario, bool run, GError **error)
{
  enum expected_verdict verdict = scenario->expect.verdict;
  if (verdict != EXPECT_NOTHING && (verdict < EXPECT_HOLDS) != run)
    scenario_complain(scenario, "expect.verdict", error, "that of a %s, expected %s",
                      run ? "check" : "run",
                      run ? "completed, recovered, gave-up, lost or stopped"
                          : "holds, violated, inconclusive or vacuous");
  else if (!run && scenario->expect.program_exit >= 0)
    scenario_complain(scenario, "expect.program_exit", error,
                      "nothing exits in a check, expected a verdict alone");
  else
    return true;
  return false;
}

char *scenario_file_in(const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename(folder, name, NULL);
  return g_file_test(path, G_FILE_TEST_IS_REGULAR) ? g_canonicalize_filename(path, NULL) : NULL;
}

char *scenario_find_in(const char *variable, const char *name)
{
  const char *list = g_getenv(variable);
  g_auto(GStrv) folders = g_strsplit(list ? list : "", ":", -1);
  char *found = NULL;
  for (char **folder = folders; *folder && !found; folder++)
    found = **folder ? scenario_file_in(*folder, name) : NULL;
  return found;
}

bool scenario_fails_by_law(const struct scenario *scenario)
{
  for (unsigned i = 0; i < scenario->failures_count; i++)
    if (scenario->failures[i].trigger >= TRIGGER_LAW)
      return true;
  return false;
}

const char *layout_host(const struct layout *layout, int rank)
{
  return layout->nodes[rank / layout->per_node];
}

int layout_nodes(const struct layout *layout, int ranks)
{
  return (ranks + layout->per_node - 1) / layout->per_node;
}
