#!/bin/sh
# One-sided communication (layer-windows.c, layer-windows.f90): every call that is handled, in C,
# C++ and Fortran, under every protocol that recovers, crashed or not.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-windows
each_makes 'MPI_Win_[a-zA-Z0-9_]*\|MPI_\(Get\|Put\|Accumulate\|Get_accumulate\|Fetch_and_op\|Compare_and_swap\)' \
  15 '' errhandler

cat >scenario.yaml <<EOF
program:    {binary: ./in-c, args: ["6"], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF

attempt() { # PROGRAM VERDICT DESCRIPTION WORD...
  program=$1 ends=$2 description=$3
  output='6 rounds, 0 failures, PASS'
  [ "$program" != in-fortran ] || output='6 rounds, 0 failures'
  shift 3
  run_ends "$ends" "$program, $description" --set "program.binary=./$program" "$@"
  is "$(cat out/program.out)" "$output" "$what: all values are right" out/program.out stderr
}

recovers() { # PROGRAM PROTOCOL FAILURES WORD...
  run=$1 protocol=$2 failures=$3
  shift 3
  attempt "$run" recovered "$protocol, $failures" --set "protocol.name=$protocol" \
    --set 'checkpoint={every: 3ms, storage: local, bytes: 10kB}' --set "failures=[$failures]" "$@"
}

for run in $programs; do
  RECLINE_HEAP_WATCH=1
  export RECLINE_HEAP_WATCH
  attempt "$run" completed 'no protocol'
  unset RECLINE_HEAP_WATCH
  for protocol in c3 pessimistic; do
    recovers "$run" $protocol '{rank: 1, at: 5ms, repair: 1ms}, {rank: 0, at: 9ms, repair: 1ms}'
  done
done

# ---- crashes under all protocols that recover ----
instants='4 11'
[ -z "$RECLINE_LONG" ] || instants='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18'
for at in $instants; do
  crash="{rank: $((at % 4)), at: ${at}ms, repair: 1ms}"
  for protocol in blocking bookmark c3 chandy-lamport event-logging hybrid message-tagging \
    pessimistic pessimistic-wildcards uncoordinated; do
    recovers in-c $protocol "$crash"
  done
  recovers in-c causal "$crash" --set protocol.failures=2
  recovers in-c time-based "$crash" --set clocks.longest=100us
done

# ---- what cannot be carried by messages of both sides is refused ----
cat >locks.c <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
  int memory = 0;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (argc > 1)
    MPI_Put(&argc, 1, MPI_INT, 0, 1, 1, MPI_INT, window), MPI_Win_fence(0, window);
  else
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -O2 -Wall locks.c -o locks >log 2>&1
"$recline" run scenario.yaml --set program.binary=./locks --set 'program.args=[]' >stdout 2>stderr
is "$?:$(grep -c 'MPI_Win_lock is not handled' stderr)" 64:1 'locks are refused' stderr
"$recline" run scenario.yaml --set program.binary=./locks --set 'program.args=[beyond]' >stdout \
  2>stderr
is "$?:$(grep -c 'an access beyond its window of 4 bytes' stderr)" 64:1 \
  'so is an access beyond a window' stderr
finish
