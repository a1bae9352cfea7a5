/* Declares the parts of recline run: run_input.c judges the input, and run.c simulates. */
#ifndef RECLINE_RUN_H
#define RECLINE_RUN_H

#include <glib.h>
#include <stdbool.h>

#include "world/scenario/scenario.h"

struct options {
  char **set;
  char *out;
  gboolean json, keep, no_trace;
  double timeout; /* seconds after which the simulation is stopped, or 0 for no limit */
  char *memory;
  double memory_bytes;
  char *record, *replay, *restart; /* paths of folders */
};

struct run {
  struct options options;
  struct scenario *scenario;
  char *program;   /* absolute path */
  char **args;     /* arguments of the program; for a script: the file with its text */
  char *directory; /* a private folder, removed at the end */
  int folder;      /* descriptor of that folder, whose lock it holds */
  /* folder of the program's second recording while that is made, or NULL at other times */
  char *again;
  bool made_out;   /* this run has made the folder of --out */
  int interrupted; /* the signal that stopped this process */
  int status;      /* wait status of the simulation */
};

/* Reads the command line, and sets `*scenario` to the file, for g_free(). Returns EXIT_FINE, or the
 * exit code of an error that was printed. */
int run_parse(int argc, char **argv, struct options *, char **scenario);

/* Judges the scenario, and finds the program. Returns false with `error` if either fails. */
bool run_check(struct run *, GError **error);

#endif
