/* `recline walk` takes random runs through worlds that are too large to explore. */
#ifndef RECLINE_WALK_H
#define RECLINE_WALK_H

#include "base/glib/command_line.h"

extern const struct about about_walk;
int command_walk(int argc, char **argv);

#endif
