/* Replaces functions of libc whose state libc keeps for the process (libc.h). Without a protocol
 * they call libc's own functions.
 */
#include "sim/mpi/libc/wrap_libc.h"
#include "sim/memory/library_data.h"
#include "sim/mpi/layer/wrap.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- whose state it is ---- */

static GHashTable *early; /* actor -> struct libc, for programs that have not called MPI_Init yet */

static struct libc *libc_early(void)
{
  if (!early)
    early = g_hash_table_new(NULL, NULL);
  gpointer actor = GINT_TO_POINTER((int)machine_actor());
  struct libc *libc = g_hash_table_lookup(early, actor);
  if (!libc) {
    libc = g_new0(struct libc, 1);
    g_hash_table_insert(early, actor, libc);
  }
  return libc;
}

struct libc *libc_self(void)
{
  if (!layer_wanted() || machine_actor() <= 0)
    return NULL;
  struct arena *mode = layer_enter();
  struct rank *r = rank_self();
  struct libc *libc = r ? &r->mpi->libc : libc_early();
  layer_leave(mode);
  if (!libc->begun) {
    libc->begun = true;
    initstate_r(1, libc->random_state, RANDOM_BYTES, &libc->random);
  }
  return libc;
}

static void rebase(int32_t **pointer, const struct libc *from, struct libc *to)
{
  ptrdiff_t offset = (char *)*pointer - from->random_state;
  if (offset >= 0 && offset <= RANDOM_BYTES)
    *pointer = (int32_t *)(void *)(to->random_state + offset);
}

void libc_begin(struct libc *in_mpi)
{
  struct libc *before = libc_early();
  *in_mpi = *before;
  rebase(&in_mpi->random.fptr, before, in_mpi);
  rebase(&in_mpi->random.rptr, before, in_mpi);
  rebase(&in_mpi->random.state, before, in_mpi);
  rebase(&in_mpi->random.end_ptr, before, in_mpi);
  g_hash_table_remove(early, GINT_TO_POINTER((int)machine_actor()));
  g_free(before);
}

/* ---- random numbers: rand() is random() in glibc ---- */

static int draw(struct libc *libc)
{
  int32_t number;
  random_r(&libc->random, &number);
  return number;
}

/* Defines the function NAME. It returns LAYERED, in which `libc` is the state of the rank. Without
 * a protocol, it calls libc's function. */
#define OF_RANK(TYPE, NAME, PARAMETERS, ARGUMENTS, LAYERED)                                        \
  TYPE NAME PARAMETERS                                                                             \
  {                                                                                                \
    struct libc *libc = libc_self();                                                               \
    BEHIND(NAME)                                                                                   \
    return libc ? (LAYERED) : NAME##_next ARGUMENTS;                                               \
  }

OF_RANK(int, rand, (void), (), draw(libc))
OF_RANK(long, random, (void), (), draw(libc))

#define SEED(NAME, PARAMETER, LAYERED)                                                             \
  void NAME(PARAMETER)                                                                             \
  {                                                                                                \
    struct libc *libc = libc_self();                                                               \
    BEHIND(NAME)                                                                                   \
    if (libc)                                                                                      \
      LAYERED;                                                                                     \
    else                                                                                           \
      NAME##_next(seed);                                                                           \
  }

SEED(srand, unsigned seed, srandom_r(seed, &libc->random))
SEED(srandom, unsigned seed, srandom_r(seed, &libc->random))
SEED(srand48, long seed, srand48_r(seed, &libc->drand48))
SEED(lcong48, unsigned short seed[7], lcong48_r(seed, &libc->drand48))

static char *state_of(const struct libc *libc)
{
  return (char *)&libc->random.state[-1];
}

static char *init_state(struct libc *libc, unsigned seed, char *state, size_t bytes)
{
  char *before = state_of(libc);
  return initstate_r(seed, state, bytes, &libc->random) < 0 ? NULL : before;
}

static char *set_state(struct libc *libc, char *state)
{
  char *before = state_of(libc);
  return setstate_r(state, &libc->random) < 0 ? NULL : before;
}

OF_RANK(char *, initstate, (unsigned seed, char *state, size_t bytes), (seed, state, bytes),
        init_state(libc, seed, state, bytes))
OF_RANK(char *, setstate, (char *state), (state), set_state(libc, state))

