/* How much has come, which SMPI tells in whole types only. */
#include "sim/mpi/file_view.h"
#include "sim/mpi/wrap.h"

static int get_elements(const MPI_Status *status, MPI_Datatype type, int *count)
{
  *count = (int)type_elements(type, status->count);
  return MPI_SUCCESS;
}

static int get_elements_x(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
  *count = type_elements(type, status->count);
  return MPI_SUCCESS;
}

LOOK_UP_CALL(Get_elements, (status, type, count), ((void)r, get_elements(status, type, count)))
LOOK_UP_CALL(Get_elements_x, (status, type, count), ((void)r, get_elements_x(status, type, count)))
