/* Replaces RANDOM_NUMBER and RANDOM_SEED. libgfortran has one generator for all ranks, since they
 * are one thread. Under a protocol, each rank has a generator of its own. Before a rank draws, the
 * state of its generator, as RANDOM_SEED reads it, replaces the state of the generator of the rank
 * that drew before. Such an exchange is rare between captures, because ranks draw many numbers in a
 * row.
 *
 * Outside of recline, a program that sets no seed gets a different seed from the system in each
 * run. Here, its seed follows from the scenario's seed and the rank. */
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/libc/wrap_libc.h"

static struct rank *owner; /* the rank whose state libgfortran holds, or NULL if there is none */

/* Describes a complete array of one dimension, as gfortran does. */
struct vector {
  void *items;
  ptrdiff_t offset;
  size_t item_bytes;
  int version;
  signed char rank, type;
  signed short attribute;
  ptrdiff_t span, stride, lower, upper;
};

void _gfortran_random_seed_i4(void *size, void *put, void *get);

static void exchange_seed(int32_t *seed, bool put)
{
  enum { INTEGER = 1 };
  BEHIND(_gfortran_random_seed_i4)
  struct vector vector = {.items = seed,
                          .offset = -1,
                          .item_bytes = sizeof *seed,
                          .rank = 1,
                          .type = INTEGER,
                          .span = sizeof *seed,
                          .stride = 1,
                          .lower = 1,
                          .upper = FORTRAN_SEED};
  _gfortran_random_seed_i4_next(NULL, put ? &vector : NULL, put ? NULL : &vector);
}

void random_collect(struct rank *r)
{
  if (owner == r)
    exchange_seed(r->mpi->libc.seed, false);
}

void random_restored(struct rank *r)
{
  if (owner == r)
    owner = NULL;
}

/* Makes a seed, a different one for each rank and each request of the program. */
static void invent_seed(struct rank *r)
{
  struct libc *libc = &r->mpi->libc;
  struct drand48_data generator = {0};
  srand48_r((long)(layer.scenario->seed * 4096 + (uint64_t)r->index + libc->seedings++ * 40503),
            &generator);
  for (int i = 0; i < FORTRAN_SEED; i++) {
    long number;
    mrand48_r(&generator, &number);
    libc->seed[i] = (int32_t)number;
  }
  libc->seeded = true;
}

/* Makes libgfortran draw for the calling rank. This function must be called in libc mode. */
static void take_over(struct rank *r)
{
  if (owner == r)
    return;
  if (owner)
    random_collect(owner);
  if (!r->mpi->libc.seeded)
    invent_seed(r);
  exchange_seed(r->mpi->libc.seed, true);
  owner = r;
}

/* Defines the function NAME for the rank's generator. It calls libgfortran's function or, if
 * INVENTS holds, invents another seed.
 */
#define DRAWS(NAME, PARAMETERS, ARGUMENTS, INVENTS)                                                \
  void NAME PARAMETERS                                                                             \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    BEHIND(NAME)                                                                                   \
    struct rank *r = rank_self();                                                                  \
    if (r)                                                                                         \
      take_over(r);                                                                                \
    if (r && (INVENTS)) {                                                                          \
      invent_seed(r);                                                                              \
      exchange_seed(r->mpi->libc.seed, true);                                                      \
    } else {                                                                                       \
      NAME##_next ARGUMENTS;                                                                       \
    }                                                                                              \
    layer_leave(mode);                                                                             \
  }

#define RANDOM_NUMBER(NAME) DRAWS(_gfortran_##NAME, (void *result), (result), false)

RANDOM_NUMBER(random_r4)
RANDOM_NUMBER(random_r8)
RANDOM_NUMBER(random_r10)
RANDOM_NUMBER(random_r16)
RANDOM_NUMBER(arandom_r4)
RANDOM_NUMBER(arandom_r8)
RANDOM_NUMBER(arandom_r10)
RANDOM_NUMBER(arandom_r16)
DRAWS(_gfortran_random_seed_i4, (void *size, void *put, void *get), (size, put, get),
      !size && !put && !get)
DRAWS(_gfortran_random_seed_i8, (void *size, void *put, void *get), (size, put, get),
      !size && !put && !get)

/* RANDOM_INIT says whether the seed is the same in every run, and whether it differs between
 * images. */
DRAWS(_gfortran_random_init, (int repeatable, int image_distinct, int image),
      (repeatable, image_distinct, image), !repeatable)
