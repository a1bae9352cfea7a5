#include "verify/scenario/keys.h"

#include <stdbool.h>
#include <stddef.h>

#include "verify/scenario/scenario.h"

const char *const keys_bounds[] = {[RCL_BOUND_DEVIATION] = "deviation",
                                   [RCL_BOUND_LONGEST] = "longest",
                                   [RCL_BOUND_SHORTEST] = "shortest"};

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
    TEXT("binary", OPTIONAL, struct keys_program, binary),
    LIST("args", struct keys_program, args, &text, CYAML_FLAG_FLOW),
    TEXT("script", OPTIONAL | CYAML_FLAG_SCALAR_LITERAL, struct keys_program, script),
    WHOLE("ranks", NEEDED, struct keys_program, ranks), CYAML_FIELD_END};

static const cyaml_schema_field_t platform_fields[] = {
    TEXT("file", NEEDED, struct keys_platform, file),
    CHOICE("placement", struct keys_platform, placement, placements),
    TEXT("interconnect", OPTIONAL, struct keys_platform, interconnect),
    WHOLE("per_node", OPTIONAL, struct keys_platform, per_node),
    WHOLE("spares", OPTIONAL, struct keys_platform, spares),
    TEXT("dispatcher", OPTIONAL, struct keys_platform, dispatcher),
    CYAML_FIELD_END};

static const cyaml_schema_field_t protocol_fields[] = {
    TEXT("name", NEEDED, struct keys_protocol, name),
    TEXT("file", OPTIONAL, struct keys_protocol, file),
    WHOLE("capacity", OPTIONAL, struct keys_protocol, capacity),
    WHOLE("interval", OPTIONAL, struct keys_protocol, interval),
    WHOLE("log", OPTIONAL, struct keys_protocol, log),
    CHOICE("control", struct keys_protocol, control, controls),
    CYAML_FIELD_END};

static const cyaml_schema_field_t checkpoint_fields[] = {
    TEXT("every", OPTIONAL, struct keys_checkpoint, every),
    CHOICE("storage", struct keys_checkpoint, storage, storages),
    CHOICE("writes", struct keys_checkpoint, writes, writes),
    CHOICE("places", struct keys_checkpoint, places, places),
    TEXT("bytes", OPTIONAL, struct keys_checkpoint, bytes),
    CYAML_FIELD_END};

static const cyaml_schema_field_t after_fields[] = {
    TEXT("event", NEEDED, struct keys_after, event),
    WHOLE("rank", OPTIONAL, struct keys_after, rank),
    WHOLE("checkpoint", OPTIONAL, struct keys_after, checkpoint),
    WHOLE("iteration", OPTIONAL, struct keys_after, iteration),
    WHOLE("count", OPTIONAL, struct keys_after, count),
    WHOLE("recovery", OPTIONAL, struct keys_after, recovery),
    CYAML_FIELD_END};

static const cyaml_schema_field_t layout_fields[] = {
    TEXT("interconnect", OPTIONAL, struct keys_layout, interconnect),
    WHOLE("per_node", OPTIONAL, struct keys_layout, per_node), CYAML_FIELD_END};

static const cyaml_schema_field_t failure_fields[] = {
    WHOLE("rank", NEEDED, struct keys_failure, rank), TEXT("at", OPTIONAL, struct keys_failure, at),
    CYAML_FIELD_MAPPING_PTR("after", OPTIONAL | CYAML_FLAG_FLOW, struct keys_failure, after,
                            after_fields),
    TEXT("repair", OPTIONAL, struct keys_failure, repair),
    CHOICE("kills", struct keys_failure, kills, kills),
    CYAML_FIELD_MAPPING_PTR("restart_on", OPTIONAL | CYAML_FLAG_FLOW, struct keys_failure,
                            restart_on, layout_fields),
    /* reserved: refused with failure_laws */
    CYAML_FIELD_IGNORE("nodes", OPTIONAL), CYAML_FIELD_IGNORE("mtbf", OPTIONAL),
    CYAML_FIELD_IGNORE("law", OPTIONAL), CYAML_FIELD_IGNORE("shape", OPTIONAL), CYAML_FIELD_END};

