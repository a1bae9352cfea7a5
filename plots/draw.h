/* recline draw TRACE|PLATFORM|PROTOCOL [-o FILE.svg] [--dependencies]: pictures of result files and
 * sources; for a trace, the space-time diagram or the rollback-dependency graph. */
#ifndef RECLINE_DRAW_H
#define RECLINE_DRAW_H

#include "base/glib/command_line.h"

/* argv[0] is "draw". Prints the path of the picture on standard output and returns 0; a wrong
 * argument or file is one line on standard error, and 64. */
extern const struct about about_draw;
int command_draw(int argc, char **argv);

#endif
