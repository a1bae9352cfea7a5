#include "world/scenario/keys.h"

enum { ITERATIONS_MAX = 1000000, COUNT_MAX = 1000000000 };

static const char *const placements[] = {"one-per-node", "block", NULL};
static const char *const laws[] = {"exponential", "weibull", "lognormal", "gamma", NULL};
static const char *const whose[] = {"node", "platform", "zone", NULL};
static const char *const beginnings[] = {"first", "drawn", NULL};
static const char *const returns[] = {"repaired", "never", "empty", NULL};
static const char *const kills[] = {"node", "rank", "server", NULL};
static const char *const runtimes[] = {"none", "ulfm", NULL};
static const char *const storages[] = {"memory", "local", "nfs", NULL};
static const char *const redundancies[] = {"none", "partner", "xor", "reed-solomon", NULL};
static const char *const writes[] = {"background", "foreground", NULL};
static const char *const log_places[] = {"memory", "storage", NULL};
static const char *const controls[] = {"separate", "combined", "auto", NULL};
static const char *const exchanges[] = {"twice", "once", "in-turn", "gathered", NULL};
static const char *const outputs[] = {"held", "passes", NULL};
static const char *const calls[] = {"ignored", "taken", NULL};
static const char *const afterwards[] = {"continue", "stop", NULL};
static const char *const places[] = {"anywhere", "program", NULL};
static const char *const image_levels[] = {"system", "application", NULL};
static const char *const connections[] = {"stay", "close", NULL};
static const char *const orders[] = {"any", "fifo", "none", NULL};
static const char *const lies[] = {"drop",         "duplicate",  "early-durable",
                                   "windows-lost", "locks-lost", NULL};
static const char *const bounds[] = {[RCL_BOUND_DEVIATION] = "deviation",
                                     [RCL_BOUND_LONGEST] = "longest",
                                     [RCL_BOUND_SHORTEST] = "shortest",
                                     [RCL_BOUNDS] = NULL};
static const char *const hazards[] = {"cut-steps",       "whole-writes",      "torn-writes",
                                      "false-detection", "control-overtakes", NULL};
static const char *const topologies[] = {"flat", "fat-tree", "dragonfly", NULL};
static const char *const verdicts[] = {"completed", "recovered", "gave-up",  "lost",
                                       "stopped",   "holds",     "violated", "inconclusive",
                                       "vacuous",   NULL};

#define KEY(key, type, owner, member) .name = key, .kind = type, .offset = offsetof(owner, member)
#define BELOW(key, table) .name = key, .kind = KEY_MAPPING, .keys = table
#define CHOICE(key, field, words)                                                                  \
  {                                                                                                \
    KEY(key, KEY_CHOICE, struct scenario, field), .names = words                                   \
  }

static const struct key program_keys[] = {
    {KEY("binary", KEY_TEXT, struct scenario, program.binary)},
    {KEY("args", KEY_TEXTS, struct scenario, program.args)},
    {KEY("stdin", KEY_TEXT, struct scenario, program.input)},
    {KEY("script", KEY_TEXT, struct scenario, program.script), .literal = true},
    {KEY("ranks", KEY_WHOLE, struct scenario, program.ranks), .needed = true, .least = 1,
     .most = RANKS_MAX},
    {KEY("topology", KEY_TEXT, struct scenario, program.topology)},
    {.name = NULL}};

/* Makes the key of an amount of a machine, which is above 0 or not stated. */
#define AMOUNT(key, type, member)                                                                  \
  {                                                                                                \
    KEY(key, type, struct scenario, platform.stated.member), .otherwise = -1                       \
  }

static const struct key network_keys[] = {
    AMOUNT("latency", KEY_SECONDS, network.latency),
    AMOUNT("bandwidth", KEY_RATE, network.bandwidth),
    AMOUNT("overhead", KEY_SECONDS, network.overhead),
    AMOUNT("eager", KEY_BYTES, network.eager),
    AMOUNT("hop", KEY_SECONDS, network.hop),
    {KEY("group", KEY_WHOLE, struct scenario, platform.stated.network.group), .least = 1,
     .most = MACHINE_NODES_MAX},
    {KEY("taper", KEY_REAL, struct scenario, platform.stated.network.taper), .least = 1,
     .most = 100},
    {.name = NULL}};

static const struct key within_keys[] = {AMOUNT("latency", KEY_SECONDS, within_node.latency),
                                         AMOUNT("bandwidth", KEY_RATE, within_node.bandwidth),
                                         {.name = NULL}};

static const struct key storage_keys[] = {
    AMOUNT("bandwidth", KEY_RATE, storage.bandwidth),
    AMOUNT("read_bandwidth", KEY_RATE, storage.read_bandwidth),
    AMOUNT("write_latency", KEY_SECONDS, storage.write_latency),
    {.name = NULL}};

