#!/bin/sh
# Nonblocking collectives and cancelled receives (t/layer-nonblocking.c), in C and in C++: right under
# plain SMPI, and under a protocol, crashed or not.
. "$(dirname "$0")/tap.sh"

cp "$here/layer-nonblocking.c" "$dir"
cd "$dir" || exit 1
echo '#include "layer-nonblocking.c"' >layer-nonblocking.cc
warnings='-O2 -g -Wall -Wextra -Werror'
# shellcheck disable=SC2086 # a list
smpicc -std=gnu11 $warnings layer-nonblocking.c -o plain >log 2>&1 &&
  "$build/bin/recline-cc" -std=gnu11 $warnings layer-nonblocking.c -o program >>log 2>&1 &&
  "$build/bin/recline-c++" $warnings layer-nonblocking.cc -o program-cc >>log 2>&1
is "$?" 0 'the programs are built' log
for i in 0 1 2 3 4; do echo "node-$i"; done >hosts
timeout 60 smpirun -np 5 -platform "$root/platforms/clan.xml" -hostfile hosts \
  --cfg=smpi/simulate-computation:no --log=root.thres:critical ./plain 6 >expected 2>err
is "$(cat expected)" '6 rounds, 0 failures, PASS' 'plain SMPI does what the program expects' err

cat >scenario.yaml <<EOF
program:    {binary: ./program, args: ["6", all], ranks: 5}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF

run() { # VERDICT DESCRIPTION WORD...
  run_ends "$@"
  same expected out/program.out "$what: the same result"
}

RECLINE_HEAP_WATCH=1
export RECLINE_HEAP_WATCH
run completed 'no protocol'
unset RECLINE_HEAP_WATCH
every='checkpoint={every: 8ms, storage: local, bytes: 10kB}'
for protocol in bookmark c3; do
  for at in 19ms 57ms 91ms 143ms; do
    run recovered "$protocol, rank 3 crashes at $at" --set protocol.name=$protocol \
      --set "$every" --set "failures=[{rank: 3, at: $at, repair: 1ms}]"
    "$build/t/layer-replay" out/trace.txt >log 2>&1
    is $? 0 "$what: its trace replays" log
  done
  run recovered "$protocol, a crash after a capture" --set protocol.name=$protocol \
    --set "$every" --set 'failures=[{rank: 1, after: {event: captured, checkpoint: 5}}]'
  run recovered "$protocol, C++, two crashes" --set protocol.name=$protocol --set "$every" \
    --set program.binary=./program-cc --set 'failures=[{rank: 0, at: 77ms}, {rank: 2, at: 101ms}]'
done

# What MPI forbids is said, and not carried out.
cat >forbidden.c <<EOF
#include <mpi.h>
int main(int argc, char **argv)
{
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  argc > 1 ? MPI_Cancel(&request) : MPI_Request_free(&request);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" forbidden.c -o forbidden >log 2>&1
for args in '' cancel; do
  "$recline" run scenario.yaml --set program.binary=./forbidden --set "program.args=[$args]" \
    >stdout 2>stderr
  is "$?:$(grep -c 'nonblocking collective, which MPI forbids' stderr)" 64:1 \
    "a nonblocking collective is not to be ended by ${args:-free}" stderr
done
finish 38
