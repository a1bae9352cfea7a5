/* Reads by open() and read() what MPI-IO has written, as PnetCDF does to find out the format of a
 * file. A rank sees the round in which the file was written, or that there is no file. */
#include <fcntl.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 12 };

static int look(const char *name)
{
  int value = 0, descriptor = open(name, O_RDONLY);
  if (descriptor < 0)
    return 1000;
  if (read(descriptor, &value, sizeof value) != sizeof value)
    value = 2000;
  close(descriptor);
  return value;
}

int main(int argc, char **argv)
{
  int rank;
  unsigned seen = 0;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 1; round <= ROUNDS; round++) {
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 0)
      MPI_File_write_at(file, 0, &round, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    seen = 31 * seen + (unsigned)look(argv[1]);
    smpi_execute_flops(7e4); /* 1 ms */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && round % 3 == 0)
      MPI_File_delete(argv[1], MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    seen = 31 * seen + (unsigned)look(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d: %08x\n", rank, seen);
  MPI_Finalize();
  return 0;
}
