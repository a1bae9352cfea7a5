#!/bin/sh
# Tests Event Logging's limit in runs (section 3.5): what logs hold of messages that nobody
# receives, and how programs end that keep to the limit, or do not.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# In each of 40 iterations rank 0 sends 8 KiB, which rank 1 receives as many iterations later as the
# argument says (0: never). A further message, which rank 1 answers, keeps both in the same iteration.
cat >stray.c <<'EOF'
#include <mpi.h>
#include <recline.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char block[8192];

int main(int argc, char **argv)
{
  int rank, later = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i <= 40; i++) {
    if (rank == 0) {
      block[0] = (char)i;
      MPI_Send(block, sizeof block, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
      MPI_Send(&i, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
      MPI_Recv(&sum, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      int got;
      MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += got;
      MPI_Send(&sum, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
      if (later && i > later) {
        MPI_Recv(block, sizeof block, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += 100 * block[0];
      }
    }
    usleep(10000);
    recline_potential_checkpoint();
  }
  if (rank == 1)
    printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -o stray stray.c
cat >scenario.yaml <<EOF
program: {binary: ./stray, args: ["0"], ranks: 2}
platform: {file: $root/platforms/flat.xml}
protocol: {name: event-logging-posted}
checkpoint: {every: 30ms, storage: local, bytes: 64KiB, places: program}
EOF

run() { timeout 60 "$recline" run scenario.yaml --out out "$@" >stdout 2>stderr; }

# Prints how many bytes are stored beside the images of both ranks.
logs() {
  run --set "protocol.crossings=$1"
  echo "$(($(value out/result.json stored_bytes) - 2 * 65536 * $(value out/result.json checkpoints.committed)))"
}
for limit in 0 1 2; do
  echo "$limit: $(logs $limit) $(value out/result.json checkpoints.committed) $(cat out/program.out)"
done >table
is "$(awk '{ print $3, $4, $5 }' table | sort -u)" '8 sum 820' 'each run commits eight checkpoints' table
check 'logs of one line are smaller than of two, and those than without a limit' \
  awk '$1 == "0:" { all = $2 } $1 == "1:" { one = $2 } $1 == "2:" { two = $2 }
       END { exit !(3 * one < all && one < two && two < all) }' table

# LATER: after how many iterations messages are received. LIMIT: protocol.crossings.
ends() { # LATER LIMIT STATUS VERDICT OUTPUT DESCRIPTION [option]...
  later=$1 limit=$2 status=$3 verdict=$4 output=$5 what=$6
  shift 6
  run --set "program.args=[\"$later\"]" --set "protocol.crossings=$limit" "$@"
  is "$?:$(value out/result.json verdict):$(cat out/program.out)" "$status:$verdict:$output" "$what" \
    stdout stderr
}
crash='failures=[{rank: 1, at: 120ms}]'
ends 2 1 0 completed 'sum 74920' 'two iterations later is within one line'
ends 2 1 0 recovered 'sum 74920' 'also with a crash' --set "$crash"
ends 25 1 1 gave-up '' '25 iterations are more than one line: refused'
ends 25 2 1 gave-up '' 'and more than two'
check 'and why' grep -q 'rank 1: protocol: an event that its assumptions exclude' stdout
ends 25 0 0 recovered 'sum 12820' 'without a limit it recovers' --set "$crash"
finish
