#include "sim/host/failures.h"

#include "sim/host/law.h"
#include "sim/host/ulfm.h"

/* What fails again and again: a node or, of a platform, any of them. */
struct stream {
  const struct failure *failure;
  int node; /* -1: drawn for each failure */
  uint64_t key, draws;
  struct failure *outages; /* of a trace, each with its own repair */
};

static GArray *streams; /* struct stream */
static int nodes;

/* Nodes that any layout of the scenario uses, spares among them. */
static int count_nodes(void)
{
  const struct scenario *scenario = layer.scenario;
  int most = layout_nodes(&scenario->platform.layout, layer.ranks);
  for (unsigned i = 0; i < scenario->failures_count; i++)
    if (scenario->failures[i].restart_on)
      most = MAX(most, layout_nodes(scenario->failures[i].restart_on, layer.ranks));
  return most + scenario->platform.spares;
}

/* Draws 2n and 2n + 1 of a stream are those of its n-th failure: when, and which node. */
static void plan(unsigned number, double from)
{
  struct stream *stream = &g_array_index(streams, struct stream, number);
  uint64_t draw = 2 * stream->draws++;
  double chance = stream->node < 0 ? law_uniform(stream->key, draw + 1) : 0.0;
  agenda_add(&(struct entry){.time = from + law_draw(stream->failure, stream->key, draw),
                             .kind = ENTRY_CRASH,
                             .rank = -1,
                             .node = stream->node < 0 ? (int)(chance * nodes) : stream->node,
                             .stream = number,
                             .failure = stream->failure});
}

/* The next of a trace that is of a node in use and not past. */
static void plan_outage(unsigned number)
{
  struct stream *stream = &g_array_index(streams, struct stream, number);
  const struct failure *failure = stream->failure;
  uint64_t next = stream->draws;
  while (next < failure->outages_count &&
         (failure->outages[next].node >= nodes || failure->outages[next].start < machine_now()))
    next++;
  stream->draws = next + 1;
  if (next < failure->outages_count)
    agenda_add(&(struct entry){.time = failure->outages[next].start,
                               .kind = ENTRY_CRASH,
                               .rank = -1,
                               .node = failure->outages[next].node,
                               .stream = number,
                               .failure = &stream->outages[next]});
}

/* A node is back where the trace says so, but not before its failure is detected. */
static void add_trace(const struct failure *failure)
{
  struct stream stream = {.failure = failure,
                          .outages = g_new(struct failure, failure->outages_count + 1)};
  for (unsigned i = 0; i < failure->outages_count; i++) {
    stream.outages[i] = *failure;
    stream.outages[i].repair =
        MAX(failure->outages[i].end - failure->outages[i].start - ulfm_detection(), 0.0);
  }
  g_array_append_val(streams, stream);
  plan_outage(streams->len - 1);
}

static void add_stream(unsigned index, int node)
{
  const struct scenario *scenario = layer.scenario;
  const char *name = node < 0 ? "" : scenario->platform.layout.nodes[node];
  struct stream stream = {.failure = &scenario->failures[index],
                          .node = node,
                          .key = law_stream(scenario->seed, index, name)};
  g_array_append_val(streams, stream);
  plan(streams->len - 1, machine_now());
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
      add_trace(failure);
    else if (failure->trigger == TRIGGER_LAW && failure->of == OF_PLATFORM)
      add_stream(i, -1);
    else if (failure->trigger == TRIGGER_LAW)
      for (int node = 0; node < nodes; node++)
        add_stream(i, node);
  }
}

void failures_next(const struct entry *entry)
{
  if (entry->failure->trigger == TRIGGER_LAW)
    plan(entry->stream, machine_now() + ulfm_detection() + entry->failure->repair);
  if (entry->failure->trigger == TRIGGER_TRACE)
    plan_outage(entry->stream);
}
