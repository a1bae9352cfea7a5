/* Runs campaigns, for recline campaign and recline interval. */
#ifndef RECLINE_CAMPAIGN_H
#define RECLINE_CAMPAIGN_H

#include <json-glib/json-glib.h>

#include "base/glib/command_line.h"
#include "command/campaign/table.h"
#include "world/scenario/scenario.h"

extern const struct about about_campaign, about_interval;
int command_campaign(int argc, char **argv);
int command_interval(int argc, char **argv);

/* Describes a campaign of either command. */
struct campaign {
  const char *command; /* the command's name for messages: "recline campaign" */
  const char *scenario;
  /* the values of the options --set and --sweep, or NULL without such an option */
  char **set, **sweeps;
  const char *out;   /* folder of the results */
  const char *field; /* the field of results to which `until` applies: "simulated_s" */
  /* for the figure: the mean in seconds by theory, an expression of gnuplot over x, or NULL if
   * there is none */
  const char *extra;
  const char *title; /* title of the figure, or NULL if there is none */
  /* for the figure: the value of the sweep that is best by theory, or 0 if there is none */
  double theory;
  unsigned runs; /* largest number of runs of each cell */
  /* number of runs at once, at least 1; with `slurm` 0 means as many as Slurm starts */
  unsigned jobs;
  /* with `slurm`: runs in an element of the job array, or 0 for the default number */
  unsigned chunk;
  bool slurm;  /* runs are handed to Slurm */
  bool replay; /* programs run once and are recorded; all other runs replay the recording */
  /* the relative half width of all confidence intervals at which the campaign ends, or 0 if it
   * makes all runs */
  double until;

  struct grid grid;        /* filled in by campaign_run() */
  struct outlook *outlook; /* by cell */
  struct runs done;
  struct table table;
  /* seconds that the program takes without failures and without a protocol, or NAN if the time is
   * not known. campaign_run() measures the time unless the caller has set it */
  double failure_free;
  bool has_table; /* all runs of the table were made */
  bool is_part;   /* a signal stopped the campaign, and the table has the runs that all cells
                     have in common */
  int failed;     /* exit code of runs that failed, or 0 if no run failed */
  int signal;     /* the signal that stopped the campaign, or 0 if none did */
  bool made;      /* this campaign has made its folder */
  int lock;       /* descriptor of the file whose lock this process holds */
};

/* Returns whether the runs of a scenario go to the ends of their programs. Otherwise sets `error`,
 * because runs that leave a checkpoint for another run have no time to average. */
bool campaign_runs_to_end(const struct scenario *, GError **error);

/* Runs a campaign, or the rest of one that was stopped, to its end. Returns an exit code; if it is
 * neither 0 nor 1, an error has been reported. The caller raises `signal` after it has cleared
 * everything. */
int campaign_run(struct campaign *);

/* Runs scenario `file` with `set` and then `settings` (each a list that ends with NULL, or NULL).
 * Returns its result as JSON, or NULL if the run did not end as expected. Sets `problem` to the
 * run's output on standard error. The caller frees both. */
char *campaign_measure(const char *file, char *const *set, const char *const *settings,
                       char **problem);

/* Returns how many seconds the program of scenario `file`, with the values of the first cell, takes
 * without failures, checkpoints and protocol. The folder keeps the time; a run measures it if the
 * folder does not have it. Returns NAN if cells differ in program or platform, if `field` is not a
 * time of the whole run, or if the run that measures the time fails. */
double campaign_failure_free(const struct campaign *, const char *file);

/* Writes runs.csv, table.csv, the figure, and the answer as answer.json, for `recline report`. */
bool campaign_report(const struct campaign *, JsonBuilder *answer, GError **error);
void campaign_clear(struct campaign *);

#endif
