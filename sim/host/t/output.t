#!/bin/sh
# Tests what programs tell the outside, by stdio, write(2), a unit of Fortran and recline_output():
# each line is there once, under every protocol and wherever a rank crashes.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cp "$here"/programs/output-program.* "$dir"
cd "$dir" || exit 1
check 'a program in C is built' \
  "$build/bin/recline-cc" -O2 -g -Wall -Wextra -Werror output-program.c -o in-c
check 'a program in Fortran is built' "$build/bin/recline-f90" -O2 -g output-program.f90 -o in-fortran

cat >scenario.yaml <<END
program:    {binary: ./in-c, ranks: 3}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 20ms, storage: nfs, bytes: 64KiB}
detection:  1ms
failures:   [{rank: 1, at: 30ms, repair: 1ms}]
END

# Every rank prints the same lines in every run. The order of ranks depends on the protocol.
awk 'BEGIN { for (r = 0; r < 3; r++) {
  for (i = 0; i < 12; i++) { print "rank " r " prints " i; if (i % 4 == 0) print "rank " r " writes " i
    if (i % 5 == 0) print "rank " r " tells " i }
  print "rank " r " begins"; print "rank " r " ends" } }' | sort >expected

said() { # NAME [OPTION]...: the run's lines are the expected ones
  name=$1
  shift
  "$recline" run scenario.yaml "$@" --no-trace --out out >log 2>&1
  status=$?
  sort out/program.out >lines
  cmp -s expected lines && [ "$(jq .crashes out/result.json)" = 1 ] || status=1
  report $status "$name" log
}

count=2
for protocol in $("$recline" list protocols | sed 's/ .*//' | grep -v '^none$\|^time-based$'); do
  for at in 30ms 75ms 150ms; do
    said "$protocol, a crash at $at: each line once" --set "protocol.name=$protocol" \
      --set "failures.0.at=$at"
    count=$((count + 1))
  done
done

said 'a line is there once, in one place' --set failures.0.at=75ms
is "$(jq -r '"\(.output.count > 0) \(.output.delay_max_s > 0)"' out/result.json)" 'true true' \
  'under c3 outputs wait'
said 'pessimistic' --set failures.0.at=75ms --set protocol.name=pessimistic
is "$(jq -r '.output.delay_max_s < 0.01' out/result.json)" true 'under pessimistic not for long'

"$recline" run scenario.yaml --set failures.0.at=75ms --set output=passes --no-trace \
  --out out >log 2>&1
sort out/program.out | uniq >lines
same lines expected 'passes: the same lines'
check 'and some of them twice' test "$(sort out/program.out | uniq -d | wc -l)" -gt 0

for protocol in c3 pessimistic; do
  "$recline" run scenario.yaml --set program.binary=./in-fortran \
    --set failures.0.at=75ms --set protocol.name=$protocol --no-trace --out out >log 2>&1
  is "$? $(sort out/program.out | uniq -d | wc -l) $(wc -l <out/program.out)" '0 0 36' \
    "$protocol, in Fortran: each line once" log
done

# ---- reading a clock lets other ranks run, which must not get what the reader has printed ----
cat >clock.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("of rank 0\n");
  MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
END
"$build/bin/recline-cc" clock.c -o clock >log 2>&1
"$recline" run scenario.yaml --set program.binary=./clock --set 'program.args=[]' \
  --set protocol.name=none --set 'failures=[]' --out out >log 2>&1
is "$(sed -n 's/^[^ ]* \([0-9]*\) output output=.*/\1/p' out/trace.txt)" 0 \
  'an output is of the rank that has said it' log
finish $((count + 9))
