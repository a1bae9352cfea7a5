/* From YAML to struct scenario and back.
 *
 *     file -> document -> (--set) -> check with schema -> libcyaml -> struct raw -> struct scenario
 *                                                                     struct raw <- scenario_save()
 *
 * struct raw is what YAML can say: texts, whole numbers, choices, NULL where a key is not there.
 * Units, ranges, defaults and names are judged on the way from raw to scenario, each with the
 * line of its key.
 */
#include "verify/scenario/scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "protocols/text.h"
#include "verify/scenario/document.h"
#include "verify/scenario/platform_file.h"
#include "verify/scenario/plugin.h"

G_DEFINE_QUARK(recline - scenario - error - quark, scenario_error)

static const char failure_laws[] =
    "failure laws are not supported yet, expected a failure with rank and at or after";
static const char default_dispatcher[] = "service-0";

enum { RANKS_MAX = 32767, CAPACITY_MAX = 1000000, COUNT_MAX = 1000000000 };

/* ---- what YAML can say ---- */

struct raw_program {
  char *binary, **args, *script;
  unsigned args_count;
  int64_t *ranks;
};

struct raw_platform {
  char *file, *dispatcher;
  int *placement;
  char *interconnect;
  int64_t *per_node;
  int64_t *spares;
};

struct raw_protocol {
  char *name, *file;
  int64_t *capacity, *interval, *log;
  int *control;
};

struct raw_checkpoint {
  char *every, *bytes;
  int *storage, *writes, *places;
};

struct raw_after {
  char *event;
  int64_t *rank, *checkpoint, *iteration, *count, *recovery;
};

struct raw_layout {
  char *interconnect;
  int64_t *per_node;
};

struct raw_failure {
  int64_t *rank;
  int *kills;
  char *at, *repair;
  struct raw_after *after;
  struct raw_layout *restart_on;
};

struct raw_recovery {
  int *runtime;
  char *revoke, *agree, *spawn, *rebuild;
};

struct raw_expect {
  int *verdict;
  int64_t *program_exit;
};

struct raw_clocks {
  char *deviation, *longest, *shortest, *skew;
};

struct raw_check {
  int64_t *checkpoints, *crashes;
  int *order, *connections;
  char **properties, **lies, **exceeds;
  unsigned properties_count, lies_count, exceeds_count;
  uint64_t *max_states;
};

struct raw {
  char *id, *statement, *source, *detection, *schedule;
  uint64_t *seed;
  struct raw_program program;
  struct raw_platform *platform;
  struct raw_protocol protocol;
  struct raw_checkpoint checkpoint;
  struct raw_failure *failures;
  unsigned failures_count;
  struct raw_clocks clocks;
  struct raw_recovery recovery;
  struct raw_expect expect;
  struct raw_check check;
};

enum { ORDER_ANY, ORDER_FIFO, ORDER_NONE };

/* ---- the schema: the one table of keys and types ---- */

static const cyaml_strval_t placements[] = {{"one-per-node", false}, {"block", true}};
static const cyaml_strval_t kills[] = {{"node", KILLS_NODE}, {"rank", KILLS_RANK}};
static const cyaml_strval_t runtimes[] = {{"none", RUNTIME_NONE}, {"ulfm", RUNTIME_ULFM}};
static const cyaml_strval_t storages[] = {{"local", STORAGE_LOCAL}, {"nfs", STORAGE_NFS}};
static const cyaml_strval_t writes[] = {{"background", WRITES_BACKGROUND},
                                        {"foreground", WRITES_FOREGROUND}};
static const cyaml_strval_t controls[] = {
    {"separate", CONTROL_SEPARATE}, {"combined", CONTROL_COMBINED}, {"auto", CONTROL_AUTO}};
static const cyaml_strval_t places[] = {{"anywhere", PLACES_ANYWHERE}, {"program", PLACES_PROGRAM}};
static const cyaml_strval_t connections[] = {{"stay", false}, {"close", true}};
static const cyaml_strval_t orders[] = {
    {"any", ORDER_ANY}, {"fifo", ORDER_FIFO}, {"none", ORDER_NONE}};
static const cyaml_strval_t verdicts[] = {{"completed", EXPECT_COMPLETED},
                                          {"recovered", EXPECT_RECOVERED},
                                          {"gave-up", EXPECT_GAVE_UP},
                                          {"lost", EXPECT_LOST},
                                          {"holds", EXPECT_HOLDS},
                                          {"violated", EXPECT_VIOLATED},
                                          {"inconclusive", EXPECT_INCONCLUSIVE}};
