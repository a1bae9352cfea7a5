/* Defines the calls in which Fortran 2008 differs from FORTRAN 77; modules.awk writes all other
 * calls, which pass their arguments on. Programs that use the module mpi_f08 call these functions,
 * and may leave out the argument `error`.
 */
#include "include/mpi/mpi-4.h"
#include "sim/mpi/fortran/fortran.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint),
               "statuses have the same size in Fortran");

static void put_error(int *error, int value)
{
  if (error)
    *error = value;
}

/* ---- attributes: values as wide as an address, to which C has pointers ----  */

/* Returns the address of a copy of the value, for C. The copy lies in the arena of the rank, or in
 * memory of malloc() if `r` is NULL. */
static MPI_Aint *kept(struct rank *r, MPI_Aint value)
{
  MPI_Aint *copy = r ? rank_alloc(r, sizeof *copy) : malloc(sizeof *copy);
  *copy = value;
  return copy;
}

/* Keys below zero are MPI's. Values of these keys are integers, except the address and the size of
 * a window. */
static MPI_Aint value_of(int key, const void *where)
{
  return key < 0 ? *(const int *)where : *(const MPI_Aint *)where;
}

static MPI_Aint value_of_window(int key, const void *where)
{
  if (key == MPI_WIN_BASE)
    return (MPI_Aint)where;
  return key == MPI_WIN_SIZE ? *(const MPI_Aint *)where : value_of(key, where);
}

