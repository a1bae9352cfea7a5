#include "prove/execute/term.h"

#include "base/breach.h"

static uint64_t mask(unsigned width)
{
  return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

struct value value_bits(unsigned width, uint64_t bits)
{
  return (struct value){.kind = VALUE_BITS, .width = (uint8_t)width, .bits = bits & mask(width)};
}

struct value value_pointer(uint32_t object, uint64_t offset)
{
  return (struct value){.kind = VALUE_POINTER, .width = 64, .object = object, .bits = offset};
}

bool value_same(const struct value *a, const struct value *b)
{
  return a->kind == b->kind && a->width == b->width && a->object == b->object &&
         a->bits == b->bits && a->term == b->term;
}

int64_t value_signed(const struct value *v)
{
  uint64_t sign = UINT64_C(1) << (v->width - 1);
  return (int64_t)((v->bits ^ sign) - sign);
}

struct value value_term(Z3_context z, unsigned width, Z3_ast term)
{
  uint64_t bits;
  term = Z3_simplify(z, term);
  if (width == 1) {
    Z3_lbool known = Z3_get_bool_value(z, term);
    if (known != Z3_L_UNDEF)
      return value_bits(1, known == Z3_L_TRUE);
  } else if (Z3_get_ast_kind(z, term) == Z3_NUMERAL_AST && Z3_get_numeral_uint64(z, term, &bits)) {
    return value_bits(width, bits);
  }
  return (struct value){.kind = VALUE_TERM, .width = (uint8_t)width, .term = term};
}

struct value value_unknown(Z3_context z, unsigned width, const char *name)
{
  Z3_sort sort = width == 1 ? Z3_mk_bool_sort(z) : Z3_mk_bv_sort(z, width);
  Z3_ast term = Z3_mk_const(z, Z3_mk_string_symbol(z, name), sort);
  return (struct value){.kind = VALUE_TERM, .width = (uint8_t)width, .term = term};
}

Z3_ast value_ast(Z3_context z, const struct value *v)
{
  if (v->kind == VALUE_TERM)
    return v->term;
  REQUIRE(v->kind == VALUE_BITS, "a value of bits");
  if (v->width == 1)
    return v->bits ? Z3_mk_true(z) : Z3_mk_false(z);
  return Z3_mk_unsigned_int64(z, v->bits, Z3_mk_bv_sort(z, v->width));
}

Z3_ast value_true(Z3_context z, const struct value *v)
{
  Z3_ast term = value_ast(z, v);
  const struct value zero = value_bits(v->width, 0);
  return v->width == 1 ? term : Z3_mk_not(z, Z3_mk_eq(z, term, value_ast(z, &zero)));
}

/* ---- arithmetic ---- */

static uint64_t shift_right_by_sign(const struct value *a, uint64_t by)
{
  int64_t sign = value_signed(a) < 0 ? -1 : 0;
  return by >= a->width ? (uint64_t)sign : (uint64_t)(value_signed(a) >> by);
}

static bool computes(LLVMOpcode op, const struct value *a, const struct value *b, uint64_t *out)
{
  int64_t x = value_signed(a), y = value_signed(b);
  bool divides = b->bits && !(y == -1);
  switch (op) {
  case LLVMAdd:
    *out = a->bits + b->bits;
    return true;
  case LLVMSub:
    *out = a->bits - b->bits;
    return true;
  case LLVMMul:
    *out = a->bits * b->bits;
    return true;
  case LLVMAnd:
    *out = a->bits & b->bits;
    return true;
  case LLVMOr:
    *out = a->bits | b->bits;
    return true;
  case LLVMXor:
    *out = a->bits ^ b->bits;
    return true;
  case LLVMShl:
    *out = b->bits < a->width ? a->bits << b->bits : 0;
    return true;
  case LLVMLShr:
    *out = b->bits < a->width ? a->bits >> b->bits : 0;
    return true;
  case LLVMAShr:
    *out = shift_right_by_sign(a, b->bits);
    return true;
  case LLVMUDiv:
    *out = b->bits ? a->bits / b->bits : 0;
    return b->bits;
  case LLVMURem:
    *out = b->bits ? a->bits % b->bits : 0;
    return b->bits;
  case LLVMSDiv:
    *out = divides ? (uint64_t)(x / y) : 0;
    return divides;
  case LLVMSRem:
    *out = divides ? (uint64_t)(x % y) : 0;
    return divides;
  default:
    return false;
  }
}

static Z3_ast binary_bits(Z3_context z, LLVMOpcode op, Z3_ast a, Z3_ast b)
{
  switch (op) {
  case LLVMAdd:
    return Z3_mk_bvadd(z, a, b);
  case LLVMSub:
    return Z3_mk_bvsub(z, a, b);
  case LLVMMul:
    return Z3_mk_bvmul(z, a, b);
  case LLVMAnd:
    return Z3_mk_bvand(z, a, b);
  case LLVMOr:
    return Z3_mk_bvor(z, a, b);
  case LLVMXor:
    return Z3_mk_bvxor(z, a, b);
  case LLVMShl:
    return Z3_mk_bvshl(z, a, b);
  case LLVMLShr:
    return Z3_mk_bvlshr(z, a, b);
  case LLVMAShr:
    return Z3_mk_bvashr(z, a, b);
  case LLVMUDiv:
    return Z3_mk_bvudiv(z, a, b);
  case LLVMURem:
    return Z3_mk_bvurem(z, a, b);
  case LLVMSDiv:
    return Z3_mk_bvsdiv(z, a, b);
  case LLVMSRem:
    return Z3_mk_bvsrem(z, a, b);
  default:
    breach("operation %d of LLVM", (int)op);
  }
}

static Z3_ast binary_bools(Z3_context z, LLVMOpcode op, Z3_ast a, Z3_ast b)
{
  Z3_ast both[] = {a, b};
  switch (op) {
  case LLVMAnd:
  case LLVMMul:
    return Z3_mk_and(z, 2, both);
  case LLVMOr:
    return Z3_mk_or(z, 2, both);
  case LLVMAdd:
  case LLVMSub:
  case LLVMXor:
    return Z3_mk_xor(z, a, b);
  default:
    breach("operation %d of LLVM on bits", (int)op);
  }
}

struct value value_binary(Z3_context z, LLVMOpcode op, const struct value *a, const struct value *b)
{
  uint64_t bits;
  if (a->kind == VALUE_BITS && b->kind == VALUE_BITS && computes(op, a, b, &bits))
    return value_bits(a->width, bits);
  Z3_ast x = value_ast(z, a), y = value_ast(z, b);
  return value_term(z, a->width,
                    a->width == 1 ? binary_bools(z, op, x, y) : binary_bits(z, op, x, y));
}

/* ---- comparisons ---- */

static Z3_ast compare_terms(Z3_context z, LLVMIntPredicate how, Z3_ast a, Z3_ast b)
{
  switch (how) {
  case LLVMIntEQ:
    return Z3_mk_eq(z, a, b);
  case LLVMIntNE:
    return Z3_mk_not(z, Z3_mk_eq(z, a, b));
  case LLVMIntUGT:
    return Z3_mk_bvugt(z, a, b);
  case LLVMIntUGE:
    return Z3_mk_bvuge(z, a, b);
  case LLVMIntULT:
    return Z3_mk_bvult(z, a, b);
  case LLVMIntULE:
    return Z3_mk_bvule(z, a, b);
  case LLVMIntSGT:
    return Z3_mk_bvsgt(z, a, b);
  case LLVMIntSGE:
    return Z3_mk_bvsge(z, a, b);
  case LLVMIntSLT:
    return Z3_mk_bvslt(z, a, b);
  case LLVMIntSLE:
    return Z3_mk_bvsle(z, a, b);
  default:
    breach("comparison %d of LLVM", (int)how);
  }
}

/* Returns a pointer as a number. These numbers order pointers into one object, and tell objects
 * apart. */
static struct value number_of(const struct value *v)
{
  if (v->kind == VALUE_CODE)
    return value_bits(64, (uint64_t)(uintptr_t)v->code | UINT64_C(1) << 63);
  return v->kind == VALUE_POINTER ? value_bits(64, ((uint64_t)v->object << 32) + v->bits) : *v;
}

/* Returns a Boolean as a vector of 8 bits, because only vectors have an order. Returns any other
 * value as it is. */
static struct value widened(Z3_context z, const struct value *v)
{
  return v->width == 1 ? value_resize(z, v, 8, false) : *v;
}

struct value value_compare(Z3_context z, LLVMIntPredicate how, const struct value *a,
                           const struct value *b)
{
  struct value x = number_of(a), y = number_of(b);
  if (how != LLVMIntEQ && how != LLVMIntNE) {
    x = widened(z, &x);
    y = widened(z, &y);
  }
  return value_term(z, 1, compare_terms(z, how, value_ast(z, &x), value_ast(z, &y)));
}

struct value value_select(Z3_context z, const struct value *condition, const struct value *a,
                          const struct value *b)
{
  if (condition->kind == VALUE_BITS)
    return condition->bits ? *a : *b;
  return value_term(z, a->width,
                    Z3_mk_ite(z, value_ast(z, condition), value_ast(z, a), value_ast(z, b)));
}

/* ---- widths ---- */

struct value value_resize(Z3_context z, const struct value *v, unsigned width, bool by_sign)
{
  if (width == v->width)
    return *v;
  if (v->kind == VALUE_BITS)
    return value_bits(width, by_sign ? (uint64_t)value_signed(v) : v->bits);
  if (v->width == 1) {
    const struct value one = value_bits(width, by_sign ? UINT64_MAX : 1),
                       none = value_bits(width, 0);
    return value_select(z, v, &one, &none);
  }
  if (width == 1) {
    Z3_ast low = Z3_mk_extract(z, 0, 0, v->term);
    return value_term(z, 1, Z3_mk_eq(z, low, Z3_mk_int(z, 1, Z3_mk_bv_sort(z, 1))));
  }
  if (width < v->width)
    return value_term(z, width, Z3_mk_extract(z, width - 1, 0, v->term));
  unsigned more = width - v->width;
  return value_term(z, width,
                    by_sign ? Z3_mk_sign_ext(z, more, v->term) : Z3_mk_zero_ext(z, more, v->term));
}

struct value value_overflows(Z3_context z, LLVMOpcode op, bool by_sign, const struct value *a,
                             const struct value *b)
{
  Z3_ast x = value_ast(z, a), y = value_ast(z, b);
  Z3_ast (*extend)(Z3_context, unsigned, Z3_ast) = by_sign ? Z3_mk_sign_ext : Z3_mk_zero_ext;
  unsigned w = a->width;
  Z3_ast wide = binary_bits(z, op, extend(z, w, x), extend(z, w, y)),
         narrow = extend(z, w, binary_bits(z, op, x, y));
  return value_term(z, 1, Z3_mk_not(z, Z3_mk_eq(z, wide, narrow)));
}

struct value value_byte(Z3_context z, const struct value *v, unsigned k)
{
  if (v->kind == VALUE_BITS)
    return value_bits(8, v->bits >> 8 * k);
  if (v->width <= 8)
    return value_resize(z, v, 8, false);
  return value_term(z, 8, Z3_mk_extract(z, 8 * k + 7, 8 * k, v->term));
}

struct value value_join(Z3_context z, const struct value *bytes, unsigned count)
{
  uint64_t bits = 0;
  bool known = true;
  for (unsigned k = 0; k < count; k++) {
    known &= bytes[k].kind == VALUE_BITS;
    bits |= bytes[k].kind == VALUE_BITS ? bytes[k].bits << 8 * k : 0;
  }
  if (known)
    return value_bits(8 * count, bits);
  Z3_ast all = value_ast(z, &bytes[0]);
  for (unsigned k = 1; k < count; k++)
    all = Z3_mk_concat(z, value_ast(z, &bytes[k]), all);
  return value_term(z, 8 * count, all);
}
