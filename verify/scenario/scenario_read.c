/* From YAML to struct scenario:
 *
 *     file -> document -> (--set) -> keys, types, values (keys.h) -> what they mean together
 */
#include <string.h>

#include "protocols/neighbours.h"
#include "verify/base/catalogue.h"
#include "verify/scenario/document.h"
#include "verify/scenario/instants.h"
#include "verify/scenario/keys.h"
#include "verify/scenario/levels.h"
#include "verify/scenario/platform_file.h"
#include "verify/scenario/plugin.h"

const char *scenario_dispatcher(const struct scenario *scenario)
{
  return scenario->platform.dispatcher ? scenario->platform.dispatcher : "service-0";
}

static bool given(const struct scenario *scenario, const char *path)
{
  return g_hash_table_contains(scenario->lines, path);
}

/* Makes a path of `*name`, relative to the scenario's folder. */
static void make_absolute(const struct scenario *scenario, char **name)
{
  g_autofree char *bare = *name;
  g_autofree char *path =
      g_path_is_absolute(bare) ? g_strdup(bare) : g_build_filename(scenario->directory, bare, NULL);
  *name = g_canonicalize_filename(path, NULL);
}

/* The same for a file that must be there. */
static bool find_file(const struct scenario *scenario, const char *path, char **name,
                      const char *expected, GError **error)
{
  g_autofree char *shown = document_quote(*name);
  make_absolute(scenario, name);
  if (g_file_test(*name, G_FILE_TEST_IS_REGULAR))
    return true;
  return scenario_complain(scenario, path, error, "%s is not there, expected %s", shown, expected);
}

/* A name with a folder in it is taken from the scenario's folder; a bare one is left to the
 * command, which knows where programs are built. */
static bool judge_binary(struct scenario *scenario, GError **error)
{
  char **binary = &scenario->program.binary;
  if (!**binary)
    return scenario_complain(scenario, "program.binary", error,
                             "\"\" is no program, expected its name or path");
  return !strchr(*binary, '/') ||
         find_file(scenario, "program.binary", binary, "a program built by recline-cc", error);
}

/* The explorer stores states whole, and a script is short. */
static void default_capacity(struct scenario *scenario)
{
  enum { OF_SCRIPT = 1024, OF_BINARY = 65536 };
  if (!scenario->protocol.capacity)
    scenario->protocol.capacity = scenario->program.script ? OF_SCRIPT : OF_BINARY;
}

/* "all" is as none. */
static bool judge_topology(struct scenario *scenario, GError **error)
{
  char problem[NEIGHBOURS_PROBLEM], *text = scenario->program.topology;
  if (text && !strcmp(text, "all"))
    g_clear_pointer(&scenario->program.topology, g_free);
  if (!scenario->program.topology)
    return true;
  uint32_t *rows = neighbours_read(text, scenario->program.ranks, problem);
  free(rows);
  return rows || scenario_complain(scenario, "program.topology", error, "%s", problem);
}

static bool judge_program(struct scenario *scenario, GError **error)
{
  bool binary = scenario->program.binary, script = scenario->program.script;
  if (binary && script)
    return scenario_complain(scenario, "program.script", error,
                             "beside a binary, expected binary or script, not both");
  if (!binary && !script)
    return scenario_complain(scenario, "program", error,
                             "neither binary nor script, expected one of them");
  if (script && scenario->program.args)
    return scenario_complain(scenario, "program.args", error,
                             "beside a script, expected args with a binary only");
  if (script)
    scenario->program.script_line = document_find(scenario->lines, "program.script")->text_line;
  else if (!scenario->program.args)
    scenario->program.args = g_new0(char *, 1);
  default_capacity(scenario);
  return judge_topology(scenario, error) && (script || judge_binary(scenario, error));
}

static bool find_platform(struct scenario *scenario, const char *name, GError **error)
{
  const char *folders = g_getenv("RECLINE_PLATFORMS");
  g_autofree char *shown = document_quote(name);
  g_autofree char *guess = catalogue_guess(CATALOGUE_PLATFORMS, name);
  scenario->platform.file = platform_find(name, scenario->directory);
  return scenario->platform.file ||
         scenario_complain(scenario, "platform.file", error,
                           "%s is not there, expected a platform beside the scenario%s%s%s", shown,
                           folders && *folders ? " or in " : "", folders ? folders : "", guess);
}

/* Service hosts and the dispatcher's carry no rank. */
static char **nodes_among(char **hosts, const char *dispatcher)
{
  GPtrArray *nodes = g_ptr_array_new();
  for (char **host = hosts; *host; host++)
    if (strcmp(*host, dispatcher) && !platform_is_service(*host))
      g_ptr_array_add(nodes, g_strdup(*host));
  g_ptr_array_add(nodes, NULL);
  return (char **)g_ptr_array_free(nodes, FALSE);
}

