/* Calls by which the programs inform recline's MPI layer (sim/cc/recline.h). Without the layer, as
 * under plain smpirun, they have no effect. */
#ifndef RECLINE_TELL_H
#define RECLINE_TELL_H

extern int recline_choose(int count) __attribute__((weak));
extern void recline_potential_checkpoint(void) __attribute__((weak));
extern void recline_iteration(unsigned iteration) __attribute__((weak));
extern void recline_iteration_bytes(unsigned long long bytes) __attribute__((weak));
extern void recline_image_bytes(unsigned long long bytes) __attribute__((weak));

/* Iteration `iteration`, from 1, begins. */
static inline void tell_iteration(unsigned iteration)
{
  if (recline_iteration)
    recline_iteration(iteration);
}

/* How many bytes an iteration changes, and how many a checkpoint has to hold. */
static inline void tell_bytes(unsigned long long iteration, unsigned long long image)
{
  if (recline_iteration_bytes)
    recline_iteration_bytes(iteration);
  if (recline_image_bytes)
    recline_image_bytes(image);
}

#endif
