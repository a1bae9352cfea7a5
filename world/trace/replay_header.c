/* Reads the header of a trace, and sets up the world that it describes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/neighbours.h"
#include "world/rules/properties.h"
#include "world/scenario/plugin.h"
#include "world/scenario/scenario.h"
#include "world/trace/replay.h"
#include "world/trace/world_of.h"

bool replay_bad(struct replay *r, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(r->error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s:%u: %s", r->file, r->line, text);
  return false;
}

void replay_clear_header(struct header *header)
{
  g_free(header->protocol);
  g_free(header->topology);
  if (header->script)
    g_string_free(header->script, TRUE);
}

bool replay_whole(struct replay *r, const char *key, const char *value, guint64 least, guint64 most,
                  guint64 *number)
{
  if (g_ascii_string_to_unsigned(value, 10, least, most, number, NULL))
    return true;
  return replay_bad(r, "%s is '%s', expected %s from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                    key, value, "a number", least, most);
}

static bool either(struct replay *r, const char *key, const char *value, const char *yes,
                   const char *no, bool *flag)
{
  *flag = g_str_equal(value, yes);
  if (*flag || g_str_equal(value, no))
    return true;
  return replay_bad(r, "%s is '%s', expected %s or %s", key, value, yes, no);
}

static bool read_lie(struct replay *r, const char *value, struct header *header)
{
  for (size_t i = 0; i < TRACE_LIES; i++)
    if (g_str_equal(value, trace_lies[i].name)) {
      header->lies |= trace_lies[i].lie;
      return true;
    }
  return replay_bad(
      r, "lie is '%s', expected drop, duplicate, early-durable, windows-lost or locks-lost", value);
}

static bool read_level(struct replay *r, const char *value, struct header *header)
{
  unsigned every, needs, set, losses, ring;
  int end = 0;
  sscanf(value, "%5u %1u %5u %5u %1u%n", &every, &needs, &set, &losses, &ring, &end);
  if (!end || value[end] || !every || needs > CRASH_LEAVES_ALL || !set || set > G_MAXINT16 ||
      losses > set || ring > 1 || header->levels == WORLD_LEVELS)
    return replay_bad(r, "level is '%s', expected five numbers, at most %d times", value,
                      WORLD_LEVELS);
  header->level[header->levels++] = (struct world_level){.every = every,
                                                         .needs = (uint8_t)needs,
                                                         .set = (int16_t)set,
                                                         .losses = (int16_t)losses,
                                                         .ring = ring};
  return true;
}

/* Reads a parameter of the protocol, which an earlier line has named. Other keys are for other
 * readers (docs/trace.md). */
static bool read_parameter(struct replay *r, const char *key, const char *value,
                           struct header *header)
{
  const struct rcl_protocol *protocol = header->protocol ? plugin_protocol(header->protocol) : NULL;
  for (int i = 0; protocol && protocol->parameters && protocol->parameters[i]; i++)
    if (g_str_equal(key, protocol->parameters[i]))
      return replay_whole(r, key, value, 0, G_MAXINT32, &header->parameter[i]);
  return true;
}

static const struct {
  const char *key;
  size_t offset; /* offset of the number in struct header */
  guint64 least, most;
} header_numbers[] = {
    {"ranks", offsetof(struct header, ranks), 1, G_MAXINT16},
    {"capacity", offsetof(struct header, capacity), 0, G_MAXINT32},
    {"crashes", offsetof(struct header, crashes), 0, G_MAXUINT16},
    {"timers", offsetof(struct header, timers), 0, G_MAXUINT16},
    {"per_node", offsetof(struct header, per_node), 1, G_MAXINT16},
    {"stored_per_node", offsetof(struct header, stored_per_node), 1, G_MAXINT16},
    {"attempts", offsetof(struct header, attempts), 1, ATTEMPTS_MOST},
    {"hazards", offsetof(struct header, hazards), 0, 2 * HAZARD_CONTROL_OVERTAKES - 1},
    {"exceeds", offsetof(struct header, exceeds), 0, (1u << RCL_BOUNDS) - 1}};

