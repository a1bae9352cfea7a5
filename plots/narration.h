/* Tells a trace in words: a line for each event says which rank did what, and why this matters. */
#ifndef RECLINE_NARRATION_H
#define RECLINE_NARRATION_H

#include "plots/history.h"

/* Returns the text, which the caller frees with g_free(). */
char *narration_violation(const struct trace_violation *);
char *narration_write(const struct history *);

#endif
