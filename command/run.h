/* Inside recline run: what run.c simulates and run_input.c has judged. */
#ifndef RECLINE_RUN_H
#define RECLINE_RUN_H

#include <glib.h>
#include <stdbool.h>

#include "world/scenario/scenario.h"

struct options {
  char **set;
  char *out;
  gboolean json, keep, no_trace;
  double timeout; /* seconds; 0: none */
  char *memory;
  double memory_bytes;
  char *record, *replay, *restart; /* folders */
};

struct run {
  struct options options;
  struct scenario *scenario;
  char *program;   /* absolute path */
  char **args;     /* of the program; a script's: the file with its text */
  char *directory; /* private, removed at the end */
  int folder;      /* its descriptor, which locks it */
  char *again;     /* where it is recorded a second time; NULL: it is not */
  bool made_out;   /* DIR did not exist before */
  int interrupted; /* the signal that stopped us */
  int status;      /* of the simulation */
};

/* Reads the command line; `*scenario` is then the file, for g_free(). Returns EXIT_FINE, or what it
 * is that was said. */
int run_parse(int argc, char **argv, struct options *, char **scenario);

/* Judges the scenario, and finds the program. */
bool run_check(struct run *, GError **error);

#endif
