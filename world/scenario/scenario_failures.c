/* Judges the rules between the keys of `failures`. */
#include "world/scenario/failure_trace.h"
#include "world/scenario/levels.h"
#include "world/scenario/platform_file.h"
#include "world/scenario/scenario_judge.h"

static bool given_in(const struct scenario *scenario, const char *path, const char *key)
{
  g_autofree char *full = g_strconcat(path, ".", key, NULL);
  return scenario_given(scenario, full);
}

/* Refuses the key of the failure at `path`. */
static bool refuse_key(const struct scenario *scenario, const char *path, const char *key,
                       const char *why, GError **error)
{
  g_autofree char *full = g_strconcat(path, ".", key, NULL);
  return scenario_complain(scenario, full, error, "%s", why);
}

/* Judges the key that says when the failure strikes. */
static bool judge_trigger(const struct scenario *scenario, const char *path,
                          struct failure *failure, GError **error)
{
  static const struct {
    const char *key;
    enum trigger trigger;
  } triggers[] = {{"at", TRIGGER_TIME},
                  {"after", TRIGGER_POINT},
                  {"law", TRIGGER_LAW},
                  {"trace", TRIGGER_TRACE}};
  unsigned found = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(triggers); i++) {
    if (!given_in(scenario, path, triggers[i].key))
      continue;
    failure->trigger = triggers[i].trigger;
    if (found++)
      return refuse_key(scenario, path, triggers[i].key,
                        "beside another of at, after, law and trace, expected one of them", error);
  }
  return found || scenario_complain(scenario, path, error,
                                    "neither at, after, law nor trace, expected one of them");
}

/* Returns the mean time between failures that the machine's description gives to a law of nodes:
 * the mean time of one node, or of all used nodes together. Returns a negative number if the
 * description gives none. */
static double mtbf_of_machine(const struct scenario *scenario, const struct failure *failure)
{
  double mtbf = scenario->platform.machine.mtbf;
  int nodes =
      layout_nodes(&scenario->platform.layout, scenario->program.ranks) + scenario->platform.spares;
  return failure->kills != KILLS_NODE ? -1.0
         : failure->of == OF_NODE     ? mtbf
         : failure->of == OF_PLATFORM ? mtbf / nodes
                                      : -1.0;
}

static bool judge_law(const struct scenario *scenario, const char *path, struct failure *failure,
                      GError **error)
{
  bool shaped = given_in(scenario, path, "shape"), exponential = failure->law == LAW_EXPONENTIAL;
  if (failure->of == OF_NOTHING && failure->kills != KILLS_SERVER)
    failure->of = OF_NODE;
  if (failure->rank >= 0)
    return refuse_key(scenario, path, "rank", "beside law, expected none: nodes fail by law",
                      error);
  if (failure->kills == KILLS_SERVER && (failure->burst > 1 || given_in(scenario, path, "of")))
    return refuse_key(scenario, path, failure->burst > 1 ? "burst" : "of",
                      "beside kills: server, expected none: there is one", error);
  if (failure->kills == KILLS_RANK && failure->of == OF_ZONE)
    return refuse_key(scenario, path, "kills", "rank of a zone, expected node", error);
  if (!given_in(scenario, path, "mtbf"))
    failure->mtbf = mtbf_of_machine(scenario, failure);
  if (failure->mtbf <= 0)
    return refuse_key(scenario, path, "mtbf",
                      given_in(scenario, path, "mtbf") ? "0, expected a time above it"
                                                       : "missing, expected a time",
                      error);
  if (shaped == exponential)
    return refuse_key(scenario, path, "shape",
                      exponential ? "beside exponential, expected weibull, lognormal or gamma"
                                  : "missing, expected a number from 0.1 to 100",
                      error);
  if ((failure->burst > 1) != given_in(scenario, path, "within"))
    return refuse_key(scenario, path, failure->burst > 1 ? "burst" : "within",
                      failure->burst > 1 ? "without a time, expected within"
                                         : "alone, expected burst with it",
                      error);
  bool repair_shaped = failure->repair_law > LAW_EXPONENTIAL;
  if (given_in(scenario, path, "repair_shape") != repair_shaped)
    return refuse_key(scenario, path, repair_shaped ? "repair_law" : "repair_shape",
                      repair_shaped ? "without a shape, expected repair_shape with it"
                                    : "alone, expected repair_law: weibull, lognormal or gamma",
                      error);
  return true;
}

static bool judge_trace(const struct scenario *scenario, const char *path, struct failure *failure,
                        GError **error)
{
  static const char *const others[] = {"rank",   "mtbf",   "shape",      "of",           "burst",
                                       "within", "repair", "repair_law", "repair_shape", NULL};
  g_autofree char *full = g_strconcat(path, ".trace", NULL);
  for (const char *const *key = others; *key; key++)
    if (given_in(scenario, path, *key))
      return refuse_key(scenario, path, *key, "beside trace, expected none", error);
  if (failure->kills != KILLS_NODE)
    return refuse_key(scenario, path, "kills", "not node with a trace, expected node", error);
  if (!scenario->platform.layout.nodes)
    return refuse_key(scenario, path, "trace", "without a platform, expected platform.file", error);
  return scenario_find_file(scenario, full, &failure->trace, "a trace of failures", error) &&
         failure_trace_read(failure->trace, scenario->platform.layout.nodes, &failure->outages,
                            &failure->outages_count, error);
}

/* Judges `returns`. A node that does not come back fails alone, and its ranks go to nodes with
 * room. Only the server can come back empty; for a node the level of storage says what it loses. */
