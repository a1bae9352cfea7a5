#include "prove/prove_rank.h"

#include <stddef.h>
#include <string.h>

#include "base/breach.h"

/* ---- the protocol in its module ---- */

static char *read_string(struct rank_world *w, const struct value *at)
{
  GString *text = g_string_new(NULL);
  const struct block *b = at->kind == VALUE_POINTER ? w->x.first->pdata[at->object] : NULL;
  for (uint64_t i = at->bits; b && i < b->size && b->cell[i].of.bits; i++)
    g_string_append_c(text, (char)b->cell[i].of.bits);
  return g_string_free(text, FALSE);
}

static struct value pointer_at(struct rank_world *w, uint32_t object, uint64_t at)
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
    struct value at = pointer_at(w, object, offsetof(struct rcl_protocol, name));
    g_autofree char *found = read_string(w, &at);
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

static void read_traits(struct rank_world *w)
{
  w->traits.level = TRAIT(w, level);
  w->traits.collectives = TRAIT(w, collectives);
  w->traits.reconnects = TRAIT(w, reconnects);
  w->traits.independent = TRAIT(w, independent);
  w->traits.clocks = TRAIT(w, clocks);
  struct value list = pointer_at(w, w->protocol.object, offsetof(struct rcl_protocol, controls));
  for (unsigned i = 0; list.kind == VALUE_POINTER && list.object && i < CONTROLS; i++) {
    struct value at = pointer_at(w, list.object, list.bits + i * sizeof(char *));
    if (at.kind != VALUE_POINTER)
      break;
    w->controls[i] = read_string(w, &at);
  }
  w->traits.controls = w->controls;
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
    const struct value v = value_unknown(w->x.z3, 32, name);
    block_write(w->x.z3, w->x.first->pdata[w->config],
                (uint32_t)(offsetof(struct rcl_config, parameter) + 4 * i), &v, 4);
  }
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
                     int ranks, uint32_t capacity)
{
  *w = (struct rank_world){.self = self, .ranks = ranks, .capacity = capacity};
  executor_init(&w->x, LLVMCloneModule(module));
  if (!find_protocol(w, name))
    return false;
  read_traits(w);
  make_config(w);
  struct value bytes = {0};
  const struct value args[] = {w->protocol, value_pointer(w->config, 0)};
  executor_run(&w->x, rank_path(w, "prove_size", args, 2), take_result, &bytes);
  w->state_bytes = (uint32_t)bytes.bits;
  w->room = 32 + 12 * (uint32_t)ranks + 2 * capacity; /* RCL_ACTIONS_MAX */
  w->state = executor_object(&w->x, "its state", w->state_bytes, false);
  w->event = executor_object(&w->x, "the event", sizeof(struct rcl_event), true);
  w->list = executor_object(&w->x, "struct rcl_actions", sizeof(struct rcl_actions), false);
  w->items = executor_object(&w->x, "the room for actions",
                             w->room * (uint32_t)sizeof(struct rcl_action), false);
  w->pieces =
      executor_object(&w->x, "the room for pieces", RCL_PIECES * sizeof(struct rcl_piece), false);
  zero(w, w->state);
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
  g_free((char *)w->traits.name);
  executor_clear(&w->x);
}

/* ---- conditions of every state ---- */

/* The result of all paths of a function: a disjunction. */
struct holds {
  struct rank_world *w;
  GPtrArray *any; /* Z3_ast */
  bool faults;
};

static Z3_ast conjunction(struct rank_world *w, const GPtrArray *all)
{
  return Z3_mk_and(w->x.z3, all->len, (Z3_ast *)all->pdata);
}

static struct value word_of(struct rank_world *w, const struct path *p, uint32_t piece,
                            size_t offset)
{
  return path_peek(&w->x, p, w->pieces, (uint32_t)(piece * sizeof(struct rcl_piece) + offset), 4);
}

/* The part of a list that is in use is within its room, and all bytes after it are zero. */
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
  h->faults |= *p->fault;
  for (uint32_t k = 0; !*p->fault && k < p->result.bits && k < RCL_PIECES; k++)
    add_piece(h->w, p, k);
  g_ptr_array_add(h->any, conjunction(h->w, p->conditions));
}

static void add_invariant(void *ctx, struct path *p)
{
  struct holds *h = ctx;
  const struct value none = value_bits(32, 0);
  h->faults |= *p->fault;
  if (*p->fault)
    return;
  struct value fine = value_compare(h->w->x.z3, LLVMIntEQ, &p->result, &none);
  if (fine.kind == VALUE_BITS && !fine.bits)
    return;
  path_add(&h->w->x, p, value_ast(h->w->x.z3, &fine), NULL);
  g_ptr_array_add(h->any, conjunction(h->w, p->conditions));
}

static void assume_any(struct rank_world *w, const struct holds *h)
{
  executor_assume(&w->x, Z3_mk_or(w->x.z3, h->any->len, (Z3_ast *)h->any->pdata));
}

uint64_t rank_assume_state(struct rank_world *w)
{
  char name[32];
  uint64_t before = w->x.paths;
  struct holds lists = {w, g_ptr_array_new(), false}, invariants = {w, g_ptr_array_new(), false};
  for (uint32_t at = 0; at < w->state_bytes; at += 4) {
    g_snprintf(name, sizeof name, "state%u", at);
    const struct value v = value_unknown(w->x.z3, 32, name);
    block_write(w->x.z3, w->x.first->pdata[w->state], at, &v, 4);
  }
  const struct value args[] = {w->protocol, value_pointer(w->config, 0), value_pointer(w->state, 0),
                               value_pointer(w->pieces, 0)};
  w->x.exact = true;
  executor_run(&w->x, rank_path(w, "prove_in_use", args, 4), add_pieces, &lists);
  w->x.exact = false;
  assume_any(w, &lists);
  executor_run(&w->x, rank_path(w, "prove_invariant", args, 3), add_invariant, &invariants);
  assume_any(w, &invariants);
  bool some = lists.any->len && invariants.any->len && !w->x.late;
  g_ptr_array_free(lists.any, TRUE);
  g_ptr_array_free(invariants.any, TRUE);
  return some ? w->x.paths - before : 0;
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
