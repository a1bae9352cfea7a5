#include "prove/whole.h"

#include <stddef.h>
#include <string.h>

#include "prove/fan.h"

/* ---- numbers of words ---- */

/* Returns the number of words of one rank. All words come in this order: global words; for each
 * rank, the words of the rank and then those of its memories; for each pair of ranks, the words of
 * the pair and then the control messages by kind. */
static uint32_t words_of_one(const struct whole *h)
{
  return RANK_WORDS + MEMORIES * h->words;
}

uint32_t words_of_pair(const struct whole *h)
{
  return CHANNEL_WORDS + h->kinds * CONTROL_WORDS;
}

uint32_t word_of_rank(const struct whole *h, int rank, enum rank_word word)
{
  return GLOBAL_WORDS + (uint32_t)rank * words_of_one(h) + word;
}

uint32_t word_of_memory(const struct whole *h, int rank, enum memory_of memory, uint32_t word)
{
  return word_of_rank(h, rank, RANK_WORDS) + memory * h->words + word;
}

uint32_t word_of_channel(const struct whole *h, int from, int to, uint32_t word)
{
  return word_of_rank(h, h->ranks, 0) + (uint32_t)(from * h->ranks + to) * words_of_pair(h) + word;
}

uint32_t word_of_count(const struct whole *h, int from, int to, enum memory_of memory,
                       enum counted what)
{
  return word_of_channel(h, from, to, CHANNEL_COUNTS + 2 * memory + what);
}

uint32_t word_of_colour(const struct whole *h, int from, int to, enum colour colour,
                        enum colour_word word)
{
  return word_of_channel(h, from, to, CHANNEL_COLOUR + (uint32_t)colour * COLOUR_WORDS + word);
}

uint32_t word_of_control(const struct whole *h, int from, int to, uint32_t kind,
                         enum control_word word)
{
  return word_of_channel(h, from, to, CHANNEL_WORDS + kind * CONTROL_WORDS + word);
}

/* ---- what a clause is shown ---- */

static void show_pointer(struct whole *h, uint32_t object, uint32_t at, uint32_t to,
                         uint32_t offset)
{
  const struct value v = value_pointer(to, offset);
  block_write(h->w.x.z3, h->w.x.first->pdata[object], at, &v, sizeof(void *));
}

/* Names word `k`, and shows the word at that place of an object. */
static void name_word(struct whole *h, uint32_t k, const char *name, uint32_t object, uint32_t at)
{
  const struct value v = value_unknown(h->w.x.z3, 32, name);
  h->before[k] = v.term;
  h->names[k] = g_strdup(name);
  block_write(h->w.x.z3, h->w.x.first->pdata[object], at, &v, 4);
}

static void name_memory(struct whole *h, int rank, enum memory_of memory, const char *prefix)
{
  char name[48];
  for (uint32_t word = 0; word < h->words; word++) {
    g_snprintf(name, sizeof name, "%d.%s %u", rank, prefix, 4 * word);
    name_word(h, word_of_memory(h, rank, memory, word), name, h->memory[rank][memory], 4 * word);
  }
}

