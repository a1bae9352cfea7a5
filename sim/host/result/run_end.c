#include "sim/host/result/run_end.h"

#include "sim/host/output/held_output.h"
#include "sim/host/rank/accounting.h"
#include "sim/host/rank/activity.h"
#include "sim/host/rank/copy_cost.h"
#include "sim/host/rank/rank.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/rank/timer.h"
#include "sim/host/rank/waits.h"
#include "sim/host/result/result_notes.h"
#include "sim/host/result/run_phases.h"
#include "sim/net/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void mean_time(struct run_time *mean)
{
  *mean = (struct run_time){0};
  for (int i = 0; i < layer.ranks; i++) {
    struct rank *r = &layer.rank[i];
    rank_switch(r, r->activity);
    mean->compute += r->time.compute / layer.ranks;
    mean->mpi += r->time.mpi / layer.ranks;
    mean->protocol += r->time.protocol / layer.ranks;
    mean->checkpoint += r->time.checkpoint / layer.ranks;
    mean->lost += r->time.lost / layer.ranks;
    mean->restart += r->time.restart / layer.ranks;
  }
}

static void report_images(struct result *result)
{
  result->rank_image_bytes = g_new0(uint64_t, (gsize)layer.ranks);
  for (int i = 0; i < layer.ranks; i++) {
    result->rank_image_bytes[i] = layer.rank[i].image_bytes;
    result->image_bytes = MAX(result->image_bytes, layer.rank[i].image_bytes);
  }
}

static void report_traffic(struct result *result)
{
  const struct traffic traffic = transport_traffic();
  result->network.messages = traffic.messages;
  result->network.control = traffic.control;
  result->network.bytes = traffic.bytes;
}

static void name_run(struct result *result)
{
  const struct scenario *scenario = layer.scenario;
  g_autofree char *binary =
      scenario->program.script ? g_strdup("script") : g_path_get_basename(scenario->program.binary);
  g_autofree char *args =
      scenario->program.script ? g_strdup("") : g_strjoinv(" ", scenario->program.args);
  result->version = g_strdup(RECLINE_VERSION);
  result->scenario = g_strdup(scenario->id);
  result->program = g_strconcat(binary, *args ? " " : "", args, NULL);
  result->platform = scenario_platform_name(scenario);
  result->protocol = g_strdup(scenario->protocol.name);
  result->seed = scenario->seed;
}

void run_report(enum run_verdict verdict, const char *why)
{
  struct result *result = &layer.result;
  if (verdict == RUN_COMPLETED || verdict == RUN_RECOVERED) {
    shadow_require_end();
    output_ends();
  }
  shadow_end();
  accounting_report();
  result->verdict = verdict;
  result->ranks = layer.ranks;
  result->simulated_s = machine_now();
  result->gave_up = g_strdup(why);
  name_run(result);
  mean_time(&result->time);
  activity_close(machine_now());
  report_images(result);
  report_traffic(result);
  run_phases_report(result);
  copy_cost_report(result);
  output_report(result);
  notes_report();
  GError *error = NULL;
  if (layer.result_file && !result_save(result, layer.result_file, &error))
    die(DIE_INPUT, "%s", error->message);
}

void run_stop(enum run_verdict verdict, const char *why)
{
  run_report(verdict, why);
  fflush(NULL);
  _exit(0); /* the program cannot go on, and there is no need to end its actors properly */
}

void run_stop_without_image(void)
{
  run_stop(RUN_LOST, "there is no image of the checkpoint to recover from");
}

void run_stop_by_loss(const struct rank *r, bool is_log)
{
  static const char *const lay[] = {
      [STORAGE_UNSTATED] =
          "on levels that the failures have taken (checkpoint.levels), expected one "
          "that survives them",
      [STORAGE_MEMORY] =
          "in the memory of its node (checkpoint.storage: memory), expected storage: "
          "nfs or levels",
      [STORAGE_LOCAL] = "on the disk of its node, which has failed (checkpoint.storage: local), "
                        "expected storage: nfs, levels, or failures that leave the disk",
      [STORAGE_NFS] = "on the file server, which has failed (checkpoint.storage: nfs), expected "
                      "storage: local, levels, or failures that leave the server"};
  g_autofree char *why = g_strdup_printf(
      "rank %d has lost what it would start from: it was %s", r->index,
      is_log ? "a log on the event logger, beside the file server, which has failed, expected "
               "failures that leave it"
             : lay[layer.scenario->checkpoint.storage]);
  run_stop(RUN_LOST, why);
}

void run_waits(void)
{
  if (shadow_finished())
    return;
  shadow_judge_rest();
  waits_report();
  run_stop(RUN_LOST, "all programs wait for ever");
}

void run_stuck(void)
{
  if (shadow_finished())
    return;
  shadow_require_rest();
  timer_require_none();
  run_waits();
}
