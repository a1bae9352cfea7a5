#include "prove/prove_rank.h"

#include <stddef.h>
#include <string.h>

#include "base/breach.h"
#include "prove/fan.h"

/* ---- the protocol in its module ---- */

char *rank_world_string(struct rank_world *w, const struct value *at)
{
  GString *text = g_string_new(NULL);
  const struct block *b = at->kind == VALUE_POINTER ? w->x.first->pdata[at->object] : NULL;
  for (uint64_t i = at->bits; b && i < b->size && b->cell[i].of.bits; i++)
    g_string_append_c(text, (char)b->cell[i].of.bits);
  return g_string_free(text, FALSE);
}

struct value rank_world_pointer(struct rank_world *w, uint32_t object, uint64_t at)
{
  const struct block *b = w->x.first->pdata[object];
  return at < b->size ? b->cell[at].of : (struct value){0};
}

static bool find_protocol(struct rank_world *w, const char *name)
{
  LLVMModuleRef module = w->x.module;
  for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v)) {
    if (!LLVMGetInitializer(v) || !LLVMIsAConstantStruct(LLVMGetInitializer(v)) ||
        executor_size(&w->x, LLVMGlobalGetValueType(v)) != sizeof(struct rcl_protocol))
      continue;
    uint32_t object = executor_global(&w->x, v);
    struct value at = rank_world_pointer(w, object, offsetof(struct rcl_protocol, name));
    g_autofree char *found = rank_world_string(w, &at);
    w->protocol = value_pointer(object, 0);
    if (!name || g_str_equal(found, name)) {
      w->traits.name = g_strdup(found);
      return true;
    }
  }
  return false;
}

static uint32_t trait(struct rank_world *w, size_t offset, uint32_t bytes)
{
  struct path none = {0};
  return (uint32_t)path_peek(&w->x, &none, w->protocol.object, (uint32_t)offset, bytes).bits;
}

#define TRAIT(w, field)                                                                            \
  trait(w, offsetof(struct rcl_protocol, field), sizeof(((struct rcl_protocol *)0)->field))

/* Reads a list of texts of the protocol, which ends with NULL. A text is cut to the name in front
 * of its colon. */
static void read_names(struct rank_world *w, size_t offset, const char **names, unsigned most)
{
  struct value list = rank_world_pointer(w, w->protocol.object, offset);
  for (unsigned i = 0; list.kind == VALUE_POINTER && list.object && i < most; i++) {
    struct value at = rank_world_pointer(w, list.object, list.bits + i * sizeof(char *));
    if (at.kind != VALUE_POINTER)
      break;
    char *name = rank_world_string(w, &at);
    name[strcspn(name, ":")] = '\0';
    names[i] = name;
  }
}

static void read_traits(struct rank_world *w)
{
  w->traits.level = TRAIT(w, level);
  w->traits.piggyback_bytes = TRAIT(w, piggyback_bytes);
  w->traits.collectives = TRAIT(w, collectives);
  w->traits.reconnects = TRAIT(w, reconnects);
  w->traits.independent = TRAIT(w, independent);
  w->traits.clocks = TRAIT(w, clocks);
  read_names(w, offsetof(struct rcl_protocol, controls), w->controls, CONTROLS);
  w->traits.controls = w->controls;
  read_names(w, offsetof(struct rcl_protocol, parameters), w->parameters, RCL_PARAMETERS);
  w->traits.parameters = w->parameters;
}

/* ---- objects ---- */

static void zero(struct rank_world *w, uint32_t object)
{
  struct block *b = w->x.first->pdata[object];
  const struct value none = value_bits(8, 0);
  for (uint32_t i = 0; i < b->size; i++)
    block_write(w->x.z3, b, i, &none, 1);
}

static void put(struct rank_world *w, uint32_t object, size_t at, uint64_t bits, uint32_t bytes)
{
  const struct value v = value_bits(8 * bytes, bits);
  block_write(w->x.z3, w->x.first->pdata[object], (uint32_t)at, &v, bytes);
}

static void make_config(struct rank_world *w)
{
  char name[32];
  w->config = executor_object(&w->x, "its config", sizeof(struct rcl_config), true);
  zero(w, w->config);
  put(w, w->config, offsetof(struct rcl_config, self), (uint64_t)w->self, 2);
  put(w, w->config, offsetof(struct rcl_config, ranks), (uint64_t)w->ranks, 2);
  put(w, w->config, offsetof(struct rcl_config, capacity), w->capacity, 4);
  for (unsigned i = 0; i < RCL_PARAMETERS; i++) {
    g_snprintf(name, sizeof name, "parameter%u", i);
    const struct setting *setting = setting_of(w->set, w->parameters[i]);
    const struct value v =
        setting ? value_bits(32, setting->value) : value_unknown(w->x.z3, 32, name);
    block_write(w->x.z3, w->x.first->pdata[w->config],
                (uint32_t)(offsetof(struct rcl_config, parameter) + 4 * i), &v, 4);
  }
}

