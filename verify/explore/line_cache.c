#include "verify/explore/line_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/intern.h"
#include "base/memory.h"
#include "world/line/line_view.h"
#include "world/rules/world_step.h"

enum {
  TIMES = 1 << 8, /* entries for GLOBAL */
  SHOWN_BITS = 10,
  SHOWN = 1 << SHOWN_BITS, /* entries for each other component */
  PAIRS = 1 << 15          /* entries for pairs of ranks */
};

/* Holds what GLOBAL says. All that is shown depends on it. */
struct times {
  uint32_t committed, committing, incarnation;
};

/* Names the value of GLOBAL that says so. */
struct known_times {
  uint32_t number; /* of the component + 1; 0: nothing */
  struct times times;
};

/* Names what was shown of a component; the bytes follow. */
struct shown {
  uint32_t number; /* of the component + 1; 0: nothing */
  uint32_t looks;  /* line_cache.looks: equal for two components that look the same to clauses */
  uint32_t committed, incarnation;
  uint64_t bytes[];
};

/* Names a pair of ranks for which all clauses hold, by what it looks like. */
struct pair {
  uint32_t i_j; /* 1 + i * ranks + j; 0: none */
  uint32_t rank[2], channel[4];
  uint32_t committed, committing;
};

struct line_cache {
  struct model *model;
  struct line_view view;
  uint32_t ranks, pairs; /* number of ranks, and of pairs */
  size_t rank_bytes, channel_bytes;
  struct known_times *times;
  unsigned char *shown; /* SHOWN entries for each rank, then for each channel */
  struct pair *fine;    /* PAIRS entries */
  struct intern looks;  /* what was shown of components, without pointers */
  unsigned char *plain; /* memory for one of them */

  /* The state that is in the view. */
  bool is_set;
  struct times at;
  uint32_t *numbers; /* of its components */
  uint32_t *look;    /* by component of ranks and channels: shown.looks */
  bool *afresh;      /* by channel: it must be shown in each state */

  /* The state that is being judged. */
  const struct position *state;
  bool loaded;
  bool *differs; /* by component of ranks and channels: it looks different */
  bool *asked;   /* by pair: the clauses have to be asked */
  struct pair *pair;
  struct pair **place; /* where a pair that differs is kept */
};

/* ---- components ---- */

static uint32_t channel_at(const struct line_cache *c, uint32_t i, uint32_t j)
{
  return c->ranks + i * c->ranks + j;
}

/* load() takes the model's lock, under which it loads the state. unload() gives the lock back. */
static void load(struct line_cache *c)
{
  if (c->loaded)
    return;
  platform_lock(c->model->rules);
  model_load(c->model, c->state);
  transition_cache_forget_reads(&c->model->rules_cache);
  c->loaded = true;
}

static void unload(struct line_cache *c)
{
  if (c->loaded)
    platform_unlock(c->model->rules);
  c->loaded = false;
}

static struct shown *entry_of(const struct line_cache *c, uint32_t component, uint32_t number)
{
  size_t ranks = component < c->ranks ? component : c->ranks, channels = component - ranks;
  size_t bytes = component < c->ranks ? c->rank_bytes : c->channel_bytes;
  uint32_t mixed = number ^ c->at.committed << 24 ^ c->at.incarnation << 28;
  size_t at = mixed * UINT32_C(0x9e3779b1) >> (32 - SHOWN_BITS);
  return (struct shown *)(void *)(c->shown +
                                  SHOWN * (ranks * c->rank_bytes + channels * c->channel_bytes) +
                                  at * bytes);
}

/* Returns the entry of a component. Sets *known if it holds what is to be shown. */
static struct shown *find(const struct line_cache *c, uint32_t component, bool *known)
{
  uint32_t number = c->state->numbers[component];
  struct shown *entry = entry_of(c, component, number);
  *known = entry->number == number + 1 && entry->committed == c->at.committed &&
           entry->incarnation == c->at.incarnation;
  entry->number = number + 1;
  entry->committed = c->at.committed;
  entry->incarnation = c->at.incarnation;
  return entry;
}

static void show_rank(struct line_cache *c, uint32_t rank, struct shown *entry)
{
  uint32_t bytes = (uint32_t)(c->rank_bytes - sizeof *entry);
  load(c);
  line_view_show_rank(&c->view, (int)rank, entry->bytes);
  memcpy(c->plain, entry->bytes, bytes);
  line_view_plain_rank(&c->view, c->plain);
  entry->looks = intern(&c->looks, c->plain, bytes);
}

