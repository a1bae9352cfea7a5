/* Reads a trace, what happens in it, and the activity of each rank. */
#ifndef RECLINE_STORY_H
#define RECLINE_STORY_H

#include "plots/history.h"
#include "report/periods.h"

struct story {
  struct trace_file *trace;
  struct history *history;
  struct periods periods;
};

/* Reads a trace; `activities` is the file activity.txt of its run, or NULL. The caller frees the
 * story with story_clear(), also after an error. Returns false with `error` set to one line that
 * names the file and says what is wrong with it. */
bool story_load(const char *file, const char *activities, struct story *, GError **error);
void story_clear(struct story *);

#endif
