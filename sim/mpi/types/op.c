#include "sim/mpi/types/op.h"

#include "sim/host/rank/typemap.h"

#include <complex.h>
#include <wchar.h>

__extension__ typedef __int128 int128;
__extension__ typedef __float128 quad;

struct quad_complex {
  quad re, im;
};

/* The next macros list the MPI types of each group (MPI 3.1, section 5.9.2), with their C types.
 * Characters and bytes count as small integers, because other MPI libraries accept such
 * reductions. */
#define INTEGERS(X, ...)                                                                           \
  X(ELEMENT_CHAR, signed char, __VA_ARGS__)                                                        \
  X(ELEMENT_BYTE, unsigned char, __VA_ARGS__)                                                      \
  X(ELEMENT_I8, int8_t, __VA_ARGS__)                                                               \
  X(ELEMENT_I16, int16_t, __VA_ARGS__)                                                             \
  X(ELEMENT_I32, int32_t, __VA_ARGS__)                                                             \
  X(ELEMENT_I64, int64_t, __VA_ARGS__)                                                             \
  X(ELEMENT_I128, int128, __VA_ARGS__)                                                             \
  X(ELEMENT_U8, uint8_t, __VA_ARGS__)                                                              \
  X(ELEMENT_U16, uint16_t, __VA_ARGS__)                                                            \
  X(ELEMENT_U32, uint32_t, __VA_ARGS__)                                                            \
  X(ELEMENT_U64, uint64_t, __VA_ARGS__)
#define REALS(X, ...)                                                                              \
  X(ELEMENT_F32, float, __VA_ARGS__)                                                               \
  X(ELEMENT_F64, double, __VA_ARGS__)                                                              \
  X(ELEMENT_F80, long double, __VA_ARGS__)                                                         \
  X(ELEMENT_F128, quad, __VA_ARGS__)
#define COMPLEXES(X, ...)                                                                          \
  X(ELEMENT_C32, float _Complex, __VA_ARGS__)                                                      \
  X(ELEMENT_C64, double _Complex, __VA_ARGS__)                                                     \
  X(ELEMENT_C80, long double _Complex, __VA_ARGS__)
#define QUAD_COMPLEX(X, ...) X(ELEMENT_C128, struct quad_complex, __VA_ARGS__)
#define LOGICALS(X, ...) X(ELEMENT_BOOL, bool, __VA_ARGS__)
#define PAIRS(X, ...)                                                                              \
  X(ELEMENT_I16_I32, struct i16_i32, __VA_ARGS__)                                                  \
  X(ELEMENT_I32_I32, struct i32_i32, __VA_ARGS__)                                                  \
  X(ELEMENT_I64_I32, struct i64_i32, __VA_ARGS__)                                                  \
  X(ELEMENT_I64_I64, struct i64_i64, __VA_ARGS__)                                                  \
  X(ELEMENT_F32_I32, struct f32_i32, __VA_ARGS__)                                                  \
  X(ELEMENT_F32_F32, struct f32_f32, __VA_ARGS__)                                                  \
  X(ELEMENT_F64_I32, struct f64_i32, __VA_ARGS__)                                                  \
  X(ELEMENT_F64_F64, struct f64_f64, __VA_ARGS__)                                                  \
  X(ELEMENT_F80_I32, struct f80_i32, __VA_ARGS__)

#define PAIR(NAME, VALUE, INDEX)                                                                   \
  struct NAME {                                                                                    \
    VALUE value;                                                                                   \
    INDEX index;                                                                                   \
  };
PAIR(i16_i32, short, int)
PAIR(i32_i32, int, int)
PAIR(i64_i32, long, int)
PAIR(i64_i64, long, long)
PAIR(f32_i32, float, int)
PAIR(f32_f32, float, float)
PAIR(f64_i32, double, int)
PAIR(f64_f64, double, double)
PAIR(f80_i32, long double, int)

/* The next macros combine one element: *b = *a op *b. Integers wrap around. */
#define ADD_INTEGERS(T) (void)__builtin_add_overflow(*a, *b, b)
#define MULTIPLY_INTEGERS(T) (void)__builtin_mul_overflow(*a, *b, b)
#define ADD(T) *b = *a + *b
#define MULTIPLY(T) *b = *a * *b
#define ADD_PARTS(T)                                                                               \
  *b = (T)                                                                                         \
  {                                                                                                \
    a->re + b->re, a->im + b->im                                                                   \
  }
