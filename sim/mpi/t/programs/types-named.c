/* Tests predefined types and operations: sizes, bounds, and the results of all operations on all
 * types (MPI 3.1, sections 3.2.2 and 5.9). The right values are those that C computes. */
#include "types-values.h"

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

__extension__ typedef __int128 int128;
__extension__ typedef __float128 quad;

/* Open MPI 4.1 compares MPI_OFFSET without sign and MPI_UNSIGNED_LONG with sign, and takes the
 * machine's long double for the quadruple precision of GNU Fortran. */
#ifdef OPEN_MPI
#define NOT_IN_OPEN_MPI(...)
#else
#define NOT_IN_OPEN_MPI(...) __VA_ARGS__
#endif

/* ---- sizes ---- */

static void type_is(const char *name, MPI_Datatype type, size_t size, size_t extent,
                    size_t true_extent)
{
  int bytes, integers, addresses, types, combiner;
  MPI_Aint low, found;
  MPI_Count count, low_x, extent_x;
  MPI_Type_size(type, &bytes);
  value(name, "size", bytes, (long long)size);
  MPI_Type_size_x(type, &count);
  value(name, "size_x", count, (long long)size);
  MPI_Type_get_extent(type, &low, &found);
  value(name, "lower bound", low, 0);
  value(name, "extent", found, (long long)extent);
  MPI_Type_get_extent_x(type, &low_x, &extent_x);
  value(name, "extent_x", extent_x, (long long)extent);
  MPI_Type_get_true_extent(type, &low, &found);
  value(name, "true lower bound", low, 0);
  value(name, "true extent", found, (long long)true_extent);
  MPI_Type_get_true_extent_x(type, &low_x, &extent_x);
  value(name, "true extent_x", extent_x, (long long)true_extent);
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  value(name, "combiner", combiner, MPI_COMBINER_NAMED);
}

