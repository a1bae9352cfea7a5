/* The frame of every wrapper. */
#ifndef RECLINE_WRAP_H
#define RECLINE_WRAP_H

#include "host.h"
#include "layer.h"

/* Handles of the program are addresses of the layer's own structs. */
static inline MPI_Request handle_of(struct request *request)
{
  return (MPI_Request)(void *)request;
}

static inline struct request *request_of(MPI_Request handle)
{
  return (struct request *)(void *)handle;
}

/* Calls `layered` with `r` set when the layer is on, `inert` when it is not, and returns its
 * result. Every MPI call is an opportunity for the protocol. */
#define WRAP(layered, inert)                                                                       \
  struct arena *mode_ = layer_enter();                                                             \
  struct rank *r = rank_self();                                                                    \
  int result_;                                                                                     \
  if (r) {                                                                                         \
    rank_switch(r, ACTIVITY_MPI);                                                                  \
    host_enter(r);                                                                                 \
    result_ = (layered);                                                                           \
    rank_switch(r, ACTIVITY_COMPUTE);                                                              \
  } else {                                                                                         \
    result_ = (inert);                                                                             \
  }                                                                                                \
  layer_leave(mode_);                                                                              \
  return result_

/* The same for calls that only look something up: no time, no protocol. */
#define LOOK_UP(layered, inert)                                                                    \
  struct arena *mode_ = layer_enter();                                                             \
  struct rank *r = rank_self();                                                                    \
  int result_ = r ? (layered) : (inert);                                                           \
  layer_leave(mode_);                                                                              \
  return result_

#endif
