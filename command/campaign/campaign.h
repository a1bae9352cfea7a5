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
  const char *field;    /* field of results that `until` concerns: "simulated_s" */
  const char *extra;    /* a curve for the figure, as gnuplot plots it, over the same axis; NULL */
  unsigned runs;        /* most runs of each cell */
  unsigned jobs;        /* runs at once, at least 1; 0 with `slurm`: as many as it starts */
  unsigned chunk;       /* with `slurm`: runs of an element of the job array; 0: by default */
  bool slurm;           /* runs are handed to Slurm */
  bool replay;          /* programs run once, are recorded, and are replayed from then on */
  double until;         /* relative half width of all intervals at which it ends; 0: never */

  struct grid grid; /* filled in by campaign_run() */
  struct runs done;
  struct table table;
  bool has_table; /* all its runs were made */
  int failed;     /* exit code of runs that failed; 0: none did */
  int signal;     /* signal that stopped it; 0: none */
  bool made;      /* the folder did not exist before */
  int lock;       /* descriptor */
};

/* Returns whether the runs of a scenario end with their programs; otherwise sets `error`, as they
 * leave a checkpoint for another run and nothing to average. */
bool campaign_runs_to_end(const struct scenario *, GError **error);

/* Runs the campaign, or the rest of it, to its end. Returns an exit code; any but 0 and 1 is an
 * error that has been reported. The caller raises `signal` after it has cleared everything. */
int campaign_run(struct campaign *);

/* Writes runs.csv, table.csv and the figure. */
bool campaign_report(const struct campaign *, GError **error);
void campaign_clear(struct campaign *);

#endif