#define ATTRIBUTE_CALLS(name, NAME, kind, F2C, VALUE)                                              \
  void mpi_##name##_set_attr_f08_(const int *holder, const int *key, const MPI_Aint *value,        \
                                  int *error)                                                      \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    put_error(error,                                                                               \
              r ? MPI_##NAME##_set_attr(fortran_get_##kind(r, holder), *key, kept(r, *value))      \
                : PMPI_##NAME##_set_attr(F2C(*holder), *key, kept(r, *value)));                    \
    layer_leave(mode);                                                                             \
  }                                                                                                \
                                                                                                   \
  void mpi_##name##_get_attr_f08_(const int *holder, const int *key, MPI_Aint *value, int *found,  \
                                  int *error)                                                      \
  {                                                                                                \
    struct arena *mode = layer_enter();                                                            \
    struct rank *r = rank_self();                                                                  \
    void *where = NULL;                                                                            \
    put_error(error, r ? MPI_##NAME##_get_attr(fortran_get_##kind(r, holder), *key, &where, found) \
                       : PMPI_##NAME##_get_attr(F2C(*holder), *key, &where, found));               \
    if (*found && where)                                                                           \
      *value = VALUE(*key, where);                                                                 \
    layer_leave(mode);                                                                             \
  }                                                                                                \
                                                                                                   \
  void pmpi_##name##_set_attr_f08_(const int *, const int *, const MPI_Aint *, int *)              \
      __attribute__((alias("mpi_" #name "_set_attr_f08_")));                                       \
  void pmpi_##name##_get_attr_f08_(const int *, const int *, MPI_Aint *, int *, int *)             \
      __attribute__((alias("mpi_" #name "_get_attr_f08_")));

ATTRIBUTE_CALLS(comm, Comm, comm, PMPI_Comm_f2c, value_of)
ATTRIBUTE_CALLS(type, Type, type, PMPI_Type_f2c, value_of)
ATTRIBUTE_CALLS(win, Win, window, PMPI_Win_f2c, value_of_window)

/* ---- predefined functions of keys; SMPI itself has the copy functions of windows ----  */

static void copy_nothing(int *flag, int *error)
{
  *flag = 0;
  *error = MPI_SUCCESS;
}

static void copy_value(const MPI_Aint *before, MPI_Aint *after, int *flag, int *error)
{
  *after = *before;
  *flag = 1;
  *error = MPI_SUCCESS;
}

#define KEY_PARAMETERS                                                                             \
  int *holder, int *key, MPI_Aint *extra, MPI_Aint *before, MPI_Aint *after, int *flag, int *error
#define UNUSED_OF_KEY (void)holder, (void)key, (void)extra, (void)before, (void)after

#define FUNCTIONS_OF_KEYS(name)                                                                    \
  void mpi_##name##_null_copy_fn_(KEY_PARAMETERS)                                                  \
  {                                                                                                \
    UNUSED_OF_KEY;                                                                                 \
    copy_nothing(flag, error);                                                                     \
  }                                                                                                \
                                                                                                   \
  void mpi_##name##_dup_fn_(KEY_PARAMETERS)                                                        \
  {                                                                                                \
    UNUSED_OF_KEY;                                                                                 \
    copy_value(before, after, flag, error);                                                        \
  }                                                                                                \
                                                                                                   \
  DELETE_FUNCTION(name)

#define DELETE_FUNCTION(name)                                                                      \
  void mpi_##name##_null_delete_fn_(int *holder, int *key, MPI_Aint *value, MPI_Aint *extra,       \
                                    int *error)                                                    \
  {                                                                                                \
    (void)holder, (void)key, (void)value, (void)extra;                                             \
    *error = MPI_SUCCESS;                                                                          \
  }

FUNCTIONS_OF_KEYS(comm)
FUNCTIONS_OF_KEYS(type)
DELETE_FUNCTION(win)

/* ---- what needs no rank ---- */

MPI_Aint mpi_aint_add_(const MPI_Aint *base, const MPI_Aint *difference)
{
  return *base + *difference;
}

MPI_Aint mpi_aint_diff_(const MPI_Aint *one, const MPI_Aint *other)
{
  return *one - *other;
}

MPI_Aint mpi_aint_add_f08_(const MPI_Aint *, const MPI_Aint *)
    __attribute__((alias("mpi_aint_add_")));
MPI_Aint mpi_aint_diff_f08_(const MPI_Aint *, const MPI_Aint *)
    __attribute__((alias("mpi_aint_diff_")));
MPI_Aint pmpi_aint_add_f08_(const MPI_Aint *, const MPI_Aint *)
    __attribute__((alias("mpi_aint_add_")));
MPI_Aint pmpi_aint_diff_f08_(const MPI_Aint *, const MPI_Aint *)
    __attribute__((alias("mpi_aint_diff_")));

/* This function does nothing, but for the compiler it is a call that may read and write the
 * buffer. */
void mpi_f_sync_reg_f08_(void *buffer)
{
  (void)buffer;
}

void pmpi_f_sync_reg_f08_(void *) __attribute__((alias("mpi_f_sync_reg_f08_")));
void mpi_f_sync_reg_(void *) __attribute__((alias("mpi_f_sync_reg_f08_")));

/* Describes the beginning of a descriptor of Fortran (CFI_cdesc_t). */
struct descriptor {
  void *address;
  size_t element;
};

void recline_sizeof(const struct descriptor *of, int *size, int *error)
{
  *size = (int)of->element;
  put_error(error, MPI_SUCCESS);
}

/* ---- statuses: the same integers in C, Fortran and Fortran 2008 ---- */

int MPI_Status_c2f08(const MPI_Status *c, MPI_F08_status *f08)
{
  *f08 = *c;
  return MPI_SUCCESS;
}

int MPI_Status_f082c(const MPI_F08_status *f08, MPI_Status *c)
{
  *c = *f08;
  return MPI_SUCCESS;
}

int MPI_Status_f2f08(const MPI_Fint *f, MPI_F08_status *f08)
{
  memcpy(f08, f, sizeof *f08);
  return MPI_SUCCESS;
}

int MPI_Status_f082f(const MPI_F08_status *f08, MPI_Fint *f)
{
  memcpy(f, f08, sizeof *f08);
  return MPI_SUCCESS;
}

void recline_status_copy_in_(const MPI_Fint *f, MPI_F08_status *f08, int *error)
{
  put_error(error, MPI_Status_f2f08(f, f08));
}

void recline_status_copy_out_(const MPI_F08_status *f08, MPI_Fint *f, int *error)
{
  put_error(error, MPI_Status_f082f(f08, f));
}