static const cyaml_strval_t lies[] = {{"drop", 0}, {"duplicate", 1}, {"early-durable", 2}};

#define NEEDED CYAML_FLAG_DEFAULT
#define OPTIONAL CYAML_FLAG_OPTIONAL
#define TEXT(key, flags, type, member)                                                             \
  CYAML_FIELD_STRING_PTR(key, flags, type, member, 0, CYAML_UNLIMITED)
#define WHOLE(key, flags, type, member) CYAML_FIELD_INT_PTR(key, flags, type, member)
#define CHOICE(key, type, member, names)                                                           \
  CYAML_FIELD_ENUM_PTR(key, OPTIONAL | CYAML_FLAG_STRICT, type, member, names,                     \
                       CYAML_ARRAY_LEN(names))
#define LIST(key, type, member, entry, style)                                                      \
  CYAML_FIELD_SEQUENCE(key, OPTIONAL | CYAML_FLAG_POINTER | (style), type, member, entry, 0,       \
                       CYAML_UNLIMITED)

static const cyaml_schema_value_t text = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, CYAML_UNLIMITED)};

static const cyaml_schema_field_t program_fields[] = {
    TEXT("binary", OPTIONAL, struct raw_program, binary),
    LIST("args", struct raw_program, args, &text, CYAML_FLAG_FLOW),
    TEXT("script", OPTIONAL | CYAML_FLAG_SCALAR_LITERAL, struct raw_program, script),
    WHOLE("ranks", NEEDED, struct raw_program, ranks), CYAML_FIELD_END};

static const cyaml_schema_field_t platform_fields[] = {
    TEXT("file", NEEDED, struct raw_platform, file),
    CHOICE("placement", struct raw_platform, placement, placements),
    TEXT("interconnect", OPTIONAL, struct raw_platform, interconnect),
    WHOLE("per_node", OPTIONAL, struct raw_platform, per_node),
    WHOLE("spares", OPTIONAL, struct raw_platform, spares),
    TEXT("dispatcher", OPTIONAL, struct raw_platform, dispatcher),
    CYAML_FIELD_END};

static const cyaml_schema_field_t protocol_fields[] = {
    TEXT("name", NEEDED, struct raw_protocol, name),
    TEXT("file", OPTIONAL, struct raw_protocol, file),
    WHOLE("capacity", OPTIONAL, struct raw_protocol, capacity),
    WHOLE("interval", OPTIONAL, struct raw_protocol, interval),
    WHOLE("log", OPTIONAL, struct raw_protocol, log),
    CHOICE("control", struct raw_protocol, control, controls),
    CYAML_FIELD_END};

static const cyaml_schema_field_t checkpoint_fields[] = {
    TEXT("every", OPTIONAL, struct raw_checkpoint, every),
    CHOICE("storage", struct raw_checkpoint, storage, storages),
    CHOICE("writes", struct raw_checkpoint, writes, writes),
    CHOICE("places", struct raw_checkpoint, places, places),
    TEXT("bytes", OPTIONAL, struct raw_checkpoint, bytes),
    CYAML_FIELD_END};

static const cyaml_schema_field_t after_fields[] = {
    TEXT("event", NEEDED, struct raw_after, event),
    WHOLE("rank", OPTIONAL, struct raw_after, rank),
    WHOLE("checkpoint", OPTIONAL, struct raw_after, checkpoint),
    WHOLE("iteration", OPTIONAL, struct raw_after, iteration),
    WHOLE("count", OPTIONAL, struct raw_after, count),
    WHOLE("recovery", OPTIONAL, struct raw_after, recovery),
    CYAML_FIELD_END};

static const cyaml_schema_field_t layout_fields[] = {
    TEXT("interconnect", OPTIONAL, struct raw_layout, interconnect),
    WHOLE("per_node", OPTIONAL, struct raw_layout, per_node), CYAML_FIELD_END};

