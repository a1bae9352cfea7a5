#include "command/summary.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

#include "base/glib/terminal.h"
#include "protocols/text.h"

/* Describes a unit, which is used for numbers from `from` on. */
struct unit {
  const char *name;
  double size, from;
};

/* Prints a number with four digits in `width` columns. The unit is the first one that the number
 * reaches or, if it reaches none, the last one. */
static void print_in(const struct unit *unit, size_t count, double number, int width)
{
  for (; count > 1 && number < unit->from; count--)
    unit++;
  g_print("%*.4g %s", width, number / unit->size, unit->name);
}

static void print_seconds(double seconds, int width)
{
  static const struct unit units[] = {{"d", 86400, 172800}, {"h", 3600, 7200},  {"min", 60, 120},
                                      {"s", 1, 1},          {"ms", 1e-3, 1e-3}, {"us", 1e-6, 1e-6},
                                      {"ns", 1e-9, 1e-9}};
  bool none = seconds <= 0;
  print_in(none ? &units[3] : units, none ? 1 : G_N_ELEMENTS(units), seconds, width);
}

/* Prints bytes in a decimal unit, unless they are a multiple of 1024 and not of 1000. */
static void print_bytes(double bytes)
{
  static const struct unit decimal[] = {
      {"TB", 1e12, 1e12}, {"GB", 1e9, 1e9}, {"MB", 1e6, 1e6}, {"kB", 1e3, 1e3}, {"B", 1, 1}};
  static const struct unit binary[] = {{"TiB", 0x1p40, 0x1p40},
                                       {"GiB", 0x1p30, 0x1p30},
                                       {"MiB", 0x1p20, 0x1p20},
                                       {"KiB", 0x1p10, 0}};
  if (fmod(bytes, 1024) == 0 && fmod(bytes, 1000) != 0)
    print_in(binary, G_N_ELEMENTS(binary), bytes, 0);
  else
    print_in(decimal, G_N_ELEMENTS(decimal), bytes, 0);
}

static void print_bar(const char *name, double seconds, double total)
{
  enum { CELLS = 30 };
  bool blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  double share = total > 0 ? seconds / total : 0;
  int filled = (int)lround(share * CELLS);
  if (seconds <= 0)
    return;
  g_print("    %-11s ", name);
  for (int i = 0; i < CELLS; i++)
    g_print("%s", i < filled ? blocks ? "█" : "#" : blocks ? "░" : ".");
  g_print("  ");
  print_seconds(seconds, 6);
  g_print("  %5.1f %%\n", 100 * share);
}

static void print_time(const struct result *result)
{
  const struct run_time *time = &result->time;
  double total =
      time->compute + time->mpi + time->protocol + time->checkpoint + time->lost + time->restart;
  g_print("  time         ");
  print_seconds(result->simulated_s, 0);
  g_print(" simulated; of a rank, on average:\n");
  print_bar("compute", time->compute, total);
  print_bar("mpi", time->mpi, total);
  print_bar("protocol", time->protocol, total);
  print_bar("checkpoint", time->checkpoint, total);
  print_bar("lost", time->lost, total);
  print_bar("restart", time->restart, total);
}

static void print_failure(const struct failure *failure)
{
  if (failure->trigger == TRIGGER_LAW) {
    g_print("%s, mtbf ", scenario_law_name(failure->law));
    print_seconds(failure->mtbf, 0);
    g_print(" of %s", failure->of == OF_NODE ? "each node" : "the platform");
    return;
  }
  if (failure->trigger == TRIGGER_TRACE) {
    g_print("%s", failure->trace);
    return;
  }
  if (failure->trigger == TRIGGER_TIME) {
    g_print("rank %d at %.6g s", failure->rank, failure->at);
    return;
  }
  g_print("rank %d after %s", failure->rank, event_name(failure->after.event));
  if (failure->after.rank != failure->rank)
    g_print(" at rank %d", failure->after.rank);
  if (failure->after.checkpoint > 0)
    g_print(" of checkpoint %u", failure->after.checkpoint);
  if (failure->after.iteration > 0)
    g_print(" in iteration %u", failure->after.iteration);
  if (failure->after.count > 1)
    g_print(", time %u", failure->after.count);
  if (failure->after.recovery > 0)
    g_print(", in recovery %u", failure->after.recovery);
  if (failure->after.actions >= 0)
    g_print(", behind %d of its actions", failure->after.actions);
}

static void print_crashes(const struct scenario *scenario, const struct result *result)
{
  enum { SHOWN = 4 };
  if (scenario->failures_count == 0 && result->crashes == 0)
    return;
  if (scenario->schedule != NULL) {
    g_print("  crashes      %u, by schedule\n", result->crashes);
    return;
  }
  g_print("  crashes      %u", result->crashes);
  if (!scenario_fails_by_law(scenario) && result->crashes <= scenario->failures_count)
    g_print(" of %u", scenario->failures_count);
  for (unsigned i = 0; i < scenario->failures_count && i < SHOWN; i++) {
    g_print(i == 0 ? ": " : "; ");
    print_failure(&scenario->failures[i]);
  }
  g_print(scenario->failures_count > SHOWN ? "; ...\n" : "\n");
}

