/* Defines sessions (MPI 4). SMPI has one beginning and one end of MPI. So the first session begins
 * MPI if the program has not called MPI_Init. MPI ends with the last session or with MPI_Finalize,
 * whichever comes last. There are two sets of processes: the world, and the rank itself. */
#include "include/mpi/mpi-4.h"
#include "sim/mpi/calls/init.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/type_reuse.h"

#include <string.h>

/* Describes a session, which lies in the arena. */
struct recline_session {
  MPI_Errhandler errors;
};

static const char *const sets[] = {"mpi://WORLD", "mpi://SELF"};
enum { SETS = G_N_ELEMENTS(sets) };

static int open_session(struct rank *r, MPI_Errhandler errors, MPI_Session *session)
{
  *session = rank_alloc(r, sizeof **session);
  (*session)->errors = errors;
  r->mpi->sessions++;
  return MPI_SUCCESS;
}

static int open_call(MPI_Info info, MPI_Errhandler errors, MPI_Session *session)
{
  (void)info;
  WRAP(open_session(r, errors, session), layer_lacks("MPI_Session_init"));
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler errors, MPI_Session *session)
{
  int is_over = 0;
  if (!rank_self()) {
    PMPI_Finalized(&is_over);
    if (is_over)
      die(DIE_INPUT, "MPI_Session_init where all sessions have ended, expected one that is open: "
                     "SimGrid begins MPI once");
    MPI_Init(NULL, NULL);
    layer_leave_world(rank_self());
  }
  return open_call(info, errors, session);
}

static struct recline_session *session_of(const struct rank *r, MPI_Session session)
{
  if (!session || heap_owner(session) != r->index)
    die(DIE_INPUT, "rank %d: %s, expected a session that is open", r->index, layer.call);
  return session;
}

static int close_session(struct rank *r, MPI_Session *session)
{
  rank_free(session_of(r, *session));
  *session = MPI_SESSION_NULL;
  r->mpi->sessions--;
  return MPI_SUCCESS;
}

static int close_call(MPI_Session *session)
{
  WRAP(close_session(r, session), layer_lacks("MPI_Session_finalize"));
}

int MPI_Session_finalize(MPI_Session *session)
{
  int result = close_call(session);
  return layer_is_last() ? MPI_Finalize() : result;
}

/* ---- sets of processes ---- */

static int count_sets(int *count)
{
  *count = SETS;
  return MPI_SUCCESS;
}

/* `*length` is the number of bytes at `name`, and becomes the length of the name with its null
 * byte. */
static int name_set(int n, int *length, char *name)
{
  if (n < 0 || n >= SETS)
    return MPI_ERR_ARG;
  if (*length > 0)
    g_strlcpy(name, sets[n], (gsize)*length);
  *length = (int)strlen(sets[n]) + 1;
  return MPI_SUCCESS;
}

/* Returns the communicator of a set, or NULL if there is no such set. */
static const struct comm *members_of(const struct rank *r, const char *name)
{
  if (g_ascii_strcasecmp(name, sets[0]) == 0)
    return &r->mpi->world;
  return g_ascii_strcasecmp(name, sets[1]) == 0 ? &r->mpi->self : NULL;
}

static int group_of_set(const struct rank *r, const char *name, MPI_Group *group)
{
  const struct comm *members = members_of(r, name);
  return members ? group_of_ranks(members->size, members->member, group) : MPI_ERR_ARG;
}

NEW_CALL(Session_get_num_psets, (session, info, count), (session_of(r, session), count_sets(count)))
NEW_CALL(Session_get_nth_pset, (session, info, n, length, name),
         (session_of(r, session), name_set(n, length, name)))
NEW_CALL(Group_from_session_pset, (session, name, group),
         (session_of(r, session), group_of_set(r, name, group)))

/* ---- infos and error handlers ---- */

static int size_of_set(struct rank *r, const char *name)
{
  const struct comm *members = members_of(r, name);
  return members ? members->size : -1;
}

static int find_size(MPI_Session session, const char *name)
{
  WRAP((session_of(r, session), size_of_set(r, name)), layer_lacks("MPI_Session_get_pset_info"));
}

int MPI_Session_get_pset_info(MPI_Session session, const char *name, MPI_Info *info)
{
  int size = find_size(session, name);
  if (size < 0)
    return MPI_ERR_ARG;
  char text[16];
  g_snprintf(text, sizeof text, "%d", size);
  int error = MPI_Info_create(info);
  return error ? error : MPI_Info_set(*info, "mpi_size", text);
}

static int find_session(MPI_Session session)
{
  WRAP((session_of(r, session), MPI_SUCCESS), layer_lacks("MPI_Session_get_info"));
}

/* Tells the level of thread support. It is the same for every session, whatever the program has
 * asked for. */
int MPI_Session_get_info(MPI_Session session, MPI_Info *info)
{
  int error = find_session(session);
  if (!error)
    error = MPI_Info_create(info);
  return error ? error : MPI_Info_set(*info, "thread_level", "MPI_THREAD_FUNNELED");
}

static int set_errors(struct recline_session *session, MPI_Errhandler errors)
{
  session->errors = errors;
  return MPI_SUCCESS;
}

static int get_errors(const struct recline_session *session, MPI_Errhandler *errors)
{
  *errors = session->errors;
  return MPI_SUCCESS;
}

NEW_CALL(Session_set_errhandler, (session, errors), set_errors(session_of(r, session), errors))
NEW_CALL(Session_get_errhandler, (session, errors), get_errors(session_of(r, session), errors))