bool replay_read_header(struct replay *r, const char *text, struct header *header)
{
  const char *space = strchr(text, ' ');
  if (!space)
    return replay_bad(r, "found '%s', expected 'key value' or ---", text);
  g_autofree char *key = g_strndup(text, (gsize)(space - text));
  const char *value = space + 1;
  header->bounded |= g_str_equal(key, "crashes") || g_str_equal(key, "timers");
  header->stamps |= g_str_equal(key, "stamps");
  for (size_t i = 0; i < G_N_ELEMENTS(header_numbers); i++)
    if (g_str_equal(key, header_numbers[i].key))
      return replay_whole(r, key, value, header_numbers[i].least, header_numbers[i].most,
                          (guint64 *)(void *)((char *)header + header_numbers[i].offset));
  if (g_str_equal(key, "protocol") || g_str_equal(key, "topology")) {
    char **text = *key == 'p' ? &header->protocol : &header->topology;
    g_free(*text);
    *text = g_strdup(value);
  } else if (g_str_equal(key, "order")) {
    header->overtaking = g_str_equal(value, "none");
    return header->overtaking || either(r, key, value, "fifo", "any", &header->fifo);
  } else if (g_str_equal(key, "places")) {
    return either(r, key, value, "anywhere", "program", &header->anywhere);
  } else if (g_str_equal(key, "level")) {
    return read_level(r, value, header);
  } else if (g_str_equal(key, "lie")) {
    return read_lie(r, value, header);
  } else if (g_str_equal(key, "script")) {
    if (!header->script)
      header->script = g_string_new(NULL);
    g_string_append_printf(header->script, "%s\n", value);
  }
  return read_parameter(r, key, value, header);
}

static bool begin_script(struct replay *r, const struct header *header)
{
  if (!header->script)
    return true;
  int line;
  char *message;
  r->script = script_parse(header->script->str, (int)header->ranks, &line, &message);
  if (r->script)
    return true;
  replay_bad(r, "line %d of the script: %s", line, message);
  free(message);
  return false;
}

static void *member_key(unsigned comm, unsigned rank)
{
  return GUINT_TO_POINTER(comm << 16 | rank);
}

static bool is_member(const void *ctx, int comm, int rank)
{
  const struct replay *r = ctx;
  return comm == 0 || g_hash_table_contains(r->members, member_key((unsigned)comm, (unsigned)rank));
}

void replay_find_members(struct replay *r, char **lines)
{
  unsigned rank, comm;
  r->members = g_hash_table_new(NULL, NULL);
  for (; *lines; lines++)
    if (sscanf(*lines, "%*s %u member comm=%u", &rank, &comm) == 2)
      g_hash_table_add(r->members, member_key(comm, rank));
}

bool replay_begin(struct replay *r, const struct header *header)
{
  if (!header->protocol || !header->ranks)
    return replay_bad(r, "the header ends, expected lines 'protocol NAME' and 'ranks N' in it");
  const struct rcl_protocol *protocol = plugin_protocol(header->protocol);
  if (!protocol) {
    world_of_load_beside(r->file);
    protocol = plugin_protocol(header->protocol);
  }
  if (!protocol)
    return replay_bad(r,
                      "there is no protocol '%s', expected one of 'recline list protocols', or the "
                      "scenario that recline has written with the trace",
                      header->protocol);
  if (!begin_script(r, header))
    return false;
  if (r->script && !protocol->collectives && !script_spell_out(r->script))
    return replay_bad(r, "too many messages in its collectives, expected a smaller %s", "script");
  struct world *world = r->world;
  world_init(world, protocol, (int)header->ranks, (uint32_t)header->capacity);
  for (int i = 0; protocol->parameters && protocol->parameters[i]; i++)
    world_set_parameter(world, protocol->parameters[i], (uint32_t)header->parameter[i]);
  char problem[NEIGHBOURS_PROBLEM];
  if (!world_set_topology(world, header->topology, problem)) {
    world_clear(world);
    return replay_bad(r, "topology is %s", problem);
  }
  world->fifo = header->fifo;
  world->overtaking = header->overtaking;
  world->places_anywhere = header->anywhere;
  world->bounded = header->bounded;
  world->line_stamps = header->stamps;
  world->faults = header->lies;
  world->hazards = (unsigned)header->hazards;
  world->per_node = MAX((int)header->per_node, 1);
  world->exceeds = (unsigned)header->exceeds;
  world->attempts = (uint32_t)header->attempts;
  world->stored_per_node = MAX((int)header->stored_per_node, 1);
  for (int i = 0; i < header->levels; i++)
    world_add_level(world, header->level[i]);
  world->check = true;
  world->script = r->script;
  world->properties = (const char *const *)r->properties->pdata;
  world->member = is_member;
  world->member_ctx = r;
  parts_init(&r->parts, world);
  r->begun = true;
  if (world->bounded)
    world_guard(world, properties_include(world->properties, "pure"));
  world_begin(world, (unsigned)header->crashes, (unsigned)header->timers);
  r->actions.capacity = RCL_ACTIONS_MAX(&world->config[0]);
  r->actions.item = g_new0(struct rcl_action, r->actions.capacity);
  return true;
}
