/* Corrects constants of MPI, for programs and for the layer. SMPI defines MPI_ROOT as 0, which is
 * also a rank, and MPI_DISTRIBUTE_DFLT_DARG as 3, which is also a number of elements. SMPI has the
 * datatypes of C++ in programs in C++ only, under names that it does not define. */
#include <smpi/smpi.h>

#undef MPI_ROOT
#define MPI_ROOT (-4)

#undef MPI_DISTRIBUTE_DFLT_DARG
#define MPI_DISTRIBUTE_DFLT_DARG (-5)

extern SMPI_Datatype smpi_MPI_CXX_FLOAT_COMPLEX;
extern SMPI_Datatype smpi_MPI_CXX_DOUBLE_COMPLEX;
extern SMPI_Datatype smpi_MPI_CXX_LONG_DOUBLE_COMPLEX;

#undef MPI_CXX_BOOL
#define MPI_CXX_BOOL SMPI_PREDEFINED_POINTER(MPI_Datatype, smpi_MPI_CXX_BOOL)
#undef MPI_CXX_FLOAT_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX SMPI_PREDEFINED_POINTER(MPI_Datatype, smpi_MPI_CXX_FLOAT_COMPLEX)
#undef MPI_CXX_DOUBLE_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX SMPI_PREDEFINED_POINTER(MPI_Datatype, smpi_MPI_CXX_DOUBLE_COMPLEX)
#undef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_LONG_DOUBLE_COMPLEX                                                                \
  SMPI_PREDEFINED_POINTER(MPI_Datatype, smpi_MPI_CXX_LONG_DOUBLE_COMPLEX)