#define MULTIPLY_PARTS(T)                                                                          \
  *b = (T)                                                                                         \
  {                                                                                                \
    a->re * b->re - a->im * b->im, a->re * b->im + a->im * b->re                                   \
  }
#define LARGER(T) *b = *a < *b ? *b : *a
#define SMALLER(T) *b = *a < *b ? *a : *b
#define AND(T) *b = (T)(*a && *b)
#define OR(T) *b = (T)(*a || *b)
#define XOR(T) *b = (T)(!*a != !*b)
#define AND_BITS(T) *b = (T)(*a & *b)
#define OR_BITS(T) *b = (T)(*a | *b)
#define XOR_BITS(T) *b = (T)(*a ^ *b)
#define IS_BEFORE_TIE (a->value == b->value && a->index < b->index)
#define LARGEST(T) *b = a->value > b->value || IS_BEFORE_TIE ? *a : *b
#define SMALLEST(T) *b = a->value < b->value || IS_BEFORE_TIE ? *a : *b

#define CASE(ELEMENT, TYPE, COMBINE)                                                               \
  case ELEMENT: {                                                                                  \
    const TYPE *a = before;                                                                        \
    TYPE *b = into;                                                                                \
    for (int i = 0; i < count; i++, a++, b++)                                                      \
      COMBINE(TYPE);                                                                               \
    return true;                                                                                   \
  }

/* Defines an operation from the cases of its groups. */
#define OPERATION(NAME, ...)                                                                       \
  static bool NAME(enum element element, const void *before, void *into, int count)                \
  {                                                                                                \
    switch (element) {                                                                             \
      __VA_ARGS__                                                                                  \
    default:                                                                                       \
      return false;                                                                                \
    }                                                                                              \
  }

OPERATION(op_max, INTEGERS(CASE, LARGER) REALS(CASE, LARGER))
OPERATION(op_min, INTEGERS(CASE, SMALLER) REALS(CASE, SMALLER))
OPERATION(op_sum, INTEGERS(CASE, ADD_INTEGERS) REALS(CASE, ADD) COMPLEXES(CASE, ADD)
                      QUAD_COMPLEX(CASE, ADD_PARTS))
OPERATION(op_prod, INTEGERS(CASE, MULTIPLY_INTEGERS) REALS(CASE, MULTIPLY) COMPLEXES(CASE, MULTIPLY)
                       QUAD_COMPLEX(CASE, MULTIPLY_PARTS))
OPERATION(op_land, INTEGERS(CASE, AND) LOGICALS(CASE, AND))
OPERATION(op_lor, INTEGERS(CASE, OR) LOGICALS(CASE, OR))
OPERATION(op_lxor, INTEGERS(CASE, XOR) LOGICALS(CASE, XOR))
OPERATION(op_band, INTEGERS(CASE, AND_BITS))
OPERATION(op_bor, INTEGERS(CASE, OR_BITS))
OPERATION(op_bxor, INTEGERS(CASE, XOR_BITS))
OPERATION(op_maxloc, PAIRS(CASE, LARGEST))
OPERATION(op_minloc, PAIRS(CASE, SMALLEST))

/* Stands for MPI_REPLACE and MPI_NO_OP, which exist only for accumulation in windows. */
static bool op_window(enum element element, const void *before, void *into, int count)
{
  (void)element, (void)before, (void)into, (void)count;
  return false;
}

typedef bool operation(enum element element, const void *before, void *into, int count);

/* Returns the function of a predefined operation, or NULL if the operation is the program's own. */
static operation *predefined(MPI_Op op)
{
  const struct {
    MPI_Op op;
    operation *does;
  } all[] = {{MPI_SUM, op_sum},        {MPI_MAX, op_max},       {MPI_MIN, op_min},
             {MPI_PROD, op_prod},      {MPI_LAND, op_land},     {MPI_LOR, op_lor},
             {MPI_LXOR, op_lxor},      {MPI_BAND, op_band},     {MPI_BOR, op_bor},
             {MPI_BXOR, op_bxor},      {MPI_MAXLOC, op_maxloc}, {MPI_MINLOC, op_minloc},
             {MPI_REPLACE, op_window}, {MPI_NO_OP, op_window}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].op == op)
      return all[i].does;
  return NULL;
}

bool op_allowed(MPI_Op op, MPI_Datatype type)
{
  operation *does = predefined(op);
  return !does || does(typemap_of(type)->element, NULL, NULL, 0);
}

bool op_apply(MPI_Op op, const void *before, void *into, int count, MPI_Datatype type)
{
  operation *does = predefined(op);
  return does && does(typemap_of(type)->element, before, into, count);
}
