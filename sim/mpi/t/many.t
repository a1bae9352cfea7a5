#!/bin/sh
# Tests programs that have many of something: sends that are tested, or communicators.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

compile() { "$build/bin/recline-cc" -O2 "$1.c" -o "$1" >compile.log 2>&1 || not_ok "$1 compiles" compile.log; }

# Measures what the simulator keeps of large sends that the program has tested: the resident KiB
# that grow in the first half of the sends and in the second half.
cat >tested.c <<'END'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <string.h>
enum { SENDS = 3000 };
static char bytes[70000];
static int resident(void)
{
  char line[200];
  int kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    sscanf(line, "VmRSS: %d", &kib);
  fclose(file);
  return kib;
}
int main(int argc, char **argv)
{
  int rank, done, half = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < SENDS; i++) {
    if (rank == 0) {
      MPI_Isend(bytes, sizeof bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
      smpi_execute(0.01);
      do
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      while (!done);
    } else
      MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (i == SENDS / 2)
      half = resident();
  }
  if (rank == 0)
    printf("grown by %d KiB\n", resident() - half);
  MPI_Finalize();
  return 0;
}
END
compile tested
cat >tested.yaml <<'END'
program:  {binary: ./tested, ranks: 2}
platform: {file: clan.xml}
protocol: {name: none}
END
"$recline" run tested.yaml >stdout 2>stderr
grown=$(sed -n 's/.*grown by \(-*[0-9]*\) KiB.*/\1/p' stdout)
is "$((${grown:-9999} < 200))" 1 'nothing is kept of sends that were tested' stdout stderr

# Makes collectives on 100 communicators between two recovery lines of c3.
cat >communicators.c <<'END'
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>
enum { COMMS = 100 };
int main(int argc, char **argv)
{
  MPI_Comm comm[COMMS];
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < COMMS; i++)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
  for (int step = 0; step < 8; step++)
    for (int i = 0; i < COMMS; i++) {
      int one = rank + step + i + sum % 7, all;
      MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm[i]);
      sum += all;
      smpi_execute_flops(1e5);
    }
  if (rank == 0)
    printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
END
compile communicators
cat >communicators.yaml <<'END'
program:    {binary: ./communicators, ranks: 4}
platform:   {file: clan.xml}
protocol:   {name: c3}
checkpoint: {every: 100ms, storage: local, bytes: 64KiB}
detection:  1ms
failures:   [{rank: 1, at: 300ms, repair: 5ms}]
END
"$recline" run communicators.yaml --set 'failures=[]' --set protocol.name=none 2>stderr | grep '^sum' >own
"$recline" run communicators.yaml --out c3 2>>stderr | grep '^sum' | sort -u >recovered
is "$(jq -r .verdict c3/result.json):$(jq '.checkpoints.committed > 1' c3/result.json)" recovered:true \
  'c3 counts calls on more than 64 communicators' stderr
same own recovered 'with the same sums'
finish
