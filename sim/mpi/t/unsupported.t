#!/bin/sh
# Tests that what cannot be done is refused, or that a message says so when a program does it for
# the first time.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# The program does ACTION in each of 20 steps; rank 1 crashes in the middle.
attempt() { # ACTION [FLAG]...
  action=$1
  shift
  cat >program.c <<END
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static int me;
void *besides(void *unused);
void *besides(void *unused)
{
  struct timeval now;
  gettimeofday(&now, NULL);
  usleep(1);
  return getpid() > 0 ? unused : NULL;
}
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int step = 0; step < 20; step++) {
    int one = 1;
    $action
    smpi_execute_benched(1e-3);
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
END
  "$build/bin/recline-cc" -std=gnu11 -O2 -Wall -Wextra "$@" program.c -o program >log 2>&1 ||
    sed 's/^/# /' log
  rm -rf out
  "$recline" run scenario.yaml --json --out out >json 2>err
  code=$?
}

cat >scenario.yaml <<END
program:    {binary: ./program, ranks: 3}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 5ms, storage: local, bytes: 10kB}
detection:  1ms
failures:   [{rank: 1, at: 13ms, repair: 1ms}]
END

says() { # CODE PATTERN DESCRIPTION
  is "$code:$(grep -c -- "$2" err)" "$1:1" "$3" err json
}

attempt 'MPI_Comm parent; MPI_Comm_join(0, &parent);'
says 64 'MPI_Comm_join is not handled under a recovery protocol' 'processes do not join'
attempt 'MPI_Comm parent; MPI_Comm_get_parent(&parent); if (parent != MPI_COMM_NULL) exit(1);'
is "$code" 0 'and have no parents' err
attempt 'alarm(1000);'
says 0 'no signal will come from alarm' 'alarm is said not to come, once'
attempt 'struct itimerval soon = {{0, 1}, {0, 1}}; setitimer(ITIMER_REAL, &soon, NULL);'
says 0 'no signal will come from setitimer' 'nor does that of setitimer'
attempt 'pthread_t thread; pthread_create(&thread, NULL, besides, NULL); pthread_join(thread, NULL);' \
  -pthread
says 0 'a thread that lives over a checkpoint' 'a thread is said not to be put back, and has clocks'
attempt 'FILE *file = popen("true", "r"); pclose(file);'
says 0 'what popen has opened is not put back' 'nor is what popen opens'
attempt 'FILE *file = fopen("common", "a"); fprintf(file, "%d\n", me); fclose(file);'
says 0 'several ranks write .*/common: ' 'a file that several ranks write is left alone'
attempt 'FILE *file = me ? NULL : fopen("mine", "a"); if (file) fprintf(file, "%d\n", step), fclose(file);'
is "$code:$(wc -l <mine):$(grep -c 'several ranks write' err)" 0:20:0 'one of its own is put back' err
finish 8
