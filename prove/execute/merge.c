#include "base/breach.h"
#include "prove/execute/execute.h"

/* ---- which path comes first ---- */

static int compare_frames(const struct frame *a, const struct frame *b)
{
  if (a->code != b->code)
    return code_order(a->code) < code_order(b->code) ? -1 : 1;
  return flow_compare(code_flow(a->code), a->next, a->trips, b->next, b->trips);
}

/* Compares how far two paths have come. A path that is within a call has come less far than a path
 * that is behind that call. */
static int compare(const struct path *a, const struct path *b)
{
  for (unsigned i = 0; i < a->depth && i < b->depth; i++) {
    int order = compare_frames(&a->frame[i], &b->frame[i]);
    if (order)
      return order;
  }
  return (int)b->depth - (int)a->depth;
}

struct path *paths_next(struct executor *x, guint outer)
{
  guint first = x->work->len - 1;
  for (guint i = first; i-- > outer;)
    if (compare(x->work->pdata[i], x->work->pdata[first]) < 0)
      first = i;
  return g_ptr_array_remove_index(x->work, first);
}

/* ---- what two paths have in common ---- */

/* Holds two paths at one instruction. */
struct meeting {
  struct executor *x;
  struct path *into, *from;
  guint common;  /* number of conditions with which both paths begin */
  Z3_ast first;  /* conjunction of all other conditions of `into` */
  Z3_ast second; /* conjunction of all other conditions of `from` */
};

static bool is_number(const struct value *v)
{
  return v->kind == VALUE_BITS || v->kind == VALUE_TERM;
}

/* Returns whether the registers of both frames can be merged. A known number that leads to a place
 * in memory must stay known. */
static bool registers_agree(const struct frame *a, const struct frame *b, const uint8_t *needed,
                            LLVMValueRef v, int number)
{
  const struct value *x = &a->registers[number], *y = &b->registers[number];
  if (!needed[number] || value_same(x, y))
    return true;
  if (!is_number(x) || !is_number(y))
    return false;
  return x->kind != VALUE_BITS || y->kind != VALUE_BITS || !flow_steers(code_flow(a->code), v);
}

static bool frames_agree(const struct frame *a, const struct frame *b)
{
  LLVMValueRef function = code_function(a->code);
  const uint8_t *needed = flow_needed(code_flow(a->code), a->next);
  int number = 0;
  if (a->call != b->call)
    return false;
  for (LLVMValueRef v = LLVMGetFirstParam(function); v; v = LLVMGetNextParam(v))
    if (!registers_agree(a, b, needed, v, number++))
      return false;
  for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k))
    for (LLVMValueRef v = LLVMGetFirstInstruction(k); v; v = LLVMGetNextInstruction(v))
      if (!registers_agree(a, b, needed, v, number++))
        return false;
  return true;
}

/* Returns whether the object is a variable of a function that the path has left. */
static bool is_gone(const struct executor *x, const struct path *p, uint32_t number)
{
  const struct object *o = executor_object_at(x, number);
  return o->variable &&
         (o->depth > p->depth || LLVMGetBasicBlockParent(LLVMGetInstructionParent(o->variable)) !=
                                     code_function(p->frame[o->depth - 1].code));
}

static bool cells_agree(const struct object *o, const struct block *a, const struct block *b,
                        uint32_t at)
{
  const struct cell *x = &a->cell[at], *y = &b->cell[at];
  if (value_same(&x->of, &y->of) && x->k == y->k)
    return true;
  if (x->of.kind == VALUE_NONE || y->of.kind == VALUE_NONE)
    return o->variable;
  if (!is_number(&x->of) || !is_number(&y->of))
    return false;
  bool known = x->of.kind == VALUE_BITS && y->of.kind == VALUE_BITS;
  return !known || !o->fixed || at % o->stride >= o->fixed;
}

static bool objects_agree(const struct executor *x, const struct path *a, const struct path *b,
                          uint32_t number)
{
  const struct block *first = path_block(x, a, number), *second = path_block(x, b, number);
  const struct object *o = executor_object_at(x, number);
  for (uint32_t at = 0; first != second && at < first->size; at++)
    if (!cells_agree(o, first, second, at))
      return false;
  return true;
}

static bool paths_agree(const struct executor *x, const struct path *a, const struct path *b)
{
  for (unsigned i = 0; i < a->depth; i++)
    if (!frames_agree(&a->frame[i], &b->frame[i]))
      return false;
  for (uint32_t i = 0; i < a->objects || i < b->objects; i++)
    if (i < x->objects->len && !is_gone(x, a, i) && !objects_agree(x, a, b, i))
      return false;
  return true;
}

