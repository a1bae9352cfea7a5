/* A run for other tools: the timeline with its messages, crashes and recovery lines, as Paje's
 * trace (ViTE and pj_dump read it) and as the JSON of trace viewers (Chrome, Perfetto). */
#ifndef RECLINE_EXPORTS_H
#define RECLINE_EXPORTS_H

#include "report/story.h"

/* For the caller to free. */
char *export_paje(const struct story *);
char *export_json(const struct story *);

#endif
