/* Fuzzes scenarios. Saves each scenario that loads, and loads it again. */
#include "verify/fuzz/fuzz.h"
#include "world/scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = input_file(data, size);
  GError *error = NULL;
  struct scenario *scenario = scenario_load(path, NULL, &error);
  judge_error(scenario != NULL, error);
  if (scenario) {
    error = NULL;
    bool saved = scenario_save(scenario, path, &error);
    judge_error(saved, error);
    error = NULL;
    struct scenario *again = saved ? scenario_load(path, NULL, &error) : NULL;
    if (saved && !again)
      g_error("what was saved does not load: %s", error->message);
    scenario_free(again);
  }
  scenario_free(scenario);
  input_done(path);
  return 0;
}
