/* Recovers a program by calls of ULFM, as ulfm.h describes. */
#include <mpi-ext.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg_matrix.h"
#include "ulfm.h"

enum {
  PLACES_MAX = ULFM_PLACES_MAX,
  PROTECTED_MAX = 16,
  TAG_CHECKPOINT = 1001, /* sends a checkpoint to the next place */
  TAG_OWN = 1002,        /* sends a checkpoint back to the place whose data it has */
  TAG_ENDED = 1003       /* tells spare processes that the work has ended */
};

struct sent {
  unsigned iteration;
  int partner, tag, count;
  double *data;
  MPI_Request replay; /* request of the replayed send, or MPI_REQUEST_NULL */
};

struct ulfm_counts ulfm_counts;

static struct ulfm_options options;
static jmp_buf failure;

/* These communicators have all live processes, and those that have places. */
static MPI_Comm all, comm;
static int process_of[PLACES_MAX]; /* by place: rank of its process in `all` */
static int place;                  /* place of this process, or -1 for a spare process */
static bool is_new;                /* this process has replaced a dead one */
static bool repaired;              /* the communicator was repaired, so some processes are new */

static struct {
  void *address;
  size_t bytes;
} protected[PROTECTED_MAX];
static int protected_count;
static size_t protected_bytes;

struct checkpoint {
  /* iteration at whose beginning the checkpoint was taken, or 0 if there is none */
  unsigned iteration;
  char *own, *before; /* copies of the data of this place and of the place before it */
};

static unsigned now;      /* the iteration that was begun last, or 0 if there is none */
static char *transaction; /* copy of the protected data at the beginning of that iteration */
/* The last checkpoint that is known to be complete at all places, and the next one. */
static struct checkpoint complete, next;

/* by place: the iteration of its process when the recovery began */
static unsigned reached[PLACES_MAX];
static struct sent *log_entry;
static int logged, log_room;

/* Revokes the communicator, so that all processes hear of the failure. */
static void fail(void)
{
  MPIX_Comm_revoke(comm);
  longjmp(failure, 1);
}

static void check(int error)
{
  if (error != MPI_SUCCESS)
    fail();
}

static int place_after(int i)
{
  return (i + 1) % options.places;
}

static int place_before(int i)
{
  return (i + options.places - 1) % options.places;
}

/* ---- what is protected ---- */

static void make_copies(void)
{
  char **const copies[] = {&transaction, &complete.own, &complete.before, &next.own, &next.before};
  for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++)
    if (*copies[i] == NULL)
      *copies[i] = allocate(protected_bytes, 1);
}

static void copy_out(char *to)
{
  for (int i = 0; i < protected_count; i++) {
    memcpy(to, protected[i].address, protected[i].bytes);
    to += protected[i].bytes;
  }
}

static void copy_back(const char *from)
{
  for (int i = 0; i < protected_count; i++) {
    memcpy(protected[i].address, from, protected[i].bytes);
    from += protected[i].bytes;
  }
}

void ulfm_protect(void *address, size_t bytes)
{
  if (protected_count == PROTECTED_MAX)
    MPI_Abort(MPI_COMM_WORLD, 1);
  protected[protected_count].address = address;
  protected[protected_count++].bytes = bytes;
  protected_bytes += bytes;
}

/* ---- the log ---- */

static bool is_logged(unsigned iteration)
{
  return complete.iteration > 0 && iteration < complete.iteration + (unsigned)options.logged;
}

