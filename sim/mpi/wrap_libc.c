/* Calls of libc whose state is that of the process: libc.h. Without a protocol they are libc's. */
#include "sim/mpi/wrap_libc.h"
#include "sim/memory/library_data.h"
#include "sim/mpi/wrap.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- whose state it is ---- */

static GHashTable *early; /* actor -> struct libc, before MPI_Init */

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

int rand(void)
{
  struct libc *libc = libc_self();
  BEHIND(int (*)(void), rand)
  return libc ? draw(libc) : rand_next();
}

long random(void)
{
  struct libc *libc = libc_self();
  BEHIND(long (*)(void), random)
  return libc ? draw(libc) : random_next();
}

#define SEED(NAME)                                                                                 \
  void NAME(unsigned seed)                                                                         \
  {                                                                                                \
    struct libc *libc = libc_self();                                                               \
    BEHIND(void (*)(unsigned), NAME)                                                               \
    if (libc)                                                                                      \
      srandom_r(seed, &libc->random);                                                              \
    else                                                                                           \
      NAME##_next(seed);                                                                           \
  }

SEED(srand)
SEED(srandom)

char *initstate(unsigned seed, char *state, size_t bytes)
{
  struct libc *libc = libc_self();
  BEHIND(char *(*)(unsigned, char *, size_t), initstate)
  if (!libc)
    return initstate_next(seed, state, bytes);
  char *before = (char *)&libc->random.state[-1];
  return initstate_r(seed, state, bytes, &libc->random) < 0 ? NULL : before;
}

char *setstate(char *state)
{
  struct libc *libc = libc_self();
  BEHIND(char *(*)(char *), setstate)
  if (!libc)
    return setstate_next(state);
  char *before = (char *)&libc->random.state[-1];
  return setstate_r(state, &libc->random) < 0 ? NULL : before;
}

#define DRAW48(TYPE, NAME)                                                                         \
  TYPE NAME(void)                                                                                  \
  {                                                                                                \
    struct libc *libc = libc_self();                                                               \
    BEHIND(TYPE (*)(void), NAME)                                                                   \
    TYPE number = 0;                                                                               \
    if (!libc)                                                                                     \
      return NAME##_next();                                                                        \
    NAME##_r(&libc->drand48, &number);                                                             \
    return number;                                                                                 \
  }

DRAW48(double, drand48)
DRAW48(long, lrand48)
DRAW48(long, mrand48)

void srand48(long seed)
{
  struct libc *libc = libc_self();
  BEHIND(void (*)(long), srand48)
  if (libc)
    srand48_r(seed, &libc->drand48);
  else
    srand48_next(seed);
}

unsigned short *seed48(unsigned short seed[3])
{
  struct libc *libc = libc_self();
  BEHIND(unsigned short *(*)(unsigned short *), seed48)
  if (!libc)
    return seed48_next(seed);
  seed48_r(seed, &libc->drand48);
  return libc->drand48.__old_x;
}

void lcong48(unsigned short parameters[7])
{
  struct libc *libc = libc_self();
  BEHIND(void (*)(unsigned short *), lcong48)
  if (libc)
    lcong48_r(parameters, &libc->drand48);
  else
    lcong48_next(parameters);
}

/* ---- strtok, getopt ---- */

char *strtok(char *restrict string, const char *restrict separators)
{
  struct libc *libc = libc_self();
  BEHIND(char *(*)(char *, const char *), strtok)
  return libc ? strtok_r(string, separators, &libc->token) : strtok_next(string, separators);
}

/* libc's getopt begins anew at optind 0, the first time in each rank. Where it left optind is noted
 * with the rank; if optind is something else than the last call in any rank left, then the program
 * has set it. What libc knows of the middle of a word ("-abc") is not kept by rank. */
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

/* The names that smpicc puts in the place of libc's. */
int smpi_getopt(int argc, char *const *argv, const char *options)
{
  struct libc *libc = libc_self();
  BEHIND(int (*)(int, char *const *, const char *), smpi_getopt)
  if (!libc)
    return smpi_getopt_next(argc, argv, options);
  begin_options(libc);
  return end_options(libc, getopt(argc, argv, options));
}

#define GETOPT_LONG(NAME)                                                                          \
  int smpi_##NAME(int argc, char *const *argv, const char *options,                                \
                  const struct option *long_options, int *index)                                   \
  {                                                                                                \
    struct libc *libc = libc_self();                                                               \
    BEHIND(int (*)(int, char *const *, const char *, const struct option *, int *), smpi_##NAME)   \
    if (!libc)                                                                                     \
      return smpi_##NAME##_next(argc, argv, options, long_options, index);                         \
    begin_options(libc);                                                                           \
    return end_options(libc, NAME(argc, argv, options, long_options, index));                      \
  }

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
    BEHIND(void (*)(const char *, size_t, bool), _gfortran_##KIND##_string)                        \
    if (!layer_wanted())                                                                           \
      _gfortran_##KIND##_string_next(text, length, quiet);                                         \
    stop(FAILED, ERROR, text, length, quiet);                                                      \
  }                                                                                                \
  void _gfortran_##KIND##_numeric(int code, bool quiet)                                            \
  {                                                                                                \
    BEHIND(void (*)(int, bool), _gfortran_##KIND##_numeric)                                        \
    if (!layer_wanted())                                                                           \
      _gfortran_##KIND##_numeric_next(code, quiet);                                                \
    char text[16];                                                                                 \
    int length = snprintf(text, sizeof text, "%d", code);                                          \
    stop(code, ERROR, text, (size_t)length, quiet);                                                \
  }

STOP(stop, false, 0)
STOP(error_stop, true, 1)

/* CALL EXIT; the status may be absent. */
#define FORTRAN_EXIT(NAME, INTEGER)                                                                \
  void NAME(const INTEGER *status)                                                                 \
  {                                                                                                \
    BEHIND(void (*)(const INTEGER *), NAME)                                                        \
    if (!layer_wanted())                                                                           \
      NAME##_next(status);                                                                         \
    exit(status ? (int)*status : 0);                                                               \
  }

FORTRAN_EXIT(_gfortran_exit_i4, int32_t)
FORTRAN_EXIT(_gfortran_exit_i8, int64_t)

/* ---- the machine ---- */

/* The node, not the machine that simulates. */
int gethostname(char *name, size_t size)
{
  struct arena *mode = layer_enter();
  BEHIND(int (*)(char *, size_t), gethostname)
  int result = 0;
  if (rank_self())
    g_strlcpy(name, machine_host(), size);
  else
    result = gethostname_next(name, size);
  layer_leave(mode);
  return result;
}
