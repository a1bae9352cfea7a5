#include "verify/explore/line_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/memory.h"
#include "world/line/line_view.h"
#include "world/rules/world_step.h"

enum {
  TIMES = 1 << 8,  /* number of entries for GLOBAL */
  SHOWN = 1 << 10, /* number of entries for each other component */
  PAIRS = 1 << 15  /* number of entries for pairs of ranks */
};

/* Holds what GLOBAL says of checkpoints and recoveries. All that is shown depends on these numbers.
 */
struct times {
  uint32_t committed, committing, incarnation;
};

/* Keeps what a value of GLOBAL says about times. */
struct known_times {
  uint32_t number; /* of the component + 1, or 0 for nothing */
  struct times times;
};

/* Keeps what was shown of a component, and of which value it was shown. */
struct shown {
  uint32_t number; /* of the component + 1, or 0 for nothing */
  /* number in line_cache.looks, equal for two components that look the same to clauses */
  uint32_t looks;
  uint32_t committed, incarnation;
  uint64_t bytes[];
};

/* Names two ranks i <= j, or one rank if i = j, for which all clauses hold in either order. The
 * pair is known by what its ranks and the channels between them look like. */
struct pair {
  uint32_t i_j; /* 1 + i * ranks + j, or 0 in an entry without a pair */
  uint32_t rank[2], channel[4];
  uint32_t times; /* number of the times in line_cache.looks */
};

struct line_cache {
  struct model *model;
  struct line_view view;
  uint32_t ranks, pairs; /* number of ranks, and of pairs */
  size_t rank_bytes, channel_bytes;
  struct known_times *times;
  unsigned char *shown; /* SHOWN entries for each rank, then for each channel */
  struct pair *fine;    /* PAIRS entries */
  struct intern looks;  /* what was shown of components, without pointers; or times */
  unsigned char *plain; /* memory for one look */

  /* The next fields are about the state that is in the view. */
  bool is_set;
  struct times at;
  uint32_t at_number; /* number of these times in `looks` */
  uint32_t *numbers;  /* numbers of its components */
  uint32_t *look;     /* by component of ranks and channels: shown.looks */
  /* by component of ranks and channels: true if it must be shown in each state */
  bool *afresh;

  /* The next fields are about the state that is being judged. */
  const struct position *state;
  bool loaded;
  bool *differs; /* by component of ranks and channels: true if it looks different */
  bool *asked;   /* by pair: true if the clauses have to be asked */
  struct pair *pair;
  struct pair **place; /* by pair that differs: the entry where it is kept */
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
  model_show(c->model, c->state);
  c->loaded = true;
}

static void unload(struct line_cache *c)
{
  if (c->loaded)
    platform_unlock(c->model->rules);
  c->loaded = false;
}

static bool is_rank(const struct line_cache *c, uint32_t component)
{
  return component < c->ranks;
}

static size_t entry_bytes(const struct line_cache *c, uint32_t component)
{
  return is_rank(c, component) ? c->rank_bytes : c->channel_bytes;
}

