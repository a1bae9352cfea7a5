/* Declares the subcommands of the program `recline`. */
#ifndef RECLINE_MAIN_H
#define RECLINE_MAIN_H

#include "base/glib/command_line.h"

/* A subcommand gets its own name as argv[0] and returns an exit code (base/exit_codes.h). It
 * prints its result on standard output and everything else on standard error. */
extern const struct about about_run, about_list, about_doctor, about_demo, about_join, about_help,
    about_prove, about_platform;

/* Returns the kind with that number, from 0 on, that `recline list` takes, or NULL if there are no
 * more. */
const char *list_kind(size_t);

int command_run(int argc, char **argv);      /* command/run.c */
int command_list(int argc, char **argv);     /* command/list.c */
int command_doctor(int argc, char **argv);   /* command/doctor.c */
int command_demo(int argc, char **argv);     /* command/demo.c */
int command_join(int argc, char **argv);     /* command/join.c */
int command_prove(int argc, char **argv);    /* command/prove.c */
int command_platform(int argc, char **argv); /* command/show_platform.c */

#endif
