/* `recline draw TRACE|PLATFORM|PROTOCOL [-o FILE.svg] [--dependencies]` draws result files and
 * sources. It draws a trace as a space-time diagram or as a rollback-dependency graph. */
#ifndef RECLINE_DRAW_H
#define RECLINE_DRAW_H

#include "base/glib/command_line.h"

/* Runs the command; argv[0] is "draw". Prints the path of the picture on standard output and
 * returns 0. On a wrong argument or file it prints one line on standard error and returns 64. */
extern const struct about about_draw;
int command_draw(int argc, char **argv);

#endif