static const cyaml_schema_value_t failure = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_FLOW, struct keys_failure, failure_fields)};

static const cyaml_schema_field_t recovery_fields[] = {
    CHOICE("runtime", struct keys_recovery, runtime, runtimes),
    TEXT("revoke", OPTIONAL, struct keys_recovery, revoke),
    TEXT("agree", OPTIONAL, struct keys_recovery, agree),
    TEXT("spawn", OPTIONAL, struct keys_recovery, spawn),
    TEXT("rebuild", OPTIONAL, struct keys_recovery, rebuild),
    CYAML_FIELD_END};

static const cyaml_schema_field_t expect_fields[] = {
    CHOICE("verdict", struct keys_expect, verdict, verdicts),
    WHOLE("program_exit", OPTIONAL, struct keys_expect, program_exit), CYAML_FIELD_END};

static const cyaml_schema_field_t clocks_fields[] = {
    TEXT("deviation", OPTIONAL, struct keys_clocks, deviation),
    TEXT("longest", OPTIONAL, struct keys_clocks, longest),
    TEXT("shortest", OPTIONAL, struct keys_clocks, shortest),
    TEXT("skew", OPTIONAL, struct keys_clocks, skew), CYAML_FIELD_END};

static const cyaml_schema_field_t check_fields[] = {
    WHOLE("checkpoints", OPTIONAL, struct keys_check, checkpoints),
    WHOLE("crashes", OPTIONAL, struct keys_check, crashes),
    WHOLE("per_node", OPTIONAL, struct keys_check, per_node),
    CHOICE("order", struct keys_check, order, orders),
    CHOICE("connections", struct keys_check, connections, connections),
    LIST("properties", struct keys_check, properties, &text, CYAML_FLAG_FLOW),
    LIST("lies", struct keys_check, lies, &text, CYAML_FLAG_FLOW),
    LIST("exceeds", struct keys_check, exceeds, &text, CYAML_FLAG_FLOW),
    CYAML_FIELD_UINT_PTR("max_states", OPTIONAL, struct keys_check, max_states),
    CYAML_FIELD_END};

static const cyaml_schema_field_t scenario_fields[] = {
    TEXT("id", OPTIONAL, struct keys, id),
    TEXT("statement", OPTIONAL, struct keys, statement),
    TEXT("source", OPTIONAL, struct keys, source),
    CYAML_FIELD_MAPPING("program", NEEDED, struct keys, program, program_fields),
    CYAML_FIELD_MAPPING_PTR("platform", OPTIONAL, struct keys, platform, platform_fields),
    CYAML_FIELD_MAPPING("protocol", NEEDED, struct keys, protocol, protocol_fields),
    CYAML_FIELD_MAPPING("checkpoint", OPTIONAL, struct keys, checkpoint, checkpoint_fields),
    LIST("failures", struct keys, failures, &failure, CYAML_FLAG_BLOCK),
    TEXT("detection", OPTIONAL, struct keys, detection),
    CYAML_FIELD_MAPPING("recovery", OPTIONAL, struct keys, recovery, recovery_fields),
    TEXT("schedule", OPTIONAL, struct keys, schedule),
    CYAML_FIELD_UINT_PTR("seed", OPTIONAL, struct keys, seed),
    CYAML_FIELD_MAPPING("clocks", OPTIONAL, struct keys, clocks, clocks_fields),
    CYAML_FIELD_MAPPING("expect", OPTIONAL, struct keys, expect, expect_fields),
    CYAML_FIELD_MAPPING("check", OPTIONAL, struct keys, check, check_fields),
    CYAML_FIELD_END};

const cyaml_schema_value_t keys_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct keys, scenario_fields)};

const cyaml_config_t keys_cyaml = {.mem_fn = cyaml_mem, .flags = CYAML_CFG_STYLE_BLOCK};
