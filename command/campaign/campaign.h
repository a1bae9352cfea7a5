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
  const char *command; /* command, for messages: "recline campaign" */
  const char *scenario;
  char **set, **sweeps; /* overrides, from the options; NULL: none */
  const char *out;      /* folder of the results */
  const char *field;    /* of results, that `until` is about: "simulated_s" */
  const char *extra;    /* for the figure: an expression of gnuplot over x, the mean in seconds by
                           theory; NULL */
  const char *title;    /* of the figure; NULL: none */
  unsigned runs;        /* of each cell, at most */
  unsigned jobs;        /* at once, at least 1; 0 with `slurm`: as many as it starts */
  unsigned chunk;       /* with `slurm`: runs of an element of the job array; 0: by default */
  bool slurm;           /* runs are handed to Slurm */
  bool replay;          /* programs run once, are recorded, and are replayed from then on */
  double until;         /* relative half width of all intervals at which it ends; 0: never */

  struct grid grid; /* filled in by campaign_run() */
  struct runs done;
  struct table table;
  double failure_free; /* seconds without failures and protocol; NAN: not known. Measured by
                          campaign_run() unless the caller has set it */
  bool has_table;      /* all runs that it is about were made */
  int failed;          /* exit code of runs that failed; 0: none did */
  int signal;          /* that stopped it; 0: none */
  bool made;           /* the folder was not there before */
  int lock;            /* descriptor */
};

/* Returns whether the runs of a scenario end with their programs; otherwise sets `error`, as they
 * leave a checkpoint for another run and nothing to average. */
bool campaign_runs_to_end(const struct scenario *, GError **error);

/* Runs the campaign, or the rest of it, to its end. Returns an exit code; any but 0 and 1 is an
 * error that has been reported. The caller raises `signal` after it has cleared everything. */
int campaign_run(struct campaign *);

/* Runs scenario `file` with `set` and then `settings` (both end with NULL; NULL: none). Returns its
 * result as JSON, or NULL if the run did not end as expected. `problem` is what it has said on
 * standard error. The caller frees both. */
char *campaign_measure(const char *file, char *const *set, const char *const *settings,
                       char **problem);

/* Returns the seconds that the program of scenario `file`, of the first cell, takes without
 * failures, checkpoints and protocol: kept in the folder, or run. NAN where cells differ in program
 * or platform, where `field` is no time of the whole run, or where that run fails. */
double campaign_failure_free(const struct campaign *, const char *file);

/* Writes runs.csv, table.csv and the figure. */
bool campaign_report(const struct campaign *, GError **error);
void campaign_clear(struct campaign *);

#endif
