/* `recline report DIR [-o FILE.html]` makes one page of the files that --out has kept of a run, a
 * check, a campaign or a replication. */
#ifndef RECLINE_REPORT_FOLDER_H
#define RECLINE_REPORT_FOLDER_H

#include "base/glib/command_line.h"

/* Runs the command; argv[0] is "report". Prints the path of the page and returns 0, or returns 64
 * on bad input. */
extern const struct about about_report;
int command_report(int argc, char **argv);

#endif