static void make_state(struct rank_world *w)
{
  w->state = executor_object(&w->x, "its state", w->state_bytes, false);
  zero(w, w->state);
}

void rank_make(struct rank_world *w, int self)
{
  w->self = self;
  make_config(w);
  make_state(w);
}

static void take_result(void *result, struct path *p)
{
  *(struct value *)result = p->result;
}

struct path *rank_path(struct rank_world *w, const char *function, const struct value *args,
                       unsigned count)
{
  LLVMValueRef code = LLVMGetNamedFunction(w->x.module, function);
  REQUIRE(code, "door_bitcode.c has the function");
  struct path *p = path_new(&w->x);
  path_enter(&w->x, p, code, args, count, NULL);
  return p;
}

bool rank_world_init(struct rank_world *w, LLVMModuleRef module, const char *name, int self,
                     const struct prove_worlds *worlds)
{
  *w = (struct rank_world){
      .self = self, .ranks = worlds->ranks, .capacity = worlds->capacity, .set = worlds->set};
  executor_init(&w->x, LLVMCloneModule(module));
  if (!find_protocol(w, name))
    return false;
  read_traits(w);
  make_config(w);
  struct value bytes = {0};
  const struct value args[] = {w->protocol, value_pointer(w->config, 0)};
  executor_run(&w->x, rank_path(w, "prove_size", args, 2), take_result, &bytes);
  w->state_bytes = (uint32_t)bytes.bits;
  w->room = 32 + 12 * (uint32_t)w->ranks + 2 * w->capacity; /* RCL_ACTIONS_MAX */
  w->event = executor_object(&w->x, "the event", sizeof(struct rcl_event), true);
  w->list = executor_object(&w->x, "struct rcl_actions", sizeof(struct rcl_actions), false);
  w->items = executor_object(&w->x, "the room for actions",
                             w->room * (uint32_t)sizeof(struct rcl_action), false);
  w->pieces =
      executor_object(&w->x, "the room for pieces", RCL_PIECES * sizeof(struct rcl_piece), false);
  executor_keep_apart(&w->x, w->list, 1, 1);
  /* each action's kind is kept apart from its other fields */
  executor_keep_apart(&w->x, w->items, sizeof(struct rcl_action), 1);
  executor_keep_apart(&w->x, w->pieces, 1, 1);
  make_state(w);
  zero(w, w->event);
  zero(w, w->list);
  put(w, w->list, offsetof(struct rcl_actions, capacity), w->room, 4);
  const struct value items = value_pointer(w->items, 0);
  block_write(w->x.z3, w->x.first->pdata[w->list], offsetof(struct rcl_actions, item), &items, 8);
  return true;
}

void rank_world_clear(struct rank_world *w)
{
  for (unsigned i = 0; w->controls[i]; i++)
    g_free((char *)w->controls[i]);
  for (unsigned i = 0; w->parameters[i]; i++)
    g_free((char *)w->parameters[i]);
  g_free((char *)w->traits.name);
  executor_clear(&w->x);
}

const struct setting *rank_world_stranger(const struct rank_world *w)
{
  for (guint i = 0; i < w->set->len; i++)
    if (!g_strv_contains(w->parameters, setting_at(w->set, i)->parameter))
      return setting_at(w->set, i);
  return NULL;
}

/* ---- conditions of every state ---- */

/* Holds the results of all paths of a function. */
struct holds {
  struct rank_world *w;
  struct fan any;
};

static struct value word_of(struct rank_world *w, const struct path *p, uint32_t piece,
                            size_t offset)
{
  return path_peek(&w->x, p, w->pieces, (uint32_t)(piece * sizeof(struct rcl_piece) + offset), 4);
}

/* Adds two conditions for a list: the part of the list that is in use fits its room, and all bytes
 * after that part are zero. */
static void add_piece(struct rank_world *w, struct path *p, uint32_t piece)
{
  Z3_context z = w->x.z3;
  struct value bytes = word_of(w, p, piece, offsetof(struct rcl_piece, bytes)),
               room = word_of(w, p, piece, offsetof(struct rcl_piece, room)),
               offset = word_of(w, p, piece, offsetof(struct rcl_piece, offset));
  struct value fits = value_compare(z, LLVMIntULE, &bytes, &room);
  path_add(&w->x, p, value_ast(z, &fits), NULL);
  if (bytes.kind == VALUE_BITS || offset.kind != VALUE_BITS || room.kind != VALUE_BITS)
    return;
  for (uint64_t at = 0; at < room.bits && offset.bits + at + 4 <= w->state_bytes; at += 4) {
    const struct value here = value_bits(32, at), none = value_bits(32, 0);
    struct value word = path_peek(&w->x, p, w->state, (uint32_t)(offset.bits + at), 4),
                 used = value_compare(z, LLVMIntULT, &here, &bytes),
                 zero = value_compare(z, LLVMIntEQ, &word, &none);
    Z3_ast either[] = {value_ast(z, &used), value_ast(z, &zero)};
    path_add(&w->x, p, Z3_mk_or(z, 2, either), NULL);
  }
}

