#!/bin/sh
# Tests that a poll which finds nothing takes the time that the platform's smpi/test or smpi/iprobe
# says.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
cat >polls.c <<'EOF'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  int rank, flag, in = 0, polls = 50;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Irecv(&in, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    double begin = MPI_Wtime();
    for (int i = 0; i < polls; i++)
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    double middle = MPI_Wtime();
    for (int i = 0; i < polls; i++)
      MPI_Iprobe(1, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    printf("%.0f %.0f\n", (middle - begin) / polls * 1e9, (MPI_Wtime() - middle) / polls * 1e9);
    MPI_Send(&in, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" polls.c -o polls >log 2>&1
is $? 0 'the program is built' log
sed 's|id="smpi/iprobe" value="1e-6"|id="smpi/iprobe" value="3e-6"|' "$root/platforms/clan.xml" >own.xml
for platform in "$root/platforms/flat.xml:100000 100000" "own.xml:1000 3000"; do
  cat >scenario.yaml <<EOF
program: {binary: ./polls, ranks: 2}
platform: {file: ${platform%:*}}
protocol: {name: none}
EOF
  rm -rf out
  "$recline" run scenario.yaml --out out >stdout 2>stderr
  is "$?: $(cat out/program.out)" "0: ${platform#*:}" "nanoseconds of a test and of a probe" stderr
done
finish 3
