/* Defines MPI's interface for tools. It offers no variables, categories, sources and events. So
 * every index and every name is invalid, and no call gets a handle. */
#include "include/mpi/mpi-t.h"
#include "sim/mpi/layer/wrap.h"

#define NONE_CALL(NAME)                                                                            \
  int MPI_##NAME(int *where)                                                                       \
  {                                                                                                \
    *where = 0;                                                                                    \
    return MPI_SUCCESS;                                                                            \
  }
#define INVALID_CALL(NAME, ARGUMENTS, ERROR)                                                       \
  int MPI_##NAME(PARAMETERS_##NAME ARGUMENTS)                                                      \
  {                                                                                                \
    return ERROR;                                                                                  \
  }
#define INDEX_CALL(NAME, ARGUMENTS) INVALID_CALL(NAME, ARGUMENTS, MPI_T_ERR_INVALID_INDEX)
#define NAME_CALL(NAME, ARGUMENTS) INVALID_CALL(NAME, ARGUMENTS, MPI_T_ERR_INVALID_NAME)
#define HANDLE_CALL(NAME, ARGUMENTS) INVALID_CALL(NAME, ARGUMENTS, MPI_T_ERR_INVALID_HANDLE)

int MPI_T_init_thread(int required, int *provided)
{
  *provided = MIN(required, MPI_THREAD_FUNNELED);
  return MPI_SUCCESS;
}

int MPI_T_finalize(void)
{
  return MPI_SUCCESS;
}

/* There is nothing that the calls could look up, so their arguments are not read.
 * NOLINTBEGIN(misc-unused-parameters) */
NONE_CALL(T_cvar_get_num)
NONE_CALL(T_pvar_get_num)
NONE_CALL(T_category_get_num)
NONE_CALL(T_category_changed)
NONE_CALL(T_source_get_num)
NONE_CALL(T_event_get_num)

INDEX_CALL(T_cvar_get_info,
           (index, name, name_length, verbosity, type, values, text, length, bind, scope))
INDEX_CALL(T_cvar_handle_alloc, (index, object, handle, count))
INDEX_CALL(T_pvar_get_info, (index, name, name_length, verbosity, kind, type, values, text, length,
                             bind, readonly, continuous, atomic))
INDEX_CALL(T_pvar_handle_alloc, (session, index, object, handle, count))
INDEX_CALL(T_category_get_info, (index, name, name_length, text, length, cvars, pvars, categories))
INDEX_CALL(T_category_get_num_events, (index, count))
INDEX_CALL(T_category_get_cvars, (index, count, indices))
INDEX_CALL(T_category_get_pvars, (index, count, indices))
INDEX_CALL(T_category_get_events, (index, count, indices))
INDEX_CALL(T_category_get_categories, (index, count, indices))

NAME_CALL(T_cvar_get_index, (name, index))
NAME_CALL(T_pvar_get_index, (name, kind, index))
NAME_CALL(T_category_get_index, (name, index))
NAME_CALL(T_event_get_index, (name, index))

HANDLE_CALL(T_enum_get_info, (values, count, name, length))
HANDLE_CALL(T_enum_get_item, (values, index, value, name, length))
HANDLE_CALL(T_cvar_handle_free, (handle))
HANDLE_CALL(T_cvar_read, (handle, buffer))
HANDLE_CALL(T_cvar_write, (handle, buffer))
HANDLE_CALL(T_pvar_handle_free, (session, handle))
HANDLE_CALL(T_pvar_start, (session, handle))
HANDLE_CALL(T_pvar_stop, (session, handle))
HANDLE_CALL(T_pvar_read, (session, handle, buffer))
HANDLE_CALL(T_pvar_write, (session, handle, buffer))
HANDLE_CALL(T_pvar_reset, (session, handle))
HANDLE_CALL(T_pvar_readreset, (session, handle, buffer))
/* NOLINTEND(misc-unused-parameters) */

/* A session has no state, so no memory is allocated, and all sessions have the same handle. */
int MPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
  *session = (MPI_T_pvar_session)(uintptr_t)1;
  return MPI_SUCCESS;
}

int MPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}
