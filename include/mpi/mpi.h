/* SMPI's mpi.h, but for two constants. */
#include <smpi/mpi.h>

#include "values.h"