/* Finds the nodes of `layout`, whose keys are below `path`. */
static bool judge_layout(const struct scenario *scenario, const char *path, struct layout *layout,
                         GError **error)
{
  const char *file = scenario->platform.file;
  g_autoptr(GError) problem = NULL;
  g_autofree char *per_node = g_strconcat(path, ".per_node", NULL);
  g_autofree char *interconnect = g_strconcat(path, ".interconnect", NULL);
  g_autofree char *own_file = g_strconcat(path, ".file", NULL);
  g_auto(GStrv) hosts = platform_hosts(file, layout->interconnect, &problem);
  if (!hosts)
    return scenario_complain(scenario, interconnect, error, "%s", problem->message);
  layout->nodes = nodes_among(hosts, scenario_dispatcher(scenario));
  unsigned nodes = g_strv_length(layout->nodes);
  unsigned needed =
      (unsigned)layout_nodes(layout, scenario->program.ranks) + (unsigned)scenario->platform.spares;
  if (nodes >= needed)
    return true;
  g_autofree char *name = g_path_get_basename(file);
  bool stated = given(scenario, per_node) || layout->interconnect;
  return scenario_complain(scenario, stated ? per_node : own_file, error,
                           "%s has %u nodes, expected at least %u for %d ranks and %d spares", name,
                           nodes, needed, scenario->program.ranks, scenario->platform.spares);
}

static bool judge_dispatcher(const struct scenario *scenario, const char *name, GError **error)
{
  const char *host = scenario_dispatcher(scenario);
  g_autoptr(GError) problem = NULL;
  g_auto(GStrv) hosts = platform_hosts(scenario->platform.file, NULL, &problem);
  if (!hosts)
    return scenario_complain(scenario, "platform.file", error,
                             "%s (%s), expected a SimGrid platform file", name,
                             g_strdelimit(problem->message, "\n", ' '));
  return g_strv_contains((const char *const *)hosts, host) ||
         scenario_complain(scenario, "platform.dispatcher", error,
                           "\"%s\" is no host of %s, expected one of its %u hosts", host, name,
                           g_strv_length(hosts));
}

static bool judge_platform(struct scenario *scenario, GError **error)
{
  struct layout *layout = &scenario->platform.layout;
  g_autofree char *name = scenario->platform.file;
  if (!name)
    return !scenario->program.binary ||
           scenario_complain(scenario, "platform.file", error,
                             "missing, expected the platform on which %s runs",
                             scenario->program.binary);
  if (!find_platform(scenario, name, error) || !judge_dispatcher(scenario, name, error))
    return false;
  if (given(scenario, "platform.placement") &&
      scenario->platform.placement == PLACEMENT_ONE_PER_NODE && layout->per_node != 1)
    return scenario_complain(scenario, "platform.per_node", error,
                             "%d with one-per-node, expected placement: block", layout->per_node);
  scenario->platform.placement = layout->per_node > 1 ? PLACEMENT_BLOCK : PLACEMENT_ONE_PER_NODE;
  return judge_layout(scenario, "platform", layout, error);
}

static bool judge_protocol(struct scenario *scenario, GError **error)
{
  g_autoptr(GError) problem = NULL;
  if (scenario->protocol.file) { /* of another repository, in a shared object */
    make_absolute(scenario, &scenario->protocol.file);
    if (!plugin_load(scenario->protocol.file, &problem))
      return scenario_complain(scenario, "protocol.file", error, "%s", problem->message);
  }
  if (!given(scenario, "protocol.log"))
    scenario->protocol.log = scenario->protocol.interval;
  if (plugin_protocol(scenario->protocol.name))
    return true;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (unsigned i = 0; rcl_protocol_at(i); i++)
    g_ptr_array_add(names, (char *)rcl_protocol_at(i)->name);
  g_ptr_array_add(names, NULL);
  return keys_refuse_name(scenario, "protocol.name", error, scenario->protocol.name, "protocol",
                          (const char *const *)names->pdata);
}

/* At the application level a rank can be captured only where its program allows it. */
static bool judge_image(struct scenario *scenario, GError **error)
{
  if (scenario->checkpoint.level != IMAGE_APPLICATION)
    return true;
  if (!scenario->program.binary || scenario->schedule)
    return scenario_complain(scenario, "checkpoint.level", error,
                             "application, expected system: a script protects no memory");
  if (rcl_protocol_named(scenario->protocol.name)->level == RCL_LEVEL_CHANNEL)
    return scenario_complain(scenario, "checkpoint.level", error,
                             "application, expected system: %s checkpoints at any moment",
                             scenario->protocol.name);
  if (given(scenario, "checkpoint.places") && scenario->checkpoint.places != PLACES_PROGRAM)
    return scenario_complain(scenario, "checkpoint.places", error,
                             "anywhere, expected program with level: application");
  scenario->checkpoint.places = PLACES_PROGRAM;
  return true;
}

