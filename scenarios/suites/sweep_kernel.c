/* The kernel of sweep.F90 sweeps in one direction, plane by plane, each as soon as its upwind sides
 * are here. What leaves is sent without waiting, from a buffer for each plane. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

void sweep_planes(MPI_Fint fortran_comm, int64_t *flux, int nx, int ny, int planes, int sx, int sy,
                  int sz);

void sweep_planes(MPI_Fint fortran_comm, int64_t *flux, int nx, int ny, int planes, int sx, int sy,
                  int sz)
{
  MPI_Comm comm = MPI_Comm_f2c(fortran_comm);
  int before_x, after_x, before_y, after_y;
  MPI_Cart_shift(comm, 0, sx, &before_x, &after_x);
  MPI_Cart_shift(comm, 1, sy, &before_y, &after_y);
  int64_t *side_x = calloc((size_t)(planes * ny), sizeof *side_x);
  int64_t *side_y = calloc((size_t)(planes * nx), sizeof *side_y);
  MPI_Request *request = malloc((size_t)(2 * planes) * sizeof *request);
  for (int plane = 0; plane < planes; plane++) {
    int64_t *in_x = side_x + plane * ny, *in_y = side_y + plane * nx;
    int64_t *cell = flux + (sz > 0 ? plane : planes - 1 - plane) * nx * ny;
    MPI_Recv(in_x, ny, MPI_INT64_T, before_x, plane, comm, MPI_STATUS_IGNORE);
    MPI_Recv(in_y, nx, MPI_INT64_T, before_y, planes + plane, comm, MPI_STATUS_IGNORE);
    for (int j = sy > 0 ? 0 : ny - 1; j >= 0 && j < ny; j += sy)
      for (int i = sx > 0 ? 0 : nx - 1; i >= 0 && i < nx; i += sx)
        in_x[j] = in_y[i] = cell[j * nx + i] =
            (cell[j * nx + i] * 3 + in_x[j] + 2 * in_y[i] + plane) % 1000003;
    MPI_Isend(in_x, ny, MPI_INT64_T, after_x, plane, comm, &request[2 * plane]);
    MPI_Isend(in_y, nx, MPI_INT64_T, after_y, planes + plane, comm, &request[2 * plane + 1]);
  }
  MPI_Waitall(2 * planes, request, MPI_STATUSES_IGNORE);
  free(request);
  free(side_x);
  free(side_y);
}
