#include "command/calibrate/machine_check.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "command/campaign/campaign.h"
#include "world/scenario/quantity.h"

/* Describes a series that is also simulated, for comparison. */
struct checked {
  const char *series, *title;
  const char *script; /* script of one repetition, or NULL for a message there and back */
  bool between;       /* the messages go between rank 0 and the first rank of the next node */
  double share;       /* the share of a repetition's time that the series measures */
};

static const struct checked checks[] = {
    {"ping-pong.within", "one way within a node", NULL, false, 0.5},
    {"ping-pong.between", "one way between nodes", NULL, true, 0.5},
    {"barrier", "barrier", "barrier", false, 1.0},
    {"allreduce", "allreduce", "allreduce", false, 1.0}};

static bool fail(GError **error, const char *what)
{
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", what);
  return false;
}

/* ---- a simulation ---- */

static char *script_of(const struct checked *check, const struct sample_file *samples,
                       const struct series *series, int times)
{
  g_autofree char *bytes =
      series->bytes > 0 ? g_strdup_printf(" bytes %.0f", series->bytes) : g_strdup("");
  int other = check->between ? samples->per_node : 1;
  if (check->script)
    return g_strdup_printf("    rank *: barrier, repeat %d (%s%s)\n", times, check->script, bytes);
  return g_strdup_printf("    rank 0: barrier, repeat %d (send %d%s, recv %d)\n"
                         "    rank %d: barrier, repeat %d (recv 0, send 0%s)\n"
                         "    rank *: barrier\n",
                         times, other, bytes, other, other, times, bytes);
}

static char *scenario_of(const struct sample_file *samples, const char *file, const char *script)
{
  g_autofree char *machine = g_canonicalize_filename(file, NULL);
  g_autofree char *quoted = g_strescape(machine, NULL);
  return g_strdup_printf("program:\n  ranks: %d\n  script: |\n%s"
                         "platform: {file: \"%s\"}\nprotocol: {name: none}\n",
                         samples->ranks, script, quoted);
}

static bool read_seconds(const char *json, double *seconds)
{
  g_autoptr(JsonNode) root = json_from_string(json, NULL);
  if (!root || !JSON_NODE_HOLDS_OBJECT(root))
    return false;
  *seconds =
      json_object_get_double_member_with_default(json_node_get_object(root), "simulated_s", -1.0);
  return *seconds >= 0;
}

/* Simulates the check with `times` repetitions, and sets the simulated seconds. The scenario is
 * written into `folder`. */
static bool simulate(const struct checked *check, const struct sample_file *samples,
                     const struct series *series, int times, const char *file, const char *folder,
                     double *seconds, GError **error)
{
  g_autofree char *said = NULL, *wrong = NULL;
  g_autofree char *script = script_of(check, samples, series, times);
  g_autofree char *text = scenario_of(samples, file, script);
  g_autofree char *scenario = g_build_filename(folder, "check.yaml", NULL);
  if (!g_file_set_contents(scenario, text, -1, error))
    return false;
  said = campaign_measure(scenario, NULL, NULL, &wrong);
  return (said && read_seconds(said, seconds)) ||
         fail(error, wrong && *wrong ? g_strchomp(wrong) : "recline run printed no result");
}

/* Sets the number of seconds of a repetition. It comes from the difference of two runs, in which
 * the times of start and end cancel out. */
static bool predict(const struct checked *check, const struct sample_file *samples,
                    const struct series *series, const char *file, const char *folder,
                    double *seconds, GError **error)
{
  enum { FEW = 10, MANY = 110 };
  double few = 0, many = 0;
  if (!simulate(check, samples, series, FEW, file, folder, &few, error) ||
      !simulate(check, samples, series, MANY, file, folder, &many, error))
    return false;
  *seconds = check->share * (many - few) / (MANY - FEW);
  return true;
}

/* ---- the table ---- */

struct miss {
  double ratio;
  char *of;
};

static void tell(const struct checked *check, const struct series *series, double predicted,
                 struct miss *worst)
{
  double measured = series_middle(series), ratio = predicted / measured;
  g_autofree char *size = series->bytes > 0 ? quantity_text(QUANTITY_SIZE, series->bytes) : NULL;
  g_autofree char *name = g_strconcat(check->title, size ? ", " : NULL, size, NULL);
  printf("%-32s %12.3g us %12.3g us %8.2f%s\n", name, 1e6 * measured, 1e6 * predicted, ratio,
         series_is_unstable(series) ? "  unstable" : "");
  if (worst->of && fabs(log(worst->ratio)) >= fabs(log(ratio)))
    return;
  g_free(worst->of);
  *worst = (struct miss){ratio, g_steal_pointer(&name)};
}

static bool check_all(const struct sample_file *samples, const char *file, const char *folder,
                      struct miss *worst, GError **error)
{
  enum { EVERY = 3 }; /* only every third size of messages is simulated */
  printf("%-32s %15s %15s %8s\n", "check", "measured", "predicted", "ratio");
  for (size_t i = 0; i < G_N_ELEMENTS(checks); i++) {
    unsigned met = 0;
    for (const struct series *s = NULL; (s = series_next(samples, checks[i].series, s));) {
      double seconds;
      if (!checks[i].script && met++ % EVERY)
        continue;
      if (!predict(&checks[i], samples, s, file, folder, &seconds, error))
        return false;
      tell(&checks[i], s, seconds, worst);
    }
  }
  return true;
}

bool machine_check(const struct sample_file *samples, const char *file, GError **error)
{
  struct miss worst = {1.0, NULL};
  char *folder = NULL;
  int lock = output_folder(g_get_tmp_dir(), &folder);
  if (lock < 0)
    return fail(error, "no private folder, expected a folder for temporary files with room");
  bool good = check_all(samples, file, folder, &worst, error);
  output_remove(folder);
  close(lock);
  g_free(folder);
  if (good && worst.of)
    printf("The machine misses what was measured by a factor of %.2f at most: %s.\n",
           MAX(worst.ratio, 1 / worst.ratio), worst.of);
  else if (good)
    printf("Nothing was measured that can be simulated.\n");
  g_free(worst.of);
  return good;
}
