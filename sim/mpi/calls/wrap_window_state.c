/* Defines queries and settings of windows. */
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/windows/window.h"

#include <string.h>

int window_get_attribute(struct window *window, int key, void *where, int *found)
{
  bool dynamic = window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
  void *base = dynamic ? MPI_BOTTOM : window->base;
  void *values[] = {base, &window->size, &window->unit, &window->flavor, &window->model};
  int place = MPI_WIN_BASE - key; /* the keys of these attributes count down */
  *found = place >= 0 && place < (int)G_N_ELEMENTS(values);
  if (*found)
    memcpy(where, &values[place], sizeof values[place]);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Win_get_group, (window, group),
             MPI_Comm_group(comm_handle(window_of(r, window)->comm), group))

static int set_info(struct window *window, MPI_Info info)
{
  return info == MPI_INFO_NULL ? MPI_SUCCESS : MPI_Info_dup(info, &window->info);
}

LOOK_UP_CALL(Win_set_info, (window, info), set_info(window_of(r, window), info))

static int get_info(const struct window *window, MPI_Info *info)
{
  return window->info == MPI_INFO_NULL ? MPI_Info_create(info) : MPI_Info_dup(window->info, info);
}

LOOK_UP_CALL(Win_get_info, (window, info), get_info(window_of(r, window), info))

static int set_name(struct rank *r, struct window *window, const char *name)
{
  rank_free(window->name);
  window->name = rank_alloc(r, MPI_MAX_OBJECT_NAME);
  g_strlcpy(window->name, name, MPI_MAX_OBJECT_NAME);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Win_set_name, (window, name), set_name(r, window_of(r, window), name))

static int get_name(const struct window *window, char *name, int *length)
{
  *length = (int)g_strlcpy(name, window->name ? window->name : "", MPI_MAX_OBJECT_NAME);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Win_get_name, (window, name, length), get_name(window_of(r, window), name, length))

/* Errors of a window go to the error handler of its communicator. */
static int set_handler(struct window *window, MPI_Errhandler errors)
{
  return MPI_Comm_set_errhandler(comm_handle(window->comm), errors);
}

LOOK_UP_CALL(Win_set_errhandler, (window, errors), set_handler(window_of(r, window), errors))

static int get_handler(const struct window *window, MPI_Errhandler *errors)
{
  return MPI_Comm_get_errhandler(comm_handle(window->comm), errors);
}

LOOK_UP_CALL(Win_get_errhandler, (window, errors), get_handler(window_of(r, window), errors))

static int call_handler(struct rank *r, struct window *window, int error)
{
  comm_error(r, window->comm, error);
  return MPI_SUCCESS;
}

WRAP_CALL(Win_call_errhandler, (window, error), call_handler(r, window_of(r, window), error))

/* ---- in Fortran ---- */

static int set_name_fortran(struct rank *r, const int *window, const char *text, size_t length)
{
  g_autofree char *name = fortran_text(text, length);
  return MPI_Win_set_name(fortran_get_window(r, window), name);
}

FORTRAN_CALL(mpi_win_set_name_, (int *window, char *name, int *error, size_t length),
             (window, name, error, length), *error = set_name_fortran(r, window, name, length))

static int get_name_fortran(struct rank *r, const int *window, char *text, int *length, size_t room)
{
  char name[MPI_MAX_OBJECT_NAME];
  int error = MPI_Win_get_name(fortran_get_window(r, window), name, length);
  fortran_put_text(text, room, name);
  return error;
}

FORTRAN_CALL(mpi_win_get_name_, (int *window, char *name, int *length, int *error, size_t room),
             (window, name, length, error, room),
             *error = get_name_fortran(r, window, name, length, room))

/* Gets an attribute as a number as wide as an address. In C, all attributes except the base address
 * are pointers to the number.
 */
static int get_attribute_fortran(struct rank *r, const int *window, int key, MPI_Aint *value,
                                 int *found)
{
  void *where;
  int error = MPI_Win_get_attr(fortran_get_window(r, window), key, &where, found);
  if (*found)
    *value = key == MPI_WIN_BASE   ? (MPI_Aint)where
             : key == MPI_WIN_SIZE ? *(MPI_Aint *)where
                                   /* an attribute of the program is an integer, too */
                                   : *(int *)where;
  return error;
}

FORTRAN_CALL(mpi_win_get_attr_, (int *window, int *key, MPI_Aint *value, int *found, int *error),
             (window, key, value, found, error),
             *error = get_attribute_fortran(r, window, *key, value, found))
