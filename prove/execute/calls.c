#include <string.h>

#include "prove/execute/execute.h"

enum { ARGUMENTS = 16 };

/* Says what each number of -fsanitize-trap means (SanitizerHandler in clang's sources).
 */
static const char *const traps[] = {
    [0] = "a signed sum overflows",        [1] = "reaches what the compiler calls unreachable",
    [3] = "a division has no result",      [10] = "loads a value that its type does not have",
    [11] = "a function returns nothing",   [12] = "a signed product overflows",
    [13] = "a negation overflows",         [16] = "passes a null pointer",
    [18] = "an index is out of its array", [19] = "a pointer overflows",
    [20] = "a shift is out of its range",  [21] = "a signed difference overflows",
    [22] = "goes through a null pointer"};

static enum go_on trap(struct path *p, LLVMValueRef call, const struct value *args)
{
  uint64_t kind = args[0].kind == VALUE_BITS ? args[0].bits : 0;
  const char *what = kind < G_N_ELEMENTS(traps) ? traps[kind] : NULL;
  path_fault(p, call, "%s", what ? what : "does what C leaves undefined");
  return GO_ENDED;
}

/* Executes memcpy, memmove or memset, as a call or as an intrinsic. */
static enum go_on move_memory(struct executor *x, struct path *p, LLVMValueRef call,
                              const struct value *args, bool fills)
{
  if (args[2].kind == VALUE_TERM)
    return path_split(x, p, call, LLVMGetOperand(call, 2), &args[2]);
  struct value byte = args[1];
  if (fills)
    byte = value_resize(x->z3, &args[1], 8, false);
  p->at = call;
  bool fine = fills ? path_fill(x, p, &args[0], &byte, args[2].bits)
                    : path_copy(x, p, &args[0], &args[1], args[2].bits);
  if (fine && LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind)
    path_set(p, call, args[0]);
  return fine ? GO_ON : GO_ENDED;
}

static enum go_on least_or_most(struct executor *x, struct path *p, LLVMValueRef call,
                                const struct value *args, LLVMIntPredicate takes_first)
{
  struct value first = value_compare(x->z3, takes_first, &args[0], &args[1]);
  path_set(p, call, value_select(x->z3, &first, &args[0], &args[1]));
  return GO_ON;
}

static enum go_on with_overflow(struct executor *x, struct path *p, LLVMValueRef call,
                                const struct value *args, const char *name)
{
  LLVMOpcode op = strstr(name, "add") ? LLVMAdd : strstr(name, "sub") ? LLVMSub : LLVMMul;
  struct value *fields = g_new0(struct value, 2); /* stays until the program ends */
  fields[0] = value_binary(x->z3, op, &args[0], &args[1]);
  fields[1] = value_overflows(x->z3, op, name[5] == 's', &args[0], &args[1]);
  path_set(p, call, (struct value){.kind = VALUE_FIELDS, .fields = fields});
  return GO_ON;
}

static enum go_on saturated(struct executor *x, struct path *p, LLVMValueRef call,
                            const struct value *args, bool adds)
{
  const struct value end = value_bits(args[0].width, adds ? UINT64_MAX : 0);
  struct value to = value_binary(x->z3, adds ? LLVMAdd : LLVMSub, &args[0], &args[1]),
               wraps = value_overflows(x->z3, adds ? LLVMAdd : LLVMSub, false, &args[0], &args[1]);
  path_set(p, call, value_select(x->z3, &wraps, &end, &to));
  return GO_ON;
}

static enum go_on absolute(struct executor *x, struct path *p, LLVMValueRef call,
                           const struct value *args)
{
  const struct value zero = value_bits(args[0].width, 0);
  struct value negative = value_compare(x->z3, LLVMIntSLT, &args[0], &zero),
               turned = value_binary(x->z3, LLVMSub, &zero, &args[0]);
  path_set(p, call, value_select(x->z3, &negative, &turned, &args[0]));
  return GO_ON;
}

