#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "prove/execute/execute.h"

struct code {
  LLVMValueRef function;
  GHashTable *numbers; /* numbers of arguments and instructions, from 1 */
  struct flow *flow;   /* the flow of the function, or NULL as long as no paths have merged in it */
  unsigned order;
};

/* ---- functions ---- */

static void free_code(void *data)
{
  struct code *code = data;
  if (code->flow)
    flow_free(code->flow);
  g_hash_table_destroy(code->numbers);
  g_free(code);
}

static void number(struct code *code, LLVMValueRef value)
{
  g_hash_table_insert(code->numbers, value, GUINT_TO_POINTER(g_hash_table_size(code->numbers) + 1));
}

static struct code *code_of(struct executor *x, LLVMValueRef function)
{
  struct code *code = g_hash_table_lookup(x->codes, function);
  if (code)
    return code;
  code = g_new0(struct code, 1);
  code->function = function;
  code->numbers = g_hash_table_new(NULL, NULL);
  for (LLVMValueRef v = LLVMGetFirstParam(function); v; v = LLVMGetNextParam(v))
    number(code, v);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
      number(code, v);
  code->order = g_hash_table_size(x->codes);
  g_hash_table_insert(x->codes, function, code);
  return code;
}

const struct code *executor_code(struct executor *x, LLVMValueRef function)
{
  struct code *code = code_of(x, function);
  if (x->merges && !code->flow)
    code->flow = flow_new(function, code->numbers);
  return code;
}

LLVMValueRef code_function(const struct code *code)
{
  return code->function;
}

unsigned code_registers(const struct code *code)
{
  return g_hash_table_size(code->numbers);
}

struct flow *code_flow(const struct code *code)
{
  return code->flow;
}

unsigned code_order(const struct code *code)
{
  return code->order;
}

int code_number(const struct code *code, LLVMValueRef value)
{
  return (int)GPOINTER_TO_UINT(g_hash_table_lookup(code->numbers, value)) - 1;
}

/* ---- constants ---- */

uint64_t executor_size(const struct executor *x, LLVMTypeRef type)
{
  return LLVMABISizeOfType(x->layout, type);
}

static struct value null_of(LLVMTypeRef type)
{
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind:
    return value_bits(LLVMGetIntTypeWidth(type), 0);
  case LLVMStructTypeKind: {
    unsigned count = LLVMCountStructElementTypes(type);
    struct value *fields = g_new0(struct value, count + 1);
    for (unsigned i = 0; i < count; i++)
      fields[i] = null_of(LLVMStructGetTypeAtIndex(type, i));
    return (struct value){.kind = VALUE_FIELDS, .fields = fields};
  }
  default:
    return value_pointer(0, 0);
  }
}

/* Returns the place to which a constant points, as an offset into an object. */
static struct value constant_place(struct executor *x, LLVMValueRef v)
{
  struct value at = executor_constant(x, LLVMGetOperand(v, 0));
  LLVMTypeRef type = LLVMGetGEPSourceElementType(v);
  for (int i = 1; i < LLVMGetNumOperands(v); i++) {
    uint64_t index = (uint64_t)LLVMConstIntGetSExtValue(LLVMGetOperand(v, (unsigned)i));
    if (i == 1) {
      at.bits += index * executor_size(x, type);
    } else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      at.bits += LLVMOffsetOfElement(x->layout, type, (unsigned)index);
      type = LLVMStructGetTypeAtIndex(type, (unsigned)index);
    } else {
      type = LLVMGetElementType(type);
      at.bits += index * executor_size(x, type);
    }
  }
  return at;
}

static struct value constant_expression(struct executor *x, LLVMValueRef v)
{
  switch (LLVMGetConstOpcode(v)) {
  case LLVMGetElementPtr:
    return constant_place(x, v);
  case LLVMBitCast:
    return executor_constant(x, LLVMGetOperand(v, 0));
  default:
    return (struct value){0};
  }
}

struct value executor_constant(struct executor *x, LLVMValueRef v)
{
  if (LLVMIsAConstantInt(v))
    return value_bits(LLVMGetIntTypeWidth(LLVMTypeOf(v)), LLVMConstIntGetZExtValue(v));
  if (LLVMIsAFunction(v))
    return (struct value){.kind = VALUE_CODE, .width = 64, .code = v};
  if (LLVMIsAGlobalVariable(v))
    return value_pointer(executor_global(x, v), 0);
  if (LLVMIsAConstantExpr(v))
    return constant_expression(x, v);
  /* the constant is null, or is undefined or poison, which no step may use */
  return null_of(LLVMTypeOf(v));
}

/* ---- globals ---- */

static void write_constant(struct executor *x, struct block *b, uint64_t at, LLVMValueRef v);

