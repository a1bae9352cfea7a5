/* Executes instructions. Takes each path until the path ends, is divided, or meets another path.
 *
 * Call cycle with bytes.c, calls.c, merge.c, module.c: an access to memory or a call may end a path
 * by a fault or divide a path, and this file does both. Where two paths meet, merge.c makes one
 * path of them. */
#include "prove/execute/execute.h"

#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SPLITS = 300, WORK_MOST = 1 << 16 };

/* ---- paths ---- */

struct path *path_new(struct executor *x)
{
  (void)x;
  struct path *p = memory_table(1, sizeof *p);
  p->conditions = g_ptr_array_new();
  return p;
}

struct path *path_fork(struct executor *x, const struct path *from)
{
  struct path *p = memory_table(1, sizeof *p);
  *p = *from;
  p->memory = memory_grow(NULL, (from->objects + 1) * sizeof *p->memory);
  for (uint32_t i = 0; i < from->objects; i++)
    p->memory[i] = block_share(from->memory[i]);
  for (unsigned i = 0; i < from->depth; i++) {
    size_t bytes = (code_registers(from->frame[i].code) + 1) * sizeof(struct value);
    p->frame[i].registers = memcpy(memory_grow(NULL, bytes), from->frame[i].registers, bytes);
    if (!from->frame[i].trips)
      continue;
    bytes = (flow_loops(code_flow(from->frame[i].code)) + 1) * sizeof(uint16_t);
    p->frame[i].trips = memcpy(memory_grow(NULL, bytes), from->frame[i].trips, bytes);
  }
  p->conditions = g_ptr_array_new();
  for (guint i = 0; i < from->conditions->len; i++)
    g_ptr_array_add(p->conditions, from->conditions->pdata[i]);
  if (p->model)
    Z3_model_inc_ref(x->z3, p->model);
  return p;
}

/* Leaves the function of the path. */
static void leave(struct path *p)
{
  struct frame *f = &p->frame[--p->depth];
  free(f->registers);
  free(f->trips);
}

void path_free(struct executor *x, struct path *p)
{
  for (uint32_t i = 0; i < p->objects; i++)
    block_release(p->memory[i]);
  while (p->depth)
    leave(p);
  if (p->model)
    Z3_model_dec_ref(x->z3, p->model);
  g_ptr_array_free(p->conditions, TRUE);
  free(p->memory);
  free(p);
}

bool path_fault(struct path *p, LLVMValueRef at, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_vsnprintf(p->fault, sizeof p->fault, format, args);
  va_end(args);
  if (at)
    p->at = at;
  return false;
}

enum go_on path_unsupported(struct executor *x, struct path *p, LLVMValueRef instruction)
{
  if (!x->unsupported->len) {
    char *text = LLVMPrintValueToString(instruction);
    g_string_assign(x->unsupported, g_strstrip(text));
    LLVMDisposeMessage(text);
  }
  (void)p;
  x->late = true;
  return GO_NOWHERE;
}

bool path_enter(struct executor *x, struct path *p, LLVMValueRef function, const struct value *args,
                unsigned count, LLVMValueRef call)
{
  if (p->depth == FRAMES)
    return path_fault(p, call, "calls too deep");
  struct frame *f = &p->frame[p->depth++];
  f->code = executor_code(x, function);
  f->block = LLVMGetEntryBasicBlock(function);
  f->before = NULL;
  f->next = LLVMGetFirstInstruction(f->block);
  f->call = call;
  f->registers = memory_table(code_registers(f->code) + 1, sizeof *f->registers);
  f->trips = x->merges ? memory_table(flow_loops(code_flow(f->code)) + 1, sizeof *f->trips) : NULL;
  for (unsigned i = 0; i < count; i++)
    f->registers[i] = args[i];
  return true;
}

static struct frame *top(struct path *p)
{
  return &p->frame[p->depth - 1];
}

struct value path_operand(struct executor *x, struct path *p, LLVMValueRef v)
{
  int number = code_number(top(p)->code, v);
  return number >= 0 ? top(p)->registers[number] : executor_constant(x, v);
}

void path_set(struct path *p, LLVMValueRef instruction, struct value v)
{
  top(p)->registers[code_number(top(p)->code, instruction)] = v;
}

/* ---- branches ---- */

static void jump(struct path *p, LLVMBasicBlockRef to)
{
  struct frame *f = top(p);
  p->meets = f->trips && flow_jump(code_flow(f->code), f->trips, f->block, to);
  f->before = f->block;
  f->block = to;
  f->next = LLVMGetFirstInstruction(to);
}

