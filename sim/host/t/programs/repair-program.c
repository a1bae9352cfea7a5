/* Runs one of several programs that repair themselves, for repair.t. The first argument names the
 * program. */
#include <mpi-ext.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, size;
static MPI_Comm world;

static const char *name_of(int error)
{
  int class;
  MPI_Error_class(error, &class);
  switch (class) {
  case MPI_SUCCESS:
    return "success";
  case MPIX_ERR_PROC_FAILED:
    return "failed";
  case MPIX_ERR_PROC_FAILED_PENDING:
    return "pending";
  case MPIX_ERR_REVOKED:
    return "revoked";
  case MPI_ERR_IN_STATUS:
    return "in-status";
  case MPI_ERR_PENDING:
    return "not-yet";
  default:
    return "other";
  }
}

static void say(const char *what, int error)
{
  printf("%d: %s %s\n", me, what, name_of(error));
}

static void wait_seconds(double seconds)
{
  smpi_execute_benched(seconds);
}

/* ---- revoking ---- */

static void revoking(void)
{
  MPI_Comm other, small;
  int got = -1, flag, count;
  MPI_Comm_dup(world, &other);
  if (me == 0) {
    wait_seconds(0.01);
    MPIX_Comm_revoke(world);
  } else {
    say("pending receive", MPI_Recv(&got, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE));
  }
  MPIX_Comm_is_revoked(world, &flag);
  printf("%d: is revoked %d\n", me, flag);
  say("barrier", MPI_Barrier(world));
  say("send", MPI_Send(&got, 1, MPI_INT, (me + 1) % size, 0, world));
  MPIX_Comm_is_revoked(other, &flag);
  printf("%d: the other is revoked %d\n", me, flag);
  say("the other's barrier", MPI_Barrier(other));
  flag = me == 1 ? 6 : 7;
  say("agreement", MPIX_Comm_agree(world, &flag));
  say("shrink", MPIX_Comm_shrink(world, &small));
  MPI_Comm_size(small, &count);
  printf("%d: flag %d, %d left\n", me, flag, count);
  say("barrier of these", MPI_Barrier(small));
}

/* Rank 1 waits for a message that is large enough to need a receiver. */
static void revoking_a_send(void)
{
  static char large[1 << 20];
  if (me == 0) {
    wait_seconds(0.01);
    MPIX_Comm_revoke(world);
  } else if (me == 1) {
    say("pending send", MPI_Send(large, sizeof large, MPI_CHAR, 0, 0, world));
  } else {
    say("collective", MPI_Barrier(world));
  }
}

/* ---- point to point; rank 1 dies at 5 ms ---- */

