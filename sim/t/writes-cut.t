#!/bin/sh
# A crash while writes of all ranks are under way, at a point at which two of them roll back at once:
# each ends the transfers of its rank, and lets others run meanwhile.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer

cd "$dir" || exit 1
cat >scenario.yaml <<END
program:    {binary: lulesh-like, args: ["4", "60"], ranks: 8}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: lai-yang}
checkpoint: {every: 20ms, storage: nfs, bytes: 64KiB}
detection:  10ms
END
exits 0 'without a crash' timeout 120 "$recline" run scenario.yaml --out plain
results() { # FOLDER: what the program has printed but its time
  grep -v '^time:' "$1/program.out"
}
results plain >expected
crash() { # PROTOCOL FAILURE
  exits 0 "$1, $2" timeout 120 "$recline" run scenario.yaml --out crashed --set "protocol.name=$1" \
    --set "failures=[{$2, repair: 20ms}]"
  results crashed >found
  same found expected 'the same results'
}
crash lai-yang 'rank: 1, after: {event: receive, checkpoint: 0, rank: 7, count: 1209}'
crash event-logging-paired 'rank: 2, after: {event: send, checkpoint: 0, rank: 0, count: 1209}'
finish 5
