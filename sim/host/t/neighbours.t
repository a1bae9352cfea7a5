#!/bin/sh
# Tests programs with a declared topology. Protocols send fewer control messages, and recover from
# crashes; messages between ranks that are no neighbours are reported, and graphs that are not
# connected refused where the protocol needs them connected.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
cat >scenario.yaml <<EOF
program:    {binary: halo, args: ["8192", "30"], ranks: 16}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
detection:  1ms
EOF

run() { # WORD...: leaves $code, out, result, err
  rm -rf out
  "$recline" run scenario.yaml --json --out out "$@" >result 2>err
  code=$?
}
got() { # KEY
  value result "$1"
}

# ---- control messages ----

# A torus of 4 x 4 has 32 pairs of neighbours, and the hypercube of 16 ranks has 32, too; 16 pairs
# are in both.
run --set protocol.name=c3
all=$(got network.control) checkpoints=$(got checkpoints.committed)
grep -h '^checksum' out/program.out >all.c3
run --set protocol.name=c3 --set program.topology=torus-4x4
is "$(got verdict) $(got checkpoints.committed)" "completed $checkpoints" 'c3 in a torus: it completes' err
# Eleven ranks are no neighbours of the initiator. Calls take four messages between the initiator and
# each other rank: both tell their calls, and the initiator tells the maximum, and that it is complete.
is $((all - $(got network.control))) $((checkpoints * (2 * 16 * 15 - 2 * 32 - 11 - 4 * 15))) \
  'c3 in a torus: 75 counts for a checkpoint, not 240, and 60 times calls, not 240' result
is "$(grep -h '^checksum' out/program.out)" "$(cat all.c3)" 'c3 in a torus: the same result'
is "$(sed -n 's/^topology //p' out/trace.txt)" torus-4x4 'the trace tells the topology'
check 'the run replays' "$build/t/layer-replay" out/trace.txt
run --set protocol.name=chandy-lamport
all=$(got network.control) checkpoints=$(got checkpoints.committed)
run --set protocol.name=chandy-lamport --set 'program.topology=torus-4x4 hypercube'
is "$(got verdict) $(got checkpoints.committed)" "completed $checkpoints" \
  'chandy-lamport in torus and hypercube: it completes' err
is $((all - $(got network.control))) $((checkpoints * (16 * 15 - 2 * 48))) \
  'chandy-lamport: 96 markers for a checkpoint, not 240' result

# ---- crashes ----

for protocol in c3 'chandy-lamport hypercube' 'chandy-lamport-tree hypercube'; do
  # shellcheck disable=SC2086 # words
  set -- $protocol
  for rank in 0 5; do
    run --set "protocol.name=$1" --set "program.topology=torus-4x4 ${2:-ring}" \
      --set "failures=[{rank: $rank, after: {rank: 0, event: committed}, repair: 5ms}]"
    is "$(got verdict) $(got audit.violations) $(grep -h '^checksum' out/program.out | sort -u)" \
      "recovered 0 $(cat all.c3)" "$1: a crash of rank $rank" err
  done
done

# ---- messages of others ----

for protocol in c3 chandy-lamport bookmark none; do
  run --set protocol.name=$protocol --set program.topology=torus-2x8
  is "$code $(got verdict)" '1 gave-up' "$protocol: a message outside of the topology" err
  is "$(got gave_up | sed 's/[0-9][0-9]*/N/g')" \
    'rank N: protocol: a message from rank N to rank N, outside of program.topology' \
    "$protocol: sender and receiver are named" result
done
check 'such a run replays' "$build/t/layer-replay" out/trace.txt

# ---- topologies that do not lead everywhere ----

run --set protocol.name=chandy-lamport --set 'program.topology=line 3-7'
is "$code" 1 'connected: it is run' err
run --set protocol.name=chandy-lamport --set 'program.topology=0-1 1-2 2-4'
is "$code $(cat err)" "64 scenario.yaml:1: program.topology: no way from rank 0 to rank 3, and the \
markers of chandy-lamport go to neighbours, expected a connected topology (from --set)" \
  'chandy-lamport: not connected'
run --set protocol.name=c3 --set 'program.topology=0-1 1-2 2-4'
is "$code $(got verdict)" '1 gave-up' 'c3: not connected, but run' err
finish 25
