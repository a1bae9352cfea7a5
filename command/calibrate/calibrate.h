/* Declares the command recline calibrate. */
#ifndef RECLINE_CALIBRATE_H
#define RECLINE_CALIBRATE_H

#include "base/glib/command_line.h"

extern const struct about about_calibrate;
int command_calibrate(int argc, char **argv);

#endif