static const cyaml_schema_field_t failure_fields[] = {
    WHOLE("rank", NEEDED, struct raw_failure, rank), TEXT("at", OPTIONAL, struct raw_failure, at),
    CYAML_FIELD_MAPPING_PTR("after", OPTIONAL | CYAML_FLAG_FLOW, struct raw_failure, after,
                            after_fields),
    TEXT("repair", OPTIONAL, struct raw_failure, repair),
    CHOICE("kills", struct raw_failure, kills, kills),
    CYAML_FIELD_MAPPING_PTR("restart_on", OPTIONAL | CYAML_FLAG_FLOW, struct raw_failure,
                            restart_on, layout_fields),
    /* reserved: refused with failure_laws */
    CYAML_FIELD_IGNORE("nodes", OPTIONAL), CYAML_FIELD_IGNORE("mtbf", OPTIONAL),
    CYAML_FIELD_IGNORE("law", OPTIONAL), CYAML_FIELD_IGNORE("shape", OPTIONAL), CYAML_FIELD_END};

static const cyaml_schema_value_t failure = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct raw_failure, failure_fields)};

static const cyaml_schema_field_t recovery_fields[] = {
    CHOICE("runtime", struct raw_recovery, runtime, runtimes),
    TEXT("revoke", OPTIONAL, struct raw_recovery, revoke),
    TEXT("agree", OPTIONAL, struct raw_recovery, agree),
    TEXT("spawn", OPTIONAL, struct raw_recovery, spawn),
    TEXT("rebuild", OPTIONAL, struct raw_recovery, rebuild),
    CYAML_FIELD_END};

static const cyaml_schema_field_t expect_fields[] = {
    CHOICE("verdict", struct raw_expect, verdict, verdicts),
    WHOLE("program_exit", OPTIONAL, struct raw_expect, program_exit), CYAML_FIELD_END};

static const cyaml_schema_field_t clocks_fields[] = {
    TEXT("deviation", OPTIONAL, struct raw_clocks, deviation),
    TEXT("longest", OPTIONAL, struct raw_clocks, longest),
    TEXT("shortest", OPTIONAL, struct raw_clocks, shortest),
    TEXT("skew", OPTIONAL, struct raw_clocks, skew), CYAML_FIELD_END};

static const cyaml_schema_field_t check_fields[] = {
    WHOLE("checkpoints", OPTIONAL, struct raw_check, checkpoints),
    WHOLE("crashes", OPTIONAL, struct raw_check, crashes),
    CHOICE("order", struct raw_check, order, orders),
    CHOICE("connections", struct raw_check, connections, connections),
    LIST("properties", struct raw_check, properties, &text, CYAML_FLAG_FLOW),
    LIST("lies", struct raw_check, lies, &text, CYAML_FLAG_FLOW),
    LIST("exceeds", struct raw_check, exceeds, &text, CYAML_FLAG_FLOW),
    CYAML_FIELD_UINT_PTR("max_states", OPTIONAL, struct raw_check, max_states),
    CYAML_FIELD_END};

static const cyaml_schema_field_t scenario_fields[] = {
    TEXT("id", OPTIONAL, struct raw, id),
    TEXT("statement", OPTIONAL, struct raw, statement),
    TEXT("source", OPTIONAL, struct raw, source),
    CYAML_FIELD_MAPPING("program", NEEDED, struct raw, program, program_fields),
    CYAML_FIELD_MAPPING_PTR("platform", OPTIONAL, struct raw, platform, platform_fields),
    CYAML_FIELD_MAPPING("protocol", NEEDED, struct raw, protocol, protocol_fields),
    CYAML_FIELD_MAPPING("checkpoint", OPTIONAL, struct raw, checkpoint, checkpoint_fields),
    LIST("failures", struct raw, failures, &failure, CYAML_FLAG_BLOCK),
    TEXT("detection", OPTIONAL, struct raw, detection),
    CYAML_FIELD_MAPPING("recovery", OPTIONAL, struct raw, recovery, recovery_fields),
    TEXT("schedule", OPTIONAL, struct raw, schedule),
    CYAML_FIELD_UINT_PTR("seed", OPTIONAL, struct raw, seed),
    CYAML_FIELD_MAPPING("clocks", OPTIONAL, struct raw, clocks, clocks_fields),
    CYAML_FIELD_MAPPING("expect", OPTIONAL, struct raw, expect, expect_fields),
    CYAML_FIELD_MAPPING("check", OPTIONAL, struct raw, check, check_fields),
    CYAML_FIELD_END};

static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct raw, scenario_fields)};

static const cyaml_config_t cyaml = {.mem_fn = cyaml_mem, .flags = CYAML_CFG_STYLE_BLOCK};

/* ---- units ---- */

