/* A trace in words: one line an event, which rank did what and why it matters. */
#ifndef RECLINE_NARRATION_H
#define RECLINE_NARRATION_H

#include "plots/history.h"

/* The caller frees it with g_free(). */
char *narration_write(const struct history *);

#endif