static void write_elements(struct executor *x, struct block *b, uint64_t at, LLVMValueRef v,
                           bool fields)
{
  LLVMTypeRef type = LLVMTypeOf(v);
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(v); i++)
    write_constant(x, b,
                   at + (fields ? LLVMOffsetOfElement(x->layout, type, i)
                                : i * executor_size(x, LLVMGetElementType(type))),
                   LLVMGetOperand(v, i));
}

static void write_constant(struct executor *x, struct block *b, uint64_t at, LLVMValueRef v)
{
  LLVMTypeRef type = LLVMTypeOf(v);
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (LLVMIsAConstantDataSequential(v)) {
    uint64_t each = executor_size(x, LLVMGetElementType(type));
    unsigned count = LLVMGetArrayLength(type);
    for (unsigned i = 0; i < count; i++)
      write_constant(x, b, at + i * each, LLVMGetElementAsConstant(v, i));
  } else if (LLVMIsAConstantStruct(v) || LLVMIsAConstantArray(v)) {
    write_elements(x, b, at, v, kind == LLVMStructTypeKind);
  } else if (kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind) {
    const struct value value = executor_constant(x, v);
    bool is_null = value.kind == VALUE_POINTER && !value.object;
    if (!is_null)
      block_write(x->z3, b, (uint32_t)at, &value, (uint32_t)executor_size(x, type));
  } /* any other constant is all zeroes, or is a floating-point number, which no step may use */
}

uint32_t executor_global(struct executor *x, LLVMValueRef global)
{
  uint32_t object = GPOINTER_TO_UINT(g_hash_table_lookup(x->globals, global));
  if (object)
    return object;
  size_t length;
  LLVMValueRef value = LLVMGetInitializer(global);
  uint32_t size = (uint32_t)executor_size(x, LLVMGlobalGetValueType(global));
  object =
      executor_object(x, LLVMGetValueName2(global, &length), size, LLVMIsGlobalConstant(global));
  g_hash_table_insert(x->globals, global, GUINT_TO_POINTER(object));
  struct block *b = x->first->pdata[object];
  const struct value zero = value_bits(8, 0);
  for (uint32_t i = 0; i < size; i++)
    block_write(x->z3, b, i, &zero, 1);
  if (value)
    write_constant(x, b, 0, value);
  return object;
}

/* ---- life ---- */

void executor_init(struct executor *x, LLVMModuleRef module)
{
  *x = (struct executor){.module = module, .layout = LLVMGetModuleDataLayout(module)};
  Z3_config config = Z3_mk_config();
  x->z3 = Z3_mk_context(config);
  Z3_del_config(config);
  x->solver = Z3_mk_solver_for_logic(x->z3, Z3_mk_string_symbol(x->z3, "QF_BV"));
  Z3_solver_inc_ref(x->z3, x->solver);
  x->asserted = g_ptr_array_new();
  x->objects = g_array_new(FALSE, TRUE, sizeof(struct object));
  x->first = g_ptr_array_new();
  x->codes = g_hash_table_new_full(NULL, NULL, NULL, free_code);
  x->globals = g_hash_table_new(NULL, NULL);
  x->raises = g_hash_table_new(NULL, NULL);
  x->variables = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
  x->work = g_ptr_array_new();
  x->unsupported = g_string_new(NULL);
  executor_object(x, "null", 0, true);
  executor_object(x, "what lies outside", 0, true);
}

void executor_merge(struct executor *x)
{
  Z3_solver_dec_ref(x->z3, x->solver);
  x->solver = Z3_mk_simple_solver(x->z3);
  Z3_solver_inc_ref(x->z3, x->solver);
  x->merges = true;
}

char *executor_undecided(const struct executor *x)
{
  if (x->unsupported->len)
    return g_strdup_printf("the executor does not know: %.120s", x->unsupported->str);
  bool over = x->until && g_get_monotonic_time() >= x->until;
  if (x->late || (x->unknown && over))
    return g_strdup("the time is up");
  return x->unknown ? g_strdup_printf("Z3 does not decide %u questions", x->unknown) : NULL;
}

void executor_clear(struct executor *x)
{
  for (guint i = 0; i < x->first->len; i++) {
    block_release(x->first->pdata[i]);
    g_free(g_array_index(x->objects, struct object, i).name);
  }
  Z3_solver_dec_ref(x->z3, x->solver);
  Z3_del_context(x->z3);
  g_ptr_array_free(x->asserted, TRUE);
  g_array_free(x->objects, TRUE);
  g_ptr_array_free(x->first, TRUE);
  g_hash_table_destroy(x->codes);
  g_hash_table_destroy(x->globals);
  g_hash_table_destroy(x->raises);
  g_hash_table_destroy(x->variables);
  g_ptr_array_free(x->work, TRUE);
  g_string_free(x->unsupported, TRUE);
  LLVMDisposeModule(x->module);
}