struct unit {
  const char *name;
  double times, over; /* a division by a power of ten keeps 100ms equal to 0.1 */
};

static const struct unit times[] = {{"us", 1, 1e6}, {"ms", 1, 1e3}, {"s", 1, 1},
                                    {"min", 60, 1}, {"h", 3600, 1}, {NULL, 0, 0}};

static const struct unit sizes[] = {
    {"B", 1, 1},           {"kB", 1e3, 1},           {"MB", 1e6, 1},
    {"GB", 1e9, 1},        {"TB", 1e12, 1},          {"KiB", 1024, 1},
    {"MiB", 1048576.0, 1}, {"GiB", 1073741824.0, 1}, {"TiB", 1099511627776.0, 1},
    {NULL, 0, 0}};

/* Reads "1.5ms". A bare number is good where `bare` is, and 0 always. */
static bool quantity(const char *word, const struct unit *units, bool bare, const char *kind,
                     double *value, GError **error)
{
  size_t digits = strspn(word, "+-.0123456789");
  /* "1e3s": an exponent only where a digit follows, so that no unit is taken for one */
  if (digits && (word[digits] == 'e' || word[digits] == 'E'))
    digits += 1 + strspn(word + digits + 1, "+-0123456789");
  g_autofree char *number = g_strndup(word, digits);
  const char *name = word + digits + strspn(word + digits, " ");
  char *end = NULL;
  double read = g_ascii_strtod(number, &end);
  bool good = digits && !*end && g_ascii_isdigit(end[-1]) && isfinite(read);
  const struct unit *unit = units;
  while (unit->name && strcmp(unit->name, name))
    unit++;
  g_autofree char *shown = document_quote(word);
  GString *names = g_string_new(NULL);
  unsigned total = 0;
  while (units[total].name)
    total++;
  for (unsigned i = 0; i < total; i++)
    document_enumerate(names, i, total, units[i].name);
  if (good && !unit->name && !*name && (bare || read == 0))
    *value = read;
  else if (good && unit->name && isfinite(read * unit->times))
    *value = read * unit->times / unit->over;
  else
    good = false;
  if (!good)
    g_set_error(error, SCENARIO_ERROR, 0, "%s is no %s, expected a number with unit %s", shown,
                kind, names->str);
  else if (*value < 0)
    g_set_error(error, SCENARIO_ERROR, 0, "%s is negative, expected a %s of 0 or more", shown,
                kind);
  g_string_free(names, TRUE);
  return good && *value >= 0;
}

bool scenario_seconds(const char *word, double *seconds, GError **error)
{
  return quantity(word, times, false, "time", seconds, error);
}

bool scenario_bytes(const char *word, double *bytes, GError **error)
{
  return quantity(word, sizes, true, "size", bytes, error);
}

/* ---- errors ---- */

int scenario_line(const struct scenario *scenario, const char *path)
{
  const struct document_place *place = document_find(scenario->lines, path);
  return place ? place->line : 1;
}

void scenario_complain(const struct scenario *scenario, const char *path, GError **error,
                       const char *format, ...)
{
  va_list values;
  va_start(values, format);
  document_error(error, scenario->file, scenario->lines, path, format, values);
  va_end(values);
}

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

static bool read_program(const struct reader *reader, const struct raw_program *raw)
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

const char *layout_host(const struct layout *layout, int rank)
{
  return layout->nodes[rank / layout->per_node];
}

int layout_nodes(const struct layout *layout, int ranks)
{
  return (ranks + layout->per_node - 1) / layout->per_node;
}

/* Without keys: on the first interconnect, one rank on a node. */
static bool read_layout(const struct reader *reader, const struct raw_layout *raw,
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
  layout->nodes = nodes_among(hosts, dispatcher ? dispatcher : default_dispatcher);
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
  const char *host = dispatcher ? dispatcher : default_dispatcher;
  if (!g_strv_contains((const char *const *)hosts, host))
    return complain(reader, "dispatcher", "\"%s\" is no host of %s, expected one of its %u hosts",
                    host, name, g_strv_length(hosts));
  scenario->platform.dispatcher = g_strdup(dispatcher);
  return true;
}

