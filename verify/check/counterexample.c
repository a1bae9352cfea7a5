#include "verify/check/counterexample.h"

#include <string.h>

#include "verify/check/claim.h"
#include "world/rules/in_place.h"
#include "world/rules/properties.h"
#include "world/trace/schedule_file.h"
#include "world/trace/trace.h"

/* Takes all moves again, and adds a line for each to the trace. Returns whether the last line
 * itself says that its step is impure. */
static bool take_again(const struct scenario *claim, struct world *world,
                       const struct exploration *found, struct trace *trace)
{
  struct rcl_actions actions = {.capacity = RCL_ACTIONS_MAX(&world->config[0])};
  actions.item = g_new0(struct rcl_action, actions.capacity);
  bool said = false;
  for (unsigned i = 0; i < found->moves_count; i++) {
    struct move move = found->moves[i];
    struct verdict verdict = {0};
    actions.count = 0;
    world_step(world, &move, &actions, &verdict);
    if (verdict.kind == VERDICT_IMPOSSIBLE && properties_impure(&found->why))
      break; /* the step came out differently this time */
    if (verdict.kind == VERDICT_IMPOSSIBLE)
      g_error("%s: the world refuses its own counterexample at step %u: %s", claim->id, i,
              verdict.text);
    said = properties_impure(&verdict);
    if (!said)
      verdict.kind = VERDICT_FINE; /* only the last violation counts */
    trace_move(trace, i, world, &move, &actions, &verdict);
  }
  g_free(actions.item);
  return said;
}

static bool write_trace(const struct scenario *claim, const struct script *script,
                        struct exploration *found, const char *file, GError **error)
{
  struct world world;
  struct parts parts;
  claim_world(claim, script, &world);
  parts_init(&parts, &world);
  world_guard(&world, false);
  world_begin(&world, (unsigned)claim->check.crashes, (unsigned)claim->check.checkpoints);
  struct trace *trace = trace_open(file, &world, "explorer", true, error);
  bool said = trace && take_again(claim, &world, found, trace);
  if (trace && found->again)
    trace_again(trace, found->moves_count - found->again);
  if (trace && !said)
    trace_violation(trace, &found->why);
  bool fine = trace && trace_close(trace, error);
  parts_clear(&parts);
  world_clear(&world);
  return fine;
}

char *counterexample_keep(const struct scenario *claim, const struct script *script,
                          struct exploration *found, const char *out, GError **error)
{
  g_autofree char *trace = g_strconcat(claim->id, ".trace", NULL);
  g_autofree char *scenario = g_strconcat(claim->id, ".scenario.yaml", NULL);
  g_autofree char *scenario_file = g_build_filename(out, scenario, NULL);
  char *trace_file = g_build_filename(out, trace, NULL);
  if (write_trace(claim, script, found, trace_file, error) &&
      (properties_impure(&found->why) || !strcmp(found->why.property, "ltl") ||
       schedule_file_refuses(claim, script) ||
       schedule_file_write(claim, found->why.property, trace, scenario_file, error)))
    return trace_file;
  g_free(trace_file);
  return NULL;
}
