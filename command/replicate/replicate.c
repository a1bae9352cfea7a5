/* recline replicate [ID]...: replicates published values. */
#include <gio/gio.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/glib/command_line.h"
#include "base/output.h"
#include "command/replicate/expression.h"
#include "command/replicate/replicate.h"

enum { JOBS_MAX = 1000 };

struct options {
  char **ids, *out, *plan, *published;
  int jobs;
  gboolean json, sensitivity;
};

const struct about about_replicate = {"replicate", "[ID]...",
                                      "simulate what papers have published, and print both; ID is "
                                      "that of a value, or its first words",
                                      "replicate bookmark.t2\n"
                                      "replicate --out replication"};

static int parse(int argc, char **argv, struct options *o)
{
  const GOptionEntry entries[] = {
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &o->out,
       "Keep the runs there, which are not run again, replication.md and a page for each paper",
       "DIR"},
      {"jobs", 'j', 0, G_OPTION_ARG_INT, &o->jobs, "Runs at once (one for each core)", "N"},
      {"plan", 0, 0, G_OPTION_ARG_FILENAME, &o->plan, "Another plan than recline's own", "FILE"},
      {"published", 0, 0, G_OPTION_ARG_FILENAME, &o->published, "Other published values", "FILE"},
      {"sensitivity", 0, 0, G_OPTION_ARG_NONE, &o->sensitivity,
       "Also with each estimated constant halved and doubled", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &o->json, "Print one JSON object and nothing else", NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->ids, NULL, NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  if (!options_read(&about_replicate, argc, argv, entries))
    return EXIT_BAD_INPUT;
  if (o->jobs < 0 || o->jobs > JOBS_MAX)
    return bad_input("recline replicate: --jobs %d, expected 1 to %d", o->jobs, JOBS_MAX);
  return EXIT_FINE;
}

static bool is_asked_for(char **ids, const char *id)
{
  for (char **asked = ids; asked && *asked; asked++) {
    size_t length = strlen(*asked);
    if (!strncmp(id, *asked, length) && (!id[length] || id[length] == '.'))
      return true;
  }
  return !ids;
}

static void judge(struct replica *r, struct outcomes *outcomes)
{
  g_autoptr(GError) error = NULL;
  r->value = (double)NAN;
  r->verdict = r->row && r->row->input ? ROW_INPUT : ROW_ABSENT;
  if (!r->row || !r->row->value)
    return;
  if (!expression_value(r->row->value, outcomes_lookup, outcomes, &r->value, &error)) {
    r->value = (double)NAN;
    r->failed = g_strdup(error->message);
    r->verdict = ROW_FAILED;
    return;
  }
  if (r->verdict != ROW_INPUT)
    r->verdict = replica_judge(r->published, r->value);
}

/* Replicates the values for which the user asks. */
static int replicate(const struct options *o, struct replicas *replicas, struct outcomes *outcomes)
{
  g_autoptr(GError) error = NULL;
  bool all = true;
  struct reachable reach;
  if (!outcomes_run(outcomes, replicas, o->jobs ? (unsigned)o->jobs : g_get_num_processors(),
                    &error))
    return outcomes->signal ? EXIT_BREACH : bad_input("recline replicate: %s", error->message);
  for (unsigned i = 0; i < replicas->count; i++) {
    judge(&replicas->item[i], outcomes);
    all &= replica_is_expected(&replicas->item[i]);
  }
  if (!bounds_total(outcomes, replicas, &reach, &error))
    return bad_input("recline replicate: %s", error->message);
  (o->json ? report_print_json : report_print)(replicas, &reach);
  if (o->out && !report_write(replicas, outcomes, o->out, &error))
    return bad_input("%s", error->message);
  if (o->out && !figures_draw(outcomes, &error))
    return bad_input("recline replicate: %s", error->message);
  return all ? EXIT_FINE : EXIT_NOT_AS_EXPECTED;
}

static int run(const struct options *o, struct outcomes *outcomes)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) published = published_load(o->published, &error);
  struct plan plan;
  struct replicas replicas = {0};
  if (!published)
    return bad_input("%s", error->message);
  int code = EXIT_FINE;
  if (!plan_load(&plan, o->plan, &error))
    code = bad_input("%s", error->message);
  replicas.item = g_new0(struct replica, published->len);
  for (guint i = 0; i < published->len; i++) {
    const struct published *p = published->pdata[i];
    if (is_asked_for(o->ids, p->id))
      replicas.item[replicas.count++] =
          (struct replica){.published = p, .row = g_hash_table_lookup(plan.rows, p->id)};
  }
  outcomes->plan = &plan;
  outcomes->published = published;
  if (!code && !replicas.count)
    code = bad_input("recline replicate: %s is no published value, expected the ID of one of %s, "
                     "or its first words",
                     o->ids[0], o->published);
  if (!code)
    code = replicate(o, &replicas, outcomes);
  for (unsigned i = 0; i < replicas.count; i++)
    g_free(replicas.item[i].failed);
  g_free(replicas.item);
  plan_clear(&plan);
  return code;
}

int command_replicate(int argc, char **argv, const char *data)
{
  struct options o = {0};
  struct outcomes outcomes = {0};
  g_autofree char *scratch = NULL;
  g_autoptr(GError) error = NULL;
  int code = parse(argc, argv, &o);
  if (!o.plan)
    o.plan = g_build_filename(data, "scenarios", "replication", "plan.ini", NULL);
  if (!o.published)
    o.published = g_build_filename(data, "scenarios", "replication", "published.csv", NULL);
  if (code == EXIT_FINE && !o.out &&
      !(scratch = g_dir_make_tmp("recline-replicate-XXXXXX", &error)))
    code = bad_input("recline replicate: %s", error->message);
  g_autofree char *out = o.out ? g_canonicalize_filename(o.out, NULL) : NULL;
  /* this path is absolute, because scenarios refer to platforms in this folder */
  outcomes.out = scratch ? scratch : out;
  outcomes.data = data;
  outcomes.sensitivity = o.sensitivity;
  if (code == EXIT_FINE)
    code = run(&o, &outcomes);
  fflush(stdout);
  outcomes_clear(&outcomes);
  if (scratch)
    output_remove(scratch);
  g_strfreev(o.ids);
  g_free(o.out);
  g_free(o.plan);
  g_free(o.published);
  if (outcomes.signal)
    raise(outcomes.signal); /* the caller sees which signal stopped this process */
  return code;
}