/* ---- one path of two ---- */

static Z3_ast rest_of(struct executor *x, const struct path *p, guint from)
{
  guint count = p->conditions->len - from;
  return Z3_mk_and(x->z3, count, (Z3_ast *)(p->conditions->pdata + from));
}

static struct value merged(const struct meeting *m, const struct value *a, const struct value *b)
{
  const struct value is_first = {.kind = VALUE_TERM, .width = 1, .term = m->first};
  return value_same(a, b) ? *a : value_select(m->x->z3, &is_first, a, b);
}

static void merge_registers(const struct meeting *m, struct frame *a, const struct frame *b)
{
  const uint8_t *needed = flow_needed(code_flow(a->code), a->next);
  for (unsigned i = 0; i < code_registers(a->code); i++)
    a->registers[i] = needed[i] ? merged(m, &a->registers[i], &b->registers[i]) : (struct value){0};
}

/* Returns how many bytes from `at` on form one number in both objects. */
static uint32_t width_at(const struct block *a, const struct block *b, uint32_t at)
{
  for (uint32_t bytes = 8; bytes > 1; bytes /= 2) {
    if (at % bytes || at + bytes > a->size)
      continue;
    bool whole = cells_are_whole(&a->cell[at], bytes) || cells_are_whole(&b->cell[at], bytes);
    for (uint32_t k = 0; k < bytes && whole; k++)
      whole = is_number(&a->cell[at + k].of) && is_number(&b->cell[at + k].of);
    if (whole)
      return bytes;
  }
  return 1;
}

static void merge_cells(const struct meeting *m, uint32_t number)
{
  struct executor *x = m->x;
  const struct block *b = path_block(x, m->from, number);
  struct block *a = path_own_block(x, m->into, number);
  for (uint32_t at = 0, bytes = 1; at < a->size; at += bytes) {
    bytes = 1;
    struct cell *c = &a->cell[at];
    const struct cell *other = &b->cell[at];
    if (value_same(&c->of, &other->of) && c->k == other->k)
      continue;
    if (c->of.kind == VALUE_NONE || other->of.kind == VALUE_NONE) {
      /* the cell may have any value, also the value that it has in either path */
      *c = (struct cell){0};
      continue;
    }
    bytes = width_at(a, b, at);
    struct value of[] = {path_peek(x, m->into, number, at, bytes),
                         path_peek(x, m->from, number, at, bytes)},
                 both = merged(m, &of[0], &of[1]);
    block_write(x->z3, a, at, &both, bytes);
  }
}

static void merge_objects(const struct meeting *m)
{
  struct executor *x = m->x;
  for (uint32_t i = 0; i < m->into->objects || i < m->from->objects; i++) {
    if (i >= x->objects->len)
      break;
    if (is_gone(x, m->into, i))
      path_forget(m->into, i);
    else if (path_block(x, m->into, i) != path_block(x, m->from, i))
      merge_cells(m, i);
  }
}

/* Returns with how many common conditions both paths begin. */
static guint common(const struct path *a, const struct path *b)
{
  guint count = 0;
  while (count < a->conditions->len && count < b->conditions->len &&
         a->conditions->pdata[count] == b->conditions->pdata[count])
    count++;
  return count;
}

/* Makes `into` stand for both paths. The conditions of paths that have parted exclude each
 * other. */
static void merge(struct executor *x, struct path *into, struct path *from)
{
  struct meeting m = {.x = x, .into = into, .from = from, .common = common(into, from)};
  REQUIRE(m.common < into->conditions->len && m.common < from->conditions->len,
          "paths that have parted at a condition");
  m.first = rest_of(x, into, m.common);
  m.second = rest_of(x, from, m.common);
  for (unsigned i = 0; i < into->depth; i++)
    merge_registers(&m, &into->frame[i], &from->frame[i]);
  merge_objects(&m);
  Z3_ast either[] = {m.first, m.second};
  Z3_ast any = Z3_simplify(x->z3, Z3_mk_or(x->z3, 2, either));
  g_ptr_array_set_size(into->conditions, (gint)m.common);
  if (Z3_get_bool_value(x->z3, any) != Z3_L_TRUE)
    g_ptr_array_add(into->conditions, any);
  x->merged++;
}

void path_meet(struct executor *x, guint outer, struct path *p)
{
  for (guint i = x->work->len; i-- > outer;) {
    struct path *other = x->work->pdata[i];
    if (other->depth == p->depth && !compare(other, p) && paths_agree(x, other, p)) {
      merge(x, other, p);
      path_free(x, p);
      return;
    }
  }
  g_ptr_array_add(x->work, p);
}
