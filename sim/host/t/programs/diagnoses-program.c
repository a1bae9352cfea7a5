/* Does something wrong. Usage: diagnoses HOW. HOW names the wrong thing, which rank 1 does after 8
 * iterations of 1 ms. With `early` rank 1 does it before MPI_Init, and with `never` instead of
 * MPI_Init. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *how;

static int is(const char *name)
{
  return !strcmp(how, name);
}

static void *in_thread(void *comm)
{
  int number = 7, other;
  if (is("thread-rank"))
    MPI_Comm_rank(*(MPI_Comm *)comm, &number);
  else if (is("thread-segv"))
    *(volatile int *)0 = 1;
  else
    MPI_Sendrecv(&number, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, *(MPI_Comm *)comm,
                 MPI_STATUS_IGNORE);
  return NULL;
}

/* Lets all ranks wait for ever, each in another call. */
static void stand_still(MPI_Comm comm, int rank)
{
  int one[2] = {0}, flag;
  MPI_Request request[2];
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_name(copy, "copy");
  if (rank == 0)
    MPI_Recv(one, 1, MPI_INT, MPI_ANY_SOURCE, 5, copy, MPI_STATUS_IGNORE);
  if (rank == 1)
    MPI_Ssend(one, 1, MPI_INT, 4, 6, comm);
  if (rank == 2) {
    MPI_Irecv(&one[0], 1, MPI_INT, 3, 7, comm, &request[0]);
    MPI_Irecv(&one[1], 1, MPI_INT, 1, MPI_ANY_TAG, comm, &request[1]);
    MPI_Waitany(2, request, &flag, MPI_STATUS_IGNORE);
  }
  if (rank == 3)
    MPI_Probe(2, 8, comm, MPI_STATUS_IGNORE);
  if (rank == 4)
    MPI_Bcast(one, 1, MPI_INT, 3, comm);
  if (rank == 5) {
    MPI_Irecv(one, 1, MPI_INT, 5, 9, copy, request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
  }
}

static void in_region(MPI_Comm comm)
{
  if (is("region-MPI_Barrier"))
    MPI_Barrier(comm);
  if (is("region-smpi_execute"))
    smpi_execute(1.0);
  if (is("region-smpi_usleep"))
    usleep(1000);
}

static void fail(MPI_Comm comm)
{
  int *nothing = (int *)(uintptr_t)8;
  char port[MPI_MAX_PORT_NAME] = "port";
  MPI_Aint bytes;
  pthread_t thread;
  if (is("words"))
    fputs("Not yet implemented: PMPI_Send.\n", stderr);
  if (is("segv") || is("words"))
    *(volatile int *)nothing = 1;
  if (is("abort"))
    abort();
  if (is("raise"))
    raise(SIGTERM);
  if (is("exit"))
    exit(3);
  if (is("_exit"))
    _exit(3);
  if (is("MPI_Abort"))
    MPI_Abort(comm, 9);
  if (is("MPI_Send"))
    MPI_Send(nothing, 100, MPI_INT, 0, 0, comm);
  if (is("MPI_Comm_size"))
    MPI_Comm_size(comm, nothing);
  if (is("MPI_Open_port"))
    MPI_Open_port(MPI_INFO_NULL, port);
  if (is("MPI_Publish_name"))
    MPI_Publish_name("service", MPI_INFO_NULL, port);
  if (is("MPI_Pack_external_size"))
    MPI_Pack_external_size("external32", 1, MPI_INT, &bytes);
  if (!strncmp(how, "region-", 7)) {
#pragma omp parallel num_threads(2)
#pragma omp master
    in_region(comm);
  }
  if (!strncmp(how, "thread", 6)) {
    pthread_create(&thread, NULL, in_thread, &comm);
    pthread_join(thread, NULL);
  }
}

int main(int argc, char **argv)
{
  int rank, provided;
  MPI_Comm comm = MPI_COMM_WORLD;
  how = argc > 1 ? argv[1] : "";
  puts("last words");
  if (is("never"))
    return 0;
  if (is("never-exit"))
    exit(0);
  if (is("early"))
    *(volatile int *)0 = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < 8; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    MPI_Barrier(comm);
  }
  if (rank == 1)
    fail(comm);
  if (is("wait"))
    stand_still(comm, rank);
  if (is("return"))
    return 0;
  MPI_Finalize();
  return 0;
}
