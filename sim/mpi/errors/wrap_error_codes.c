/* Handles the error codes and classes of MPI, those of failures (faults.h), and those that the
 * program adds. SMPI does not know the program's codes, so they lie in the rank's arena. */
#include "sim/host/rank/faults.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"

#include <string.h>

/* the first code that a program adds; it is higher than the codes of failures */
enum { FIRST_ADDED = 2000 };

struct added_error {
  int class;
  char text[MPI_MAX_ERROR_STRING];
};

/* Returns the error with that code, or NULL if the program has not added it. */
static struct added_error *added(const struct rank *r, int code)
{
  int place = code - FIRST_ADDED;
  return place >= 0 && place < r->mpi->errors_added_count ? r->mpi->errors_added[place] : NULL;
}

/* Adds a code of that class. If `class` is 0, the code is itself a class. */
static int add(struct rank *r, int class, int *code)
{
  struct mpi_state *mpi = r->mpi;
  size_t count = (size_t)mpi->errors_added_count;
  if (class && !added(r, class) && class > MPI_ERR_LASTCODE)
    return MPI_ERR_ARG;
  struct added_error **list = rank_alloc(r, (count + 1) * sizeof *list);
  if (count)
    memcpy(list, mpi->errors_added, count * sizeof *list);
  rank_free(mpi->errors_added);
  mpi->errors_added = list;
  *code = FIRST_ADDED + mpi->errors_added_count++;
  list[count] = rank_alloc(r, sizeof **list);
  list[count]->class = class ? class : *code;
  mpi->last_code = *code;
  return MPI_SUCCESS;
}

static int set_text(struct rank *r, int code, const char *text)
{
  struct added_error *error = added(r, code);
  if (!error)
    return MPI_ERR_ARG;
  g_strlcpy(error->text, text, sizeof error->text);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Add_error_class, (class), add(r, 0, class))
LOOK_UP_CALL(Add_error_code, (class, code), add(r, class, code))
LOOK_UP_CALL(Add_error_string, (code, text), set_text(r, code, text))

int error_string(const struct rank *r, int code, char *text, int *length)
{
  const struct added_error *error = added(r, code);
  const char *known = error ? error->text : fault_text(code);
  if (!known)
    return PMPI_Error_string(code, text, length);
  *length = (int)g_strlcpy(text, known, MPI_MAX_ERROR_STRING);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Error_string, (code, text, length), error_string(r, code, text, length))

static int class_of(const struct rank *r, int code, int *class)
{
  const struct added_error *error = added(r, code);
  if (!error && !fault_text(code))
    return PMPI_Error_class(code, class);
  *class = error ? error->class : code;
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Error_class, (code, class), class_of(r, code, class))