static const struct key local_keys[] = {AMOUNT("bandwidth", KEY_RATE, local.bandwidth),
                                        AMOUNT("read_bandwidth", KEY_RATE, local.read_bandwidth),
                                        AMOUNT("write_latency", KEY_SECONDS, local.write_latency),
                                        {.name = NULL}};

/* Lists the keys of a machine, in a scenario or in a file of its own. */
#define MACHINE                                                                                    \
  {KEY("nodes", KEY_WHOLE, struct scenario, platform.stated.nodes), .least = 1,                    \
   .most = MACHINE_NODES_MAX},                                                                     \
      {KEY("per_node", KEY_WHOLE, struct scenario, platform.layout.per_node), .least = 1,          \
       .most = RANKS_MAX, .otherwise = 1},                                                         \
      {KEY("topology", KEY_CHOICE, struct scenario, platform.stated.topology),                     \
       .names = topologies, .least = TOPOLOGY_FLAT},                                               \
      AMOUNT("speed", KEY_FLOPS, speed),                                                           \
      {KEY("cores", KEY_WHOLE, struct scenario, platform.stated.cores), .least = 1,                \
       .most = RANKS_MAX},                                                                         \
      AMOUNT("memory", KEY_RATE, memory),                                                          \
      {BELOW("network", network_keys), .flow = true, .sparse = true},                              \
      {BELOW("within_node", within_keys), .flow = true, .sparse = true},                           \
      {BELOW("storage", storage_keys), .flow = true, .sparse = true},                              \
      {BELOW("local", local_keys), .flow = true, .sparse = true},                                  \
      AMOUNT("mtbf", KEY_SECONDS, mtbf)

const struct key machine_keys[] = {MACHINE, {.name = NULL}};

static const struct key platform_keys[] = {
    {KEY("file", KEY_TEXT, struct scenario, platform.file)},
    MACHINE,
    {KEY("placement", KEY_CHOICE, struct scenario, platform.placement), .names = placements},
    {KEY("interconnect", KEY_TEXT, struct scenario, platform.layout.interconnect)},
    {KEY("spares", KEY_WHOLE, struct scenario, platform.spares), .most = COUNT_MAX},
    {KEY("dispatcher", KEY_TEXT, struct scenario, platform.dispatcher)},
    {.name = NULL}};

/* Lists the keys that give values to the parameters of protocols. */
#define PARAMETERS                                                                                 \
  {KEY("interval", KEY_WHOLE, struct scenario, protocol.interval), .most = ITERATIONS_MAX},        \
      {KEY("log", KEY_WHOLE, struct scenario, protocol.log), .most = ITERATIONS_MAX},              \
      CHOICE("log_in", protocol.log_in, log_places),                                               \
      {KEY("failures", KEY_WHOLE, struct scenario, protocol.failures), .least = 1,                 \
       .most = RANKS_MAX, .otherwise = 1},                                                         \
      {KEY("crossings", KEY_WHOLE, struct scenario, protocol.crossings), .most = COUNT_MAX},       \
      {KEY("initiators", KEY_WHOLE, struct scenario, protocol.initiators), .least = 1,             \
       .most = RANKS_MAX, .otherwise = 1},                                                         \
      CHOICE("exchange", protocol.exchange, exchanges)

static const struct key protocol_parameter_keys[] = {PARAMETERS, {.name = NULL}};
static const struct key checkpoint_parameter_keys[] = {CHOICE("places", checkpoint.places, places),
                                                       {.name = NULL}};
const struct key parameter_keys[] = {{BELOW("protocol", protocol_parameter_keys)},
                                     {BELOW("checkpoint", checkpoint_parameter_keys)},
                                     {.name = NULL}};

static const struct key protocol_keys[] = {
    {KEY("name", KEY_TEXT, struct scenario, protocol.name), .needed = true},
    {KEY("file", KEY_TEXT, struct scenario, protocol.file)},
    {KEY("capacity", KEY_WHOLE, struct scenario, protocol.capacity), .least = 1,
     .most = RCL_CAPACITY_MAX},
    PARAMETERS,
    {KEY("control", KEY_CHOICE, struct scenario, protocol.control), .names = controls,
     .otherwise = CONTROL_AUTO},
    {.name = NULL}};

static const struct key level_keys[] = {
    {KEY("storage", KEY_CHOICE, struct level, storage), .names = storages, .least = STORAGE_MEMORY},
    {KEY("redundancy", KEY_CHOICE, struct level, redundancy), .names = redundancies},
    {KEY("every", KEY_WHOLE, struct level, every), .least = 1, .most = COUNT_MAX, .otherwise = 1},
    {KEY("group", KEY_WHOLE, struct level, group), .least = 2, .most = RANKS_MAX, .otherwise = 1},
    {KEY("losses", KEY_WHOLE, struct level, losses), .least = 1, .most = RANKS_MAX},
    {.name = NULL}};

