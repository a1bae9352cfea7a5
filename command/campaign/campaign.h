/* recline campaign and recline interval. */
#ifndef RECLINE_CAMPAIGN_H
#define RECLINE_CAMPAIGN_H

#include "base/glib/command_line.h"
#include "command/campaign/table.h"
#include "world/scenario/scenario.h"

extern const struct about about_campaign, about_interval;
int command_campaign(int argc, char **argv);
int command_interval(int argc, char **argv);

/* A campaign, for any command. */
struct campaign {
  const char *command; /* that asks for it, in messages: "recline campaign" */
  const char *scenario;
  char **set, **sweeps; /* as of the options; NULL: none */
  const char *out;      /* folder of the results */
  const char *field;    /* of results, that `until` is about: "simulated_s" */
  const char *extra;    /* a curve for the figure, as gnuplot plots it, over the same axis; NULL */
  unsigned runs;        /* of each cell, at most */
  unsigned jobs;        /* at once, at least 1; 0 with `slurm`: as many as it starts */
  unsigned chunk;       /* with `slurm`: runs of an element of the job array; 0: by default */
  bool slurm;           /* runs are handed to Slurm */
  bool replay;          /* programs run once, to be recorded, and are replayed from then on */
  double until;         /* relative half width of all intervals at which it ends; 0: never */

  struct grid grid; /* filled in by campaign_run() */
  struct runs done;
  struct table table;
  bool has_table; /* all runs that it is about were made */
  int failed;     /* exit code of runs that failed; 0: none did */
  int signal;     /* that stopped it; 0: none */
  bool made;      /* the folder was not there before */
  int lock;       /* descriptor */
};

/* Returns whether the runs of a scenario end with their programs; others leave a checkpoint for
 * another run, and nothing to average. `error` says so. */
bool campaign_runs_to_end(const struct scenario *, GError **error);

/* Runs it, or what is left of it, to its end. Returns an exit code; anything but 0 and 1 is the
 * end, and has been reported. `signal` is to be raised by the caller when all is cleared. */
int campaign_run(struct campaign *);

/* Writes runs.csv, table.csv and the figure. */
bool campaign_report(const struct campaign *, GError **error);
void campaign_clear(struct campaign *);

#endif
