#include "sim/host/result/phases.h"

#include "protocols/text.h"
#include "sim/host/rank/shadow.h"

#include <string.h>

/* One end of a phase: a step with that event or action, as text_is_moment() tells. */
struct moment {
  enum rcl_event_kind event;
  enum rcl_action_kind action;
  const char *text;
  bool has_fields; /* else the kind tells */
};

struct phase {
  struct moment from, to;
  unsigned name; /* index of the first phase with this name */
  bool repeats;  /* from and to are the same */
};

/* Where a rank stands in phases of one name. */
struct stage {
  double began;
  bool open;
};

/* Seconds of each checkpoint by phase and rank; negative where the rank was not in that phase. */
static GHashTable *checkpoints; /* number -> double[] */
static const struct rcl_phase *declared;
static struct phase *phases;
static unsigned count;
static uint32_t events, kinds;  /* sets of events, and of actions, with which phases begin or end */
static struct stage *stages;    /* by rank and name */
static uint32_t *checkpoint_of; /* by rank: the last checkpoint that it was told of */

static struct moment read_moment(const char *text)
{
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  struct moment moment = {event_named(words[0]), action_named(words[0]), text, words[1] != NULL};
  REQUIRE(moment.event || moment.action, "a phase begins and ends with an event or an action");
  return moment;
}

static bool begin(void)
{
  declared = shadow_protocol()->phases;
  if (!declared)
    return false;
  while (declared[count].name)
    count++;
  phases = g_new0(struct phase, count);
  for (unsigned i = 0; i < count; i++) {
    phases[i] = (struct phase){.from = read_moment(declared[i].from),
                               .to = read_moment(declared[i].to),
                               .repeats = !strcmp(declared[i].from, declared[i].to)};
    while (strcmp(declared[phases[i].name].name, declared[i].name))
      phases[i].name++;
    events |= 1U << phases[i].from.event | 1U << phases[i].to.event;
    kinds |= 1U << phases[i].from.action | 1U << phases[i].to.action;
  }
  events |= 1U << RCL_EVENT_START;
  kinds |= 1U << RCL_ACTION_CAPTURE;
  stages = g_new0(struct stage, (gsize)layer.ranks * count);
  checkpoint_of = g_new0(uint32_t, (gsize)layer.ranks);
  checkpoints = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  return true;
}

/* Most steps begin and end no phase. */
static bool may_be_moment(const struct rcl_event *event, const struct rcl_actions *actions)
{
  bool may_be = events >> event->kind & 1;
  for (uint32_t i = 0; i < actions->count && !may_be; i++)
    may_be = kinds >> actions->item[i].kind & 1;
  return may_be;
}

/* Returns whether the step is that moment; sets `checkpoint` to the one that the step names. */
static bool is_moment(const struct moment *moment, const struct rcl_event *event,
                      const struct rcl_actions *actions, uint32_t *checkpoint)
{
  char text[TEXT_MAX];
  if (moment->event && event->kind == moment->event &&
      (!moment->has_fields ||
       text_is_moment(event_print(shadow_protocol(), event, text), moment->text))) {
    *checkpoint = event->checkpoint ? event->checkpoint : *checkpoint;
    return true;
  }
  for (uint32_t i = 0; moment->action && i < actions->count; i++) {
    const struct rcl_action *action = &actions->item[i];
    if (action->kind != moment->action ||
        (moment->has_fields &&
         !text_is_moment(action_print(shadow_protocol(), action, text), moment->text)))
      continue;
    *checkpoint = action->checkpoint ? action->checkpoint : *checkpoint;
    return true;
  }
  return false;
}

static void note(uint32_t checkpoint, int rank, unsigned name, double seconds)
{
  gsize all = (gsize)layer.ranks * count;
  double *taken = g_hash_table_lookup(checkpoints, GUINT_TO_POINTER(checkpoint));
  if (!taken) {
    taken = g_new(double, all);
    for (gsize i = 0; i < all; i++)
      taken[i] = -1.0;
    g_hash_table_insert(checkpoints, GUINT_TO_POINTER(checkpoint), taken);
  }
  taken[name * (gsize)layer.ranks + (gsize)rank] = seconds;
}

static void pass(const struct rank *r, const struct phase *phase, const struct rcl_event *event,
                 const struct rcl_actions *actions, bool end)
{
  struct stage *stage = &stages[(gsize)r->index * count + phase->name];
  uint32_t checkpoint = checkpoint_of[r->index];
  if (!(end ? stage->open : !stage->open || !phase->repeats) ||
      !is_moment(end ? &phase->to : &phase->from, event, actions, &checkpoint))
    return;
  if (end || phase->repeats)
    note(checkpoint, r->index, phase->name, end ? machine_now() - stage->began : 0.0);
  if (!end)
    stage->began = machine_now();
  stage->open = !end || phase->repeats;
}

void phases_step(const struct rank *r, const struct rcl_event *event,
                 const struct rcl_actions *actions)
{
  static bool begun, wanted;
  if (!begun)
    wanted = begin();
  begun = true;
  if (!wanted || !may_be_moment(event, actions))
    return;
  if (event->kind == RCL_EVENT_START)
    checkpoint_of[r->index] = event->checkpoint;
  for (uint32_t i = 0; i < actions->count; i++)
    if (actions->item[i].kind == RCL_ACTION_CAPTURE)
      checkpoint_of[r->index] = actions->item[i].checkpoint;
  for (unsigned i = 0; i < count; i++)
    pass(r, &phases[i], event, actions, true);
  for (unsigned i = 0; i < count && event->kind == RCL_EVENT_START; i++)
    stages[(gsize)r->index * count + i].open = false; /* cut off by the failure */
  for (unsigned i = 0; i < count; i++)
    pass(r, &phases[i], event, actions, false);
}

/* ---- the result ---- */

static gint by_number(gconstpointer a, gconstpointer b)
{
  guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);
  return (x > y) - (x < y);
}

static void report_phase(struct result *result, GArray *rows, uint32_t checkpoint, unsigned name)
{
  const double *taken = g_hash_table_lookup(checkpoints, GUINT_TO_POINTER(checkpoint));
  struct run_phase row = {.checkpoint = checkpoint};
  double sum = 0.0;
  for (int rank = 0; rank < result->ranks; rank++) {
    double seconds = taken[name * (gsize)result->ranks + (gsize)rank];
    if (seconds < 0.0)
      continue;
    row.least = row.ranks && row.least < seconds ? row.least : seconds;
    row.most = MAX(row.most, seconds);
    row.ranks++;
    sum += seconds;
  }
  if (!row.ranks)
    return;
  row.mean = sum / row.ranks;
  row.name = g_strdup(declared[name].name);
  g_array_append_val(rows, row);
}

void phases_report(struct result *result)
{
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct run_phase));
  g_autoptr(GList) numbers =
      checkpoints ? g_list_sort(g_hash_table_get_keys(checkpoints), by_number) : NULL;
  for (const GList *item = numbers; item; item = item->next)
    for (unsigned name = 0; name < count; name++)
      report_phase(result, rows, GPOINTER_TO_UINT(item->data), name);
  result->phases_count = rows->len;
  result->phases = (struct run_phase *)(void *)g_array_free(rows, FALSE);
}
