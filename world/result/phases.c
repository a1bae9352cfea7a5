#include "world/result/phases.h"

#include <string.h>

#include "base/breach.h"
#include "protocols/text.h"

/* Describes the beginning or the end of a phase: a step with that event or action, as
 * text_is_moment() tells. */
struct moment {
  enum rcl_event_kind event;
  enum rcl_action_kind action;
  const char *text;
  bool has_fields; /* the fields are compared, too, not only the kind */
};

struct phase {
  struct moment from, to;
  unsigned name; /* index of the first phase with this name */
  bool repeats;  /* true if `from` and `to` are the same */
};

/* Holds the progress of a rank in phases of one name. */
struct stage {
  double began;
  bool open;
};

struct phases {
  const struct rcl_protocol *protocol;
  int ranks;
  /* Number of a checkpoint -> double[]: seconds by phase and rank; negative if the rank was not in
   * that phase. */
  GHashTable *checkpoints;
  struct phase *phase;
  unsigned count;
  uint32_t events, kinds;  /* sets of events, and of actions, that begin or end phases */
  struct stage *stages;    /* by rank and name */
  uint32_t *checkpoint_of; /* by rank: the last checkpoint of which the rank was told */
};

static struct moment read_moment(const char *text)
{
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  struct moment moment = {event_named(words[0]), action_named(words[0]), text, words[1] != NULL};
  REQUIRE(moment.event || moment.action, "a phase begins and ends with an event or an action");
  return moment;
}

struct phases *phases_new(const struct rcl_protocol *protocol, int ranks)
{
  const struct rcl_phase *declared = protocol->phases;
  struct phases *p = g_new0(struct phases, 1);
  *p = (struct phases){.protocol = protocol, .ranks = ranks};
  while (declared && declared[p->count].name)
    p->count++;
  p->phase = g_new0(struct phase, p->count);
  for (unsigned i = 0; i < p->count; i++) {
    p->phase[i] = (struct phase){.from = read_moment(declared[i].from),
                                 .to = read_moment(declared[i].to),
                                 .repeats = !strcmp(declared[i].from, declared[i].to)};
    while (strcmp(declared[p->phase[i].name].name, declared[i].name))
      p->phase[i].name++;
    p->events |= 1U << p->phase[i].from.event | 1U << p->phase[i].to.event;
    p->kinds |= 1U << p->phase[i].from.action | 1U << p->phase[i].to.action;
  }
  p->events |= 1U << RCL_EVENT_START;
  p->kinds |= 1U << RCL_ACTION_CAPTURE;
  p->stages = g_new0(struct stage, (gsize)ranks * p->count);
  p->checkpoint_of = g_new0(uint32_t, (gsize)ranks);
  p->checkpoints = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  return p;
}

void phases_free(struct phases *p)
{
  if (!p)
    return;
  g_hash_table_unref(p->checkpoints);
  g_free(p->phase);
  g_free(p->stages);
  g_free(p->checkpoint_of);
  g_free(p);
}

/* Returns whether the step may begin or end a phase; most steps do neither. */
static bool may_be_moment(const struct phases *p, const struct rcl_event *event,
                          const struct rcl_actions *actions)
{
  bool may_be = p->events >> event->kind & 1;
  for (uint32_t i = 0; i < actions->count && !may_be; i++)
    may_be = p->kinds >> actions->item[i].kind & 1;
  return may_be;
}

/* Returns whether the step is that moment. Sets `checkpoint` to the checkpoint that the step
 * names. */
static bool is_moment(const struct phases *p, const struct moment *moment,
                      const struct rcl_event *event, const struct rcl_actions *actions,
                      uint32_t *checkpoint)
{
  char text[TEXT_MAX];
  if (moment->event && event->kind == moment->event &&
      (!moment->has_fields ||
       text_is_moment(event_print(p->protocol, event, text), moment->text))) {
    *checkpoint = event->checkpoint ? event->checkpoint : *checkpoint;
    return true;
  }
  for (uint32_t i = 0; moment->action && i < actions->count; i++) {
    const struct rcl_action *action = &actions->item[i];
    if (action->kind != moment->action ||
        (moment->has_fields &&
         !text_is_moment(action_print(p->protocol, action, text), moment->text)))
      continue;
    *checkpoint = action->checkpoint ? action->checkpoint : *checkpoint;
    return true;
  }
  return false;
}