static void messages(void)
{
  static char large[1 << 20];
  int value = me, got = -1;
  MPI_Request request[2];
  MPI_Status status[2];
  if (me == 1)
    wait_seconds(1.0);
  if (me == 0) {
    MPI_Isend(large, sizeof large, MPI_CHAR, 1, 7, world, &request[0]);
    MPI_Irecv(&got, 1, MPI_INT, 1, 8, world, &request[1]);
    say("receive", MPI_Recv(&got, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE));
    say("send", MPI_Send(&value, 1, MPI_INT, 1, 0, world));
    say("large send", MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    say("receive of before", MPI_Wait(&request[1], MPI_STATUS_IGNORE));
    say("both",
        MPI_Sendrecv(&value, 1, MPI_INT, 2, 1, &got, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE));
    say("probe", MPI_Probe(1, 0, world, MPI_STATUS_IGNORE));
    MPI_Irecv(&got, 1, MPI_INT, 1, 0, world, &request[0]);
    MPI_Irecv(&got, 1, MPI_INT, 2, 9, world, &request[1]);
    say("all", MPI_Waitall(2, request, status));
    printf("0: of all %s %s\n", name_of(status[0].MPI_ERROR), name_of(status[1].MPI_ERROR));
    MPI_Send(&value, 1, MPI_INT, 2, 2, world);
    say("the rest of all", MPI_Wait(&request[1], MPI_STATUS_IGNORE));
    printf("0: from 2 %d\n", got);
  } else {
    say("other messages", MPI_Recv(&got, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE));
    MPI_Recv(&got, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);
    value = 42;
    MPI_Send(&value, 1, MPI_INT, 0, 9, world);
  }
}

/* ---- receives from any rank; rank 1 dies at 5 ms ---- */

static void print_group(const char *what, MPI_Group group)
{
  MPI_Group all;
  int count, rank = -1, zero = 0;
  MPI_Comm_group(world, &all);
  MPI_Group_size(group, &count);
  if (count > 0)
    MPI_Group_translate_ranks(group, 1, &zero, all, &rank);
  printf("%d: %s %d, the first %d\n", me, what, count, rank);
}

static void from_any(void)
{
  int got = -1, flag = -1, acknowledged = -1;
  MPI_Request request;
  MPI_Group group;
  if (me == 1)
    wait_seconds(1.0);
  if (me == 2) {
    MPI_Recv(&got, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Send(&got, 1, MPI_INT, 0, 0, world);
    return;
  }
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &request);
  say("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  printf("0: the request %s\n", request == MPI_REQUEST_NULL ? "is gone" : "stays");
  int error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  printf("0: test %s %d\n", name_of(error), flag);
  say("receive", MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, MPI_STATUS_IGNORE));
  MPIX_Comm_failure_get_acked(world, &group);
  print_group("acknowledged", group);
  MPIX_Comm_get_failed(world, &group);
  print_group("failed", group);
  MPIX_Comm_ack_failed(world, 0, &acknowledged);
  printf("0: acknowledges %d\n", acknowledged);
  MPIX_Comm_failure_ack(world);
  MPIX_Comm_ack_failed(world, 0, &acknowledged);
  printf("0: then %d\n", acknowledged);
  MPIX_Comm_failure_get_acked(world, &group);
  print_group("acknowledged", group);
  int value = 77;
  MPI_Send(&value, 1, MPI_INT, 2, 0, world);
  say("wait again", MPI_Wait(&request, MPI_STATUS_IGNORE));
  printf("0: got %d\n", got);
  say("receive from who has failed", MPI_Recv(&got, 1, MPI_INT, 1, 5, world, MPI_STATUS_IGNORE));
}

/* ---- agreement; rank 1 dies at 5 ms ---- */

static void agreeing(void)
{
  int flag = 0xff & ~(1 << me);
  MPI_Request request;
  if (me == 1)
    wait_seconds(1.0);
  say("agreement", MPIX_Comm_agree(world, &flag));
  printf("%d: flag %x\n", me, (unsigned)flag);
  if (me == 0)
    MPIX_Comm_failure_ack(world);
  say("acknowledged by some", MPIX_Comm_agree(world, &flag));
  MPIX_Comm_failure_ack(world);
  flag = 0xff & ~(1 << me);
  say("acknowledged by all", MPIX_Comm_agree(world, &flag));
  printf("%d: flag %x\n", me, (unsigned)flag);
  int later = me == 0 ? 12 : 10;
  MPIX_Comm_iagree(world, &later, &request);
  say("later", MPI_Wait(&request, MPI_STATUS_IGNORE));
  printf("%d: flag %x\n", me, (unsigned)later);
}

/* All survivors agree again and again, while ranks fail at any time, until an agreement has no
 * failures. All print the same. */
static void agreeing_while_ranks_die(void)
{
  for (int round = 0; round < 6; round++) {
    int flag = ~(1 << me), before, after;
    MPI_Comm small;
    int error = MPIX_Comm_agree(world, &flag);
    MPI_Comm_size(world, &before);
    MPIX_Comm_shrink(world, &small);
    MPI_Comm_size(small, &after);
    printf("round %d: %s %x %d %d\n", round, name_of(error), (unsigned)flag, before, after);
    world = small;
  }
}

/* ---- collectives; rank 1 dies at 5 ms ---- */

static int one_collective(int which, MPI_Comm comm)
{
  static int out[4096], in[4096];
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  switch (which) {
  case 0:
    return MPI_Barrier(comm);
  case 1:
    return MPI_Bcast(in, 4096, MPI_INT, 0, comm);
  case 2:
    return MPI_Reduce(out, in, 256, MPI_INT, MPI_SUM, 0, comm);
  case 3:
    return MPI_Allreduce(out, in, 256, MPI_INT, MPI_SUM, comm);
  case 4:
    return MPI_Allgather(out, 16, MPI_INT, in, 16, MPI_INT, comm);
  case 5:
    return MPI_Alltoall(out, 16, MPI_INT, in, 16, MPI_INT, comm);
  case 6:
    return MPI_Gather(out, 16, MPI_INT, in, 16, MPI_INT, 0, comm);
  case 7:
    return MPI_Scatter(out, 16, MPI_INT, in, 16, MPI_INT, 0, comm);
  case 8:
    return MPI_Scan(out, in, 16, MPI_INT, MPI_SUM, comm);
  case 9:
    return MPI_Comm_dup(comm, &made);
  case 10:
    return MPI_Comm_split(comm, me % 2, me, &made);
  case 11:
    MPI_Iallreduce(out, in, 16, MPI_INT, MPI_SUM, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  case 12:
    MPI_Ibarrier(comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  default:
    return MPI_Allreduce(out, in, 4096, MPI_INT, MPI_SUM, comm);
  }
}

enum { COLLECTIVES = 14 };

/* Collective `first` is under way when rank 1 dies. Then the others call each collective on the
 * communicator with the failure, and on one without the failure. */
static void collectives(int first)
{
  MPI_Comm small;
  int right = 0, wrong = 0;
  if (me == 1)
    wait_seconds(1.0);
  int error = one_collective(first, world);
  wait_seconds(0.02);
  for (int i = 0; i < COLLECTIVES; i++)
    wrong += one_collective(i, world) == MPIX_ERR_PROC_FAILED;
  MPIX_Comm_shrink(world, &small);
  for (int i = 0; i < COLLECTIVES; i++)
    right += one_collective(i, small) == MPI_SUCCESS;
  bool known = error == MPI_SUCCESS || error == MPIX_ERR_PROC_FAILED;
  printf("%d: %s, %d failed, then %d right\n", me, known ? "ended" : name_of(error), wrong, right);
}

/* ---- error handlers; rank 1 dies at 5 ms ---- */

static int handled;
static jmp_buf back;

static void handle(MPI_Comm *comm, int *error, ...)
{
  MPI_Comm small;
  printf("%d: handler %s on %s\n", me, name_of(*error), *comm == world ? "its own" : "another");
  handled++;
  MPIX_Comm_revoke(*comm);
  MPIX_Comm_shrink(*comm, &small);
  world = small;
  longjmp(back, 1);
}

static void handlers(void)
{
  MPI_Errhandler handler;
  int sum = 0, one = 1;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(world, handler);
  setjmp(back);
  for (int i = 0; i < 10; i++) {
    wait_seconds(1e-3);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
  }
  printf("%d: handled %d, sum %d\n", me, handled, sum);
}

/* ---- a rank that ends itself ---- */

static void ending_itself(bool kills)
{
  int flag, count, *repairs, one = 1, sum = 0;
  MPI_Comm small, smaller;
  MPI_Request request;
  signal(SIGUSR1, SIG_IGN);
  raise(SIGUSR1);
  raise(SIGCHLD);
  if (me == 1) {
    printf("1: last words\n");
    if (kills)
      kill(getpid(), SIGTERM);
    raise(SIGKILL);
    printf("1: goes on\n");
  }
  say("sum", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world));
  MPIX_Comm_ishrink(world, &small, &request);
  say("barrier", MPI_Barrier(world));
  say("shrinking", MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Comm_size(small, &count);
  MPI_Comm_get_attr(small, MPIX_FT, &repairs, &flag);
  MPIX_Comm_ishrink(small, &smaller, &request);
  do
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  while (!flag);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, smaller);
  printf("%d: %d left, %d of them, repairs %d\n", me, count, sum, *repairs);
}

/* ---- libraries that repair for programs ---- */

static void count_errors(MPI_Comm *comm, int *error, ...)
{
  (void)comm, (void)error;
  handled++;
}

/* This program tests four rules. Communicators inherit the error handler of their parent; a
 * receive without a sender reports failures; a request outlives its communicator; a shrunk
 * communicator replaces the old one. */
static void library(void)
{
  int got = -1, flag = 0, error = MPI_SUCCESS;
  MPI_Errhandler handler;
  MPI_Comm copy, all;
  MPI_Request watch, request;
  MPI_Comm_create_errhandler(count_errors, &handler);
  MPI_Comm_dup(world, &copy);
  MPI_Comm_set_errhandler(copy, handler);
  MPI_Comm_split(copy, 0, me, &all);
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 9, all, &watch);
  MPI_Irecv(&got, 1, MPI_INT, 1, 3, all, &request);
  if (me == 1)
    raise(SIGKILL);
  while (error == MPI_SUCCESS)
    error = MPI_Test(&watch, &flag, MPI_STATUS_IGNORE);
  say("watch", error);
  MPIX_Comm_revoke(all);
  MPI_Comm_free(&all);
  say("request", MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  MPIX_Comm_shrink(copy, &copy);
  MPI_Comm_size(copy, &got);
  say("barrier", MPI_Barrier(copy));
  printf("%d: handled %d, %d left\n", me, handled, got);
}

/* ---- a solver with spares ---- */

/* Jacobi's method for u'' = 0 between 0 and 1 on CELLS cells of each of `workers` ranks. Spare
 * ranks wait until one of the workers has failed, and take its place with the copy that its right
 * neighbour has kept. */
enum { CELLS = 32, STEPS = 120, KEEP = 10 };
struct state {
  int step;
  double cell[CELLS + 2];
};
/* `kept` is of this rank, and `copy` of the left neighbour */
static struct state now, kept, copy;

static void begin(int place, int workers)
{
  struct state *states[] = {&now, &copy};
  int places[] = {place, (place + workers - 1) % workers};
  for (int k = 0; k < 2; k++) {
    states[k]->step = 0;
    for (int i = 0; i < CELLS + 2; i++)
      states[k]->cell[i] = (places[k] * CELLS + i) * 7 % 11; /* no two values are equal */
  }
  kept = now;
}

/* Sets, for each place, the rank in `all` of its worker. The first living spares take the places
 * of dead workers. */
static void choose(MPI_Comm old, const int *was, MPI_Comm all, int workers, int *is)
{
  MPI_Group before, after;
  int count, next = 0;
  bool taken[64] = {false};
  MPI_Comm_size(all, &count);
  MPI_Comm_group(all, &after);
  MPI_Comm_group(old, &before);
  MPI_Group_translate_ranks(before, workers, was, after, is);
  for (int i = 0; i < workers; i++)
    if (is[i] != MPI_UNDEFINED)
      taken[is[i]] = true;
  for (int i = 0; i < workers; i++) {
    while (is[i] == MPI_UNDEFINED && next < count && taken[next])
      next++;
    if (is[i] == MPI_UNDEFINED)
      is[i] = next++;
  }
}

static int one_step(MPI_Comm comm, int place, int workers)
{
  int left = place > 0 ? place - 1 : MPI_PROC_NULL;
  int right = place < workers - 1 ? place + 1 : MPI_PROC_NULL;
  double *u = now.cell, next[CELLS + 2];
  int error = MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[CELLS + 1], 1, MPI_DOUBLE, right, 0,
                           comm, MPI_STATUS_IGNORE);
  if (!error)
    error = MPI_Sendrecv(&u[CELLS], 1, MPI_DOUBLE, right, 0, &u[0], 1, MPI_DOUBLE, left, 0, comm,
                         MPI_STATUS_IGNORE);
  if (place == workers - 1)
    u[CELLS + 1] = 1.0;
  for (int i = 1; i <= CELLS; i++)
    next[i] = (u[i - 1] + u[i + 1]) / 2.0;
  memcpy(u + 1, next + 1, CELLS * sizeof *u);
  wait_seconds(1e-3);
  return error;
}

/* Makes steps, and then sends a copy to the right neighbour, in a circle. All workers agree
 * whether every copy was kept. A worker that cannot go on makes sure that no other worker waits
 * for it. */
static bool steps(MPI_Comm comm, int place, int workers)
{
  struct state of_left;
  int error = 0, right = (place + 1) % workers, left = (place + workers - 1) % workers;
  for (int i = 0; i < KEEP && !error; i++)
    error = one_step(comm, place, workers);
  now.step += KEEP;
  if (!error)
    error = MPI_Sendrecv(&now, sizeof now, MPI_BYTE, right, 1, &of_left, sizeof of_left, MPI_BYTE,
                         left, 1, comm, MPI_STATUS_IGNORE);
  if (error)
    MPIX_Comm_revoke(comm);
  int all = !error;
  if (MPIX_Comm_agree(comm, &all) != MPI_SUCCESS || !all)
    return false;
  kept = now;
  copy = of_left;
  return true;
}

/* Puts all workers back to their last kept copy. If the neighbour that kept a copy has died as
 * well, puts them back to the beginning. Returns false if another worker has failed meanwhile. */
static bool restore(MPI_Comm comm, int place, int workers, bool new)
{
  enum { GOOD = 1, COMPLETE = 2 };
  int right = (place + 1) % workers, left = (place + workers - 1) % workers;
  int is_new = new, left_is_new = 0, right_is_new = 0;
  struct state found = kept, of_left = {0};
  bool good = !MPI_Sendrecv(&is_new, 1, MPI_INT, right, 2, &left_is_new, 1, MPI_INT, left, 2, comm,
                            MPI_STATUS_IGNORE);
  good &= !MPI_Sendrecv(&is_new, 1, MPI_INT, left, 2, &right_is_new, 1, MPI_INT, right, 2, comm,
                        MPI_STATUS_IGNORE);
  if (left_is_new)
    good &= !MPI_Send(&copy, sizeof copy, MPI_BYTE, left, 3, comm);
  if (new)
    good &= !MPI_Recv(&found, sizeof found, MPI_BYTE, right, 3, comm, MPI_STATUS_IGNORE);
  good &= !MPI_Sendrecv(&found, sizeof found, MPI_BYTE, right, 4, &of_left, sizeof of_left,
                        MPI_BYTE, left, 4, comm, MPI_STATUS_IGNORE);
  if (!good)
    MPIX_Comm_revoke(comm);
  int all = (good ? GOOD : 0) | (new &&right_is_new ? 0 : COMPLETE);
  if (MPIX_Comm_agree(comm, &all) != MPI_SUCCESS || !(all & GOOD))
    return false;
  now = kept = found;
  copy = of_left;
  if (!(all & COMPLETE))
    begin(place, workers);
  return true;
}

static int place_of(const int *ranks, int workers, int rank)
{
  for (int i = 0; i < workers; i++)
    if (ranks[i] == rank)
      return i;
  return -1;
}

static void solver(int workers)
{
  MPI_Comm all = world, comm, smaller;
  int is[64], was[64], place, token, bad = 0;
  bool new = false, repaired = false;
  for (int i = 0; i < workers; i++)
    is[i] = i;
  place = place_of(is, workers, me);
  begin(place, workers);
  for (;;) {
    int rank, count, done;
    done = MPI_Comm_split(all, place >= 0 ? 0 : 1, place, &comm) == MPI_SUCCESS;
    MPIX_Comm_agree(all, &done); /* some workers may have got a copy, and others not */
    bad = !done;
    if (!bad && place >= 0 && repaired)
      bad = !restore(comm, place, workers, new);
    new &= bad;
    while (!bad && place >= 0 && now.step < STEPS)
      bad = !steps(comm, place, workers);
    if (bad && comm != MPI_COMM_NULL)
      MPIX_Comm_revoke(comm);
    if (bad)
      MPIX_Comm_revoke(all);
    else if (place < 0) /* waits until the workers have ended, or one of them has failed */
      bad = MPI_Recv(&token, 1, MPI_INT, is[0], 9, all, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    MPI_Comm_size(all, &count);
    if (!bad && place == 0)
      for (int i = 0; i < count; i++)
        if (place_of(is, workers, i) < 0)
          MPI_Send(&token, 1, MPI_INT, i, 9, all);
    done = !bad;
    MPIX_Comm_failure_ack(all);
    MPIX_Comm_agree(all, &done);
    if (done)
      break;
    MPIX_Comm_shrink(all, &smaller);
    memcpy(was, is, sizeof was);
    choose(all, was, smaller, workers, is);
    MPI_Comm_rank(smaller, &rank);
    int before = place;
    place = place_of(is, workers, rank);
    new = place >= 0 && (new || before < 0);
    repaired = true;
    all = smaller;
  }
  double sum = 0.0, total = 0.0;
  for (int i = 1; place >= 0 && i <= CELLS; i++)
    sum += now.cell[i];
  if (place < 0)
    return;
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  if (place == 0)
    printf("solved: %.17g after %d steps\n", total, now.step);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &me);
  MPI_Comm_size(world, &size);
  const char *which = argv[1];
  if (strcmp(which, "fatal") != 0)
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (!strcmp(which, "revoke"))
    revoking();
  else if (!strcmp(which, "revoke-send"))
    revoking_a_send();
  else if (!strcmp(which, "messages") || !strcmp(which, "fatal"))
    messages();
  else if (!strcmp(which, "any"))
    from_any();
  else if (!strcmp(which, "agree"))
    agreeing();
  else if (!strcmp(which, "die"))
    agreeing_while_ranks_die();
  else if (!strcmp(which, "collectives"))
    collectives(atoi(argv[2]));
  else if (!strcmp(which, "handler"))
    handlers();
  else if (!strcmp(which, "itself"))
    ending_itself(!strcmp(argv[2], "kill"));
  else if (!strcmp(which, "library"))
    library();
  else if (!strcmp(which, "solver"))
    solver(atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