static enum go_on intrinsic(struct executor *x, struct path *p, LLVMValueRef call, const char *name,
                            const struct value *args)
{
  static const char *const idle[] = {"lifetime", "dbg",       "experimental.noalias",
                                     "assume",   "invariant", "stackrestore"};
  static const struct {
    const char *name;
    LLVMIntPredicate first;
  } ends[] = {
      {"smax", LLVMIntSGE}, {"smin", LLVMIntSLE}, {"umax", LLVMIntUGE}, {"umin", LLVMIntULE}};
  const char *what = name + strlen("llvm.");
  for (size_t i = 0; i < G_N_ELEMENTS(idle); i++)
    if (g_str_has_prefix(what, idle[i]))
      return GO_ON;
  if (g_str_has_prefix(what, "ubsantrap") || g_str_has_prefix(what, "trap"))
    return trap(p, call, args);
  if (g_str_has_prefix(what, "memcpy") || g_str_has_prefix(what, "memmove"))
    return move_memory(x, p, call, args, false);
  if (g_str_has_prefix(what, "memset"))
    return move_memory(x, p, call, args, true);
  for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
    if (g_str_has_prefix(what, ends[i].name))
      return least_or_most(x, p, call, args, ends[i].first);
  if (strstr(what, ".with.overflow"))
    return with_overflow(x, p, call, args, name);
  if (g_str_has_prefix(what, "usub.sat") || g_str_has_prefix(what, "uadd.sat"))
    return saturated(x, p, call, args, what[1] == 'a');
  if (g_str_has_prefix(what, "abs"))
    return absolute(x, p, call, args);
  if (g_str_has_prefix(what, "stacksave")) {
    path_set(p, call, value_pointer(OBJECT_NULL, 0));
    return GO_ON;
  }
  if (g_str_has_prefix(what, "expect")) {
    path_set(p, call, args[0]);
    return GO_ON;
  }
  return path_unsupported(x, p, call);
}

/* Ends the path with a fault. The grammar calls the function that is executed here in order to
 * print why it refuses a list of actions. */
static enum go_on refuse(struct executor *x, struct path *p, LLVMValueRef call,
                         const struct value *args, unsigned count)
{
  char text[WHAT_MAX] = "";
  const struct value *from = &args[count > 3 ? 3 : 2];
  for (uint32_t i = 0; i + 1 < sizeof text && from->kind == VALUE_POINTER && from->object; i++) {
    const struct block *b = path_block(x, p, from->object);
    if (from->bits + i >= b->size || b->cell[from->bits + i].of.kind != VALUE_BITS)
      break;
    text[i] = (char)b->cell[from->bits + i].of.bits;
    if (!text[i])
      break;
  }
  path_fault(p, call, "its list of actions is refused: expected %.150s", text);
  return GO_ENDED;
}

static enum go_on foreign(struct executor *x, struct path *p, LLVMValueRef call, const char *name,
                          const struct value *args, unsigned count)
{
  if (g_str_equal(name, "snprintf") && x->refuses)
    return refuse(x, p, call, args, count);
  if (g_str_equal(name, "memcpy") || g_str_equal(name, "memmove"))
    return move_memory(x, p, call, args, false);
  if (g_str_equal(name, "memset"))
    return move_memory(x, p, call, args, true);
  return path_unsupported(x, p, call);
}

enum go_on path_call(struct executor *x, struct path *p, LLVMValueRef call)
{
  struct value args[ARGUMENTS] = {{0}};
  unsigned count = LLVMGetNumArgOperands(call);
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t length;
  if (LLVMIsAFunction(callee) && g_str_has_prefix(LLVMGetValueName2(callee, &length), "llvm.dbg"))
    return GO_ON;
  if (count > ARGUMENTS)
    return path_unsupported(x, p, call);
  for (unsigned i = 0; i < count; i++)
    args[i] = path_operand(x, p, LLVMGetOperand(call, i));
  if (!LLVMIsAFunction(callee)) {
    struct value to = path_operand(x, p, callee);
    if (to.kind != VALUE_CODE) {
      path_fault(p, call, "calls a pointer that leads to no function");
      return GO_ENDED;
    }
    callee = to.code;
  }
  const char *name = LLVMGetValueName2(callee, &length);
  if (g_str_has_prefix(name, "llvm."))
    return intrinsic(x, p, call, name, args);
  if (!LLVMGetFirstBasicBlock(callee))
    return foreign(x, p, call, name, args, count);
  return path_enter(x, p, callee, args, count, call) ? GO_ON : GO_ENDED;
}