/* Shows a channel. What depends on its ranks as well is not found again. */
static void show_channel(struct line_cache *c, uint32_t from, uint32_t to, struct shown *entry)
{
  uint32_t bytes = (uint32_t)(c->channel_bytes - sizeof *entry);
  load(c);
  if (!line_view_show_channel(&c->view, (int)from, (int)to, entry->bytes))
    entry->number = 0;
  memcpy(c->plain, entry->bytes, bytes);
  line_view_plain_channel(c->plain);
  entry->looks = intern(&c->looks, c->plain, bytes);
}

static void note_look(struct line_cache *c, uint32_t component, const struct shown *entry)
{
  c->differs[component] = !c->is_set || c->look[component] != entry->looks;
  c->look[component] = entry->looks;
}

static void set_rank(struct line_cache *c, uint32_t rank)
{
  bool known;
  struct shown *entry = find(c, rank, &known);
  if (!known)
    show_rank(c, rank, entry);
  line_view_set_rank(&c->view, (int)rank, entry->bytes);
  note_look(c, rank, entry);
}

static void set_channel(struct line_cache *c, uint32_t from, uint32_t to)
{
  bool known;
  uint32_t component = channel_at(c, from, to);
  struct shown *entry = find(c, component, &known);
  if (!known)
    show_channel(c, from, to, entry);
  c->afresh[component - c->ranks] = !entry->number;
  line_view_set_channel(&c->view, (int)from, (int)to, entry->bytes);
  note_look(c, component, entry);
}

/* ---- states ---- */

static struct times times_of(struct line_cache *c, uint32_t number)
{
  struct known_times *known = &c->times[number % TIMES];
  if (known->number != number + 1) {
    load(c);
    const struct world_global *global = read_global(c->model->world);
    *known = (struct known_times){number + 1,
                                  {global->committed, global->committing, global->incarnation}};
  }
  return known->times;
}

/* Begins the view. If GLOBAL says something else than in the state before, all is shown anew. */
static void begin(struct line_cache *c)
{
  struct times at = times_of(c, c->state->numbers[c->model->components - 1]);
  if (c->is_set && !memcmp(&at, &c->at, sizeof at))
    return;
  c->is_set = false;
  c->at = at;
  line_view_begin(&c->view, at.committed, at.committing, at.incarnation);
}

/* Puts the state into the view. */
static void set_state(struct line_cache *c)
{
  const uint32_t *numbers = c->state->numbers;
  for (uint32_t i = 0; i < c->ranks + c->pairs; i++)
    c->differs[i] = !c->is_set || c->numbers[i] != numbers[i];
  for (uint32_t i = 0; i < c->ranks; i++)
    if (c->differs[i])
      set_rank(c, i);
  for (uint32_t i = 0; i < c->ranks; i++)
    for (uint32_t j = 0; j < c->ranks; j++)
      if (c->differs[channel_at(c, i, j)] || c->afresh[i * c->ranks + j])
        set_channel(c, i, j);
  line_view_count(&c->view);
  memcpy(c->numbers, numbers, c->model->components * sizeof *numbers);
}

/* ---- pairs ---- */

static struct pair pair_of(const struct line_cache *c, uint32_t i, uint32_t j)
{
  const uint32_t *n = c->look;
  return (struct pair){1 + i * c->ranks + j,
                       {n[i], n[j]},
                       {n[channel_at(c, i, i)], n[channel_at(c, i, j)], n[channel_at(c, j, i)],
                        n[channel_at(c, j, j)]},
                       c->at.committed,
                       c->at.committing};
}

static struct pair *place_of(const struct line_cache *c, const struct pair *pair)
{
  uint64_t hash = pair->i_j;
  uint32_t words[sizeof *pair / sizeof(uint32_t)];
  memcpy(words, pair, sizeof words);
  for (size_t i = 1; i < sizeof words / sizeof *words; i++)
    hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return &c->fine[hash >> 49];
}

/* Returns whether a pair looks different from what it was in the state before. */
static bool pair_differs(const struct line_cache *c, uint32_t i, uint32_t j)
{
  return c->differs[i] || c->differs[j] || c->differs[channel_at(c, i, i)] ||
         c->differs[channel_at(c, i, j)] || c->differs[channel_at(c, j, i)] ||
         c->differs[channel_at(c, j, j)];
}

/* Chooses the pairs to be asked. Prefetches all places before it reads one, as they are far apart.
 */
