#include "verify/scenario/scenario.h"

#include "verify/scenario/document.h"

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
    scenario_complain(
        scenario, "expect.verdict", error, "that of a %s, expected %s", run ? "check" : "run",
        run ? "completed, recovered, gave-up or lost" : "holds, violated, inconclusive or vacuous");
  else if (!run && scenario->expect.program_exit >= 0)
    scenario_complain(scenario, "expect.program_exit", error,
                      "nothing exits in a check, expected a verdict alone");
  else
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
