/* Replaces SimGrid's header in programs of scenarios/ that are built for real MPI. The calls by
 * which a simulation is told to charge time do nothing, because real time passes by itself. */
#ifndef RECLINE_STAND_IN_SMPI_H
#define RECLINE_STAND_IN_SMPI_H

static inline void smpi_execute_flops(double flops)
{
  (void)flops;
}

#endif
