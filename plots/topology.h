/* A SimGrid platform: hosts, the links between them, clusters as one box with some of their hosts.
 */
#ifndef RECLINE_TOPOLOGY_H
#define RECLINE_TOPOLOGY_H

#include "plots/picture.h"

struct picture *platform_draw(const char *file, const char *text, GError **error);

#endif