static void note(const struct phases *p, uint32_t checkpoint, int rank, unsigned name,
                 double seconds)
{
  gsize all = (gsize)p->ranks * p->count;
  double *taken = g_hash_table_lookup(p->checkpoints, GUINT_TO_POINTER(checkpoint));
  if (!taken) {
    taken = g_new(double, all);
    for (gsize i = 0; i < all; i++)
      taken[i] = -1.0;
    g_hash_table_insert(p->checkpoints, GUINT_TO_POINTER(checkpoint), taken);
  }
  taken[name * (gsize)p->ranks + (gsize)rank] = seconds;
}

/* Holds a step as the phases see it. */
struct step {
  int rank;
  double now;
  const struct rcl_event *event;
  const struct rcl_actions *actions;
};

static void pass(struct phases *p, const struct phase *phase, const struct step *step, bool end)
{
  struct stage *stage = &p->stages[(gsize)step->rank * p->count + phase->name];
  uint32_t checkpoint = p->checkpoint_of[step->rank];
  if (!(end ? stage->open : !stage->open || !phase->repeats) ||
      !is_moment(p, end ? &phase->to : &phase->from, step->event, step->actions, &checkpoint))
    return;
  if (end || phase->repeats)
    note(p, checkpoint, step->rank, phase->name, end ? step->now - stage->began : 0.0);
  if (!end)
    stage->began = step->now;
  stage->open = !end || phase->repeats;
}

void phases_step(struct phases *p, int rank, double now, const struct rcl_event *event,
                 const struct rcl_actions *actions)
{
  const struct step step = {rank, now, event, actions};
  if (!may_be_moment(p, event, actions))
    return;
  if (event->kind == RCL_EVENT_START)
    p->checkpoint_of[rank] = event->checkpoint;
  for (uint32_t i = 0; i < actions->count; i++)
    if (actions->item[i].kind == RCL_ACTION_CAPTURE)
      p->checkpoint_of[rank] = actions->item[i].checkpoint;
  for (unsigned i = 0; i < p->count; i++)
    pass(p, &p->phase[i], &step, true);
  for (unsigned i = 0; i < p->count && event->kind == RCL_EVENT_START; i++)
    p->stages[(gsize)rank * p->count + i].open = false; /* the failure has cut the phase off */
  for (unsigned i = 0; i < p->count; i++)
    pass(p, &p->phase[i], &step, false);
}

/* ---- the result ---- */

static gint by_number(gconstpointer a, gconstpointer b)
{
  guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);
  return (x > y) - (x < y);
}

static void report_phase(const struct phases *p, GArray *rows, uint32_t checkpoint, unsigned name)
{
  const double *taken = g_hash_table_lookup(p->checkpoints, GUINT_TO_POINTER(checkpoint));
  struct run_phase row = {.checkpoint = checkpoint, .rank_0 = taken[name * (gsize)p->ranks]};
  double sum = 0.0;
  for (int rank = 0; rank < p->ranks; rank++) {
    double seconds = taken[name * (gsize)p->ranks + (gsize)rank];
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
  row.name = g_strdup(p->protocol->phases[name].name);
  g_array_append_val(rows, row);
}

void phases_report(const struct phases *p, struct result *result)
{
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct run_phase));
  g_autoptr(GList) numbers = g_list_sort(g_hash_table_get_keys(p->checkpoints), by_number);
  for (const GList *item = numbers; item; item = item->next)
    for (unsigned name = 0; name < p->count; name++)
      report_phase(p, rows, GPOINTER_TO_UINT(item->data), name);
  result->phases_count = rows->len;
  result->phases = (struct run_phase *)(void *)g_array_free(rows, FALSE);
}
