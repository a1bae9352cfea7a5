#!/bin/sh
# Tests the fault-tolerant runtime: its steps take their times, one after the other. A rank that
# computes is not disturbed, and the repair waits for it. A second failure begins the repair anew.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 4
  script: |
    rank 0: repeat 6 (iteration, compute 10ms, send 1, recv 3)
    rank 1: repeat 6 (iteration, compute 10ms, send 2, recv 0)
    rank 2: repeat 6 (iteration, compute 10ms, send 3, recv 1)
    rank 3: repeat 6 (iteration, compute 10ms, send 0, recv 2)
platform:   {file: $root/platforms/cirrus.xml, spares: 1}
protocol:   {name: hybrid, interval: 3}
checkpoint: {places: program, bytes: 64KiB}
failures:
  - {rank: 2, at: 22ms, repair: 0}
detection:  1ms
recovery:   {runtime: ulfm, revoke: 10us, agree: 20us, spawn: 50ms, rebuild: 100us}
EOF

# Prints the milliseconds of a step of the repair, rounded.
spent() { # STEP
  value out/result.json "repair_s.$1" | awk '{ printf "%.2f", 1000 * $1 }'
}

# Prints when the event WHAT came first at a rank, in milliseconds.
when() { # WHAT RANK
  awk -v what="$1" -v rank="$2" '$3 == what && $2 == rank { printf "%.1f\n", 1000 * $1; exit }' \
    out/trace.txt
}

run_ends completed 'without failures' --set failures=none
reference=$(sort -u out/program.out)
is "$(spent detect)-$(spent notice)-$(spent spawn)" 0.00-0.00-0.00 'nothing to repair'

run_ends recovered 'a failure'
is "$(sort -u out/program.out)" "$reference" 'with the same result'
is "$(spent detect)" 1.00 'it is detected'
is "$(spent revoke)" 0.02 'and told in two rounds'
# in their third iteration, 20 ms to 30 ms, the others compute
is "$(spent notice | awk '{ print ($1 > 5 && $1 < 9) }')" 1 'the others first end their computing' \
  out/result.json
is "$(spent agree)-$(spent spawn)-$(spent rebuild)" 0.04-50.00-0.20 'what follows takes its time'
is "$(when down 0 | awk '{ print ($1 > 79 && $1 < 83) }')" 1 'then the protocol hears of it' \
  out/trace.txt
is "$(value out/result.json rollbacks.local)" 1 'and recovers locally'
is "$(value out/result.json iterations)" 26 'one rank repeats two iterations'
is "$(value out/result.json messages.suppressed)-$(value out/result.json messages.replayed)" 2-2 \
  'of which two sends are filtered, and two receives replayed from logs'

run_ends recovered 'without a runtime' --set recovery.runtime=none
is "$(spent detect)-$(spent spawn)" 0.00-0.00 'nothing of it takes time'
is "$(when down 0 | awk '{ print ($1 > 22 && $1 < 24) }')" 1 'and who computes is disturbed' \
  out/trace.txt

run_ends recovered 'a longer repair of the node' --set failures.0.repair=80ms
is "$(spent spawn | awk '{ print ($1 > 120 && $1 < 125) }')" 1 'comes before the new process' \
  out/result.json

run_ends recovered 'a second failure during the repair' \
  --set 'failures.1={rank: 1, at: 60ms, repair: 0}'
is "$(sort -u out/program.out)" "$reference" 'with the same result'
is "$(spent detect)-$(spent spawn)" 2.00-100.00 'begins it anew'

run_ends recovered 'a second failure before all have noticed' \
  --set 'failures.1={rank: 0, at: 25ms, repair: 0}'
is "$(sort -u out/program.out)" "$reference" 'with the same result'

# A protocol with global rollback, and the whole node.
run_ends recovered 'C3, two ranks at once' --set protocol.name=c3 --set checkpoint.every=15ms \
  --set platform.per_node=2
is "$(sort -u out/program.out)" "$reference" 'with the same result'
is "$(spent detect)-$(value out/result.json rollbacks.global)" 1.00-1 'one detection'

# One rank of a node, without the others.
run_ends recovered 'a process alone' --set platform.per_node=4 --set failures.0.kills=rank
is "$(grep -c ' crash$' out/trace.txt)" 1 'nobody dies with it'
is "$(sort -u out/program.out)" "$reference" 'with the same result'

finish 28
