/* Reads YAML into a struct scenario:
 *
 *     file -> document -> (--set) -> keys, types, values (keys.h) -> what they mean together
 */
#include <string.h>

#include "base/nearest.h"
#include "protocols/neighbours.h"
#include "world/scenario/document.h"
#include "world/scenario/instants.h"
#include "world/scenario/keys.h"
#include "world/scenario/levels.h"
#include "world/scenario/plugin.h"
#include "world/scenario/scenario_judge.h"

/* Makes an absolute path of a binary whose name has a folder. A bare name is left to the command,
 * which knows where programs are built. */
static bool judge_binary(struct scenario *scenario, GError **error)
{
  char **binary = &scenario->program.binary;
  if (!**binary)
    return scenario_complain(scenario, "program.binary", error,
                             "\"\" is no program, expected its name or path");
  return !strchr(*binary, '/') || scenario_find_file(scenario, "program.binary", binary,
                                                     "a program built by recline-cc", error);
}

/* Sets the default capacity: it is small for the explorer, which stores whole states and runs short
 * scripts. */
static void default_capacity(struct scenario *scenario)
{
  enum { OF_SCRIPT = 1024, OF_BINARY = 65536 };
  if (!scenario->protocol.capacity)
    scenario->protocol.capacity = scenario->program.script ? OF_SCRIPT : OF_BINARY;
}

/* Judges the topology. "all" means the same as no text. */
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
  if (script && scenario->program.input)
    return scenario_complain(scenario, "program.stdin", error,
                             "beside a script, expected stdin with a binary only");
  if (scenario->program.input &&
      !scenario_find_file(scenario, "program.stdin", &scenario->program.input, "a file", error))
    return false;
  if (script)
    scenario->program.script_line = document_find(scenario->lines, "program.script")->text_line;
  else if (!scenario->program.args)
    scenario->program.args = g_new0(char *, 1);
  default_capacity(scenario);
  return judge_topology(scenario, error) && (script || judge_binary(scenario, error));
}

/* Refuses a protocol with a list of names. The hundreds of mutants, whose names have a tilde, are
 * suggested but not listed. */
static bool refuse_protocol(const struct scenario *scenario, GError **error)
{
  const char *name = scenario->protocol.name;
  g_autoptr(GPtrArray) names = g_ptr_array_new(), listed = g_ptr_array_new();
  for (unsigned i = 0; rcl_protocol_at(i); i++) {
    g_ptr_array_add(names, (char *)rcl_protocol_at(i)->name);
    if (!strchr(rcl_protocol_at(i)->name, '~'))
      g_ptr_array_add(listed, (char *)rcl_protocol_at(i)->name);
  }
  g_ptr_array_add(names, NULL);
  g_ptr_array_add(listed, NULL);
  g_autofree char *shown = document_quote(name);
  g_autofree char *known = document_alternatives((const char *const *)listed->pdata);
  g_autofree char *guess = did_you_mean(name, (const char *const *)names->pdata);
  return scenario_complain(scenario, "protocol.name", error, "%s is no protocol, expected %s%s",
                           shown, known, guess);
}

static bool judge_protocol(struct scenario *scenario, GError **error)
{
  g_autoptr(GError) problem = NULL;
  if (scenario->protocol.file) { /* a protocol of another repository, in a shared object */
    scenario_make_absolute(scenario, &scenario->protocol.file);
    if (!plugin_load(scenario->protocol.file, &problem))
      return scenario_complain(scenario, "protocol.file", error, "%s", problem->message);
  }
  if (!scenario_given(scenario, "protocol.log"))
    scenario->protocol.log = scenario->protocol.interval;
  if (plugin_protocol(scenario->protocol.name))
    return true;
  return refuse_protocol(scenario, error);
}

/* Judges the level of images. At the application level, a rank can be captured only where its
 * program allows it. */
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
  if (scenario_given(scenario, "checkpoint.places") &&
      scenario->checkpoint.places != PLACES_PROGRAM)
    return scenario_complain(scenario, "checkpoint.places", error,
                             "anywhere, expected program with level: application");
  scenario->checkpoint.places = PLACES_PROGRAM;
  return true;
}

/* Judges a run that leaves its last checkpoint for another run. The other run must be able to read
 * the checkpoint, so the checkpoint must be neither in the memory of this process nor on a node. It
 * must also belong to all ranks. */
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

/* Judges recoveries that fall back: all ranks must have the checkpoint before the last. */
static bool judge_attempts(const struct scenario *scenario, GError **error)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(scenario->protocol.name);
  if (!scenario->recovery.attempts)
    return true;
  if (protocol->independent)
    return scenario_complain(scenario, "recovery.attempts", error,
                             "%d, expected 0: under %s a rank starts from its newest image, behind "
                             "which nothing is kept of other ranks",
                             scenario->recovery.attempts, protocol->name);
  if (!protocol->controls)
    return scenario_complain(scenario, "recovery.attempts", error,
                             "%d, expected 0: %s commits no checkpoint",
                             scenario->recovery.attempts, protocol->name);
  return scenario->checkpoint.then != AFTERWARDS_STOP ||
         scenario_complain(scenario, "recovery.attempts", error,
                           "beside checkpoint.then: stop, expected one of them: the next run gets "
                           "the last checkpoint only");
}

static bool judge_checkpoint(struct scenario *scenario, GError **error)
{
  if (!levels_judge(scenario, error) || !instants_judge(scenario, error) ||
      !judge_image(scenario, error) || !judge_stop(scenario, error) ||
      !judge_attempts(scenario, error))
    return false;
  return scenario->checkpoint.places != PLACES_PROGRAM ||
         rcl_protocol_named(scenario->protocol.name)->level != RCL_LEVEL_CHANNEL ||
         scenario_complain(scenario, "checkpoint.places", error,
                           "program, expected anywhere: %s checkpoints at any moment",
                           scenario->protocol.name);
}

/* Returns whether the interval is long enough. It must be longer than the protocol's work around
 * the instant of a checkpoint, and longer than the time to tell all ranks of the next
 * checkpoint. */
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
  if (!scenario_given(scenario, "clocks.skew"))
    scenario->clocks.skew = bound[RCL_BOUND_DEVIATION] / 2;
  if (bound[RCL_BOUND_SHORTEST] > bound[RCL_BOUND_LONGEST])
    return scenario_complain(scenario, "clocks.shortest", error,
                             "longer than the longest latency, expected it shorter");
  return fits_interval(scenario, error);
}

/* Judges the trace that a run follows. No other key may say when things happen. */
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
  return scenario_find_file(scenario, "schedule", &scenario->schedule, "a trace of recline check",
                            error);
}

/* Returns an id from a file's name. Characters that no id has, such as spaces, become "-". */
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
         scenario_judge_platform(scenario, error) && judge_protocol(scenario, error) &&
         judge_checkpoint(scenario, error) && judge_clocks(scenario, error) &&
         scenario_judge_failures(scenario, error) && judge_schedule(scenario, error);
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
  g_free(scenario->platform.text);
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