#define TYPE(NAME, C) type_is(#NAME, NAME, sizeof(C), sizeof(C), sizeof(C));
#define PAIR(NAME, VALUE, INDEX)                                                                   \
  {                                                                                                \
    struct NAME##_pair {                                                                           \
      VALUE value;                                                                                 \
      INDEX index;                                                                                 \
    };                                                                                             \
    type_is(#NAME, NAME, sizeof(VALUE) + sizeof(INDEX), sizeof(struct NAME##_pair),                \
            offsetof(struct NAME##_pair, index) + sizeof(INDEX));                                  \
  }

static void test_sizes(void)
{
  TYPE(MPI_CHAR, char)
  TYPE(MPI_SIGNED_CHAR, signed char)
  TYPE(MPI_UNSIGNED_CHAR, unsigned char)
  TYPE(MPI_SHORT, short)
  TYPE(MPI_UNSIGNED_SHORT, unsigned short)
  TYPE(MPI_INT, int)
  TYPE(MPI_UNSIGNED, unsigned)
  TYPE(MPI_LONG, long)
  TYPE(MPI_UNSIGNED_LONG, unsigned long)
  TYPE(MPI_LONG_LONG_INT, long long)
  TYPE(MPI_LONG_LONG, long long)
  TYPE(MPI_UNSIGNED_LONG_LONG, unsigned long long)
  TYPE(MPI_FLOAT, float)
  TYPE(MPI_DOUBLE, double)
  TYPE(MPI_LONG_DOUBLE, long double)
  TYPE(MPI_WCHAR, wchar_t)
  TYPE(MPI_C_BOOL, bool)
  TYPE(MPI_INT8_T, int8_t)
  TYPE(MPI_INT16_T, int16_t)
  TYPE(MPI_INT32_T, int32_t)
  TYPE(MPI_INT64_T, int64_t)
  TYPE(MPI_UINT8_T, uint8_t)
  TYPE(MPI_UINT16_T, uint16_t)
  TYPE(MPI_UINT32_T, uint32_t)
  TYPE(MPI_UINT64_T, uint64_t)
  TYPE(MPI_C_COMPLEX, float complex)
  TYPE(MPI_C_FLOAT_COMPLEX, float complex)
  TYPE(MPI_C_DOUBLE_COMPLEX, double complex)
  TYPE(MPI_C_LONG_DOUBLE_COMPLEX, long double complex)
  TYPE(MPI_BYTE, char)
  TYPE(MPI_PACKED, char)
  TYPE(MPI_AINT, MPI_Aint)
  TYPE(MPI_OFFSET, MPI_Offset)
  TYPE(MPI_COUNT, MPI_Count)
  TYPE(MPI_CXX_BOOL, bool)
  TYPE(MPI_CXX_FLOAT_COMPLEX, float complex)
  TYPE(MPI_CXX_DOUBLE_COMPLEX, double complex)
  TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex)
  TYPE(MPI_INTEGER, int)
  TYPE(MPI_REAL, float)
  TYPE(MPI_DOUBLE_PRECISION, double)
  TYPE(MPI_COMPLEX, float complex)
  TYPE(MPI_DOUBLE_COMPLEX, double complex)
  TYPE(MPI_LOGICAL, int)
  TYPE(MPI_CHARACTER, char)
  TYPE(MPI_INTEGER1, int8_t)
  TYPE(MPI_INTEGER2, int16_t)
  TYPE(MPI_INTEGER4, int32_t)
  TYPE(MPI_INTEGER8, int64_t)
#ifdef MPI_INTEGER16
  TYPE(MPI_INTEGER16, int128)
#endif
  TYPE(MPI_REAL4, float)
  TYPE(MPI_REAL8, double)
  TYPE(MPI_REAL16, quad)
  TYPE(MPI_COMPLEX8, float complex)
  TYPE(MPI_COMPLEX16, double complex)
  type_is("MPI_COMPLEX32", MPI_COMPLEX32, 2 * sizeof(quad), 2 * sizeof(quad), 2 * sizeof(quad));
  PAIR(MPI_SHORT_INT, short, int)
  PAIR(MPI_2INT, int, int)
  PAIR(MPI_LONG_INT, long, int)
  PAIR(MPI_FLOAT_INT, float, int)
  PAIR(MPI_DOUBLE_INT, double, int)
  PAIR(MPI_LONG_DOUBLE_INT, long double, int)
  PAIR(MPI_2REAL, float, float)
  PAIR(MPI_2DOUBLE_PRECISION, double, double)
  PAIR(MPI_2INTEGER, int, int)
}

/* ---- results: by all calls that reduce ---- */

enum { COUNT = 2, RANKS_MAX = 4, ELEMENT_MAX = 32 };

/* Tests an operation by all calls that reduce. `all` has the elements of all ranks, and `right`
 * the results. Only the first `significant` bytes of each element are compared. */