#define DRAW48(TYPE, NAME)                                                                         \
  static TYPE draw_##NAME(struct libc *libc)                                                       \
  {                                                                                                \
    TYPE number = 0;                                                                               \
    NAME##_r(&libc->drand48, &number);                                                             \
    return number;                                                                                 \
  }                                                                                                \
  OF_RANK(TYPE, NAME, (void), (), draw_##NAME(libc))

DRAW48(double, drand48)
DRAW48(long, lrand48)
DRAW48(long, mrand48)
OF_RANK(unsigned short *, seed48, (unsigned short seed[3]), (seed),
        (seed48_r(seed, &libc->drand48), libc->drand48.__old_x))

/* ---- strtok, getopt ---- */

OF_RANK(char *, strtok, (char *restrict string, const char *restrict separators),
        (string, separators), strtok_r(string, separators, &libc->token))

/* libc's getopt begins anew if optind is 0, as it is at the first call of each rank. The value of
 * optind after a call is noted for the rank. If optind differs from its value after the last call
 * of any rank, the program has set it. But if ranks take turns in the middle of a word such as
 * "-abc", their positions in the word are mixed up. */
static int optind_left = 1;

static void begin_options(const struct libc *libc)
{
  if (optind == optind_left)
    optind = libc->option;
}

static int end_options(struct libc *libc, int found)
{
  libc->option = optind_left = optind;
  return found;
}

/* The next functions have the names by which smpicc replaces the names of libc. */
OF_RANK(int, smpi_getopt, (int argc, char *const *argv, const char *options), (argc, argv, options),
        (begin_options(libc), end_options(libc, getopt(argc, argv, options))))

#define GETOPT_LONG(NAME)                                                                          \
  OF_RANK(                                                                                         \
      int, smpi_##NAME,                                                                            \
      (int argc, char *const *argv, const char *options, const struct option *long_options,        \
       int *index),                                                                                \
      (argc, argv, options, long_options, index),                                                  \
      (begin_options(libc), end_options(libc, NAME(argc, argv, options, long_options, index))))

GETOPT_LONG(getopt_long)
GETOPT_LONG(getopt_long_only)

/* ---- images ---- */

void libc_collect(struct rank *r)
{
  random_collect(r);
  library_data_collect(r->arena);
}

void libc_restored(struct rank *r)
{
  if (r->mpi->libc.begun)
    optind = optind_left = r->mpi->libc.option ? r->mpi->libc.option : 1;
  random_restored(r);
  library_data_restored(r->arena);
}

/* ---- the end of a program in Fortran (program_end.c) ---- */

static void stop(int code, bool error, const char *text, size_t length, bool quiet)
{
  struct arena *mode = layer_enter();
  if (!quiet && (length > 0 || code != 0 || error))
    fprintf(stderr, "%s %.*s\n", error ? "ERROR STOP" : "STOP", (int)length, text);
  layer_leave(mode);
  exit(code);
}

#define STOP(KIND, ERROR, FAILED)                                                                  \
  void _gfortran_##KIND##_string(const char *text, size_t length, bool quiet)                      \
  {                                                                                                \
    BEHIND(_gfortran_##KIND##_string)                                                              \
    if (!layer_wanted())                                                                           \
      _gfortran_##KIND##_string_next(text, length, quiet);                                         \
    stop(FAILED, ERROR, text, length, quiet);                                                      \
  }                                                                                                \
  void _gfortran_##KIND##_numeric(int code, bool quiet)                                            \
  {                                                                                                \
    BEHIND(_gfortran_##KIND##_numeric)                                                             \
    if (!layer_wanted())                                                                           \
      _gfortran_##KIND##_numeric_next(code, quiet);                                                \
    char text[16];                                                                                 \
    int length = snprintf(text, sizeof text, "%d", code);                                          \
    stop(code, ERROR, text, (size_t)length, quiet);                                                \
  }

STOP(stop, false, 0)
STOP(error_stop, true, 1)

/* Defines Fortran's CALL EXIT. Its argument may be absent. */
#define FORTRAN_EXIT(NAME, INTEGER)                                                                \
  void NAME(const INTEGER *status)                                                                 \
  {                                                                                                \
    BEHIND(NAME)                                                                                   \
    if (!layer_wanted())                                                                           \
      NAME##_next(status);                                                                         \
    exit(status ? (int)*status : 0);                                                               \
  }

FORTRAN_EXIT(_gfortran_exit_i4, int32_t)
FORTRAN_EXIT(_gfortran_exit_i8, int64_t)

/* ---- the machine ---- */

/* Tells the name of the node, not the name of the machine that simulates. */
int gethostname(char *name, size_t size)
{
  struct arena *mode = layer_enter();
  BEHIND(gethostname)
  int result = 0;
  if (rank_self())
    g_strlcpy(name, machine_host(), size);
  else
    result = gethostname_next(name, size);
  layer_leave(mode);
  return result;
}