/* What is left for another run must be readable there: no memory of this process, nothing that is
 * on a node; and be a checkpoint of all ranks. */
static bool judge_stop(const struct scenario *scenario, GError **error)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(scenario->protocol.name);
  if (scenario->checkpoint.then != AFTERWARDS_STOP)
    return true;
  if (scenario->checkpoint.level != IMAGE_APPLICATION)
    return scenario_complain(scenario, "checkpoint.then", error,
                             "stop, expected continue or checkpoint.level: application: images of "
                             "all memory are of one process");
  if (protocol->independent || !protocol->controls)
    return scenario_complain(scenario, "checkpoint.then", error,
                             "stop, expected continue: %s commits no checkpoint of all ranks",
                             protocol->name);
  if (scenario->checkpoint.levels_count || scenario->checkpoint.storage != STORAGE_NFS)
    return scenario_complain(scenario, "checkpoint.then", error,
                             "stop, expected continue or checkpoint.storage: nfs: what is on nodes "
                             "stays there");
  return scenario_asks(scenario) ||
         scenario_complain(scenario, "checkpoint.then", error,
                           "stop, and no checkpoint is asked for, expected checkpoint.every, at or "
                           "calls");
}

static bool judge_checkpoint(struct scenario *scenario, GError **error)
{
  if (!levels_judge(scenario, error) || !instants_judge(scenario, error) ||
      !judge_image(scenario, error) || !judge_stop(scenario, error))
    return false;
  return scenario->checkpoint.places != PLACES_PROGRAM ||
         rcl_protocol_named(scenario->protocol.name)->level != RCL_LEVEL_CHANNEL ||
         scenario_complain(scenario, "checkpoint.places", error,
                           "program, expected anywhere: %s checkpoints at any moment",
                           scenario->protocol.name);
}

/* An interval must be longer than what a protocol does around the instant of a checkpoint, and than
 * it takes to tell all of the next one. */
static bool fits_interval(const struct scenario *scenario, GError **error)
{
  const double *bound = scenario->clocks.bound;
  double every = scenario->checkpoint.every;
  double least = 4.0 * bound[RCL_BOUND_DEVIATION] + 2.0 * bound[RCL_BOUND_LONGEST];
  if (!rcl_protocol_named(scenario->protocol.name)->clocks || every <= 0.0 || every > least)
    return true;
  return scenario_complain(
      scenario, "clocks.longest", error,
      "four deviations and two longest latencies are %gs, expected less than the %gs "
      "of checkpoint.every",
      least, every);
}

static bool judge_clocks(struct scenario *scenario, GError **error)
{
  const double *bound = scenario->clocks.bound;
  if (!given(scenario, "clocks.skew"))
    scenario->clocks.skew = bound[RCL_BOUND_DEVIATION] / 2;
  if (bound[RCL_BOUND_SHORTEST] > bound[RCL_BOUND_LONGEST])
    return scenario_complain(scenario, "clocks.shortest", error,
                             "longer than the longest latency, expected it shorter");
  return fits_interval(scenario, error);
}

static bool given_in(const struct scenario *scenario, const char *path, const char *key)
{
  g_autofree char *full = g_strconcat(path, ".", key, NULL);
  return given(scenario, full);
}

/* Refuses the key of the failure at `path`. */
static bool refuse_key(const struct scenario *scenario, const char *path, const char *key,
                       const char *why, GError **error)
{
  g_autofree char *full = g_strconcat(path, ".", key, NULL);
  return scenario_complain(scenario, full, error, "%s", why);
}

/* What says when a failure strikes. */
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
  return find_file(scenario, full, &failure->trace, "a trace of failures", error) &&
         failure_trace_read(failure->trace, scenario->platform.layout.nodes, &failure->outages,
                            &failure->outages_count, error);
}

/* A node that does not come back fails by itself, and its ranks go where there is room. Only the
 * server comes back empty: what nodes lose, their levels say. */
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

/* A process that lives is declared dead by itself, and goes nowhere else. */
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

/* What has no victim needs a rank that sees the event. */
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

/* A failure of one rank has no keys of a law. */
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
  if (failure->restart_on && !scenario->platform.file)
    return scenario_complain(scenario, restart_on, error,
                             "without a platform, expected platform.file");
  if (failure->restart_on && !judge_layout(scenario, restart_on, failure->restart_on, error))
    return false;
  if (failure->restart_on && failure->restart_on->per_node != scenario->platform.layout.per_node &&
      !levels_move(scenario))
    return scenario_complain(scenario, restart_on, error,
                             "images stay on the nodes that they leave, expected "
                             "checkpoint.storage: nfs or the same per_node");
  if (!given(scenario, after_rank))
    failure->after.rank = failure->rank;
  if (given(scenario, actions) && failure->after.rank != failure->rank)
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