static bool judge_returns(const struct scenario *scenario, const char *path,
                          const struct failure *failure, GError **error)
{
  bool server = failure->kills == KILLS_SERVER;
  if (failure->returns == RETURNS_EMPTY)
    return server || refuse_key(scenario, path, "returns", "empty, expected kills: server", error);
  const char *beside = server                         ? "beside kills: server, expected empty"
                       : failure->kills != KILLS_NODE ? "beside kills: rank, expected kills: node"
                       : failure->trigger == TRIGGER_TRACE ? "beside trace, expected none"
                       : failure->restart_on        ? "beside restart_on, expected one of them"
                       : failure->ends_after >= 0.0 ? "beside ends_after, expected one of them"
                                                    : NULL;
  return failure->returns == RETURNS_REPAIRED || !beside ||
         refuse_key(scenario, path, "returns", beside, error);
}

/* Judges a failure in which a living process is declared dead. Its trigger must be `at` or `after`,
 * and it can neither cut a step, nor move ranks to another interconnect, nor happen under ULFM. */
static bool judge_declared(const struct scenario *scenario, const char *path,
                           const struct failure *failure, GError **error)
{
  const char *beside =
      failure->trigger == TRIGGER_LAW || failure->trigger == TRIGGER_TRACE
          ? "beside law or trace, expected at or after"
      : failure->after.actions >= 0 ? "beside after.actions, expected one of them"
      : failure->restart_on         ? "beside restart_on, expected one of them"
      : scenario->recovery.runtime == RUNTIME_ULFM
          ? "with recovery.runtime ulfm, expected none: a fault-tolerant MPI ends the "
            "process at once"
          : NULL;
  return failure->ends_after < 0.0 || !beside ||
         refuse_key(scenario, path, "ends_after", beside, error);
}

/* Judges a failure of the server. Such a failure has no victim, so it must name the rank at whose
 * event it strikes. */
static bool judge_server(const struct scenario *scenario, const char *path,
                         const struct failure *failure, GError **error)
{
  const char *key = failure->rank >= 0            ? "rank"
                    : failure->ends_after >= 0.0  ? "ends_after"
                    : failure->restart_on         ? "restart_on"
                    : failure->after.actions >= 0 ? "after.actions"
                                                  : NULL;
  if (failure->kills != KILLS_SERVER)
    return true;
  if (key)
    return refuse_key(scenario, path, key, "beside kills: server, expected none", error);
  return failure->trigger != TRIGGER_POINT || failure->after.rank >= 0 ||
         refuse_key(scenario, path, "after.rank", "missing, expected the rank that sees the event",
                    error);
}

/* Judges a failure of one rank, which has no keys of a law. */
static bool judge_victim(const struct scenario *scenario, const char *path,
                         const struct failure *failure, GError **error)
{
  static const char *const of_laws[] = {"mtbf",   "shape",      "of",           "burst",
                                        "within", "repair_law", "repair_shape", NULL};
  for (const char *const *key = of_laws; *key; key++)
    if (given_in(scenario, path, *key))
      return refuse_key(scenario, path, *key, "without law, expected it with one", error);
  return failure->rank >= 0 || failure->kills == KILLS_SERVER ||
         refuse_key(scenario, path, "rank", "missing, expected a whole number", error);
}

static bool judge_failure(const struct scenario *scenario, const char *path,
                          struct failure *failure, GError **error)
{
  g_autofree char *after_rank = g_strconcat(path, ".after.rank", NULL);
  g_autofree char *actions = g_strconcat(path, ".after.actions", NULL);
  g_autofree char *restart_on = g_strconcat(path, ".restart_on", NULL);
  if (failure->restart_on && !scenario->platform.text)
    return scenario_complain(scenario, restart_on, error,
                             "without a platform, expected platform.file");
  if (failure->restart_on &&
      !scenario_judge_layout(scenario, restart_on, failure->restart_on, error))
    return false;
  if (failure->restart_on && failure->restart_on->per_node != scenario->platform.layout.per_node &&
      !levels_move(scenario))
    return scenario_complain(scenario, restart_on, error,
                             "images stay on the nodes that they leave, expected "
                             "checkpoint.storage: nfs or the same per_node");
  if (!scenario_given(scenario, after_rank))
    failure->after.rank = failure->rank;
  if (scenario_given(scenario, actions) && failure->after.rank != failure->rank)
    return scenario_complain(scenario, after_rank, error,
                             "not the victim, expected it where it crashes within its step");
  if (!judge_trigger(scenario, path, failure, error))
    return false;
  if (failure->repair < 0.0 && failure->trigger != TRIGGER_TRACE)
    failure->repair = 1.0;
  if (failure->begins != BEGINS_FIRST && failure->trigger != TRIGGER_TRACE)
    return refuse_key(scenario, path, "begins", "without trace, expected it with one", error);
  if (!judge_declared(scenario, path, failure, error) ||
      !judge_returns(scenario, path, failure, error) ||
      !judge_server(scenario, path, failure, error))
    return false;
  return failure->trigger == TRIGGER_LAW     ? judge_law(scenario, path, failure, error)
         : failure->trigger == TRIGGER_TRACE ? judge_trace(scenario, path, failure, error)
                                             : judge_victim(scenario, path, failure, error);
}

bool scenario_judge_failures(struct scenario *scenario, GError **error)
{
  struct layout *layout = &scenario->platform.layout;
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    g_autofree char *path = g_strdup_printf("failures.%u", i);
    if (!judge_failure(scenario, path, &scenario->failures[i], error))
      return false;
    if (scenario->failures[i].of == OF_ZONE && layout->nodes && !layout->zones)
      layout->zones = platform_zones(scenario->platform.text, layout->interconnect, layout->nodes);
  }
  return true;
}