static void show_rank(struct whole *h, int rank)
{
  static const struct {
    const char *name;
    size_t at;
  } words[] = {[WORD_STANDING] = {"standing", offsetof(struct rcl_whole_rank, standing)},
               [WORD_HELD] = {"held", offsetof(struct rcl_whole_rank, held)},
               [WORD_TIMER] = {"timer", offsetof(struct rcl_whole_rank, timer)},
               [WORD_CAPTURING] = {"capturing", offsetof(struct rcl_whole_rank, capturing)},
               [WORD_STORING] = {"storing", offsetof(struct rcl_whole_rank, storing)},
               [WORD_RESTORABLE] = {"restorable", offsetof(struct rcl_whole_rank, restorable)},
               [WORD_DURABLE] = {"durable", offsetof(struct rcl_whole_rank, durable)},
               [WORD_STORING_LOG] = {"storing_log", offsetof(struct rcl_whole_rank, storing_log)},
               [WORD_DURABLE_LOG] = {"durable_log", offsetof(struct rcl_whole_rank, durable_log)},
               [WORD_LOGGED] = {"logged", offsetof(struct rcl_whole_rank, logged)},
               [WORD_OLDER] = {"older", offsetof(struct rcl_whole_rank, older)},
               [WORD_JOINED] = {"joined", offsetof(struct rcl_whole_rank, joined)},
               [WORD_OWN] = {"words[0]", offsetof(struct rcl_whole_rank, words[0])},
               {"words[1]", offsetof(struct rcl_whole_rank, words[1])},
               {"words[2]", offsetof(struct rcl_whole_rank, words[2])}};
  G_STATIC_ASSERT(G_N_ELEMENTS(words) == RANK_WORDS);
  static const char *const memories[] = {"state", "committed", "newer", "log"};
  static const size_t places[] = {
      offsetof(struct rcl_whole_rank, state), offsetof(struct rcl_whole_rank, committed),
      offsetof(struct rcl_whole_rank, newer), offsetof(struct rcl_whole_rank, log)};
  uint32_t at = (uint32_t)rank * (uint32_t)sizeof(struct rcl_whole_rank);
  char name[48];
  show_pointer(h, h->shown_ranks, at + offsetof(struct rcl_whole_rank, config), h->config[rank], 0);
  for (unsigned i = 0; i < RANK_WORDS; i++) {
    g_snprintf(name, sizeof name, "%d %s", rank, words[i].name);
    name_word(h, word_of_rank(h, rank, i), name, h->shown_ranks, at + (uint32_t)words[i].at);
  }
  for (unsigned i = 0; i < MEMORIES; i++) {
    name_memory(h, rank, i, memories[i]);
    show_pointer(h, h->shown_ranks, at + (uint32_t)places[i], h->memory[rank][i], 0);
  }
}

/* Shows the words of a channel in their order, without control messages. */
static void show_pair(struct whole *h, int from, int to)
{
  static const struct {
    const char *name;
    size_t at;
  } words[] = {{"messages", offsetof(struct rcl_whole_channel, messages)},
               {"white", offsetof(struct rcl_whole_channel, white.count)},
               {"white.word", offsetof(struct rcl_whole_channel, white.word)},
               {"red", offsetof(struct rcl_whole_channel, red.count)},
               {"red.word", offsetof(struct rcl_whole_channel, red.word)},
               {"sent", offsetof(struct rcl_whole_channel, now.sent)},
               {"given", offsetof(struct rcl_whole_channel, now.given)},
               {"committed.sent", offsetof(struct rcl_whole_channel, committed.sent)},
               {"committed.given", offsetof(struct rcl_whole_channel, committed.given)},
               {"newer.sent", offsetof(struct rcl_whole_channel, newer.sent)},
               {"newer.given", offsetof(struct rcl_whole_channel, newer.given)},
               {"shares", offsetof(struct rcl_whole_channel, shares)}};
  G_STATIC_ASSERT(G_N_ELEMENTS(words) == CHANNEL_SHARE);
  uint32_t at = (uint32_t)(from * h->ranks + to) * (uint32_t)sizeof(struct rcl_whole_channel);
  char name[64];
  for (uint32_t i = 0; i < CHANNEL_WORDS; i++) {
    uint32_t share = i - CHANNEL_SHARE;
    size_t place =
        i < CHANNEL_SHARE ? words[i].at : offsetof(struct rcl_whole_channel, share) + 4 * share;
    if (i < CHANNEL_SHARE)
      g_snprintf(name, sizeof name, "%d>%d %s", from, to, words[i].name);
    else
      g_snprintf(name, sizeof name, "%d>%d share[%u][%u]", from, to, share / RCL_WORDS,
                 share % RCL_WORDS);
    name_word(h, word_of_channel(h, from, to, i), name, h->shown_channels, at + (uint32_t)place);
  }
}

