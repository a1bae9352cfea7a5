/* Declares the parts of recline compare. */
#ifndef RECLINE_COMPARE_H
#define RECLINE_COMPARE_H

#include "base/glib/command_line.h"

extern const struct about about_compare;
int command_compare(int argc, char **argv);

#endif
