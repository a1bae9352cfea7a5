/* In place of SimGrid's header, for programs of scenarios/ that are built for real MPI: what a
 * simulation is told to charge, time does there by itself. */
#ifndef RECLINE_STAND_IN_SMPI_H
#define RECLINE_STAND_IN_SMPI_H

static inline void smpi_execute_flops(double flops)
{
  (void)flops;
}

#endif