static void reduces(const char *type_name, const char *op_name, MPI_Datatype type, MPI_Op op,
                    const void *all, const void *right, size_t element, size_t significant)
{
  const char *own = (const char *)all + (size_t)rank * COUNT * element;
  _Alignas(16) char found[5][COUNT * ELEMENT_MAX], blocks[RANKS_MAX * COUNT * ELEMENT_MAX];
  char what[128];
  MPI_Request request;
  snprintf(what, sizeof what, "%s of %s", op_name, type_name);
  memset(found, 0, sizeof found);
  MPI_Allreduce(own, found[0], COUNT, type, op, MPI_COMM_WORLD);
  memcpy(found[1], own, COUNT * element);
  MPI_Iallreduce(MPI_IN_PLACE, found[1], COUNT, type, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  memcpy(found[2], own, COUNT * element);
  MPI_Scan(MPI_IN_PLACE, found[2], COUNT, type, op, MPI_COMM_WORLD);
  MPI_Bcast(found[2], COUNT, type, ranks - 1, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    memcpy(blocks + (size_t)i * COUNT * element, own, COUNT * element);
  MPI_Reduce_scatter_block(blocks, found[3], COUNT, type, op, MPI_COMM_WORLD);
  memcpy(found[4], (const char *)all + (size_t)(ranks - 1) * COUNT * element, COUNT * element);
  for (int i = ranks - 2; i >= 0; i--)
    MPI_Reduce_local((const char *)all + (size_t)i * COUNT * element, found[4], COUNT, type, op);
  static const char *const calls[] = {"Allreduce", "Iallreduce in place", "Scan in place",
                                      "Reduce_scatter_block", "Reduce_local"};
  for (int call = 0; call < 5; call++)
    for (size_t i = 0; i < COUNT; i++)
      value(what, calls[call],
            memcmp(found[call] + i * element, (const char *)right + i * element, significant), 0);
}

/* Tests an operation on elements of the C type C. GIVEN is the value that rank `who` gives as
 * element `number`. RESULT combines the values `a` and `b`. */
#define REDUCE(NAME, TYPE, C, OP, SIGNIFICANT, GIVEN, RESULT)                                      \
  {                                                                                                \
    C all[RANKS_MAX * COUNT], right[COUNT];                                                        \
    memset(all, 0, sizeof all);                                                                    \
    memset(right, 0, sizeof right);                                                                \
    for (int i = 0; i < ranks * COUNT; i++) {                                                      \
      int who = i / COUNT, number = i % COUNT;                                                     \
      C b = GIVEN;                                                                                 \
      all[i] = b;                                                                                  \
      if (who > 0) {                                                                               \
        C a = right[number];                                                                       \
        b = RESULT;                                                                                \
      }                                                                                            \
      right[number] = b;                                                                           \
    }                                                                                              \
    reduces(NAME, #OP, TYPE, OP, all, right, sizeof(C), SIGNIFICANT);                              \
  }

#define NUMBER(C) (C)((who * 3 + number * 5) % 7 + 1)
#define ARITHMETIC_OF(NAME, TYPE, C, SIGNIFICANT)                                                  \
  REDUCE(NAME, TYPE, C, MPI_MAX, SIGNIFICANT, NUMBER(C), a > b ? a : b)                            \
  REDUCE(NAME, TYPE, C, MPI_MIN, SIGNIFICANT, NUMBER(C), a < b ? a : b)                            \
  REDUCE(NAME, TYPE, C, MPI_SUM, SIGNIFICANT, NUMBER(C), (C)(a + b))                               \
  REDUCE(NAME, TYPE, C, MPI_PROD, SIGNIFICANT, NUMBER(C), (C)(a * b))
#define BITS_OF(NAME, TYPE, C)                                                                     \
  REDUCE(NAME, TYPE, C, MPI_BAND, sizeof(C), (C)(0x5b | 1 << who), (C)(a & b))                     \
  REDUCE(NAME, TYPE, C, MPI_BOR, sizeof(C), (C)(1 << (who + number)), (C)(a | b))                  \
  REDUCE(NAME, TYPE, C, MPI_BXOR, sizeof(C), (C)(0x33 + 5 * who), (C)(a ^ b))
#define LOGICALS_OF(NAME, TYPE, C)                                                                 \
  REDUCE(NAME, TYPE, C, MPI_LAND, sizeof(C), (C)(number || who != 1), (C)(a && b))                 \
  REDUCE(NAME, TYPE, C, MPI_LOR, sizeof(C), (C)(number && who == 1), (C)(a || b))                  \
  REDUCE(NAME, TYPE, C, MPI_LXOR, sizeof(C), (C)(number || who == 1), (C)(!a != !b))

/* Tests MPI_MAX and MPI_MIN. A value is -1 or, for an unsigned type, its largest value. */
#define EXTREMES_OF(NAME, TYPE, C)                                                                 \
  REDUCE(NAME, TYPE, C, MPI_MAX, sizeof(C), (C)(who == 1 ? -1 : who), a > b ? a : b)               \
  REDUCE(NAME, TYPE, C, MPI_MIN, sizeof(C), (C)(who == 1 ? -1 : who + 1), a < b ? a : b)
#define INTEGER_OF(NAME, TYPE, C)                                                                  \
  ARITHMETIC_OF(NAME, TYPE, C, sizeof(C))                                                          \
  EXTREMES_OF(NAME, TYPE, C)                                                                       \
  BITS_OF(NAME, TYPE, C)
#define C_INTEGER_OF(NAME, TYPE, C)                                                                \
  INTEGER_OF(NAME, TYPE, C)                                                                        \
  LOGICALS_OF(NAME, TYPE, C)

#define INTEGER(TYPE, C) INTEGER_OF(#TYPE, TYPE, C)
#define C_INTEGER(TYPE, C) C_INTEGER_OF(#TYPE, TYPE, C)
#define BITS(TYPE, C) BITS_OF(#TYPE, TYPE, C)
#define LOGICALS(TYPE, C) LOGICALS_OF(#TYPE, TYPE, C)
#define ARITHMETIC(TYPE, C, SIGNIFICANT) ARITHMETIC_OF(#TYPE, TYPE, C, SIGNIFICANT)
#define COMPLEX(TYPE, C) COMPLEX_OF(#TYPE, TYPE, C)

static void test_integers(void)
{
  C_INTEGER(MPI_INT, int)
  C_INTEGER(MPI_LONG, long)
  C_INTEGER(MPI_SHORT, short)
  C_INTEGER(MPI_UNSIGNED_SHORT, unsigned short)
  C_INTEGER(MPI_UNSIGNED, unsigned)
  NOT_IN_OPEN_MPI(C_INTEGER(MPI_UNSIGNED_LONG, unsigned long))
  C_INTEGER(MPI_LONG_LONG_INT, long long)
  C_INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long)
  C_INTEGER(MPI_SIGNED_CHAR, signed char)
  C_INTEGER(MPI_UNSIGNED_CHAR, unsigned char)
  C_INTEGER(MPI_INT8_T, int8_t)
  C_INTEGER(MPI_INT16_T, int16_t)
  C_INTEGER(MPI_INT32_T, int32_t)
  C_INTEGER(MPI_INT64_T, int64_t)
  C_INTEGER(MPI_UINT8_T, uint8_t)
  C_INTEGER(MPI_UINT16_T, uint16_t)
  C_INTEGER(MPI_UINT32_T, uint32_t)
  C_INTEGER(MPI_UINT64_T, uint64_t)
  INTEGER(MPI_INTEGER, int)
  INTEGER(MPI_INTEGER1, int8_t)
  INTEGER(MPI_INTEGER2, int16_t)
  INTEGER(MPI_INTEGER4, int32_t)
  INTEGER(MPI_INTEGER8, int64_t)
#ifdef MPI_INTEGER16
  INTEGER(MPI_INTEGER16, int128)
#endif
  INTEGER(MPI_AINT, MPI_Aint)
  NOT_IN_OPEN_MPI(INTEGER(MPI_OFFSET, MPI_Offset))
  INTEGER(MPI_COUNT, MPI_Count)
  BITS(MPI_BYTE, unsigned char)
  LOGICALS(MPI_C_BOOL, bool)
  LOGICALS(MPI_CXX_BOOL, bool)
  LOGICALS(MPI_LOGICAL, int)
}

/* Gives a complex number in the precision of the type C. */
#define COMPLEX_NUMBER(C) (C)(1 + who + number) + (C)(2 - who) * (C)I
#define COMPLEX_OF(NAME, TYPE, C)                                                                  \
  REDUCE(NAME, TYPE, C, MPI_SUM, significant, COMPLEX_NUMBER(C), a + b)                            \
  REDUCE(NAME, TYPE, C, MPI_PROD, significant, COMPLEX_NUMBER(C), a *b)

static void test_reals(void)
{
  enum { LONG_DOUBLE = 10 }; /* bytes of x87's format; the other bytes are padding */
  ARITHMETIC(MPI_FLOAT, float, sizeof(float))
  ARITHMETIC(MPI_DOUBLE, double, sizeof(double))
  ARITHMETIC(MPI_LONG_DOUBLE, long double, LONG_DOUBLE)
  ARITHMETIC(MPI_REAL, float, sizeof(float))
  ARITHMETIC(MPI_DOUBLE_PRECISION, double, sizeof(double))
  ARITHMETIC(MPI_REAL4, float, sizeof(float))
  ARITHMETIC(MPI_REAL8, double, sizeof(double))
  NOT_IN_OPEN_MPI(ARITHMETIC(MPI_REAL16, quad, sizeof(quad)))
  size_t significant = sizeof(float complex);
  COMPLEX(MPI_C_COMPLEX, float complex)
  COMPLEX(MPI_C_FLOAT_COMPLEX, float complex)
  COMPLEX(MPI_CXX_FLOAT_COMPLEX, float complex)
  COMPLEX(MPI_COMPLEX, float complex)
  COMPLEX(MPI_COMPLEX8, float complex)
  significant = sizeof(double complex);
  COMPLEX(MPI_C_DOUBLE_COMPLEX, double complex)
  COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double complex)
  COMPLEX(MPI_DOUBLE_COMPLEX, double complex)
  COMPLEX(MPI_COMPLEX16, double complex)
  significant = LONG_DOUBLE; /* the real part */
  COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double complex)
  COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex)
}