/* Returns whether the condition holds in the path's model. */
static bool shows(struct executor *x, const struct path *p, Z3_ast condition)
{
  const struct value v = {.kind = VALUE_TERM, .width = 1, .term = condition};
  return p->model && path_model(x, p, &v);
}

/* Forks a path. Returns a path in which the condition holds, or NULL if the condition cannot hold.
 * `p` becomes the path in which the condition does not hold. Sets *never if there is no such
 * path. */
static struct path *divide(struct executor *x, struct path *p, Z3_ast condition, bool *never)
{
  Z3_model yes = NULL, no = NULL;
  Z3_ast other = Z3_mk_not(x->z3, condition);
  bool shown = shows(x, p, condition), can = shown || path_possible(x, p, condition, &yes);
  bool cannot = (!shown && shows(x, p, other)) || path_possible(x, p, other, &no);
  struct path *fork = NULL;
  *never = !cannot;
  if (can) {
    fork = path_fork(x, p);
    if (cannot || yes)
      path_add(x, fork, condition, yes);
  }
  if (cannot && can)
    path_add(x, p, other, no);
  else if (no)
    Z3_model_dec_ref(x->z3, no);
  return fork;
}

static void go_on_later(struct executor *x, struct path *p)
{
  x->late |= x->work->len > WORK_MOST;
  g_ptr_array_add(x->work, p);
}

static enum go_on branch(struct executor *x, struct path *p, LLVMValueRef v)
{
  if (!LLVMIsConditional(v)) {
    jump(p, LLVMGetSuccessor(v, 0));
    return GO_ON;
  }
  struct value condition = path_operand(x, p, LLVMGetCondition(v));
  if (condition.kind == VALUE_BITS) {
    jump(p, LLVMGetSuccessor(v, condition.bits ? 0 : 1));
    return GO_ON;
  }
  bool never;
  struct path *yes = divide(x, p, value_ast(x->z3, &condition), &never);
  if (yes) {
    jump(yes, LLVMGetSuccessor(v, 0));
    go_on_later(x, yes);
  }
  if (never)
    return GO_NOWHERE;
  jump(p, LLVMGetSuccessor(v, 1));
  return GO_ON;
}

/* Executes a switch. Its operands are the value, the default block, and then pairs of a value and a
 * block. */
static enum go_on branch_many(struct executor *x, struct path *p, LLVMValueRef v)
{
  struct value of = path_operand(x, p, LLVMGetOperand(v, 0));
  for (unsigned i = 2; i + 1 < (unsigned)LLVMGetNumOperands(v); i += 2) {
    const struct value is = executor_constant(x, LLVMGetOperand(v, i));
    LLVMBasicBlockRef block = LLVMValueAsBasicBlock(LLVMGetOperand(v, i + 1));
    struct value same = value_compare(x->z3, LLVMIntEQ, &of, &is);
    if (same.kind == VALUE_BITS && same.bits) {
      jump(p, block);
      return GO_ON;
    }
    if (same.kind == VALUE_BITS)
      continue;
    bool never;
    struct path *yes = divide(x, p, value_ast(x->z3, &same), &never);
    if (yes) {
      jump(yes, block);
      go_on_later(x, yes);
    }
    if (never)
      return GO_NOWHERE;
  }
  jump(p, LLVMGetSwitchDefaultDest(v));
  return GO_ON;
}

enum go_on path_split(struct executor *x, struct path *p, LLVMValueRef instruction, LLVMValueRef of,
                      const struct value *v)
{
  uint64_t values[SPLITS];
  unsigned count = path_values(x, p, v, values, SPLITS);
  if (count == SPLITS)
    return path_unsupported(x, p, instruction);
  int number = code_number(top(p)->code, of);
  for (unsigned i = 0; i < count; i++) {
    const struct value is = value_bits(v->width, values[i]);
    Z3_ast condition = Z3_mk_eq(x->z3, value_ast(x->z3, v), value_ast(x->z3, &is));
    struct path *each = path_fork(x, p);
    Z3_model model = NULL;
    if (!shows(x, p, condition))
      path_possible(x, each, condition, &model);
    path_add(x, each, condition, model);
    top(each)->registers[number] = is;
    top(each)->next = instruction;
    go_on_later(x, each);
  }
  return GO_NOWHERE;
}

/* ---- instructions ---- */

static enum go_on return_from(struct executor *x, struct path *p, LLVMValueRef v)
{
  struct value result = {0};
  if (LLVMGetNumOperands(v))
    result = path_operand(x, p, LLVMGetOperand(v, 0));
  LLVMValueRef call = top(p)->call;
  leave(p);
  if (!p->depth) {
    p->result = result;
    return GO_ENDED;
  }
  if (result.kind != VALUE_NONE)
    path_set(p, call, result);
  p->meets = x->merges;
  return GO_ON;
}

