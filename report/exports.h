/* Writes the timeline of a run, with its messages, crashes and recovery lines, in formats of other
 * tools. The formats are Paje's trace (for ViTE and pj_dump), the JSON of trace viewers (Chrome,
 * Perfetto), and an archive of OTF2. */
#ifndef RECLINE_EXPORTS_H
#define RECLINE_EXPORTS_H

#include "report/story.h"

/* These functions return the text, which the caller frees with g_free(). */
char *export_paje(const struct story *);
char *export_json(const struct story *);

/* Writes the folder `file`, which does not exist yet, whole or not at all. Returns false with
 * `error` set to one line. */
bool export_otf2(const struct story *, const char *file, GError **error);

#endif