static void append(int partner, int tag, const double *out, int count)
{
  if (logged == log_room) {
    log_room = log_room > 0 ? 2 * log_room : 64;
    log_entry = realloc(log_entry, (size_t)log_room * sizeof *log_entry);
    if (log_entry == NULL)
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const size_t bytes = (size_t)count * sizeof *out;
  struct sent *sent = &log_entry[logged++];
  *sent = (struct sent){now, partner, tag, count, allocate(bytes, 1), MPI_REQUEST_NULL};
  memcpy(sent->data, out, bytes);
  ulfm_counts.logged++;
  ulfm_counts.logged_bytes += (long)bytes;
}

/* Ends the replay. Its sends have been received, or never will be. */
static void end_replay(void)
{
  for (int i = 0; i < logged; i++)
    MPI_Wait(&log_entry[i].replay, MPI_STATUS_IGNORE);
}

/* Keeps the messages sent in iterations `from` to `to` - 1, and drops the others. */
static void trim_log(unsigned from, unsigned to)
{
  int left = 0;
  for (int i = 0; i < logged; i++)
    if (log_entry[i].iteration >= from && log_entry[i].iteration < to)
      log_entry[left++] = log_entry[i];
    else
      free(log_entry[i].data);
  logged = left;
}

/* Sends the logged messages again to each place that is behind this one. */
static void replay(void)
{
  for (int i = 0; i < logged; i++) {
    struct sent *sent = &log_entry[i];
    if (sent->iteration < reached[sent->partner])
      continue;
    check(MPI_Isend(sent->data, sent->count, MPI_DOUBLE, sent->partner, sent->tag, comm,
                    &sent->replay));
    ulfm_counts.replayed++;
  }
}

/* ---- iterations ---- */

/* Makes the next checkpoint the complete one, and drops the messages that no replay needs. */
static void complete_next(void)
{
  const struct checkpoint last = complete;
  complete = next;
  next = last;
  next.iteration = 0;
  trim_log(complete.iteration, now);
}

/* Takes a checkpoint. A process that leaves the barrier knows that all processes have both of
 * their copies. */
static void take_checkpoint(void)
{
  const int bytes = (int)protected_bytes;
  end_replay();
  memcpy(next.own, transaction, protected_bytes);
  check(MPI_Sendrecv(next.own, bytes, MPI_BYTE, place_after(place), TAG_CHECKPOINT, next.before,
                     bytes, MPI_BYTE, place_before(place), TAG_CHECKPOINT, comm,
                     MPI_STATUS_IGNORE));
  next.iteration = now;
  check(MPI_Barrier(comm));
  complete_next();
}

void ulfm_iteration(unsigned iteration)
{
  now = iteration;
  ulfm_counts.iterations++;
  copy_out(transaction);
  if (complete.iteration != now && (now - 1) % (unsigned)options.interval == 0)
    take_checkpoint();
}

/* Sends by the wrapper of Algorithm 3, and receives the same number of doubles. */
void ulfm_exchange(int partner, int tag, const double *out, double *in, int count)
{
  MPI_Request request;
  int error = MPI_Irecv(in, count, MPI_DOUBLE, partner, tag, comm, &request);
  check(error);
  if (is_logged(now))
    append(partner, tag, out, count);
  if (now < reached[partner])
    ulfm_counts.filtered++;
  else
    error = MPI_Send(out, count, MPI_DOUBLE, partner, tag, comm);
  if (error != MPI_SUCCESS)
    MPIX_Comm_revoke(comm); /* this ends the receive, whose memory belongs to the program */
  const int received = MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(error);
  check(received);
}

/* ---- recovery ---- */

/* Holds what a place tells the others about itself in a recovery. */
struct found {
  unsigned iteration, complete;
  int is_new;
};

/* Returns the number of the newest complete checkpoint that can be restored, or 0 if there is none.
 * For each place, its own process or the process of the next place must have a copy. */
static unsigned newest_complete(const struct found *found)
{
  unsigned newest = 0;
  for (int i = 0; i < options.places; i++) {
    if (found[i].is_new && found[place_after(i)].is_new)
      return 0;
    if (!found[i].is_new && found[i].complete > newest)
      newest = found[i].complete;
  }
  return newest;
}

/* Gives new processes the checkpoints of their places and of the places before these. Returns false
 * if another process has failed. */
static bool spread_copies(const struct found *found)
{
  const int bytes = (int)protected_bytes, after = place_after(place), before = place_before(place);
  int error = MPI_SUCCESS;
  if (found[before].is_new)
    error = MPI_Send(complete.before, bytes, MPI_BYTE, before, TAG_OWN, comm);
  if (is_new && !error)
    error = MPI_Recv(complete.own, bytes, MPI_BYTE, after, TAG_OWN, comm, MPI_STATUS_IGNORE);
  if (found[after].is_new && !error)
    error = MPI_Send(complete.own, bytes, MPI_BYTE, after, TAG_CHECKPOINT, comm);
  if (is_new && !error)
    error =
        MPI_Recv(complete.before, bytes, MPI_BYTE, before, TAG_CHECKPOINT, comm, MPI_STATUS_IGNORE);
  return error == MPI_SUCCESS;
}

/* Returns true if the log holds all messages that this place has sent since the iteration of the
 * hindmost place. */
static bool can_replay(const struct found *found)
{
  unsigned hindmost = now;
  for (int i = 0; i < options.places; i++)
    if (found[i].iteration < hindmost)
      hindmost = found[i].iteration;
  return now == hindmost || is_logged(now - 1);
}

static void begin_anew(void)
{
  trim_log(0, 0);
  complete.iteration = next.iteration = now = 0;
  memset(reached, 0, sizeof reached);
}

/* Goes back to the beginning of the iteration (`local`), or to the checkpoint. */
static void roll_back(const struct found *found, bool local)
{
  if (is_new || !local) {
    now = complete.iteration;
    memcpy(transaction, complete.own, protected_bytes);
  }
  for (int i = 0; i < options.places; i++)
    reached[i] = local ? found[i].iteration : now;
  trim_log(complete.iteration, now);
  copy_back(transaction);
  replay();
}

/* Fills `found` with the state of all places, and spreads the copies that are needed. Returns false
 * if another process has failed. */
static bool gather(struct found *found, unsigned *checkpoint)
{
  const struct found mine = {now, complete.iteration, is_new};
  if (MPI_Allgather(&mine, sizeof mine, MPI_BYTE, found, sizeof mine, MPI_BYTE, comm) !=
      MPI_SUCCESS)
    return false;
  *checkpoint = newest_complete(found);
  if (!is_new && next.iteration > 0 && next.iteration == *checkpoint)
    complete_next();
  for (int i = 0; i < options.places; i++)
    if (found[i].is_new)
      found[i].iteration = *checkpoint;
  return *checkpoint == 0 || spread_copies(found);
}

/* Recovers by the replay routine (Algorithm 4). Each process takes part in the agreement, even if
 * its own part of the recovery has failed. */
enum ulfm_begin ulfm_restore(void)
{
  enum { GOOD = 1, LOCAL = 2 };
  struct found found[PLACES_MAX];
  unsigned checkpoint = 0;
  make_copies();
  if (!repaired)
    return ULFM_ANEW;
  int flags = gather(found, &checkpoint) ? GOOD : 0;
  if (!flags)
    MPIX_Comm_revoke(comm); /* no process will wait for this one */
  else if (is_new || can_replay(found))
    flags |= LOCAL;
  check(MPIX_Comm_agree(comm, &flags));
  if (!(flags & GOOD))
    fail();
  if (checkpoint == 0) {
    begin_anew();
    ulfm_counts.anew++;
  } else {
    complete.iteration = checkpoint;
    roll_back(found, flags & LOCAL);
    ulfm_counts.local += (flags & LOCAL) != 0;
    ulfm_counts.global += !(flags & LOCAL);
  }
  is_new = false;
  return checkpoint > 0 ? ULFM_AT_ITERATION : ULFM_ANEW;
}

/* ---- processes ---- */

/* Gives the places of the dead to the first live processes without a place. */
static void give_places(MPI_Comm before, const int *was)
{
  MPI_Group group_before, group_after;
  int count, next = 0;
  MPI_Comm_size(all, &count);
  bool *taken = allocate((size_t)count, sizeof *taken);
  MPI_Comm_group(before, &group_before);
  MPI_Comm_group(all, &group_after);
  MPI_Group_translate_ranks(group_before, options.places, was, group_after, process_of);
  for (int i = 0; i < options.places; i++)
    if (process_of[i] != MPI_UNDEFINED)
      taken[process_of[i]] = true;
  for (int i = 0; i < options.places; i++) {
    while (process_of[i] == MPI_UNDEFINED && next < count && taken[next])
      next++;
    if (process_of[i] == MPI_UNDEFINED && next == count) {
      fprintf(stderr, "no spare process is left\n");
      MPI_Abort(all, 1);
    }
    if (process_of[i] == MPI_UNDEFINED)
      process_of[i] = next++;
  }
  MPI_Group_free(&group_before);
  MPI_Group_free(&group_after);
  free(taken);
}

static void find_place(void)
{
  int rank;
  MPI_Comm_rank(all, &rank);
  const int before = place;
  place = -1;
  for (int i = 0; i < options.places; i++)
    if (process_of[i] == rank)
      place = i;
  if (place >= 0 && before < 0)
    is_new = true;
}

/* Makes a communicator of all live processes. */
static void repair(void)
{
  MPI_Comm before = all;
  int was[PLACES_MAX];
  MPIX_Comm_shrink(before, &all);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  memcpy(was, process_of, sizeof was);
  give_places(before, was);
  find_place();
  repaired = true;
}

/* Waits until the places have ended or one of their processes has failed. Returns true in the first
 * case. */
static bool wait_as_spare(void)
{
  int ended;
  return MPI_Recv(&ended, 1, MPI_INT, process_of[0], TAG_ENDED, all, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

static void tell_spares(void)
{
  int count, ended = 1;
  MPI_Comm_size(all, &count);
  for (int i = 0; place == 0 && i < count; i++) {
    bool spare = true;
    for (int k = 0; k < options.places; k++)
      spare &= process_of[k] != i;
    if (spare)
      MPI_Send(&ended, 1, MPI_INT, i, TAG_ENDED, all);
  }
}

/* Runs the work of the place once. Returns false if a failure has interrupted it. */
static bool try_work(void (*work)(int))
{
  if (setjmp(failure) == 0) {
    work(place);
    end_replay();
    return true;
  }
  end_replay();
  return false;
}

int ulfm_run(const struct ulfm_options *given, void (*work)(int))
{
  options = *given;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  for (int i = 0; i < options.places; i++)
    process_of[i] = i;
  place = -1;
  find_place();
  is_new = false;
  for (;;) {
    int good = MPI_Comm_split(all, place >= 0 ? 0 : MPI_UNDEFINED, place, &comm) == MPI_SUCCESS;
    /* some processes may have no new communicator */
    const bool known = MPIX_Comm_agree(all, &good) == MPI_SUCCESS;
    good = good && known && (place < 0 ? wait_as_spare() : try_work(work));
    if (!good)
      MPIX_Comm_revoke(all);
    else
      tell_spares();
    MPIX_Comm_failure_ack(all);
    if (MPIX_Comm_agree(all, &good) == MPI_SUCCESS && good)
      return place;
    repair();
  }
}