static void show_channel(struct whole *h, int from, int to)
{
  static const char *const words[] = {"count", "place", "about", "value", "ahead"};
  static const size_t places[] = {
      offsetof(struct rcl_whole_control, count), offsetof(struct rcl_whole_control, place),
      offsetof(struct rcl_whole_control, about), offsetof(struct rcl_whole_control, value),
      offsetof(struct rcl_whole_control, ahead)};
  uint32_t pair = (uint32_t)(from * h->ranks + to),
           at = pair * (uint32_t)sizeof(struct rcl_whole_channel),
           first = pair * h->kinds * (uint32_t)sizeof(struct rcl_whole_control);
  char name[64];
  show_pair(h, from, to);
  show_pointer(h, h->shown_channels, at + (uint32_t)offsetof(struct rcl_whole_channel, control),
               h->controls, first);
  for (uint32_t kind = 0; kind < h->kinds; kind++)
    for (unsigned i = 0; i < CONTROL_WORDS; i++) {
      g_snprintf(name, sizeof name, "%d>%d %s.%s", from, to, h->w.controls[kind], words[i]);
      name_word(h, word_of_control(h, from, to, kind, i), name, h->controls,
                first + kind * (uint32_t)sizeof(struct rcl_whole_control) + (uint32_t)places[i]);
    }
}

static uint32_t object(struct whole *h, const char *name, size_t size)
{
  uint32_t made = executor_object(&h->w.x, name, (uint32_t)size, true);
  struct block *b = h->w.x.first->pdata[made];
  const struct value zero = value_bits(8, 0);
  for (uint32_t i = 0; i < b->size; i++)
    block_write(h->w.x.z3, b, i, &zero, 1);
  return made;
}

static void show_all(struct whole *h)
{
  size_t ranks = (size_t)h->ranks, pairs = ranks * ranks;
  const struct value shown = value_bits(32, ranks);
  h->shown = object(h, "struct rcl_whole", sizeof(struct rcl_whole));
  h->shown_ranks = object(h, "its ranks", ranks * sizeof(struct rcl_whole_rank));
  h->shown_channels = object(h, "its channels", pairs * sizeof(struct rcl_whole_channel));
  h->controls =
      object(h, "its control messages", pairs * (h->kinds + 1) * sizeof(struct rcl_whole_control));
  block_write(h->w.x.z3, h->w.x.first->pdata[h->shown], offsetof(struct rcl_whole, ranks), &shown,
              4);
  show_pointer(h, h->shown, offsetof(struct rcl_whole, rank), h->shown_ranks, 0);
  show_pointer(h, h->shown, offsetof(struct rcl_whole, channel), h->shown_channels, 0);
  name_word(h, GLOBAL_COMMITTED, "committed", h->shown, offsetof(struct rcl_whole, committed));
  name_word(h, GLOBAL_COMMITTING, "committing", h->shown, offsetof(struct rcl_whole, committing));
  for (int i = 0; i < h->ranks; i++) {
    show_rank(h, i);
    for (int j = 0; j < h->ranks; j++)
      show_channel(h, i, j);
  }
}

/* ---- clauses ---- */

void whole_tell(struct whole *h, bool own, const char *name, const char *text, int i, int j,
                Z3_ast holds)
{
  struct told *told = g_new0(struct told, 1);
  *told = (struct told){.name = g_strdup(name),
                        .text = g_strdup(text),
                        .i = i,
                        .j = j,
                        .own = own,
                        .holds = Z3_simplify(h->w.x.z3, holds)};
  g_ptr_array_add(h->clauses, told);
}

/* Holds the paths of a clause that were found so far. */
struct asking {
  struct whole *h;
  struct fan any;
  char *fault;
};

