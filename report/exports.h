/* A run for other tools: the timeline with its messages, crashes and recovery lines, as Paje's
 * trace (ViTE and pj_dump read it), as the JSON of trace viewers (Chrome, Perfetto), as an archive
 * of OTF2. */
#ifndef RECLINE_EXPORTS_H
#define RECLINE_EXPORTS_H

#include "report/story.h"

/* Returns the text, for the caller to free. */
char *export_paje(const struct story *);
char *export_json(const struct story *);

/* Writes the folder `file`, which does not exist yet, whole or not at all. Returns false with
 * `error` set. */
bool export_otf2(const struct story *, const char *file, GError **error);

#endif