/* Gives all phis of a block their values at once. */
static void take_phis(struct executor *x, struct path *p, LLVMValueRef first)
{
  struct value values[64];
  LLVMValueRef v = first;
  unsigned count = 0;
  for (; LLVMGetInstructionOpcode(v) == LLVMPHI && count < 64; v = LLVMGetNextInstruction(v)) {
    unsigned from = 0;
    while (LLVMGetIncomingBlock(v, from) != top(p)->before)
      from++;
    values[count++] = path_operand(x, p, LLVMGetIncomingValue(v, from));
  }
  v = first;
  for (unsigned i = 0; i < count; i++, v = LLVMGetNextInstruction(v))
    path_set(p, v, values[i]);
  top(p)->next = v;
}

/* Forks over the places within the object of `at`, or at its end, to which an unknown index can
 * lead. In the path that remains, the index leads out of the object. An access through it reports
 * that. */
static enum go_on split_index(struct executor *x, struct path *p, LLVMValueRef v, unsigned operand,
                              const struct value *index, const struct value *at, uint64_t each)
{
  int64_t size = executor_object_at(x, at->object)->size, from = (int64_t)at->bits,
          step = each ? (int64_t)each : 1;
  const struct value least = value_bits(index->width, (uint64_t)(-from / step)),
                     most = value_bits(index->width, (uint64_t)((size - from) / step));
  struct value above = value_compare(x->z3, LLVMIntSGE, index, &least),
               below = value_compare(x->z3, LLVMIntSLE, index, &most);
  Z3_ast both[] = {value_ast(x->z3, &above), value_ast(x->z3, &below)};
  bool never;
  struct path *within = divide(x, p, Z3_mk_and(x->z3, 2, both), &never);
  if (within) {
    path_split(x, within, v, LLVMGetOperand(v, operand), index);
    path_free(x, within);
  }
  if (never)
    return GO_NOWHERE;
  path_set(p, v, value_pointer(OBJECT_OUTSIDE, 0));
  return GO_ON;
}

static enum go_on place(struct executor *x, struct path *p, LLVMValueRef v)
{
  struct value at = path_operand(x, p, LLVMGetOperand(v, 0));
  LLVMTypeRef type = LLVMGetGEPSourceElementType(v);
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(v); i++) {
    struct value index = path_operand(x, p, LLVMGetOperand(v, i));
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      at.bits += LLVMOffsetOfElement(x->layout, type, (unsigned)index.bits);
      type = LLVMStructGetTypeAtIndex(type, (unsigned)index.bits);
      continue;
    }
    if (i > 1)
      type = LLVMGetElementType(type);
    if (at.kind != VALUE_POINTER)
      return path_unsupported(x, p, v);
    if (index.kind == VALUE_TERM)
      return split_index(x, p, v, i, &index, &at, executor_size(x, type));
    at.bits += (uint64_t)value_signed(&index) * executor_size(x, type);
  }
  path_set(p, v, at);
  return GO_ON;
}

/* Returns an aggregate with one field replaced. */
static struct value inserted(struct executor *x, struct path *p, LLVMValueRef v)
{
  struct value whole = path_operand(x, p, LLVMGetOperand(v, 0));
  unsigned count = LLVMCountStructElementTypes(LLVMTypeOf(v));
  struct value *fields = memory_table(count + 1, sizeof *fields); /* stays until the program ends */
  memcpy(fields, whole.fields, count * sizeof *fields);
  fields[LLVMGetIndices(v)[0]] = path_operand(x, p, LLVMGetOperand(v, 1));
  return (struct value){.kind = VALUE_FIELDS, .fields = fields};
}

static enum go_on choose(struct executor *x, struct path *p, LLVMValueRef v)
{
  struct value condition = path_operand(x, p, LLVMGetOperand(v, 0)),
               a = path_operand(x, p, LLVMGetOperand(v, 1)),
               b = path_operand(x, p, LLVMGetOperand(v, 2));
  bool numbers = (a.kind == VALUE_BITS || a.kind == VALUE_TERM) &&
                 (b.kind == VALUE_BITS || b.kind == VALUE_TERM);
  if (!numbers && condition.kind == VALUE_TERM)
    return path_split(x, p, v, LLVMGetOperand(v, 0), &condition);
  path_set(p, v, value_select(x->z3, &condition, &a, &b));
  return GO_ON;
}

/* Assumes that a number fits its type. In an exact run, no state has a number that does not fit. A
 * number that is counted is at most x->most, or at most the largest number that fits. */