static const struct key checkpoint_keys[] = {
    {KEY("every", KEY_SECONDS, struct scenario, checkpoint.every)},
    {KEY("at", KEY_TEXTS, struct scenario, checkpoint.at)},
    {KEY("count", KEY_WHOLE, struct scenario, checkpoint.count), .most = COUNT_MAX},
    {KEY("calls", KEY_CHOICE, struct scenario, checkpoint.calls), .names = calls},
    {KEY("then", KEY_CHOICE, struct scenario, checkpoint.then), .names = afterwards},
    {KEY("storage", KEY_CHOICE, struct scenario, checkpoint.storage), .names = storages,
     .least = STORAGE_MEMORY},
    {KEY("levels", KEY_LIST, struct scenario, checkpoint.levels),
     .count = offsetof(struct scenario, checkpoint.levels_count), .keys = level_keys,
     .size = sizeof(struct level), .least = 1},
    {KEY("writes", KEY_CHOICE, struct scenario, checkpoint.writes), .names = writes},
    CHOICE("places", checkpoint.places, places),
    {KEY("level", KEY_CHOICE, struct scenario, checkpoint.level), .names = image_levels},
    {KEY("bytes", KEY_BYTES, struct scenario, checkpoint.bytes)},
    {.name = NULL}};

static const struct key after_keys[] = {
    {KEY("event", KEY_EVENT, struct failure, after.event), .needed = true},
    {KEY("rank", KEY_RANKS, struct failure, after.rank), .most = -1},
    {KEY("checkpoint", KEY_WHOLE, struct failure, after.checkpoint), .most = COUNT_MAX},
    {KEY("iteration", KEY_WHOLE, struct failure, after.iteration), .most = COUNT_MAX},
    {KEY("count", KEY_WHOLE, struct failure, after.count), .least = 1, .most = COUNT_MAX,
     .otherwise = 1},
    {KEY("recovery", KEY_WHOLE, struct failure, after.recovery), .most = COUNT_MAX},
    {KEY("actions", KEY_WHOLE, struct failure, after.actions), .most = 15, .otherwise = -1},
    {.name = NULL}};

static const struct key layout_keys[] = {
    {KEY("interconnect", KEY_TEXT, struct layout, interconnect)},
    {KEY("per_node", KEY_WHOLE, struct layout, per_node), .least = 1, .most = RANKS_MAX,
     .otherwise = 1},
    {.name = NULL}};

static const struct key failure_keys[] = {
    {KEY("rank", KEY_RANKS, struct failure, rank), .most = -1, .otherwise = -1},
    {KEY("at", KEY_SECONDS, struct failure, at), .otherwise = -1},
    {BELOW("after", after_keys), .flow = true},
    {KEY("ends_after", KEY_SECONDS, struct failure, ends_after), .otherwise = -1},
    {KEY("law", KEY_CHOICE, struct failure, law), .names = laws, .least = LAW_EXPONENTIAL},
    {KEY("mtbf", KEY_SECONDS, struct failure, mtbf), .otherwise = -1},
    {KEY("shape", KEY_REAL, struct failure, shape), .least = 0.1, .most = 100, .otherwise = -1},
    {KEY("of", KEY_CHOICE, struct failure, of), .names = whose, .least = OF_NODE},
    {KEY("burst", KEY_WHOLE, struct failure, burst), .least = 2, .most = COUNT_MAX, .otherwise = 1},
    {KEY("within", KEY_SECONDS, struct failure, within), .otherwise = -1},
    {KEY("trace", KEY_TEXT, struct failure, trace)},
    {KEY("begins", KEY_CHOICE, struct failure, begins), .names = beginnings},
    {KEY("repair", KEY_SECONDS, struct failure, repair), .otherwise = -1},
    {KEY("repair_law", KEY_CHOICE, struct failure, repair_law), .names = laws,
     .least = LAW_EXPONENTIAL},
    {KEY("repair_shape", KEY_REAL, struct failure, repair_shape), .least = 0.1, .most = 100,
     .otherwise = -1},
    {KEY("kills", KEY_CHOICE, struct failure, kills), .names = kills},
    {KEY("returns", KEY_CHOICE, struct failure, returns), .names = returns},
    {KEY("restart_on", KEY_MAPPING, struct failure, restart_on), .keys = layout_keys,
     .size = sizeof(struct layout), .flow = true},
    {.name = NULL}};