static void take_answer(void *ctx, struct path *p)
{
  struct asking *a = ctx;
  Z3_context z = a->h->w.x.z3;
  if (*p->fault) {
    if (!a->fault)
      a->fault = g_strdup(p->fault);
    return;
  }
  struct value yes = value_resize(z, &p->result, 1, false);
  fan_add(&a->any, p, value_ast(z, &yes));
}

static const char *tell_clause(struct whole *h, LLVMValueRef code, const char *name,
                               const char *text, int i, int j)
{
  struct asking a = {.h = h};
  const struct value args[] = {value_pointer(h->shown, 0), value_bits(32, (uint64_t)i),
                               value_bits(32, (uint64_t)j)};
  fan_init(&a.any);
  struct path *p = path_new(&h->w.x);
  path_enter(&h->w.x, p, code, args, 3, NULL);
  executor_run(&h->w.x, p, take_answer, &a);
  if (!h->w.x.late && !a.fault)
    whole_tell(h, true, name, text, i, j, fan_term(&a.any, h->w.x.z3));
  fan_clear(&a.any);
  return a.fault; /* stays until the program ends */
}

/* Adds a clause for all ranks or pairs of ranks that the clause is about. */
static const char *tell_of_each(struct whole *h, enum rcl_scope scope, LLVMValueRef code,
                                const char *name, const char *text)
{
  bool pairs = scope == RCL_OF_PAIR || scope == RCL_OF_PAIR_AMONG_ALL;
  int most_i = scope == RCL_OF_ALL ? 1 : h->ranks, most_j = pairs ? h->ranks : 1;
  const char *why = NULL;
  for (int i = 0; i < most_i && !why; i++)
    for (int j = 0; j < most_j && !why; j++)
      why = tell_clause(h, code, name, text, i, j);
  return why;
}

const char *whole_tell_line(struct whole *h)
{
  struct value at =
      rank_world_pointer(&h->w, h->w.protocol.object, offsetof(struct rcl_protocol, line));
  const char *why = at.kind == VALUE_POINTER && at.object ? NULL : "it states no line invariant";
  for (; !why; at.bits += sizeof(struct rcl_clause)) {
    uint32_t from = (uint32_t)at.bits;
    struct value name = rank_world_pointer(&h->w, at.object, from),
                 text =
                     rank_world_pointer(&h->w, at.object, from + offsetof(struct rcl_clause, text)),
                 code = rank_world_pointer(&h->w, at.object,
                                           from + offsetof(struct rcl_clause, holds));
    struct path none = {0};
    if (name.kind != VALUE_POINTER || !name.object || code.kind != VALUE_CODE)
      return NULL;
    struct value scope = path_peek(&h->w.x, &none, at.object,
                                   from + (uint32_t)offsetof(struct rcl_clause, scope), 4);
    g_autofree char *called = rank_world_string(&h->w, &name),
                    *says = rank_world_string(&h->w, &text);
    why = tell_of_each(h, (enum rcl_scope)scope.bits, code.code, called, says);
  }
  return why;
}

/* ---- life ---- */

void whole_turn_to(struct whole *h, int rank)
{
  h->w.self = rank;
  h->w.config = h->config[rank];
  h->w.state = h->memory[rank][OF_STATE];
}

static void make_ranks(struct whole *h)
{
  for (int i = 0; i < h->ranks; i++) {
    if (i)
      rank_make(&h->w, i);
    h->config[i] = h->w.config;
    h->memory[i][OF_STATE] = h->w.state;
    h->memory[i][OF_COMMITTED] = object(h, "the committed image", h->w.state_bytes);
    h->memory[i][OF_NEWER] = object(h, "the newer image", h->w.state_bytes);
    h->memory[i][OF_LOG] = object(h, "the newer log", h->w.state_bytes);
  }
}