static void keep_exact(struct executor *x, struct path *p, LLVMValueRef v, const struct value *a,
                       const struct value *b)
{
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  struct value wraps = {0},
               most = value_bits(a->width, x->most && !x->exact ? x->most : UINT64_MAX);
  if (op == LLVMTrunc) {
    struct value back = value_resize(x->z3, b, a->width, false);
    wraps = value_compare(x->z3, LLVMIntNE, a, &back);
  } else if (b->kind == VALUE_BITS && (op == LLVMAdd || op == LLVMMul || op == LLVMShl)) {
    most.bits = op == LLVMAdd   ? most.bits - b->bits
                : op == LLVMShl ? most.bits >> b->bits
                                : most.bits / (b->bits ? b->bits : 1);
    wraps = value_compare(x->z3, LLVMIntUGT, a, &most);
  } else if (op == LLVMAdd || op == LLVMMul) {
    wraps = value_overflows(x->z3, op, false, a, b);
  }
  if (wraps.kind == VALUE_TERM)
    path_add(x, p, Z3_mk_not(x->z3, wraps.term), NULL);
}

static enum go_on convert(struct executor *x, struct path *p, LLVMValueRef v, LLVMOpcode op)
{
  struct value from = path_operand(x, p, LLVMGetOperand(v, 0));
  LLVMTypeRef type = LLVMTypeOf(v);
  bool number = from.kind == VALUE_BITS || from.kind == VALUE_TERM;
  if (op == LLVMBitCast || op == LLVMFreeze || op == LLVMPtrToInt || op == LLVMIntToPtr) {
    bool null = op == LLVMIntToPtr && from.kind == VALUE_BITS && !from.bits;
    path_set(p, v, null ? value_pointer(0, 0) : from);
    return GO_ON;
  }
  if (!number)
    return path_unsupported(x, p, v);
  struct value to = value_resize(x->z3, &from, LLVMGetIntTypeWidth(type), op == LLVMSExt);
  if (x->exact && op == LLVMTrunc)
    keep_exact(x, p, v, &from, &to);
  path_set(p, v, to);
  return GO_ON;
}

/* Adds a number to a pointer that was converted to a number. */
static bool moves_pointer(struct path *p, LLVMValueRef v, const struct value *a,
                          const struct value *b)
{
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  struct value to = *a;
  bool same = b->kind == VALUE_POINTER && a->object == b->object;
  if (op == LLVMSub && a->kind == VALUE_POINTER && same)
    to = value_bits(64, a->bits - b->bits);
  else if (a->kind == VALUE_POINTER && b->kind == VALUE_BITS && (op == LLVMAdd || op == LLVMSub))
    to.bits += op == LLVMAdd ? b->bits : -b->bits;
  else
    return false;
  path_set(p, v, to);
  return true;
}

/* Returns whether the instruction counts: it adds a small constant to an unsigned number of 32
 * bits. A sum of signed numbers is no such instruction: it is marked nsw, or is a call that reports
 * an overflow. */
static bool counts(struct executor *x, LLVMValueRef v)
{
  enum { NO = 1, YES, SMALL = 1 << 16 };
  unsigned known = GPOINTER_TO_UINT(g_hash_table_lookup(x->raises, v));
  if (known)
    return known == YES;
  LLVMValueRef by = LLVMGetOperand(v, 1);
  bool small = LLVMGetInstructionOpcode(v) == LLVMAdd && LLVMIsAConstantInt(by) &&
               LLVMGetIntTypeWidth(LLVMTypeOf(by)) == 32 && LLVMConstIntGetZExtValue(by) < SMALL;
  char *text = small ? LLVMPrintValueToString(v) : NULL;
  known = small && !strstr(text, " nsw ") ? YES : NO;
  if (text)
    LLVMDisposeMessage(text);
  g_hash_table_insert(x->raises, v, GUINT_TO_POINTER(known));
  return known == YES;
}

static enum go_on calculate(struct executor *x, struct path *p, LLVMValueRef v)
{
  struct value a = path_operand(x, p, LLVMGetOperand(v, 0)),
               b = path_operand(x, p, LLVMGetOperand(v, 1));
  if (a.kind == VALUE_POINTER || b.kind == VALUE_POINTER)
    return moves_pointer(p, v, &a, &b) ? GO_ON : path_unsupported(x, p, v);
  if (x->exact || (a.kind == VALUE_TERM && counts(x, v)))
    keep_exact(x, p, v, &a, &b); /* no number that is counted reaches 2^32 */
  path_set(p, v, value_binary(x->z3, LLVMGetInstructionOpcode(v), &a, &b));
  return GO_ON;
}

