/* Draws a SimGrid platform: hosts, the links between them, and each cluster as one box with some of
 * its hosts. */
#ifndef RECLINE_TOPOLOGY_H
#define RECLINE_TOPOLOGY_H

#include "plots/picture.h"
/* Returns the picture, which the caller frees, or NULL with `error` set to one line. `text` is the
 * content of `file`. */

struct picture *platform_draw(const char *file, const char *text, GError **error);

#endif