static void print_messages(const struct result *result)
{
  const struct {
    const char *name;
    uint64_t count;
  } kinds[] = {{"late", result->messages.late},
               {"early", result->messages.early},
               {"suppressed", result->messages.suppressed},
               {"replayed", result->messages.replayed},
               {"discarded", result->messages.discarded}};
  g_print("  messages     %" G_GUINT64_FORMAT " sent", result->messages.sent);
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (kinds[i].count > 0)
      g_print(", %" G_GUINT64_FORMAT " %s", kinds[i].count, kinds[i].name);
  g_print("\n");
}

/* Prints the measured sizes of images. For storage, a scenario may replace these sizes by other
 * sizes. */
static void print_images(const struct result *result, double counted)
{
  enum { LISTED = 8 }; /* up to this many ranks are listed one by one */
  uint64_t all = 0, least = result->image_bytes;
  for (int i = 0; i < result->ranks; i++) {
    all += result->rank_image_bytes[i];
    least = MIN(least, result->rank_image_bytes[i]);
  }
  if (all == 0)
    return;
  g_print("  images       %.1f KiB in all ranks;", (double)all / 1024);
  if (result->ranks > LISTED)
    g_print(" %.1f to %.1f in one", (double)least / 1024, (double)result->image_bytes / 1024);
  for (int i = 0; i < result->ranks && result->ranks <= LISTED; i++)
    g_print(" %.1f", (double)result->rank_image_bytes[i] / 1024);
  if (counted > 0) {
    g_print("; on storage each counts as ");
    print_bytes(counted);
    g_print(" (checkpoint.bytes)");
  }
  g_print("\n");
}

static void print_checkpoints(const struct scenario *scenario, const struct result *result)
{
  g_print("  checkpoints  %u committed", result->checkpoints_committed);
  if (result->checkpoints_aborted > 0)
    g_print(", %u aborted", result->checkpoints_aborted);
  if (result->checkpoints_abandoned > 0)
    g_print(", %u abandoned", result->checkpoints_abandoned);
  g_print("\n");
  print_images(result, (double)scenario->checkpoint.bytes);
  if (result->rollbacks_global + result->rollbacks_local > 0)
    g_print("  rollbacks    %u global, %u local\n", result->rollbacks_global,
            result->rollbacks_local);
}

/* Prints each phase over all checkpoints. Phases with the same name have the same index in every
 * checkpoint. */
static void print_phases(const struct result *result)
{
  for (unsigned i = 0; i < result->phases_count; i++) {
    struct run_phase sum = {.least = HUGE_VAL};
    const char *name = result->phases[i].name;
    bool first = true;
    for (unsigned k = 0; k < result->phases_count; k++) {
      const struct run_phase *phase = &result->phases[k];
      if (strcmp(phase->name, name) != 0)
        continue;
      first = first && k >= i;
      sum.least = fmin(sum.least, phase->least);
      sum.most = fmax(sum.most, phase->most);
      sum.mean += phase->mean * phase->ranks;
      sum.ranks += phase->ranks;
    }
    if (!first)
      continue;
    g_print("  phase        %-13s ", name);
    print_seconds(sum.mean / sum.ranks, 6);
    g_print(", mean of %d; ", sum.ranks);
    print_seconds(sum.least, 0);
    g_print(" to ");
    print_seconds(sum.most, 0);
    g_print("\n");
  }
}

static void print_iterations(const struct result *result)
{
  if (result->iterations > 0)
    g_print("  iterations   %" G_GUINT64_FORMAT " in all ranks\n", result->iterations);
}

static void print_notes(const struct result *result)
{
  enum { SHOWN = 8 };
  guint count = g_strv_length(result->notes);
  for (guint i = 0; i < count && i < SHOWN; i++)
    g_print("  note         %s\n", result->notes[i]);
  if (count > SHOWN)
    g_print("  note         and %u more (--json)\n", count - SHOWN);
}

void summary_print(const struct scenario *scenario, const struct result *result, const char *path,
                   const char *out, const char *wrong)
{
  const struct look look = terminal_look();
  g_autofree char *program = g_path_get_basename(path);
  g_autofree char *platform = scenario_platform_name(scenario);
  g_print("\n%s%s%s", wrong == NULL ? look.good : look.wrong, run_verdict_name(result->verdict),
          look.plain);
  if (result->program_exit > 0)
    g_print(", with exit code %d", result->program_exit);
  g_print("  %s%s%s with %s: %s on %d ranks of %s\n", look.strong, scenario->id, look.plain,
          scenario->protocol.name, program, result->ranks, platform);
  if (result->restart.from > 0)
    g_print("  restart      from checkpoint %u, %.6g s of simulated time after the beginning\n",
            result->restart.from, result->restart.before_s);
  if (result->restart.left > 0)
    g_print("  left         checkpoint %u\n", result->restart.left);
  if (result->gave_up != NULL)
    g_print("  gave up      %s\n", result->gave_up);
  print_crashes(scenario, result);
  print_checkpoints(scenario, result);
  print_phases(result);
  print_iterations(result);
  print_messages(result);
  print_time(result);
  print_notes(result);
  if (out != NULL)
    g_print("  kept         %s\n", out);
  if (wrong != NULL)
    g_print("  %snot as expected%s: %s\n", look.wrong, look.plain, wrong);
}
