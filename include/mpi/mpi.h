/* Takes the place of SMPI's mpi.h. It adds the changes of values.h, the calls of mpi-4.h and
 * mpi-t.h, and calls with large counts, which large.awk makes. MPI_Compare_and_swap has a constant
 * comparand, as in MPI, unless the program has included SMPI's own header before. A program in C++
 * may include this file within extern "C". The templates that SMPI's header includes would be
 * errors there, so this file wraps it in extern "C++". */
#ifdef __cplusplus
extern "C++" {
#endif

#ifndef SMPI_H
#define MPI_Compare_and_swap smpi_compare_and_swap
#include "mpi-4.h"
#undef MPI_Compare_and_swap

#ifdef __cplusplus
extern "C" {
#endif
int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                         MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win);
int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Win win);
#ifdef __cplusplus
}
#endif
#endif

#include <smpi/mpi.h>

#include "mpi-4.h" /* its declarations are needed where the program has included smpi.h before */
#include "mpi-large.h"
#include "mpi-t.h"
#include "values.h"

#ifdef __cplusplus
}
#endif
