/* Computes with values of the executor: numbers that are known, terms of Z3 for unknown numbers,
 * and pointers.
 *
 * A value of one bit is a Boolean term, a wider value is a bit-vector. Operations on numbers
 * compute a number, and operations on terms simplify, so a value that does not depend on unknowns
 * stays a number. Terms live as long as the context. */
#ifndef RECLINE_PROVE_TERM_H
#define RECLINE_PROVE_TERM_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>
#include <z3.h>

enum value_kind {
  VALUE_NONE,
  VALUE_BITS,    /* a number of `width` bits */
  VALUE_TERM,    /* an unknown number */
  VALUE_POINTER, /* `bits` bytes after the beginning of `object`; object 0 is null */
  VALUE_CODE,    /* a function */
  VALUE_FIELDS   /* a struct of values */
};

struct value {
  uint8_t kind, width; /* enum value_kind; width in bits of BITS and TERM, 1 to 64 */
  uint32_t object;
  uint64_t bits;
  union {
    Z3_ast term;
    LLVMValueRef code;
    struct value *fields;
  };
};

static inline bool value_is(const struct value *v, enum value_kind kind)
{
  return v->kind == kind;
}

/* Returns whether two values are the same number, term, pointer, function or fields. */
bool value_same(const struct value *, const struct value *);

struct value value_bits(unsigned width, uint64_t bits);
struct value value_pointer(uint32_t object, uint64_t offset);

/* Returns the value of a term of `width` bits, simplified. */
struct value value_term(Z3_context, unsigned width, Z3_ast term);

/* Returns an unknown value, which is called `name` in models. */
struct value value_unknown(Z3_context, unsigned width, const char *name);

/* Returns the term for a value of kind BITS or TERM. */
Z3_ast value_ast(Z3_context, const struct value *);

/* Returns a Boolean term: the value's only bit, or whether a wider value is not zero. */
Z3_ast value_true(Z3_context, const struct value *);

struct value value_binary(Z3_context, LLVMOpcode, const struct value *, const struct value *);
struct value value_compare(Z3_context, LLVMIntPredicate, const struct value *,
                           const struct value *);
struct value value_select(Z3_context, const struct value *condition, const struct value *,
                          const struct value *);

/* Returns the value with another width: extended by zeroes or by its sign, or cut. */
struct value value_resize(Z3_context, const struct value *, unsigned width, bool by_sign);

/* Returns as a Boolean value whether the operation overflows, in the sense of LLVM's with.overflow.
 */
struct value value_overflows(Z3_context, LLVMOpcode, bool by_sign, const struct value *,
                             const struct value *);

/* value_byte() returns byte `k` of a value whose width is a multiple of 8. value_join() returns a
 * value made of bytes, the lowest first. */
struct value value_byte(Z3_context, const struct value *, unsigned k);
struct value value_join(Z3_context, const struct value *bytes, unsigned count);

/* Returns a value of kind BITS as a signed number. */
int64_t value_signed(const struct value *);

#endif