struct complex32 {
  quad re, im;
};

#define COMPLEX32_GIVEN                                                                            \
  {                                                                                                \
    1 + who + number, 2 - who                                                                      \
  }
#define COMPLEX32_SUM ((struct complex32){a.re + b.re, a.im + b.im})
#define COMPLEX32_PRODUCT ((struct complex32){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re})

#define PAIRS(X)                                                                                   \
  X(MPI_SHORT_INT, short, int)                                                                     \
  X(MPI_2INT, int, int)                                                                            \
  X(MPI_LONG_INT, long, int)                                                                       \
  X(MPI_FLOAT_INT, float, int)                                                                     \
  X(MPI_DOUBLE_INT, double, int)                                                                   \
  X(MPI_LONG_DOUBLE_INT, long double, int)                                                         \
  X(MPI_2REAL, float, float)                                                                       \
  X(MPI_2DOUBLE_PRECISION, double, double)                                                         \
  X(MPI_2INTEGER, int, int)

/* Tests MPI_MAXLOC and MPI_MINLOC on pairs. Several ranks give the same value, so the smallest
 * index decides. Indices decrease from rank to rank. */
#define LOCATE(TYPE, VALUE, INDEX)                                                                 \
  {                                                                                                \
    struct pair {                                                                                  \
      VALUE value;                                                                                 \
      INDEX index;                                                                                 \
    } all[RANKS_MAX * COUNT], right[2][COUNT];                                                     \
    memset(all, 0, sizeof all);                                                                    \
    memset(right, 0, sizeof right);                                                                \
    for (int i = 0; i < ranks * COUNT; i++) {                                                      \
      int who = i / COUNT, number = i % COUNT;                                                     \
      all[i].value = (VALUE)((who + number) % 2);                                                  \
      all[i].index = (INDEX)(20 - 3 * who);                                                        \
      for (int op = 0; op < 2; op++) {                                                             \
        struct pair *best = &right[op][number];                                                    \
        int better = op ? all[i].value < best->value : all[i].value > best->value;                 \
        if (who == 0 || better || (all[i].value == best->value && all[i].index < best->index)) {   \
          best->value = all[i].value;                                                              \
          best->index = all[i].index;                                                              \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    reduces_pairs(#TYPE, TYPE, all, right[0], right[1], sizeof(struct pair), sizeof(VALUE),        \
                  offsetof(struct pair, index), sizeof(INDEX));                                    \
  }

/* Compares the value and the index of each pair, without the padding between them. Of a long double
 * only the ten bytes of x87's format count. */
static void reduces_pairs(const char *name, MPI_Datatype type, const void *all, const void *largest,
                          const void *smallest, size_t element, size_t value_bytes, size_t place,
                          size_t index_bytes)
{
  const char *own = (const char *)all + (size_t)rank * COUNT * element;
  _Alignas(16) char found[2][COUNT * ELEMENT_MAX];
  memset(found, 0, sizeof found);
  MPI_Allreduce(own, found[0], COUNT, type, MPI_MAXLOC, MPI_COMM_WORLD);
  MPI_Allreduce(own, found[1], COUNT, type, MPI_MINLOC, MPI_COMM_WORLD);
  for (int op = 0; op < 2; op++)
    for (size_t i = 0; i < COUNT; i++) {
      const char *right = (const char *)(op ? smallest : largest) + i * element;
      const char *is = found[op] + i * element;
      value(name, op ? "MINLOC's value" : "MAXLOC's value",
            memcmp(is, right, value_bytes > 10 ? 10 : value_bytes), 0);
      value(name, op ? "MINLOC's index" : "MAXLOC's index",
            memcmp(is + place, right + place, index_bytes), 0);
    }
}

static void test_others(void)
{
#ifndef OPEN_MPI
  REDUCE("MPI_COMPLEX32", MPI_COMPLEX32, struct complex32, MPI_SUM, sizeof(struct complex32),
         COMPLEX32_GIVEN, COMPLEX32_SUM)
  REDUCE("MPI_COMPLEX32", MPI_COMPLEX32, struct complex32, MPI_PROD, sizeof(struct complex32),
         COMPLEX32_GIVEN, COMPLEX32_PRODUCT)
#endif
  PAIRS(LOCATE)
}

/* ---- what is not allowed ---- */

static void refuses(const char *name, MPI_Datatype type, const char *ops)
{
  static const struct {
    char letter;
    const char *name;
  } names[] = {{'M', "MPI_MAX"},  {'m', "MPI_MIN"},  {'+', "MPI_SUM"},    {'*', "MPI_PROD"},
               {'l', "MPI_LAND"}, {'o', "MPI_LOR"},  {'x', "MPI_LXOR"},   {'&', "MPI_BAND"},
               {'|', "MPI_BOR"},  {'^', "MPI_BXOR"}, {'L', "MPI_MAXLOC"}, {'S', "MPI_MINLOC"}};
  const MPI_Op op[] = {MPI_MAX,  MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_LOR,
                       MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  _Alignas(16) char given[ELEMENT_MAX] = {0}, found[ELEMENT_MAX];
  for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
    if (!strchr(ops, names[i].letter))
      continue;
    int class = MPI_SUCCESS, error = MPI_Allreduce(given, found, 1, type, op[i], MPI_COMM_WORLD);
    MPI_Error_class(error, &class);
    char what[64];
    snprintf(what, sizeof what, "%s of %s", names[i].name, name);
    value(what, "the class of the error", class, MPI_ERR_OP);
  }
}

#define REFUSES(TYPE, OPS) refuses(#TYPE, TYPE, OPS);
static void test_refused(void)
{
  REFUSES(MPI_INT, "LS")
  REFUSES(MPI_BYTE, "LS")
  REFUSES(MPI_PACKED, "Mm+*lox&|^LS")
  REFUSES(MPI_FLOAT, "lox&|^LS")
  REFUSES(MPI_LONG_DOUBLE, "lox&|^LS")
  REFUSES(MPI_REAL16, "lox&|^LS")
  REFUSES(MPI_C_DOUBLE_COMPLEX, "Mmlox&|^LS")
  REFUSES(MPI_COMPLEX32, "Mmlox&|^LS")
  REFUSES(MPI_C_BOOL, "Mm+*&|^LS")
  REFUSES(MPI_2INT, "Mm+*lox&|^")
  REFUSES(MPI_DOUBLE_INT, "Mm+*lox&|^")
  REFUSES(MPI_WCHAR, "LS")
}

int main(int argc, char **argv)
{
  begin(&argc, &argv);
  test_sizes();
  test_integers();
  test_reals();
  test_others();
  test_refused();
  return end("types and operations");
}
