/* From struct scenario back to YAML: struct scenario -> struct keys -> libcyaml -> file. */
#include <math.h>
#include <string.h>

#include "protocols/text.h"
#include "verify/scenario/keys.h"
#include "verify/scenario/platform_file.h"
#include "verify/scenario/scenario.h"

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

static struct keys_after *raw_after(struct pool *pool, const struct failure *from)
{
  struct keys_after *after = keep(pool, g_new0(struct keys_after, 1));
  after->event = (char *)event_name(from->after.event);
  after->rank = number(pool, from->after.rank);
  after->checkpoint = number(pool, from->after.checkpoint);
  after->iteration = number(pool, from->after.iteration);
  after->count = number(pool, from->after.count);
  after->recovery = number(pool, from->after.recovery);
  return after;
}

static struct keys_failure *raw_failures(struct pool *pool, const struct scenario *scenario)
{
  struct keys_failure *all = keep(pool, g_new0(struct keys_failure, scenario->failures_count + 1));
  for (unsigned i = 0; i < scenario->failures_count; i++) {
    const struct failure *from = &scenario->failures[i];
    all[i].rank = number(pool, from->rank);
    all[i].kills = choice(pool, (int)from->kills);
    all[i].repair = amount(pool, from->repair, "s");
    if (from->restart_on) {
      struct keys_layout layout = {from->restart_on->interconnect,
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

static struct keys_platform *raw_platform(struct pool *pool, const struct scenario *scenario)
{
  if (!scenario->platform.file)
    return NULL;
  struct keys_platform *platform = keep(pool, g_new0(struct keys_platform, 1));
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
      names[(*count)++] = (char *)keys_bounds[i];
  return names;
}

static struct keys raw_of(struct pool *pool, const struct scenario *scenario)
{
  const bool binary = scenario->program.binary != NULL;
  unsigned exceeds_count = 0;
  struct keys raw = {
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
                .per_node = number(pool, scenario->check.per_node),
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
  struct keys raw = raw_of(&pool, scenario);
  char *yaml = NULL;
  size_t length = 0;
  cyaml_err_t result = cyaml_save_data(&yaml, &length, &keys_cyaml, &keys_schema, &raw, 0);
  g_ptr_array_unref(pool.items);
  bool saved = result == CYAML_OK;
  if (saved)
    saved = g_file_set_contents(file, yaml, (gssize)length, error); /* temporary name, rename */
  else
    g_set_error(error, SCENARIO_ERROR, 0, "%s: %s, expected a scenario that can be saved", file,
                cyaml_strerror(result));
  if (yaml)
    keys_cyaml.mem_fn(NULL, yaml, 0);
  return saved;
}
