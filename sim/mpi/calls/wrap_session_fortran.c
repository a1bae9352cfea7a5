/* Defines the session calls of MPI 4 for Fortran. They convert their arguments and call the C
 * functions. */
#include "include/mpi/mpi-4.h"
#include "sim/mpi/fortran/fortran.h"

static MPI_Session session_at(const int *session)
{
  return fortran_get_session(rank_self(), session);
}

/* Fortran's handles can be converted only after MPI has begun. So the session begins with
 * MPI_ERRORS_ARE_FATAL, and gets the program's error handler afterwards. */
void mpi_session_init_(const int *info, const int *errors, int *session, int *error)
{
  (void)info;
  MPI_Session made = MPI_SESSION_NULL;
  *error = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  if (*error)
    return;
  struct arena *mode = layer_enter();
  MPI_Session_set_errhandler(made, fortran_get_errhandler(rank_self(), errors));
  fortran_put_session(rank_self(), session, NULL, made);
  layer_leave(mode);
}

void mpi_session_finalize_(int *session, int *error)
{
  MPI_Session handle = session_at(session);
  fortran_put_session(rank_self(), session, handle, NULL);
  *error = MPI_Session_finalize(&handle);
}

void mpi_session_get_num_psets_(const int *session, const int *info, int *count, int *error)
{
  (void)info;
  *error = MPI_Session_get_num_psets(session_at(session), MPI_INFO_NULL, count);
}

/* A text in Fortran has no null byte at its end, so its length is one less than in C. */
void mpi_session_get_nth_pset_(const int *session, const int *info, const int *n, int *length,
                               char *name, int *error, size_t room)
{
  (void)info;
  char text[MPI_MAX_PSET_NAME_LEN];
  int bytes = MIN(*length, MPI_MAX_PSET_NAME_LEN - 1) + 1;
  *error = MPI_Session_get_nth_pset(session_at(session), MPI_INFO_NULL, *n, &bytes, text);
  if (*error)
    return;
  if (*length > 0)
    fortran_put_text(name, room, text);
  *length = bytes - 1;
}

void mpi_session_get_info_(const int *session, int *info, int *error)
{
  MPI_Info made;
  *error = MPI_Session_get_info(session_at(session), &made);
  fortran_put_info(rank_self(), info, MPI_INFO_NULL, made);
}

void mpi_session_get_pset_info_(const int *session, const char *name, int *info, int *error,
                                size_t length)
{
  struct arena *mode = layer_enter();
  char *text = fortran_text(name, length);
  MPI_Info made = MPI_INFO_NULL;
  *error = MPI_Session_get_pset_info(session_at(session), text, &made);
  fortran_put_info(rank_self(), info, MPI_INFO_NULL, made);
  g_free(text);
  layer_leave(mode);
}

void mpi_session_set_errhandler_(const int *session, const int *errors, int *error)
{
  *error =
      MPI_Session_set_errhandler(session_at(session), fortran_get_errhandler(rank_self(), errors));
}

void mpi_session_get_errhandler_(const int *session, int *errors, int *error)
{
  MPI_Errhandler handler;
  *error = MPI_Session_get_errhandler(session_at(session), &handler);
  fortran_put_errhandler(rank_self(), errors, MPI_ERRHANDLER_NULL, handler);
}

void mpi_group_from_session_pset_(const int *session, const char *name, int *group, int *error,
                                  size_t length)
{
  struct arena *mode = layer_enter();
  char *text = fortran_text(name, length);
  MPI_Group made = MPI_GROUP_NULL;
  *error = MPI_Group_from_session_pset(session_at(session), text, &made);
  fortran_put_group(rank_self(), group, MPI_GROUP_NULL, made);
  g_free(text);
  layer_leave(mode);
}

void mpi_comm_create_from_group_(const int *group, const char *tag, const int *info,
                                 const int *errors, int *comm, int *error, size_t length)
{
  (void)tag, (void)info, (void)length;
  struct rank *r = rank_self();
  MPI_Comm made = MPI_COMM_NULL;
  *error = MPI_Comm_create_from_group(fortran_get_group(r, group), "", MPI_INFO_NULL,
                                      fortran_get_errhandler(r, errors), &made);
  struct arena *mode = layer_enter();
  fortran_put_comm(r, comm, MPI_COMM_NULL, made);
  layer_leave(mode);
}
