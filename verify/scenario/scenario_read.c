/* From YAML to struct scenario.
 *
 *     file -> document -> (--set) -> schema -> libcyaml -> struct keys -> struct scenario
 */
#include <inttypes.h>
#include <string.h>

#include "protocols/text.h"
#include "verify/scenario/document.h"
#include "verify/scenario/keys.h"
#include "verify/scenario/platform_file.h"
#include "verify/scenario/plugin.h"
#include "verify/scenario/scenario.h"

static const char failure_laws[] =
    "failure laws are not supported yet, expected a failure with rank and at or after";

enum { RANKS_MAX = 32767, CAPACITY_MAX = 65536, ITERATIONS_MAX = 1000000, COUNT_MAX = 1000000000 };

/* What the functions below share: the scenario they fill, and `prefix` ("failures.0.") + key =
 * dotted path. */
struct reader {
  struct scenario *scenario;
  GError **error;
  const char *prefix;
};

static bool complain(const struct reader *reader, const char *key, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static bool complain(const struct reader *reader, const char *key, const char *format, ...)
{
  g_autofree char *path = g_strconcat(reader->prefix, key, NULL);
  if (g_str_has_suffix(path, ".")) /* no key: the mapping itself */
    path[strlen(path) - 1] = '\0';
  va_list values;
  va_start(values, format);
  document_error(reader->error, reader->scenario->file, reader->scenario->lines, path, format,
                 values);
  va_end(values);
  return false;
}

/* ---- from raw to scenario ---- */

/* `*value` between the bounds; `otherwise` where the key is not there. */
static bool whole(const struct reader *reader, const char *key, const int64_t *value,
                  int64_t otherwise, int64_t least, int64_t most, int64_t *result)
{
  *result = value ? *value : otherwise;
  if (!value || (*value >= least && *value <= most))
    return true;
  return complain(reader, key, "%" PRId64 " is out of range, expected %" PRId64 " to %" PRId64,
                  *value, least, most);
}

static bool whole_int(const struct reader *reader, const char *key, const int64_t *value,
                      int otherwise, int least, int most, int *result)
{
  int64_t wide = 0;
  bool good = whole(reader, key, value, otherwise, least, most, &wide);
  *result = (int)wide;
  return good;
}

static bool whole_unsigned(const struct reader *reader, const char *key, const int64_t *value,
                           uint32_t otherwise, uint32_t least, uint32_t most, uint32_t *result)
{
  int64_t wide = 0;
  bool good = whole(reader, key, value, otherwise, least, most, &wide);
  *result = (uint32_t)wide;
  return good;
}

static bool measure(const struct reader *reader, const char *key, const char *value,
                    double otherwise, bool read(const char *, double *, GError **), double *result)
{
  g_autoptr(GError) problem = NULL;
  *result = otherwise;
  if (!value || read(value, result, &problem))
    return true;
  return complain(reader, key, "%s", problem->message);
}

static char **strings(char *const *items, unsigned count)
{
  char **copy = g_new0(char *, count + 1);
  for (unsigned i = 0; i < count; i++)
    copy[i] = g_strdup(items[i]);
  return copy;
}

/* A name with a folder in it is taken from the scenario's folder; a bare one is left to the
 * command, which knows where programs are built. */
static bool read_binary(const struct reader *reader, const char *binary)
{
  struct scenario *scenario = reader->scenario;
  g_autofree char *shown = document_quote(binary);
  if (!*binary)
    return complain(reader, "binary", "%s is no program, expected its name or path", shown);
  if (!strchr(binary, '/')) {
    scenario->program.binary = g_strdup(binary);
    return true;
  }
  g_autofree char *path = g_path_is_absolute(binary)
                              ? g_strdup(binary)
                              : g_build_filename(scenario->directory, binary, NULL);
  scenario->program.binary = g_canonicalize_filename(path, NULL);
  if (g_file_test(scenario->program.binary, G_FILE_TEST_IS_REGULAR))
    return true;
  return complain(reader, "binary", "%s is not there, expected a program built by recline-cc",
                  shown);
}

static bool read_program(const struct reader *reader, const struct keys_program *raw)
{
  struct scenario *scenario = reader->scenario;
  if (!whole_int(reader, "ranks", raw->ranks, 0, 1, RANKS_MAX, &scenario->program.ranks))
    return false;
  if (raw->binary && raw->script)
    return complain(reader, "script", "beside a binary, expected binary or script, not both");
  if (!raw->binary && !raw->script)
    return complain(reader, "", "neither binary nor script, expected one of them");
  if (raw->script && raw->args)
    return complain(reader, "args", "beside a script, expected args with a binary only");
  if (raw->binary && !read_binary(reader, raw->binary))
    return false;
  scenario->program.args = strings(raw->args, raw->args_count);
  if (raw->script) {
    const struct document_place *place = document_find(scenario->lines, "program.script");
    scenario->program.script = g_strdup(raw->script);
    scenario->program.script_line = place ? place->text_line : 1;
  }
  return true;
}

static bool find_platform(const struct reader *reader, const char *name)
{
  struct scenario *scenario = reader->scenario;
  scenario->platform.file = platform_find(name, scenario->directory);
  if (scenario->platform.file)
    return true;
  g_autofree char *shown = document_quote(name);
  const char *folders = g_getenv("RECLINE_PLATFORMS");
  return complain(reader, "file", "%s is not there, expected a platform beside the scenario%s%s",
                  shown, folders && *folders ? " or in " : "", folders ? folders : "");
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

/* Without keys: on the first interconnect, one rank on a node. */
static bool read_layout(const struct reader *reader, const struct keys_layout *raw,
                        struct layout *layout)
{
  const struct scenario *scenario = reader->scenario;
  const char *file = scenario->platform.file, *dispatcher = scenario->platform.dispatcher;
  g_autoptr(GError) problem = NULL;
  if (!whole_int(reader, "per_node", raw->per_node, 1, 1, RANKS_MAX, &layout->per_node))
    return false;
  g_auto(GStrv) hosts = platform_hosts(file, raw->interconnect, &problem);
  if (!hosts)
    return complain(reader, "interconnect", "%s", problem->message);
  layout->interconnect = g_strdup(raw->interconnect);
  layout->nodes = nodes_among(hosts, dispatcher ? dispatcher : KEYS_DISPATCHER);
  unsigned nodes = g_strv_length(layout->nodes);
  unsigned needed =
      (unsigned)layout_nodes(layout, scenario->program.ranks) + (unsigned)scenario->platform.spares;
  if (nodes >= needed)
    return true;
  g_autofree char *name = g_path_get_basename(file);
  return complain(reader, raw->per_node || raw->interconnect ? "per_node" : "file",
                  "%s has %u nodes, expected at least %u for %d ranks and %d spares", name, nodes,
                  needed, scenario->program.ranks, scenario->platform.spares);
}

static bool read_dispatcher(const struct reader *reader, const char *name, const char *dispatcher)
{
  struct scenario *scenario = reader->scenario;
  g_autoptr(GError) problem = NULL;
  g_auto(GStrv) hosts = platform_hosts(scenario->platform.file, NULL, &problem);
  if (!hosts)
    return complain(reader, "file", "%s (%s), expected a SimGrid platform file", name,
                    g_strdelimit(problem->message, "\n", ' '));
  const char *host = dispatcher ? dispatcher : KEYS_DISPATCHER;
  if (!g_strv_contains((const char *const *)hosts, host))
    return complain(reader, "dispatcher", "\"%s\" is no host of %s, expected one of its %u hosts",
                    host, name, g_strv_length(hosts));
  scenario->platform.dispatcher = g_strdup(dispatcher);
  return true;
}

static bool read_platform(const struct reader *reader, const struct keys_platform *raw)
{
  struct scenario *scenario = reader->scenario;
  if (!raw) {
    if (scenario->program.binary)
      return complain(reader, "file", "missing, expected the platform on which %s runs",
                      scenario->program.binary);
    return true;
  }
  if (!whole_int(reader, "spares", raw->spares, 0, 0, COUNT_MAX, &scenario->platform.spares) ||
      !find_platform(reader, raw->file) || !read_dispatcher(reader, raw->file, raw->dispatcher))
    return false;
  if (raw->placement && !*raw->placement && raw->per_node && *raw->per_node != 1)
    return complain(reader, "per_node", "%" PRId64 " with one-per-node, expected placement: block",
                    *raw->per_node);
  return read_layout(reader, &(struct keys_layout){raw->interconnect, raw->per_node},
                     &scenario->platform.layout);
}

/* A protocol of another repository, in a shared object beside the scenario or elsewhere. */
static bool read_plugin(const struct reader *reader, const char *name)
{
  struct scenario *scenario = reader->scenario;
  g_autoptr(GError) problem = NULL;
  if (!name)
    return true;
  g_autofree char *path =
      g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(scenario->directory, name, NULL);
  scenario->protocol.file = g_canonicalize_filename(path, NULL);
  return plugin_load(scenario->protocol.file, &problem) ||
         complain(reader, "file", "%s", problem->message);
}

static bool read_protocol(const struct reader *reader, const struct keys_protocol *raw)
{
  struct scenario *scenario = reader->scenario;
  if (!whole_unsigned(reader, "capacity", raw->capacity, 1024, 1, CAPACITY_MAX,
                      &scenario->protocol.capacity) ||
      !whole_unsigned(reader, "interval", raw->interval, 0, 0, ITERATIONS_MAX,
                      &scenario->protocol.interval) ||
      !whole_unsigned(reader, "log", raw->log, scenario->protocol.interval, 0, ITERATIONS_MAX,
                      &scenario->protocol.log) ||
      !read_plugin(reader, raw->file))
    return false;
  scenario->protocol.control = raw->control ? (enum control) * raw->control : CONTROL_SEPARATE;
  scenario->protocol.name = g_strdup(raw->name);
  if (plugin_protocol(raw->name))
    return true;
  unsigned total = 0;
  while (rcl_protocol_at(total))
    total++;
  GString *names = g_string_new(NULL);
  for (unsigned i = 0; i < total; i++)
    document_enumerate(names, i, total, rcl_protocol_at(i)->name);
  g_autofree char *shown = document_quote(raw->name);
  complain(reader, "name", "%s is no protocol, expected %s", shown, names->str);
  g_string_free(names, TRUE);
  return false;
}

static bool read_checkpoint(const struct reader *reader, const struct keys_checkpoint *raw)
{
  struct scenario *scenario = reader->scenario;
  scenario->checkpoint.storage = raw->storage ? (enum storage) * raw->storage : STORAGE_NFS;
  scenario->checkpoint.writes = raw->writes ? (enum writes) * raw->writes : WRITES_BACKGROUND;
  scenario->checkpoint.places = raw->places ? (enum places) * raw->places : PLACES_ANYWHERE;
  if (scenario->checkpoint.places == PLACES_PROGRAM &&
      rcl_protocol_named(scenario->protocol.name)->level == RCL_LEVEL_CHANNEL)
    return complain(reader, "places", "program, expected anywhere: %s checkpoints at any moment",
                    scenario->protocol.name);
  return measure(reader, "every", raw->every, 0, scenario_seconds, &scenario->checkpoint.every) &&
         measure(reader, "bytes", raw->bytes, 0, scenario_bytes, &scenario->checkpoint.bytes);
}

/* An interval must be longer than what a protocol does around the instant of a checkpoint, and than
 * it takes to tell all of the next one. */
static bool fits_interval(const struct reader *reader)
{
  const struct scenario *scenario = reader->scenario;
  const double *bound = scenario->clocks.bound;
  double every = scenario->checkpoint.every;
  double least = 4.0 * bound[RCL_BOUND_DEVIATION] + 2.0 * bound[RCL_BOUND_LONGEST];
  if (!rcl_protocol_named(scenario->protocol.name)->clocks || every <= 0.0 || every > least)
    return true;
  return complain(reader, "longest",
                  "four deviations and two longest latencies are %gs, expected less than the %gs "
                  "of checkpoint.every",
                  least, every);
}

static bool read_clocks(const struct reader *reader, const struct keys_clocks *raw)
{
  struct scenario *scenario = reader->scenario;
  double *bound = scenario->clocks.bound;
  if (!measure(reader, "deviation", raw->deviation, 5e-4, scenario_seconds,
               &bound[RCL_BOUND_DEVIATION]) ||
      !measure(reader, "longest", raw->longest, 5e-3, scenario_seconds,
               &bound[RCL_BOUND_LONGEST]) ||
      !measure(reader, "shortest", raw->shortest, 0, scenario_seconds,
               &bound[RCL_BOUND_SHORTEST]) ||
      !measure(reader, "skew", raw->skew, bound[RCL_BOUND_DEVIATION] / 2, scenario_seconds,
               &scenario->clocks.skew))
    return false;
  if (bound[RCL_BOUND_SHORTEST] > bound[RCL_BOUND_LONGEST])
    return complain(reader, "shortest", "longer than the longest latency, expected it shorter");
  return fits_interval(reader);
}

static bool read_event(const struct reader *reader, const char *name, enum rcl_event_kind *event)
{
  *event = event_named(name);
  if (*event != RCL_EVENT_NONE)
    return true;
  GString *names = g_string_new(NULL);
  for (unsigned kind = RCL_EVENT_NONE + 1; kind < RCL_EVENT_KINDS; kind++)
    document_enumerate(names, kind - 1, RCL_EVENT_KINDS - 1, event_name((enum rcl_event_kind)kind));
  g_autofree char *shown = document_quote(name);
  complain(reader, "after.event", "%s is no event, expected %s", shown, names->str);
  g_string_free(names, TRUE);
  return false;
}

static bool read_after(const struct reader *reader, const struct keys_after *raw,
                       struct failure *to)
{
  int last = reader->scenario->program.ranks - 1;
  to->trigger = TRIGGER_POINT;
  return read_event(reader, raw->event, &to->after.event) &&
         whole_int(reader, "after.rank", raw->rank, to->rank, 0, last, &to->after.rank) &&
         whole_unsigned(reader, "after.checkpoint", raw->checkpoint, 0, 0, COUNT_MAX,
                        &to->after.checkpoint) &&
         whole_unsigned(reader, "after.iteration", raw->iteration, 0, 0, COUNT_MAX,
                        &to->after.iteration) &&
         whole_unsigned(reader, "after.count", raw->count, 1, 1, COUNT_MAX, &to->after.count) &&
         whole_unsigned(reader, "after.recovery", raw->recovery, 0, 0, COUNT_MAX,
                        &to->after.recovery);
}

static bool read_restart_on(const struct reader *reader, const struct keys_layout *raw,
                            struct failure *to)
{
  if (!raw)
    return true;
  if (!reader->scenario->platform.file)
    return complain(reader, "restart_on", "without a platform, expected platform.file");
  g_autofree char *prefix = g_strconcat(reader->prefix, "restart_on.", NULL);
  to->restart_on = g_new0(struct layout, 1);
  return read_layout(&(struct reader){reader->scenario, reader->error, prefix}, raw,
                     to->restart_on);
}

static bool read_failure(const struct reader *reader, const struct keys_failure *raw,
                         struct failure *to)
{
  int last = reader->scenario->program.ranks - 1;
  to->kills = raw->kills ? (enum kills) * raw->kills : KILLS_NODE;
  if (!whole_int(reader, "rank", raw->rank, 0, 0, last, &to->rank) ||
      !measure(reader, "repair", raw->repair, 1, scenario_seconds, &to->repair) ||
      !read_restart_on(reader, raw->restart_on, to))
    return false;
  if (raw->at && raw->after)
    return complain(reader, "after", "beside at, expected one of them");
  if (!raw->at && !raw->after)
    return complain(reader, "", "neither at nor after, expected one of them");
  if (raw->after)
    return read_after(reader, raw->after, to);
  to->trigger = TRIGGER_TIME;
  return measure(reader, "at", raw->at, 0, scenario_seconds, &to->at);
}

static bool read_failures(const struct reader *reader, const struct keys *raw)
{
  struct scenario *scenario = reader->scenario;
  scenario->failures = g_new0(struct failure, raw->failures_count);
  scenario->failures_count = raw->failures_count;
  for (unsigned i = 0; i < raw->failures_count; i++) {
    g_autofree char *prefix = g_strdup_printf("failures.%u.", i);
    struct reader inner = {scenario, reader->error, prefix};
    if (!read_failure(&inner, &raw->failures[i], &scenario->failures[i]))
      return false;
  }
  return true;
}

/* Defaults: estimates for a few hundred ranks, see docs/scenario.md. */
static bool read_recovery(const struct reader *reader, const struct keys_recovery *raw)
{
  struct scenario *scenario = reader->scenario;
  scenario->recovery.runtime = raw->runtime ? (enum runtime) * raw->runtime : RUNTIME_NONE;
  return measure(reader, "revoke", raw->revoke, 10e-6, scenario_seconds,
                 &scenario->recovery.revoke) &&
         measure(reader, "agree", raw->agree, 20e-6, scenario_seconds, &scenario->recovery.agree) &&
         measure(reader, "spawn", raw->spawn, 0.5, scenario_seconds, &scenario->recovery.spawn) &&
         measure(reader, "rebuild", raw->rebuild, 100e-6, scenario_seconds,
                 &scenario->recovery.rebuild);
}

/* A trace that a run is to follow: nothing else may say when things happen. */
static bool read_schedule(const struct reader *reader, const char *name)
{
  struct scenario *scenario = reader->scenario;
  if (!name)
    return true;
  if (!scenario->program.script)
    return complain(reader, "schedule", "with a binary, expected a script");
  if (scenario->failures_count || scenario->checkpoint.every > 0 ||
      scenario->checkpoint.writes != WRITES_BACKGROUND)
    return complain(
        reader, "schedule",
        "beside failures, checkpoint.every or checkpoint.writes, expected none of them");
  g_autofree char *path =
      g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(scenario->directory, name, NULL);
  scenario->schedule = g_canonicalize_filename(path, NULL);
  if (g_file_test(scenario->schedule, G_FILE_TEST_IS_REGULAR))
    return true;
  g_autofree char *shown = document_quote(name);
  return complain(reader, "schedule", "%s is not there, expected a trace of recline check", shown);
}

static bool read_expect(const struct reader *reader, const struct keys_expect *raw)
{
  struct scenario *scenario = reader->scenario;
  scenario->expect.verdict = raw->verdict ? (enum expected_verdict) * raw->verdict : EXPECT_NOTHING;
  return whole_int(reader, "program_exit", raw->program_exit, -1, 0, 255,
                   &scenario->expect.program_exit);
}

static const char *const lies[] = {"drop", "duplicate", "early-durable"};

static bool read_lies(const struct reader *reader, const struct keys_check *raw)
{
  for (unsigned i = 0; i < raw->lies_count; i++) {
    unsigned known = 0;
    while (known < G_N_ELEMENTS(lies) && strcmp(lies[known], raw->lies[i]))
      known++;
    if (known < G_N_ELEMENTS(lies))
      continue;
    g_autofree char *key = g_strdup_printf("lies.%u", i);
    g_autofree char *shown = document_quote(raw->lies[i]);
    return complain(reader, key, "%s is no lie, expected drop, duplicate or early-durable", shown);
  }
  reader->scenario->check.lies = strings(raw->lies, raw->lies_count);
  return true;
}

static bool read_exceeds(const struct reader *reader, const struct keys_check *raw)
{
  for (unsigned i = 0; i < raw->exceeds_count; i++) {
    unsigned bound = 0;
    while (bound < RCL_BOUNDS && strcmp(keys_bounds[bound], raw->exceeds[i]))
      bound++;
    reader->scenario->check.exceeds |= 1u << bound;
    if (bound < RCL_BOUNDS)
      continue;
    g_autofree char *key = g_strdup_printf("exceeds.%u", i);
    g_autofree char *shown = document_quote(raw->exceeds[i]);
    return complain(reader, key, "%s is no bound, expected deviation, longest or shortest", shown);
  }
  return true;
}

static bool read_check(const struct reader *reader, const struct keys_check *raw)
{
  struct scenario *scenario = reader->scenario;
  scenario->check.fifo = raw->order && *raw->order == ORDER_FIFO;
  scenario->check.overtaking = raw->order && *raw->order == ORDER_NONE;
  scenario->check.closes = raw->connections && *raw->connections;
  scenario->check.max_states = raw->max_states ? *raw->max_states : 0;
  if (raw->properties)
    scenario->check.properties = strings(raw->properties, raw->properties_count);
  return whole_int(reader, "checkpoints", raw->checkpoints, 1, 0, COUNT_MAX,
                   &scenario->check.checkpoints) &&
         whole_int(reader, "crashes", raw->crashes, 1, 0, COUNT_MAX, &scenario->check.crashes) &&
         whole_int(reader, "per_node", raw->per_node, 1, 1, scenario->program.ranks,
                   &scenario->check.per_node) &&
         read_lies(reader, raw) && read_exceeds(reader, raw);
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

static bool read_raw(struct scenario *scenario, const struct keys *raw, GError **error)
{
  const struct reader top = {scenario, error, ""};
#define BELOW(name) (&(const struct reader){scenario, error, name "."})
  scenario->id = raw->id ? g_strdup(raw->id) : id_from(scenario->file);
  scenario->statement = g_strdup(raw->statement);
  scenario->source = g_strdup(raw->source);
  scenario->seed = raw->seed ? *raw->seed : 1;
  if (!document_is_name(scenario->id)) {
    g_autofree char *shown = document_quote(scenario->id);
    return complain(
        &top, "id",
        "%s is no name, expected letters, digits, . _ - and ~, at most 100, the first a "
        "letter or digit",
        shown);
  }
  return read_program(BELOW("program"), &raw->program) &&
         read_platform(BELOW("platform"), raw->platform) &&
         read_protocol(BELOW("protocol"), &raw->protocol) &&
         read_checkpoint(BELOW("checkpoint"), &raw->checkpoint) &&
         read_clocks(BELOW("clocks"), &raw->clocks) && read_failures(&top, raw) &&
         measure(&top, "detection", raw->detection, 0.1, scenario_seconds, &scenario->detection) &&
         read_recovery(BELOW("recovery"), &raw->recovery) && read_schedule(&top, raw->schedule) &&
         read_expect(BELOW("expect"), &raw->expect) && read_check(BELOW("check"), &raw->check);
#undef BELOW
}

/* ---- loading ---- */

/* After document_check() libcyaml has nothing to refuse, unless the two disagree. */
static struct keys *load_raw(struct document *document, GError **error)
{
  GString *yaml = document_text(document);
  struct keys *raw = NULL;
  cyaml_err_t result = cyaml_load_data((const uint8_t *)yaml->str, yaml->len, &keys_cyaml,
                                       &keys_schema, (cyaml_data_t **)&raw, NULL);
  if (result != CYAML_OK)
    g_set_error(error, SCENARIO_ERROR, 0, "%s:1: %s, expected a scenario", document->file,
                cyaml_strerror(result));
  g_string_free(yaml, TRUE);
  return result == CYAML_OK ? raw : NULL;
}

static bool prepare(struct document *document, const char *const *set, GError **error)
{
  document_none(document, "failures");
  for (; set && *set; set++) {
    if (!document_set(document, *set, error))
      return false;
    document_none(document, "failures");
  }
  return document_check(document, &keys_schema, failure_laws, error);
}

struct scenario *scenario_load(const char *file, const char *const *set, GError **error)
{
  struct document document;
  if (!document_read(&document, file, error))
    return NULL;
  struct keys *raw = prepare(&document, set, error) ? load_raw(&document, error) : NULL;
  struct scenario *scenario = NULL;
  if (raw) {
    scenario = g_new0(struct scenario, 1);
    scenario->file = g_strdup(file);
    scenario->directory = g_path_get_dirname(file);
    scenario->lines = g_hash_table_ref(document.lines);
    if (!read_raw(scenario, raw, error)) {
      scenario_free(scenario);
      scenario = NULL;
    }
    cyaml_free(&keys_cyaml, &keys_schema, raw, 0);
  }
  document_clear(&document);
  return scenario;
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
