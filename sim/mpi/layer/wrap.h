/* Defines the frame of every wrapper. */
#ifndef RECLINE_WRAP_H
#define RECLINE_WRAP_H

#include "sim/host/rank/rank.h"
#include "sim/host/step/host.h"
#include "sim/memory/dead_stack.h"
#include "sim/mpi/layer/record.h"

#include "parameters.h"

#include <string.h>

/* Handles of the program are addresses of the layer's own structs. */
static inline MPI_Request handle_of(struct request *request)
{
  return (MPI_Request)(void *)request;
}

static inline struct request *request_of(MPI_Request handle)
{
  return (struct request *)(void *)handle;
}

/* Returns the result of a call that begins an operation. */
static inline int began(struct request *request, MPI_Request *handle)
{
  *handle = handle_of(request);
  return MPI_SUCCESS;
}

/* Ends a call in which time may have passed. Clears what the call has left on the stack, where the
 * program could read it. No function of the layer may be called afterwards. */
static inline void wrap_leave(struct arena *mode, const struct rank *r)
{
  layer_leave(mode);
  if (mode && r)
    dead_stack_clear(r->source);
}

/* Ends the run if the caller is in a parallel region of OpenMP with several threads. All ranks run
 * in one thread, so another rank would run during the call, and its regions would replace this
 * region. */
static inline void layer_refuse_region(const struct rank *r, const char *name)
{
  if (layer.in_parallel && __builtin_expect(layer.in_parallel(), 0))
    die(DIE_INPUT,
        "rank %d has called %s in a parallel region of OpenMP, expected such calls between "
        "regions, or OMP_NUM_THREADS=1",
        r->index, name);
}

/* Begins a call of that name, a static text. The call may take time. */
static inline void layer_begin_call(struct rank *r, const char *name)
{
  layer_refuse_region(r, name);
  rank_switch(r, ACTIVITY_MPI);
  layer.call = r->mpi->call_name = name;
  r->mpi->call_since = r->since;
  r->mpi->wait.kind = WAIT_CALL;
}

/* Ends the run if the caller is a thread that a program has started. SMPI knows only its own actors
 * as ranks, so calls from other threads would do nothing. */
static inline void layer_refuse_thread(const char *name)
{
  if (__builtin_expect(layer.on && !machine_actor(), 0))
    die(DIE_INPUT,
        "a thread of the program has called %s, expected calls of MPI in the thread of "
        "MPI_Init alone (MPI_THREAD_FUNNELED)",
        name);
}

/* Returns the value of `layered`, which is evaluated with `r` set, if the layer is on, and of
 * `inert` if not. Every such MPI call is an opportunity for the protocol. */
#define WRAP(layered, inert)                                                                       \
  struct arena *mode_ = layer_enter();                                                             \
  struct rank *r = rank_self();                                                                    \
  int result_;                                                                                     \
  if (r) {                                                                                         \
    layer_begin_call(r, __func__);                                                                 \
    host_enter(r);                                                                                 \
    result_ = (layered);                                                                           \
    rank_switch(r, ACTIVITY_COMPUTE);                                                              \
    if (__builtin_expect(recording, 0))                                                            \
      record_called();                                                                             \
  } else {                                                                                         \
    layer_refuse_thread(__func__);                                                                 \
    result_ = (inert);                                                                             \
  }                                                                                                \
  wrap_leave(mode_, r);                                                                            \
  return result_

/* Does the same for calls that only look something up. These take no time and are no opportunity
 * for the protocol. */
#define LOOK_UP(layered, inert)                                                                    \
  struct arena *mode_ = layer_enter();                                                             \
  struct rank *r = rank_self();                                                                    \
  if (r)                                                                                           \
    r->mpi->call_name = __func__;                                                                  \
  else                                                                                             \
    layer_refuse_thread(__func__);                                                                 \
  __typeof__(inert) result_ = r ? (layered) : (inert);                                             \
  layer_leave(mode_);                                                                              \
  return result_

/* These macros define MPI_NAME by WRAP or LOOK_UP. The last argument is evaluated if the layer is
 * on; if not, SMPI's own function is called. ARGUMENTS are the names of the function's parameters,
 * in parentheses. Their types are as in smpi.h (parameters.h, written by wrappers.awk). */
#define WRAP_CALL(NAME, ARGUMENTS, ...)                                                            \
  int MPI_##NAME(PARAMETERS_##NAME ARGUMENTS)                                                      \
  {                                                                                                \
    RECORD(NAME, ARGUMENTS);                                                                       \
    WRAP((__VA_ARGS__), PMPI_##NAME ARGUMENTS);                                                    \
  }
#define LOOK_UP_CALL(NAME, ARGUMENTS, ...)                                                         \
  int MPI_##NAME(PARAMETERS_##NAME ARGUMENTS)                                                      \
  {                                                                                                \
    LOOK_UP((__VA_ARGS__), PMPI_##NAME ARGUMENTS);                                                 \
  }

/* Ends the program, because the call `name` exists in runs of recline only. */
_Noreturn static inline int layer_lacks(const char *name)
{
  die(DIE_INPUT, "%s exists in recline run only, expected recline run in place of smpirun", name);
}

/* Defines MPI_NAME of mpi-4.h by WRAP. SMPI does not have this function. */
#define NEW_CALL(NAME, ARGUMENTS, ...)                                                             \
  int MPI_##NAME(PARAMETERS_##NAME ARGUMENTS)                                                      \
  {                                                                                                \
    RECORD(NAME, ARGUMENTS);                                                                       \
    WRAP((__VA_ARGS__), layer_lacks("MPI_" #NAME));                                                \
  }

/* Returns the function of that name that comes behind the layer in the order of symbols. Ends the
 * run if there is none. */
void *layer_next(const char *name);

/* Returns where the C++ library keeps the exceptions of this thread. */
struct exceptions *layer_exceptions(void);

/* Declares NAME_next, the function NAME behind the layer. It is looked up once. dlsym returns an
 * object pointer, and ISO C has no conversion to a function pointer. */
#define BEHIND(NAME)                                                                               \
  static __typeof__(NAME) *NAME##_next;                                                            \
  if (!NAME##_next) {                                                                              \
    void *symbol_ = layer_next(#NAME);                                                             \
    memcpy(&NAME##_next, &symbol_, sizeof symbol_);                                                \
  }

/* Defines function NAME. It returns the last argument if CONDITION holds, and calls the function
 * behind the layer if not.
 */
#define IN_PLACE_OF(TYPE, NAME, PARAMETERS, ARGUMENTS, CONDITION, ...)                             \
  TYPE NAME PARAMETERS                                                                             \
  {                                                                                                \
    if (CONDITION)                                                                                 \
      return (__VA_ARGS__);                                                                        \
    BEHIND(NAME)                                                                                   \
    return NAME##_next ARGUMENTS;                                                                  \
  }

#endif