static struct shown *entry_of(const struct line_cache *c, uint32_t component, uint32_t number)
{
  size_t ranks = is_rank(c, component) ? component : c->ranks, channels = component - ranks;
  uint64_t key = number ^ (uint64_t)c->at.committed << 32 ^ (uint64_t)c->at.incarnation << 48;
  size_t before = SHOWN * (ranks * c->rank_bytes + channels * c->channel_bytes);
  return (struct shown *)(void *)(c->shown + before +
                                  hash_home(key, SHOWN) * entry_bytes(c, component));
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

/* Shows a component of the state that is loaded. Returns false if what is shown depends on other
 * components, too. */
static bool show(const struct line_cache *c, uint32_t component, void *memory)
{
  uint32_t channel = component - c->ranks;
  if (!is_rank(c, component))
    return line_view_show_channel(&c->view, (int)(channel / c->ranks), (int)(channel % c->ranks),
                                  memory);
  line_view_show_rank(&c->view, (int)component, memory);
  return true;
}

/* Returns the number of what was shown. */
static uint32_t look_of(struct line_cache *c, uint32_t component, const void *memory)
{
  uint32_t bytes = (uint32_t)(entry_bytes(c, component) - sizeof(struct shown));
  memcpy(c->plain, memory, bytes);
  if (is_rank(c, component))
    line_view_plain_rank(&c->view, c->plain);
  else
    line_view_plain_channel(c->plain);
  return intern(&c->looks, c->plain, bytes);
}

/* Puts a component of the state into the view. A component whose looks also depend on other
 * components is shown again in the next state. */
static void set(struct line_cache *c, uint32_t component)
{
  bool known;
  uint32_t channel = component - c->ranks;
  struct shown *entry = find(c, component, &known);
  if (!known) {
    load(c);
    entry->number = show(c, component, entry->bytes) ? entry->number : 0;
    entry->looks = look_of(c, component, entry->bytes);
  }
  if (is_rank(c, component))
    line_view_set_rank(&c->view, (int)component, entry->bytes);
  else
    line_view_set_channel(&c->view, (int)(channel / c->ranks), (int)(channel % c->ranks),
                          entry->bytes);
  c->afresh[component] = !entry->number;
  c->differs[component] = !c->is_set || c->look[component] != entry->looks;
  c->look[component] = entry->looks;
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

/* Begins the view. If GLOBAL differs from that of the state before, everything is shown anew. */
static void begin(struct line_cache *c)
{
  struct times at = times_of(c, c->state->numbers[c->model->components - 1]);
  if (c->is_set && !memcmp(&at, &c->at, sizeof at))
    return;
  c->is_set = false;
  c->at = at;
  c->at_number = intern(&c->looks, &at, sizeof at);
  line_view_begin(&c->view, at.committed, at.committing, at.incarnation);
}

/* Puts the state into the view. Ranks come before the channels between them. */
static void set_state(struct line_cache *c)
{
  const uint32_t *numbers = c->state->numbers;
  for (uint32_t i = 0; i < c->ranks + c->pairs; i++) {
    c->differs[i] = false;
    if (!c->is_set || c->numbers[i] != numbers[i] || c->afresh[i])
      set(c, i);
  }
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
                       c->at_number};
}

static struct pair *place_of(const struct line_cache *c, const struct pair *pair)
{
  return &c->fine[hash_home(hash_bytes(pair, sizeof *pair), PAIRS)];
}

/* Returns whether a pair looks different from what it was in the state before. */
static bool pair_differs(const struct line_cache *c, uint32_t i, uint32_t j)
{
  return c->differs[i] || c->differs[j] || c->differs[channel_at(c, i, i)] ||
         c->differs[channel_at(c, i, j)] || c->differs[channel_at(c, j, i)] ||
         c->differs[channel_at(c, j, j)];
}

/* Chooses the pairs to be asked. Prefetches all entries before reading one, because they are far
 * apart in memory.
 */
static void choose_pairs(struct line_cache *c)
{
  for (uint32_t i = 0; i < c->ranks; i++)
    for (uint32_t j = i; j < c->ranks; j++) {
      uint32_t n = i * c->ranks + j;
      c->asked[n] = pair_differs(c, i, j);
      if (!c->asked[n])
        continue;
      c->pair[n] = pair_of(c, i, j);
      c->place[n] = place_of(c, &c->pair[n]);
      __builtin_prefetch(c->place[n], 1);
    }
  for (uint32_t i = 0; i < c->ranks; i++)
    for (uint32_t j = i; j < c->ranks; j++) {
      uint32_t n = i * c->ranks + j;
      c->asked[n] = c->asked[n] && memcmp(c->place[n], &c->pair[n], sizeof c->pair[n]);
      c->asked[j * c->ranks + i] = c->asked[n]; /* clauses are asked in both orders */
    }
}

static void note_fine(struct line_cache *c)
{
  for (uint32_t i = 0; i < c->ranks; i++)
    for (uint32_t j = i; j < c->ranks; j++)
      if (c->asked[i * c->ranks + j])
        *c->place[i * c->ranks + j] = c->pair[i * c->ranks + j];
}

/* Shows and judges the state once more, by itself. */
static void audit(struct line_cache *c, const struct verdict *verdict)
{
  struct verdict alone;
  void *shown = memory_grow(NULL, c->rank_bytes + c->channel_bytes);
  load(c);
  for (uint32_t i = 0; i < c->ranks + c->pairs; i++) {
    show(c, i, shown);
    REQUIRE(look_of(c, i, shown) == c->look[i], "a component looks as it does in the state alone");
  }
  free(shown);
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
  c->afresh = memory_table(c->ranks + c->pairs, sizeof *c->afresh);
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
