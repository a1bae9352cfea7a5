#include "report/story.h"

#include "plots/input.h"

bool story_load(const char *file, const char *activities, struct story *story, GError **error)
{
  g_autofree char *text = NULL;
  *story = (struct story){0};
  if (!g_file_get_contents(file, &text, NULL, NULL)) {
    g_set_error(error, INPUT_ERROR, 0, "%s: cannot be read, expected a trace", file);
    return false;
  }
  story->trace = trace_file_parse(file, text, error);
  g_clear_pointer(&text, g_free); /* the trace has a copy of its own */
  story->history = story->trace ? history_read(story->trace, error) : NULL;
  if (!story->history)
    return false;
  if (activities)
    return periods_load(activities, story->trace->ranks, &story->periods, error);
  periods_of_history(story->history, &story->periods);
  return true;
}

void story_clear(struct story *story)
{
  if (story->periods.of)
    periods_clear(&story->periods);
  g_clear_pointer(&story->history, history_free);
  g_clear_pointer(&story->trace, trace_file_free);
}
