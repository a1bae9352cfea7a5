#!/bin/sh
# Lock 7: the same scenario gives the same bytes of trace, result and --json output. That is tried under
# each protocol, with a crash in the middle of a checkpoint. In the second run another process competes
# for the cores of the machine that simulates.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer

scenario=$dir/scenario.yaml
cat >"$scenario" <<EOF
program:    {binary: cg, args: [-v, S], ranks: 8}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
detection:  10ms
EOF

run() { # PROTOCOL NUMBER FAILURE
  "$recline" run "$scenario" --set "protocol.name=$1" --set "failures=[$3]" --json \
    --out "$dir/$1-$2" >"$dir/$1-$2.json" 2>"$dir/$1-$2.err"
}

compare() { # PROTOCOL FAILURE
  run "$1" 1 "$2"
  (while :; do :; done) &
  busy=$!
  run "$1" 2 "$2"
  kill $busy
  wait $busy 2>/dev/null
  is "$(value "$dir/$1-1.json" crashes)" 1 "$1: there was a crash" "$dir/$1-1.err"
  same "$dir/$1-1/trace.txt" "$dir/$1-2/trace.txt" "$1: same trace"
  same "$dir/$1-1/activity.txt" "$dir/$1-2/activity.txt" "$1: same activities"
  same "$dir/$1-1/result.json" "$dir/$1-2/result.json" "$1: same result"
  same "$dir/$1-1.json" "$dir/$1-2.json" "$1: same --json"
  same "$dir/$1-1/program.out" "$dir/$1-2/program.out" "$1: same program.out"
}

in_checkpoint='{rank: 3, after: {event: captured, checkpoint: 2}, repair: 20ms}'
compare none '{rank: 3, at: 60ms}' # `none` has no checkpoint to crash in
compare c3 "$in_checkpoint"
compare bookmark "$in_checkpoint"
compare chandy-lamport "$in_checkpoint"
finish 24