static bool read_platform(const struct reader *reader, const struct raw_platform *raw)
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
  return read_layout(reader, &(struct raw_layout){raw->interconnect, raw->per_node},
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

static bool read_protocol(const struct reader *reader, const struct raw_protocol *raw)
{
  struct scenario *scenario = reader->scenario;
  if (!whole_unsigned(reader, "capacity", raw->capacity, 1024, 1, CAPACITY_MAX,
                      &scenario->protocol.capacity) ||
      !whole_unsigned(reader, "interval", raw->interval, 0, 0, CAPACITY_MAX,
                      &scenario->protocol.interval) ||
      !whole_unsigned(reader, "log", raw->log, scenario->protocol.interval, 0, CAPACITY_MAX,
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

static bool read_checkpoint(const struct reader *reader, const struct raw_checkpoint *raw)
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

static bool read_clocks(const struct reader *reader, const struct raw_clocks *raw)
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

static bool read_after(const struct reader *reader, const struct raw_after *raw, struct failure *to)
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

static bool read_restart_on(const struct reader *reader, const struct raw_layout *raw,
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

static bool read_failure(const struct reader *reader, const struct raw_failure *raw,
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

static bool read_failures(const struct reader *reader, const struct raw *raw)
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
static bool read_recovery(const struct reader *reader, const struct raw_recovery *raw)
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

static bool read_expect(const struct reader *reader, const struct raw_expect *raw)
{
  struct scenario *scenario = reader->scenario;
  scenario->expect.verdict = raw->verdict ? (enum expected_verdict) * raw->verdict : EXPECT_NOTHING;
  return whole_int(reader, "program_exit", raw->program_exit, -1, 0, 255,
                   &scenario->expect.program_exit);
}

static bool read_lies(const struct reader *reader, const struct raw_check *raw)
{
  for (unsigned i = 0; i < raw->lies_count; i++) {
    unsigned known = 0;
    while (known < CYAML_ARRAY_LEN(lies) && strcmp(lies[known].str, raw->lies[i]))
      known++;
    if (known < CYAML_ARRAY_LEN(lies))
      continue;
    g_autofree char *key = g_strdup_printf("lies.%u", i);
    g_autofree char *shown = document_quote(raw->lies[i]);
    return complain(reader, key, "%s is no lie, expected drop, duplicate or early-durable", shown);
  }
  reader->scenario->check.lies = strings(raw->lies, raw->lies_count);
  return true;
}

static const char *const bounds[] = {[RCL_BOUND_DEVIATION] = "deviation",
                                     [RCL_BOUND_LONGEST] = "longest",
                                     [RCL_BOUND_SHORTEST] = "shortest"};

static bool read_exceeds(const struct reader *reader, const struct raw_check *raw)
{
  for (unsigned i = 0; i < raw->exceeds_count; i++) {
    unsigned bound = 0;
    while (bound < RCL_BOUNDS && strcmp(bounds[bound], raw->exceeds[i]))
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

static bool read_check(const struct reader *reader, const struct raw_check *raw)
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
         read_lies(reader, raw) && read_exceeds(reader, raw);
}

static char *id_from(const char *file)
{
  char *id = g_path_get_basename(file);
  char *dot = strrchr(id, '.');
  if (dot && dot != id)
    *dot = '\0';
  return id;
}

static bool read_raw(struct scenario *scenario, const struct raw *raw, GError **error)
{
  const struct reader top = {scenario, error, ""};
#define BELOW(name) (&(const struct reader){scenario, error, name "."})
  scenario->id = raw->id ? g_strdup(raw->id) : id_from(scenario->file);
  scenario->statement = g_strdup(raw->statement);
  scenario->source = g_strdup(raw->source);
  scenario->seed = raw->seed ? *raw->seed : 1;
  if (!*scenario->id)
    return complain(&top, "id", "empty, expected a name");
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
static struct raw *load_raw(struct document *document, GError **error)
{
  GString *yaml = document_text(document);
  struct raw *raw = NULL;
  cyaml_err_t result = cyaml_load_data((const uint8_t *)yaml->str, yaml->len, &cyaml, &schema,
                                       (cyaml_data_t **)&raw, NULL);
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
  return document_check(document, &schema, failure_laws, error);
}

struct scenario *scenario_load(const char *file, const char *const *set, GError **error)
{
  struct document document;
  if (!document_read(&document, file, error))
    return NULL;
  struct raw *raw = prepare(&document, set, error) ? load_raw(&document, error) : NULL;
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
    cyaml_free(&cyaml, &schema, raw, 0);
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

static void clear_layout(struct layout *layout)
{
  if (!layout)
    return;
  g_free(layout->interconnect);
  g_strfreev(layout->nodes);
}

void scenario_free(struct scenario *scenario)
{
  if (!scenario)
    return;
  g_free(scenario->file);
  g_free(scenario->directory);
  g_free(scenario->id);
  g_free(scenario->statement);
  g_free(scenario->source);
  g_free(scenario->program.binary);
  g_strfreev(scenario->program.args);
  g_free(scenario->program.script);
  g_free(scenario->platform.file);
  g_free(scenario->platform.dispatcher);
  clear_layout(&scenario->platform.layout);
  g_free(scenario->protocol.name);
  g_free(scenario->protocol.file);
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    clear_layout(scenario->failures[i].restart_on);
    g_free(scenario->failures[i].restart_on);
  }
  g_free(scenario->failures);
  g_free(scenario->schedule);
  g_strfreev(scenario->check.properties);
  g_strfreev(scenario->check.lies);
  if (scenario->lines)
    g_hash_table_unref(scenario->lines);
  g_free(scenario);
}

/* ---- saving ---- */

/* A raw scenario to be saved points to numbers; they live in here, as do the texts made for it. */
struct pool {
  GPtrArray *items;
};

static void *keep(struct pool *pool, void *item)
{
  g_ptr_array_add(pool->items, item);
  return item;
}

static int64_t *number(struct pool *pool, int64_t value)
{
  return keep(pool, g_memdup2(&value, sizeof value));
}

static int *choice(struct pool *pool, int value)
{
  return keep(pool, g_memdup2(&value, sizeof value));
}

/* The shortest text that reads back as `value`. */
static char *amount(struct pool *pool, double value, const char *unit)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  char format[8];
  for (int precision = 1; precision <= 17; precision++) {
    g_snprintf(format, sizeof format, "%%.%dg", precision);
    g_ascii_formatd(digits, sizeof digits, format, value);
    if (g_ascii_strtod(digits, NULL) == value)
      break;
  }
  return keep(pool, g_strconcat(digits, unit, NULL));
}

static struct raw_after *raw_after(struct pool *pool, const struct failure *from)
{
  struct raw_after *after = keep(pool, g_new0(struct raw_after, 1));
  after->event = (char *)event_name(from->after.event);
  after->rank = number(pool, from->after.rank);
  after->checkpoint = number(pool, from->after.checkpoint);
  after->iteration = number(pool, from->after.iteration);
  after->count = number(pool, from->after.count);
  after->recovery = number(pool, from->after.recovery);
  return after;
}

static struct raw_failure *raw_failures(struct pool *pool, const struct scenario *scenario)
{
  struct raw_failure *all = keep(pool, g_new0(struct raw_failure, scenario->failures_count + 1));
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    const struct failure *from = &scenario->failures[i];
    all[i].rank = number(pool, from->rank);
    all[i].kills = choice(pool, (int)from->kills);
    all[i].repair = amount(pool, from->repair, "s");
    if (from->restart_on) {
      struct raw_layout layout = {from->restart_on->interconnect,
                                  number(pool, from->restart_on->per_node)};
      all[i].restart_on = keep(pool, g_memdup2(&layout, sizeof layout));
    }
    if (from->trigger == TRIGGER_TIME)
      all[i].at = amount(pool, from->at, "s");
    else
      all[i].after = raw_after(pool, from);
  }
  return all;
}

static struct raw_platform *raw_platform(struct pool *pool, const struct scenario *scenario)
{
  if (!scenario->platform.file)
    return NULL;
  struct raw_platform *platform = keep(pool, g_new0(struct raw_platform, 1));
  platform->file = (char *)platform_name(scenario->platform.file);
  platform->placement = choice(pool, scenario->platform.layout.per_node > 1);
  platform->interconnect = scenario->platform.layout.interconnect;
  platform->per_node = number(pool, scenario->platform.layout.per_node);
  platform->spares = number(pool, scenario->platform.spares);
  platform->dispatcher = scenario->platform.dispatcher;
  return platform;
}

static char **exceeded(struct pool *pool, const struct scenario *scenario, unsigned *count)
{
  char **names = keep(pool, g_new0(char *, RCL_BOUNDS));
  for (unsigned i = 0; i < RCL_BOUNDS; i++)
    if (scenario->check.exceeds & 1u << i)
      names[(*count)++] = (char *)bounds[i];
  return names;
}

static struct raw raw_of(struct pool *pool, const struct scenario *scenario)
{
  const bool binary = scenario->program.binary != NULL;
  unsigned exceeds_count = 0;
  struct raw raw = {
      .id = scenario->id,
      .statement = scenario->statement,
      .source = scenario->source,
      .program = {.binary = scenario->program.binary,
                  .args = binary ? scenario->program.args : NULL,
                  .args_count = binary ? g_strv_length(scenario->program.args) : 0,
                  .script = scenario->program.script,
                  .ranks = number(pool, scenario->program.ranks)},
      .platform = raw_platform(pool, scenario),
      .protocol = {.name = scenario->protocol.name,
                   .file = scenario->protocol.file,
                   .capacity = number(pool, scenario->protocol.capacity),
                   .interval = number(pool, scenario->protocol.interval),
                   .log = number(pool, scenario->protocol.log),
                   .control = choice(pool, (int)scenario->protocol.control)},
      .checkpoint = {.every = amount(pool, scenario->checkpoint.every, "s"),
                     .bytes = amount(pool, scenario->checkpoint.bytes, "B"),
                     .storage = choice(pool, (int)scenario->checkpoint.storage),
                     .writes = choice(pool, (int)scenario->checkpoint.writes),
                     .places = choice(pool, (int)scenario->checkpoint.places)},
      .failures = raw_failures(pool, scenario),
      .failures_count = scenario->failures_count,
      .detection = amount(pool, scenario->detection, "s"),
      .recovery = {.runtime = choice(pool, (int)scenario->recovery.runtime),
                   .revoke = amount(pool, scenario->recovery.revoke, "s"),
                   .agree = amount(pool, scenario->recovery.agree, "s"),
                   .spawn = amount(pool, scenario->recovery.spawn, "s"),
                   .rebuild = amount(pool, scenario->recovery.rebuild, "s")},
      .schedule = scenario->schedule,
      .seed = keep(pool, g_memdup2(&scenario->seed, sizeof scenario->seed)),
      .clocks = {.deviation = amount(pool, scenario->clocks.bound[RCL_BOUND_DEVIATION], "s"),
                 .longest = amount(pool, scenario->clocks.bound[RCL_BOUND_LONGEST], "s"),
                 .shortest = amount(pool, scenario->clocks.bound[RCL_BOUND_SHORTEST], "s"),
                 .skew = amount(pool, scenario->clocks.skew, "s")},
      .check = {.checkpoints = number(pool, scenario->check.checkpoints),
                .crashes = number(pool, scenario->check.crashes),
                .order = choice(pool, scenario->check.fifo         ? ORDER_FIFO
                                      : scenario->check.overtaking ? ORDER_NONE
                                                                   : ORDER_ANY),
                .connections = choice(pool, scenario->check.closes),
                .properties = scenario->check.properties,
                .lies = scenario->check.lies,
                .lies_count = g_strv_length(scenario->check.lies),
                .exceeds = exceeded(pool, scenario, &exceeds_count),
                .max_states = keep(pool, g_memdup2(&scenario->check.max_states,
                                                   sizeof scenario->check.max_states))}};
  raw.check.exceeds_count = exceeds_count;
  if (scenario->check.properties)
    raw.check.properties_count = g_strv_length(scenario->check.properties);
  if (scenario->expect.verdict != EXPECT_NOTHING)
    raw.expect.verdict = choice(pool, (int)scenario->expect.verdict);
  if (scenario->expect.program_exit >= 0)
    raw.expect.program_exit = number(pool, scenario->expect.program_exit);
  return raw;
}

bool scenario_save(const struct scenario *scenario, const char *file, GError **error)
{
  struct pool pool = {g_ptr_array_new_with_free_func(g_free)};
  struct raw raw = raw_of(&pool, scenario);
  char *yaml = NULL;
  size_t length = 0;
  cyaml_err_t result = cyaml_save_data(&yaml, &length, &cyaml, &schema, &raw, 0);
  g_ptr_array_unref(pool.items);
  bool saved = result == CYAML_OK;
  if (saved)
    saved = g_file_set_contents(file, yaml, (gssize)length, error); /* temporary name, rename */
  else
    g_set_error(error, SCENARIO_ERROR, 0, "%s: %s, expected a scenario that can be saved", file,
                cyaml_strerror(result));
  if (yaml)
    cyaml.mem_fn(NULL, yaml, 0);
  return saved;
}
