#include "sim/host/failures/failures.h"

#include "sim/host/failures/failure_times.h"
#include "sim/host/failures/ulfm.h"

#include <string.h>

/* Describes a source of repeated failures: a node, all nodes of a zone or, for a platform, any
 * node. */
struct stream {
  const struct failure *failure;
  /* index of the node or of the zone's first node, or -1 if a node is drawn for each failure */
  int node;
  uint64_t key, more, draws;
  /* The failures of a trace, in the trace's order. Each has its own repair. */
  struct failure *outages;
  unsigned first; /* index in the trace of the outage that the run meets first */
  double shift;   /* seconds of the trace that lie before the beginning of the run */
};

static GArray *streams; /* struct stream */
static int nodes;

/* Returns the number of nodes that any layout of the scenario uses, with spares. */
static int count_nodes(void)
{
  const struct scenario *scenario = layer.scenario;
  int most = layout_nodes(&scenario->platform.layout, layer.ranks);
  for (unsigned i = 0; i < scenario->failures_count; i++)
    if (scenario->failures[i].restart_on)
      most = MAX(most, layout_nodes(scenario->failures[i].restart_on, layer.ranks));
  return most + scenario->platform.spares;
}

/* Makes the failure for one outage, with its own repair. The failure stays in memory until the run
 * ends. */
static const struct failure *once(const struct stream *stream, uint64_t number)
{
  if (stream->failure->repair_law == LAW_NONE)
    return stream->failure;
  struct failure *failure = g_memdup2(stream->failure, sizeof *failure);
  failure->repair = law_draw_repair(stream->failure, stream->more, number);
  return failure;
}

/* Adds the other failures of a burst. A node is drawn for each of them. */
static void plan_burst(const struct stream *stream, const struct entry *first, uint64_t number)
{
  uint64_t burst = law_stream(stream->more, (unsigned)number, "burst");
  for (int i = 1; i < stream->failure->burst; i++) {
    uint64_t draw = 2 * (uint64_t)i;
    struct entry entry = *first;
    entry.follows = true;
    entry.time += stream->failure->within * law_uniform(burst, draw);
    entry.chance = law_uniform(burst, draw + 1) * nodes;
    entry.node = (int)entry.chance;
    entry.chance -= entry.node;
    entry.zone = -1;
    agenda_add(&entry);
  }
}

/* Puts the next failure of a stream on the agenda. Draw 2n of a stream gives the time of its n-th
 * failure, and draw 2n + 1 gives the node or rank. */
static void plan(unsigned number, double from)
{
  struct stream *stream = &g_array_index(streams, struct stream, number);
  uint64_t draw = 2 * stream->draws++;
  double chance = law_uniform(stream->key, draw + 1), drawn = chance * nodes;
  bool draws = stream->node < 0;
  struct entry entry = {.time = from + law_draw(stream->failure, stream->key, draw),
                        .kind = ENTRY_CRASH,
                        .rank = -1,
                        .node = draws ? (int)drawn : stream->node,
                        .zone = stream->failure->of == OF_ZONE ? stream->node : -1,
                        .chance = draws ? drawn - (int)drawn : chance,
                        .stream = number,
                        .failure = once(stream, draw / 2)};
  agenda_add(&entry);
  plan_burst(stream, &entry, draw / 2);
}

/* Returns when the outage begins that comes `number` outages after the first one, in seconds of the
 * run. Sets `*node` to the outage's node. */
static double outage_start(const struct stream *stream, uint64_t number, int *node)
{
  const struct failure *failure = stream->failure;
  unsigned count = failure->outages_count;
  uint64_t at = stream->first + number;
  const struct outage *outage = &failure->outages[at % count];
  double length = failure->outages[count - 1].end;
  *node = outage->node;
  return outage->start - stream->shift + (at >= count ? length : 0.0);
}