static void add_pieces(void *ctx, struct path *p)
{
  struct holds *h = ctx;
  for (uint32_t k = 0; !*p->fault && k < p->result.bits && k < RCL_PIECES; k++)
    add_piece(h->w, p, k);
  fan_add(&h->any, p, Z3_mk_true(h->w->x.z3));
}

static void add_invariant(void *ctx, struct path *p)
{
  struct holds *h = ctx;
  const struct value none = value_bits(32, 0);
  if (*p->fault)
    return;
  struct value fine = value_compare(h->w->x.z3, LLVMIntEQ, &p->result, &none);
  fan_add(&h->any, p, value_ast(h->w->x.z3, &fine));
}

void rank_make_unknown(struct rank_world *w, uint32_t object, const char *prefix)
{
  char name[32];
  struct block *b = w->x.first->pdata[object];
  for (uint32_t at = 0; at < b->size; at += 4) {
    g_snprintf(name, sizeof name, "%s%u", prefix, at);
    const struct value v = value_unknown(w->x.z3, 32, name);
    block_write(w->x.z3, b, at, &v, 4);
  }
}

/* Returns a term which says that one of the paths that `each` finds in a function of a state is
 * taken. */
static Z3_ast holds_on_paths(struct rank_world *w, const char *function, const struct value *args,
                             unsigned count, void (*each)(void *, struct path *))
{
  struct holds h = {.w = w};
  fan_init(&h.any);
  executor_run(&w->x, rank_path(w, function, args, count), each, &h);
  Z3_ast any = h.any.ends->len && !w->x.late ? fan_term(&h.any, w->x.z3) : NULL;
  fan_clear(&h.any);
  return any;
}

Z3_ast rank_lists_fit(struct rank_world *w)
{
  const struct value args[] = {w->protocol, value_pointer(w->config, 0), value_pointer(w->state, 0),
                               value_pointer(w->pieces, 0)};
  w->x.exact = true;
  Z3_ast fit = holds_on_paths(w, "prove_in_use", args, 4, add_pieces);
  w->x.exact = false;
  return fit;
}

Z3_ast rank_keeps_invariants(struct rank_world *w)
{
  const struct value args[] = {w->protocol, value_pointer(w->config, 0),
                               value_pointer(w->state, 0)};
  return holds_on_paths(w, "prove_invariant", args, 3, add_invariant);
}

uint64_t rank_assume_state(struct rank_world *w)
{
  uint64_t before = w->x.paths;
  rank_make_unknown(w, w->state, "state");
  Z3_ast (*const told[])(struct rank_world *) = {rank_lists_fit, rank_keeps_invariants};
  for (unsigned i = 0; i < G_N_ELEMENTS(told); i++) {
    Z3_ast holds = told[i](w);
    if (!holds)
      return 0;
    executor_assume(&w->x, holds);
  }
  struct path *any = path_new(&w->x);
  bool possible = path_possible(&w->x, any, NULL, NULL);
  path_free(&w->x, any);
  return possible ? w->x.paths - before : 0;
}

/* ---- bytes ---- */

void rank_write(struct rank_world *w, struct path *p, uint32_t object, uint32_t at,
                const struct value *v, uint32_t bytes)
{
  (void)p;
  block_write(w->x.z3, w->x.first->pdata[object], at, v, bytes);
}

static void read_cells_of(struct rank_world *w, const struct path *p, const struct cell *cell,
                          unsigned char *to, uint32_t size)
{
  for (uint32_t i = 0; i < size; i++) {
    struct value byte = value_bits(8, 0);
    if (cell[i].of.kind == VALUE_BITS || cell[i].of.kind == VALUE_TERM)
      byte = value_byte(w->x.z3, &cell[i].of, cell[i].k);
    to[i] = (unsigned char)path_model(&w->x, p, &byte);
  }
}

void rank_read(struct rank_world *w, const struct path *p, uint32_t object, void *bytes,
               uint32_t size)
{
  read_cells_of(w, p, path_block(&w->x, p, object)->cell, bytes, size);
}

void rank_read_first(struct rank_world *w, const struct path *p, uint32_t object, void *bytes,
                     uint32_t size)
{
  read_cells_of(w, p, ((struct block *)w->x.first->pdata[object])->cell, bytes, size);
}
