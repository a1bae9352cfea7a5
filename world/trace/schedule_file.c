#include "world/trace/schedule_file.h"

#include "world/scenario/platform_file.h"

/* Names the platform. Any machine is right, because the schedule fixes the order of events. */
static const char platform[] = "clan.xml";

const char *schedule_file_refuses(const struct scenario *claim, const struct script *script)
{
  if (claim->check.lies)
    return "the host lies";
  if (claim->check.order == ORDER_NONE)
    return "messages overtake each other, against MPI";
  for (int i = 0; i < script->ranks * SCRIPT_COMMS; i++)
    if (script->members[i])
      return "real MPI makes communicators by collectives";
  if (script->free)
    return "programs are free";
  if (script->spelled)
    return "collectives are made of other messages than MPI's";
  return NULL;
}

bool schedule_file_write(const struct scenario *claim, const char *property, const char *trace,
                         const char *file, GError **error)
{
  char *properties[] = {(char *)property, NULL};
  g_autofree char *found = platform_find(platform, claim->directory);
  struct scenario run = *claim;
  run.schedule = (char *)trace;
  run.check.properties = properties;
  run.failures_count = 0;
  run.checkpoint.every = 0;
  run.expect.verdict = EXPECT_NOTHING;
  run.expect.program_exit = -1;
  if (!run.platform.text) {
    run.platform.file = found ? found : (char *)platform;
    run.platform.layout.per_node = 1;
  }
  return scenario_save(&run, file, error);
}

static const char *refuses(const struct scenario *scenario, const struct trace_story *story)
{
  const struct rcl_protocol *protocol = rcl_protocol_named(scenario->protocol.name);
  if (story->protocol != protocol || story->ranks != scenario->program.ranks)
    return "of another protocol or number of ranks, expected those of the scenario";
  if (story->overtaking)
    return "messages overtake each other in it, expected MPI's order";
  if (story->free)
    return "its programs are free, expected scripts";
  if (story->spelled)
    return "its collectives are messages, expected a protocol that handles collectives";
  for (unsigned i = 0; i < story->count; i++)
    if (story->moves[i].kind == MOVE_FAULT)
      return "its host lies, expected one that does not";
  return NULL;
}

/* Leaves out the ends of synchronous sends, which the run itself brings about. */
static void leave_out_ends_of_sends(struct trace_story *story)
{
  unsigned count = 0, repeated = story->count - story->again;
  for (unsigned i = 0; i < story->count; i++)
    if (story->moves[i].kind != MOVE_SENT)
      story->moves[count++] = story->moves[i];
    else if (i >= repeated)
      story->again--;
  story->count = count;
}

bool schedule_file_read(const struct scenario *scenario, struct trace_story *story, GError **error)
{
  if (!trace_read(scenario->schedule, story, error))
    return false;
  const char *why = refuses(scenario, story);
  if (!why) {
    leave_out_ends_of_sends(story);
    return true;
  }
  scenario_complain(scenario, "schedule", error, "%s", why);
  trace_story_clear(story);
  return false;
}