/* The defaults are estimates for a few hundred ranks (docs/scenario.md). */
static const struct key recovery_keys[] = {
    {KEY("runtime", KEY_CHOICE, struct scenario, recovery.runtime), .names = runtimes},
    {KEY("attempts", KEY_WHOLE, struct scenario, recovery.attempts), .most = 1000},
    {KEY("revoke", KEY_SECONDS, struct scenario, recovery.revoke), .otherwise = 10e-6},
    {KEY("agree", KEY_SECONDS, struct scenario, recovery.agree), .otherwise = 20e-6},
    {KEY("spawn", KEY_SECONDS, struct scenario, recovery.spawn), .otherwise = 0.5},
    {KEY("rebuild", KEY_SECONDS, struct scenario, recovery.rebuild), .otherwise = 100e-6},
    {.name = NULL}};

static const struct key clocks_keys[] = {
    {KEY("deviation", KEY_SECONDS, struct scenario, clocks.bound[RCL_BOUND_DEVIATION]),
     .otherwise = 5e-4},
    {KEY("longest", KEY_SECONDS, struct scenario, clocks.bound[RCL_BOUND_LONGEST]),
     .otherwise = 5e-3},
    {KEY("shortest", KEY_SECONDS, struct scenario, clocks.bound[RCL_BOUND_SHORTEST])},
    {KEY("skew", KEY_SECONDS, struct scenario, clocks.skew)},
    {.name = NULL}};

static const struct key expect_keys[] = {
    {KEY("verdict", KEY_CHOICE, struct scenario, expect.verdict), .names = verdicts,
     .least = EXPECT_COMPLETED, .otherwise = EXPECT_NOTHING},
    {KEY("program_exit", KEY_WHOLE, struct scenario, expect.program_exit), .most = 255,
     .otherwise = -1},
    {.name = NULL}};

static const struct key check_keys[] = {
    {KEY("checkpoints", KEY_WHOLE, struct scenario, check.checkpoints), .most = COUNT_MAX,
     .otherwise = 1},
    {KEY("crashes", KEY_WHOLE, struct scenario, check.crashes), .most = COUNT_MAX, .otherwise = 1},
    {KEY("per_node", KEY_RANKS, struct scenario, check.per_node), .least = 1, .otherwise = 1},
    {KEY("order", KEY_CHOICE, struct scenario, check.order), .names = orders},
    {KEY("connections", KEY_CHOICE, struct scenario, check.connections), .names = connections},
    {KEY("properties", KEY_TEXTS, struct scenario, check.properties)},
    {KEY("ltl", KEY_TEXT, struct scenario, check.ltl)},
    {KEY("reach", KEY_TEXTS, struct scenario, check.reach)},
    {KEY("lies", KEY_SET, struct scenario, check.lies), .names = lies, .word = "lie"},
    {KEY("exceeds", KEY_SET, struct scenario, check.exceeds), .names = bounds, .word = "bound"},
    {KEY("hazards", KEY_SET, struct scenario, check.hazards), .names = hazards, .word = "hazard"},
    {KEY("max_states", KEY_NUMBER, struct scenario, check.max_states)},
    {.name = NULL}};

static const struct key limits_keys[] = {
    {KEY("time", KEY_SECONDS, struct scenario, limits.time)},
    {KEY("memory", KEY_BYTES, struct scenario, limits.memory)},
    {KEY("simulated", KEY_SECONDS, struct scenario, limits.simulated)},
    {.name = NULL}};

const struct key scenario_keys[] = {
    {KEY("id", KEY_TEXT, struct scenario, id)},
    {KEY("statement", KEY_TEXT, struct scenario, statement)},
    {KEY("source", KEY_TEXT, struct scenario, source)},
    {BELOW("program", program_keys), .needed = true},
    {BELOW("platform", platform_keys), .sparse = true},
    {BELOW("protocol", protocol_keys), .needed = true},
    {BELOW("checkpoint", checkpoint_keys)},
    {KEY("failures", KEY_LIST, struct scenario, failures),
     .count = offsetof(struct scenario, failures_count), .keys = failure_keys,
     .size = sizeof(struct failure)},
    {KEY("detection", KEY_SECONDS, struct scenario, detection), .otherwise = 0.1},
    {BELOW("recovery", recovery_keys)},
    {KEY("output", KEY_CHOICE, struct scenario, output), .names = outputs},
    {KEY("output_files", KEY_TEXTS, struct scenario, output_files)},
    {KEY("schedule", KEY_TEXT, struct scenario, schedule)},
    {KEY("seed", KEY_NUMBER, struct scenario, seed), .otherwise = 1},
    {BELOW("clocks", clocks_keys)},
    {BELOW("limits", limits_keys)},
    {BELOW("expect", expect_keys)},
    {BELOW("check", check_keys)},
    {.name = NULL}};

const char *scenario_law_name(enum law law)
{
  return laws[law - LAW_EXPONENTIAL];
}
