/* Polls for messages in a ring of ranks, in every form that MPI has. Each poll reads a clock and
 * random numbers; what a rank reads decides how it goes on and what it sends. So a rank that runs
 * again must read the same values. The program fails if the clock goes backwards. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

static int rank, ranks;
static double last, sum;

static double read_clock(int which)
{
  struct timespec now;
  struct timeval of_day;
  switch (which % 5) {
  case 0:
    return MPI_Wtime();
  case 1:
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  case 2:
    gettimeofday(&of_day, NULL);
    return (double)of_day.tv_sec + 1e-6 * (double)of_day.tv_usec;
  case 3:
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  default:
    return MPI_Wtime() + (double)(time(NULL) - time(NULL));
  }
}

/* Reads a clock and random numbers between two polls, and computes for a while after some of
 * them. */
static void look(int which)
{
  static const double COARSEST = 1e-6;
  unsigned char byte;
  double now = read_clock(which);
  if (now < last - COARSEST) {
    printf("rank %d: the clock goes back, from %.9f to %.9f\n", rank, last, now);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  last = now;
  sum += now;
  if (getrandom(&byte, 1, 0) == 1)
    sum += (byte + rand() % 8) * 1e-6;
  if ((long)(now * 1e7) % 5 == 0)
    smpi_execute_flops(1e4);
}

enum form { TEST, TESTALL, TESTANY, TESTSOME, STATUS, PROBE, MATCHED, REDUCTION, FORMS };

static int is_here(enum form form, MPI_Request *request, double *in)
{
  int flag = 0, index, count, left = (rank + ranks - 1) % ranks;
  MPI_Message message;
  switch (form) {
  case TEST:
  case REDUCTION:
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    break;
  case TESTALL:
    MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
    break;
  case TESTANY:
    MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
    break;
  case TESTSOME:
    MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
    flag = count == 1;
    break;
  case STATUS:
    MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
    if (flag)
      MPI_Wait(request, MPI_STATUS_IGNORE);
    break;
  case PROBE:
    MPI_Iprobe(MPI_ANY_SOURCE, form, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (flag)
      MPI_Recv(in, 1, MPI_DOUBLE, left, form, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    break;
  default:
    MPI_Improbe(left, form, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    if (flag)
      MPI_Mrecv(in, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  }
  return flag;
}

static void round_of(enum form form, int number)
{
  MPI_Request request = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL, none = MPI_REQUEST_NULL;
  double in = 0.0, out = sum;
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, flag;
  if (form == REDUCTION)
    MPI_Iallreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  else if (form < PROBE)
    MPI_Irecv(&in, 1, MPI_DOUBLE, left, form, MPI_COMM_WORLD, &request);
  if (rank == number % ranks) /* the other ranks wait for this rank */
    smpi_execute_flops(2e5);
  if (form != REDUCTION)
    MPI_Isend(&out, 1, MPI_DOUBLE, right, form, MPI_COMM_WORLD, &other);
  do {
    look(number + form);
    MPI_Test(&none, &flag, MPI_STATUS_IGNORE); /* always true */
  } while (!is_here(form, &request, &in));
  MPI_Wait(&other, MPI_STATUS_IGNORE);
  sum = (sum + in) / 2;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int number = 0; number < (argc > 1 ? atoi(argv[1]) : 2); number++)
    for (int form = 0; form < FORMS; form++)
      round_of(form, number);
  printf("%d: done\n", rank);
  MPI_Finalize();
  return 0;
}