static void choose_pairs(struct line_cache *c)
{
  for (uint32_t i = 0; i < c->ranks; i++)
    for (uint32_t j = 0; j < c->ranks; j++) {
      uint32_t n = i * c->ranks + j;
      c->asked[n] = pair_differs(c, i, j);
      if (!c->asked[n])
        continue;
      c->pair[n] = pair_of(c, i, j);
      c->place[n] = place_of(c, &c->pair[n]);
      __builtin_prefetch(c->place[n], 1);
    }
  for (uint32_t n = 0; n < c->pairs; n++)
    c->asked[n] = c->asked[n] && memcmp(c->place[n], &c->pair[n], sizeof c->pair[n]);
}

static void note_fine(struct line_cache *c)
{
  for (uint32_t n = 0; n < c->pairs; n++)
    if (c->asked[n])
      *c->place[n] = c->pair[n];
}

/* Returns how a component looks in the state that is loaded. */
static uint32_t look_afresh(struct line_cache *c, uint32_t component)
{
  uint32_t channel = component - c->ranks;
  if (component < c->ranks) {
    line_view_show_rank(&c->view, (int)component, c->plain);
    line_view_plain_rank(&c->view, c->plain);
    return intern(&c->looks, c->plain, (uint32_t)line_view_rank_bytes(&c->view));
  }
  line_view_show_channel(&c->view, (int)(channel / c->ranks), (int)(channel % c->ranks), c->plain);
  line_view_plain_channel(c->plain);
  return intern(&c->looks, c->plain, (uint32_t)line_view_channel_bytes(&c->view));
}

/* Shows and judges the state once more, by itself. */
static void audit(struct line_cache *c, const struct verdict *verdict)
{
  struct verdict alone;
  load(c);
  for (uint32_t i = 0; i < c->ranks + c->pairs; i++)
    REQUIRE(look_afresh(c, i) == c->look[i], "a component looks as it does in the state alone");
  world_judge_line(c->model->world, &alone);
  REQUIRE(alone.kind == verdict->kind && !strcmp(alone.text, verdict->text),
          "the line is judged as it is in the state alone");
  unload(c);
}

void line_cache_judge(struct line_cache *c, const struct position *state, struct verdict *verdict)
{
  c->state = state;
  c->loaded = false;
  begin(c);
  set_state(c);
  choose_pairs(c);
  unload(c);
  line_view_judge(&c->view, c->asked, verdict);
  if (c->model->options->audit)
    audit(c, verdict);
  c->is_set = verdict->kind == VERDICT_FINE;
  if (c->is_set)
    note_fine(c);
}

/* ---- beginning and end ---- */

struct line_cache *line_cache_new(struct model *model)
{
  if (!model->judges_line)
    return NULL;
  struct line_cache *c = memory_table(1, sizeof *c);
  c->model = model;
  c->ranks = (uint32_t)model->world->ranks;
  c->pairs = c->ranks * c->ranks;
  line_view_init(&c->view, model->world);
  c->rank_bytes = sizeof(struct shown) + line_view_rank_bytes(&c->view);
  c->channel_bytes = sizeof(struct shown) + line_view_channel_bytes(&c->view);
  c->times = memory_table(TIMES, sizeof *c->times);
  c->shown = memory_table(SHOWN, c->ranks * c->rank_bytes + c->pairs * c->channel_bytes);
  c->fine = memory_table(PAIRS, sizeof *c->fine);
  c->numbers = memory_table(model->components, sizeof *c->numbers);
  c->afresh = memory_table(c->pairs, sizeof *c->afresh);
  c->differs = memory_table(c->ranks + c->pairs, sizeof *c->differs);
  c->asked = memory_table(c->pairs, sizeof *c->asked);
  c->look = memory_table(c->ranks + c->pairs, sizeof *c->look);
  c->plain = memory_grow(NULL, c->rank_bytes + c->channel_bytes);
  c->pair = memory_table(c->pairs, sizeof *c->pair);
  c->place = memory_table(c->pairs, sizeof *c->place);
  return c;
}

void line_cache_free(struct line_cache *c)
{
  if (!c)
    return;
  line_view_clear(&c->view);
  free(c->times);
  free(c->shown);
  free(c->fine);
  free(c->numbers);
  free(c->afresh);
  free(c->differs);
  free(c->asked);
  free(c->look);
  free(c->plain);
  intern_clear(&c->looks);
  free(c->pair);
  free(c->place);
  free(c);
}

size_t line_cache_bytes(const struct line_cache *c)
{
  if (!c)
    return 0;
  return sizeof *c + SHOWN * (c->ranks * c->rank_bytes + c->pairs * c->channel_bytes) +
         PAIRS * sizeof *c->fine + intern_bytes(&c->looks);
}
