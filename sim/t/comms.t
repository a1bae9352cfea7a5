#!/bin/sh
# Topologies, attributes and other ways to make communicators (t/layer-comms.c): right under plain
# SMPI, and under a protocol, crashed or not.
. "$(dirname "$0")/tap.sh"

cp "$here/layer-comms.c" "$dir"
cd "$dir" || exit 1
flags='-std=gnu11 -O2 -g -Wall -Wextra -Werror'
# shellcheck disable=SC2086 # a list
smpicc $flags layer-comms.c -o plain >log 2>&1 &&
  "$build/bin/recline-cc" $flags layer-comms.c -o program >>log 2>&1
is "$?" 0 'the program is built' log
for i in 0 1 2 3 4; do echo "node-$i"; done >hosts
timeout 60 smpirun -np 5 -platform "$root/platforms/clan.xml" -hostfile hosts \
  --cfg=smpi/simulate-computation:no --log=root.thres:critical ./plain 6 >expected 2>err
is "$(cat expected)" '6 rounds, 0 failures, PASS' 'plain SMPI does what the program expects' err

cat >scenario.yaml <<EOF
program:    {binary: ./program, args: ["6"], ranks: 5}
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
  for at in 10ms 27ms 52ms 81ms 104ms; do
    for rank in 0 3; do
      run recovered "$protocol, rank $rank crashes at $at" --set protocol.name=$protocol \
        --set "$every" --set "failures=[{rank: $rank, at: $at, repair: 1ms}]"
    done
  done
  run recovered "$protocol, a crash after a capture" --set protocol.name=$protocol \
    --set "$every" --set 'failures=[{rank: 3, after: {event: captured, checkpoint: 2}}]'
done

finish 48
