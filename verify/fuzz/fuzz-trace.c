/* Fuzzes traces. The world replays each trace, and the code that draws pictures reads it. */
#include "plots/history.h"
#include "plots/narration.h"
#include "plots/trace_file.h"
#include "verify/fuzz/fuzz.h"
#include "world/trace/trace.h"

static void narrate(struct trace_file *trace)
{
  GError *error = NULL;
  struct history *history = history_read(trace, &error);
  judge_error(history != NULL, error);
  if (history) {
    g_free(narration_write(history));
    history_free(history);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *path = input_file(data, size);
  GError *error = NULL;
  struct trace_story story;
  bool good = trace_read(path, &story, &error);
  judge_error(good, error);
  if (good)
    trace_story_clear(&story);
  error = NULL;
  g_autofree char *text = g_strndup((const char *)data, size);
  struct trace_file *trace = trace_file_parse("trace", text, &error);
  judge_error(trace != NULL, error);
  if (trace) {
    narrate(trace);
    trace_file_free(trace);
  }
  input_done(path);
  return 0;
}
