/* SMPI's mpi.h with two constants changed (values.h). */
#include <smpi/mpi.h>

#include "values.h"