/* Finds the next outage of a trace that concerns a node in use. */
static void plan_outage(unsigned number)
{
  struct stream *stream = &g_array_index(streams, struct stream, number);
  const struct failure *failure = stream->failure;
  uint64_t next = stream->draws;
  double start = 0.0;
  int node = 0;
  for (; next < failure->outages_count; next++) {
    start = outage_start(stream, next, &node);
    if (node < nodes)
      break;
  }
  stream->draws = next + 1;
  if (next < failure->outages_count)
    agenda_add(&(struct entry){
        .time = start,
        .kind = ENTRY_CRASH,
        .rank = -1,
        .node = node,
        .zone = -1,
        .stream = number,
        .failure = &stream->outages[(stream->first + next) % failure->outages_count]});
}

/* Draws the time in the trace at which the run begins. The run first meets the outages after that
 * time, and then the outages before that time. */
static void draw_beginning(struct stream *stream, unsigned index)
{
  const struct failure *failure = stream->failure;
  unsigned count = failure->outages_count;
  uint64_t key = law_stream(layer.scenario->seed, index, "");
  if (failure->begins == BEGINS_FIRST || count == 0)
    return;
  stream->shift = law_uniform(key, 0) * failure->outages[count - 1].end;
  while (stream->first < count && failure->outages[stream->first].start < stream->shift)
    stream->first++;
}

/* Adds the stream of a trace. A node returns when the trace says so, but not before its failure is
 * detected. */
static void add_trace(unsigned index)
{
  const struct failure *failure = &layer.scenario->failures[index];
  struct stream stream = {.failure = failure,
                          .outages = g_new(struct failure, failure->outages_count + 1)};
  for (unsigned i = 0; i < failure->outages_count; i++) {
    stream.outages[i] = *failure;
    stream.outages[i].repair =
        MAX(failure->outages[i].end - failure->outages[i].start - ulfm_detection(), 0.0);
  }
  draw_beginning(&stream, index);
  g_array_append_val(streams, stream);
  plan_outage(streams->len - 1);
}

int failures_nodes(void)
{
  return nodes;
}

bool failures_share_zone(int node, int other)
{
  char *const *zones = layer.scenario->platform.layout.zones;
  return !strcmp(zones[node], zones[other]);
}

/* Returns whether the node is the first node of its zone. */
static bool begins_zone(int node)
{
  for (int other = 0; other < node; other++)
    if (failures_share_zone(node, other))
      return false;
  return true;
}

static void add_stream(unsigned index, int node)
{
  const struct scenario *scenario = layer.scenario;
  const struct layout *layout = &scenario->platform.layout;
  bool zone = scenario->failures[index].of == OF_ZONE;
  bool server = scenario->failures[index].kills == KILLS_SERVER;
  const char *name = server     ? "server"
                     : node < 0 ? ""
                     : zone     ? layout->zones[node]
                                : layout->nodes[node];
  uint64_t key = law_stream(scenario->seed, index, name);
  struct stream stream = {.failure = &scenario->failures[index],
                          .node = node,
                          .key = key,
                          .more = law_stream(key, 0, "")};
  g_array_append_val(streams, stream);
  plan(streams->len - 1, 0.0);
}

void failures_begin(void)
{
  streams = g_array_new(FALSE, FALSE, sizeof(struct stream));
  nodes = count_nodes();
  for (unsigned i = 0; i < layer.scenario->failures_count; i++) {
    const struct failure *failure = &layer.scenario->failures[i];
    if (failure->trigger == TRIGGER_TIME)
      agenda_add(&(struct entry){
          .time = failure->at, .kind = ENTRY_CRASH, .rank = failure->rank, .failure = failure});
    else if (failure->trigger == TRIGGER_TRACE)
      add_trace(i);
    else if (failure->trigger == TRIGGER_LAW &&
             (failure->of == OF_PLATFORM || failure->kills == KILLS_SERVER))
      add_stream(i, -1);
    else if (failure->trigger == TRIGGER_LAW)
      for (int node = 0; node < nodes; node++)
        if (failure->of == OF_NODE || begins_zone(node))
          add_stream(i, node);
  }
}

void failures_next(const struct entry *entry)
{
  if (entry->follows)
    return;
  if (entry->failure->trigger == TRIGGER_LAW)
    plan(entry->stream, machine_now() + entry->failure->repair +
                            (entry->failure->kills == KILLS_SERVER ? 0.0 : ulfm_detection()));
  if (entry->failure->trigger == TRIGGER_TRACE)
    plan_outage(entry->stream);
}