static bool judge_failures(struct scenario *scenario, GError **error)
{
  struct layout *layout = &scenario->platform.layout;
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    g_autofree char *path = g_strdup_printf("failures.%u", i);
    if (!judge_failure(scenario, path, &scenario->failures[i], error))
      return false;
    if (scenario->failures[i].of == OF_ZONE && layout->nodes && !layout->zones)
      layout->zones = platform_zones(scenario->platform.file, layout->interconnect, layout->nodes);
  }
  return true;
}

/* A trace that a run is to follow: nothing else may say when things happen. */
static bool judge_schedule(struct scenario *scenario, GError **error)
{
  if (!scenario->schedule)
    return true;
  if (!scenario->program.script)
    return scenario_complain(scenario, "schedule", error, "with a binary, expected a script");
  if (scenario->failures_count || scenario_asks(scenario) ||
      scenario->checkpoint.writes != WRITES_BACKGROUND)
    return scenario_complain(
        scenario, "schedule", error,
        "beside failures, checkpoint.every or checkpoint.writes, expected none of them");
  return find_file(scenario, "schedule", &scenario->schedule, "a trace of recline check", error);
}

/* Characters that no name has, such as spaces, become "-". */
static char *id_from(const char *file)
{
  char *id = g_path_get_basename(file);
  char *dot = strrchr(id, '.');
  if (dot && dot != id)
    *dot = '\0';
  for (char *at = id; *at; at++)
    if (!g_ascii_isalnum(*at) && !strchr("._-~", *at))
      *at = '-';
  if (document_is_name(id))
    return id;
  g_free(id);
  return g_strdup("scenario");
}

static bool judge_id(struct scenario *scenario, GError **error)
{
  if (!scenario->id)
    scenario->id = id_from(scenario->file);
  if (document_is_name(scenario->id))
    return true;
  g_autofree char *shown = document_quote(scenario->id);
  return scenario_complain(
      scenario, "id", error,
      "%s is no name, expected letters, digits, . _ - and ~, at most 100, the first a "
      "letter or digit",
      shown);
}

static bool judge(struct scenario *scenario, GError **error)
{
  return judge_id(scenario, error) && judge_program(scenario, error) &&
         judge_platform(scenario, error) && judge_protocol(scenario, error) &&
         judge_checkpoint(scenario, error) && judge_clocks(scenario, error) &&
         judge_failures(scenario, error) && judge_schedule(scenario, error);
}

static bool prepare(struct document *document, const char *const *set, GError **error)
{
  document_none(document, "failures");
  for (; set && *set; set++) {
    if (!document_set(document, *set, error))
      return false;
    document_none(document, "failures");
  }
  return keys_check(document, scenario_keys, error);
}

struct scenario *scenario_load(const char *file, const char *const *set, GError **error)
{
  struct document document;
  struct scenario *scenario = NULL;
  if (!document_read(&document, file, error))
    return NULL;
  if (prepare(&document, set, error)) {
    scenario = g_new0(struct scenario, 1);
    scenario->file = g_strdup(file);
    scenario->directory = g_path_get_dirname(file);
    scenario->lines = g_hash_table_ref(document.lines);
    if (!keys_read(&document, scenario_keys, scenario, error) || !judge(scenario, error)) {
      scenario_free(scenario);
      scenario = NULL;
    }
  }
  document_clear(&document);
  return scenario;
}

void scenario_free(struct scenario *scenario)
{
  if (!scenario)
    return;
  for (unsigned i = 0; i < scenario->failures_count; i++)
    g_free(scenario->failures[i].outages);
  for (unsigned i = 0; i < scenario->failures_count; i++)
    if (scenario->failures[i].restart_on)
      g_strfreev(scenario->failures[i].restart_on->nodes);
  g_strfreev(scenario->platform.layout.nodes);
  g_strfreev(scenario->platform.layout.zones);
  g_free(scenario->checkpoint.instants);
  keys_clear(scenario_keys, scenario);
  g_free(scenario->file);
  g_free(scenario->directory);
  if (scenario->lines)
    g_hash_table_unref(scenario->lines);
  g_free(scenario);
}

bool scenario_headline(const char *file, char **id, char **statement, GError **error)
{
  struct document document;
  if (!document_read(&document, file, error))
    return false;
  *id = document_value(&document, "id");
  *statement = document_value(&document, "statement");
  if (!*id)
    *id = id_from(file);
  document_clear(&document);
  return true;
}