/* Notes what the protocol says about its logs and channels. */
static void note_place(struct whole *h)
{
  struct value place =
      rank_world_pointer(&h->w, h->w.protocol.object, offsetof(struct rcl_protocol, place));
  struct path none = {0};
  if (place.kind != VALUE_POINTER || !place.object)
    return;
  uint32_t at = (uint32_t)place.bits;
  struct value what = path_peek(&h->w.x, &none, place.object,
                                at + (uint32_t)offsetof(struct rcl_place, logs), 1),
               assumes = path_peek(&h->w.x, &none, place.object,
                                   at + (uint32_t)offsetof(struct rcl_place, assumes), 4);
  h->logs = what.kind == VALUE_BITS && what.bits != RCL_LOGGED_NOTHING;
  for (unsigned i = 0; i < RCL_PLACE_LOGS; i++) {
    size_t when = offsetof(struct rcl_place, logs[i].when);
    struct value is = path_peek(&h->w.x, &none, place.object, at + (uint32_t)when, 1);
    h->merges |= is.kind == VALUE_BITS && is.bits == RCL_LOGGED_ALWAYS;
  }
  h->coloured = h->w.traits.piggyback_bytes > 0;
  h->below = h->w.traits.level == RCL_LEVEL_CHANNEL;
  h->ordered = !h->below || (assumes.kind == VALUE_BITS && assumes.bits & RCL_ASSUMES_FIFO);
}

bool whole_init(struct whole *h, LLVMModuleRef module, const char *name,
                const struct prove_worlds *worlds, gint64 until)
{
  *h = (struct whole){.ranks = worlds->ranks, .clauses = g_ptr_array_new()};
  if (!rank_world_init(&h->w, module, name, 0, worlds))
    return false;
  h->w.x.until = until;
  h->words = h->w.state_bytes / 4;
  note_place(h);
  if (h->merges)
    executor_merge(&h->w.x);
  while (h->w.controls[h->kinds])
    h->kinds++;
  h->count = word_of_channel(h, h->ranks - 1, h->ranks - 1, words_of_pair(h));
  h->before = g_new0(Z3_ast, h->count);
  h->names = g_new0(char *, h->count);
  make_ranks(h);
  show_all(h);
  return true;
}

void whole_clear(struct whole *h)
{
  for (guint i = 0; i < h->clauses->len; i++) {
    struct told *told = h->clauses->pdata[i];
    g_free(told->name);
    g_free(told->text);
    g_free(told);
  }
  g_ptr_array_free(h->clauses, TRUE);
  for (uint32_t i = 0; i < h->count; i++)
    g_free(h->names[i]);
  g_free(h->names);
  g_free(h->before);
  if (h->places)
    g_hash_table_destroy(h->places);
  rank_world_clear(&h->w);
}

/* ---- other states ---- */

Z3_ast *whole_words(const struct whole *h)
{
  return g_memdup2(h->before, h->count * sizeof *h->before);
}

Z3_ast whole_in(const struct whole *h, Z3_ast term, const Z3_ast *now)
{
  Z3_ast *from = g_new(Z3_ast, h->count), *to = g_new(Z3_ast, h->count);
  unsigned changed = 0;
  for (uint32_t i = 0; i < h->count; i++)
    if (now[i] != h->before[i]) {
      from[changed] = h->before[i];
      to[changed++] = now[i];
    }
  term = Z3_substitute(h->w.x.z3, term, changed, from, to);
  g_free(from);
  g_free(to);
  return term;
}

void whole_copy_counts(const struct whole *h, int rank, Z3_ast *now, enum memory_of to,
                       const Z3_ast *then, enum memory_of from)
{
  for (int peer = 0; peer < h->ranks; peer++) {
    now[word_of_count(h, rank, peer, to, COUNT_SENT)] =
        then[word_of_count(h, rank, peer, from, COUNT_SENT)];
    now[word_of_count(h, peer, rank, to, COUNT_GIVEN)] =
        then[word_of_count(h, peer, rank, from, COUNT_GIVEN)];
  }
}