/* Makes a variable, or an array whose length is known when the function reaches its declaration. */
static enum go_on make_variable(struct executor *x, struct path *p, LLVMValueRef v)
{
  struct value items = path_operand(x, p, LLVMGetOperand(v, 0));
  if (items.kind != VALUE_BITS)
    return path_unsupported(x, p, v);
  path_set(p, v, value_pointer(path_variable(x, p, v, (uint32_t)items.bits), 0));
  return GO_ON;
}

static enum go_on access_memory(struct executor *x, struct path *p, LLVMValueRef v, bool stores)
{
  struct value at = path_operand(x, p, LLVMGetOperand(v, stores ? 1 : 0)), value;
  p->at = v;
  if (stores) {
    value = path_operand(x, p, LLVMGetOperand(v, 0));
    return path_store(x, p, &at, LLVMTypeOf(LLVMGetOperand(v, 0)), &value) ? GO_ON : GO_ENDED;
  }
  if (!path_load(x, p, &at, LLVMTypeOf(v), &value))
    return GO_ENDED;
  path_set(p, v, value);
  return GO_ON;
}

static enum go_on take(struct executor *x, struct path *p, LLVMValueRef v)
{
  LLVMOpcode op = LLVMGetInstructionOpcode(v);
  struct value a;
  switch (op) {
  case LLVMBr:
    return branch(x, p, v);
  case LLVMSwitch:
    return branch_many(x, p, v);
  case LLVMRet:
    return return_from(x, p, v);
  case LLVMUnreachable:
    path_fault(p, v, "reaches what the compiler calls unreachable");
    return GO_ENDED;
  case LLVMLoad:
    return access_memory(x, p, v, false);
  case LLVMStore:
    return access_memory(x, p, v, true);
  case LLVMGetElementPtr:
    return place(x, p, v);
  case LLVMSelect:
    return choose(x, p, v);
  case LLVMCall:
    return path_call(x, p, v);
  case LLVMAlloca:
    return make_variable(x, p, v);
  case LLVMICmp: {
    a = path_operand(x, p, LLVMGetOperand(v, 0));
    const struct value b = path_operand(x, p, LLVMGetOperand(v, 1));
    path_set(p, v, value_compare(x->z3, LLVMGetICmpPredicate(v), &a, &b));
    return GO_ON;
  }
  case LLVMExtractValue:
    a = path_operand(x, p, LLVMGetOperand(v, 0));
    path_set(p, v, a.fields[LLVMGetIndices(v)[0]]);
    return GO_ON;
  case LLVMInsertValue:
    path_set(p, v, inserted(x, p, v));
    return GO_ON;
  case LLVMTrunc:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMPtrToInt:
  case LLVMIntToPtr:
  case LLVMBitCast:
  case LLVMFreeze:
    return convert(x, p, v, op);
  default:
    return LLVMIsABinaryOperator(v) ? calculate(x, p, v) : path_unsupported(x, p, v);
  }
}

/* ---- running ---- */

static bool is_late(struct executor *x)
{
  if (x->until && x->steps % 256 == 0 && g_get_monotonic_time() > x->until)
    x->late = true;
  return x->late;
}

/* Continues the path until it ends. Returns GO_NOWHERE if the path is impossible or was divided,
 * and GO_AGAIN if it may meet other paths. */
static enum go_on run_path(struct executor *x, struct path *p)
{
  while (!is_late(x)) {
    LLVMValueRef v = top(p)->next;
    x->steps++;
    if (LLVMGetInstructionOpcode(v) == LLVMPHI) {
      take_phis(x, p, v);
      continue;
    }
    if (p->meets) {
      p->meets = false;
      return GO_AGAIN;
    }
    top(p)->next = LLVMGetNextInstruction(v);
    enum go_on answer = take(x, p, v);
    if (answer != GO_ON)
      return answer;
  }
  return GO_NOWHERE;
}

void executor_run(struct executor *x, struct path *first, void (*ended)(void *, struct path *),
                  void *ctx)
{
  guint outer = x->work->len;
  g_ptr_array_add(x->work, first);
  while (x->work->len > outer) {
    struct path *p =
        x->merges ? paths_next(x, outer) : g_ptr_array_remove_index(x->work, x->work->len - 1);
    enum go_on answer = x->late ? GO_NOWHERE : run_path(x, p);
    if (answer == GO_AGAIN) {
      path_meet(x, outer, p);
      continue;
    }
    if (answer == GO_ENDED) {
      x->paths++;
      ended(ctx, p);
    }
    path_free(x, p);
  }
}
