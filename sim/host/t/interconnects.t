#!/bin/sh
# Tests several interconnects on one platform. A scenario chooses one, and several ranks share a
# node. A node that fails takes all its ranks with it, and a run goes on over another interconnect,
# with another layout.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

bytes=64
scenario() { # PROTOCOL INTERCONNECT PER-NODE [FAILURE]
  cat >scenario.yaml <<EOF
program:    {binary: ring, args: ["$bytes", "1000"], ranks: 8}
platform:   {file: $root/platforms/sif.xml, interconnect: $2, per_node: $3, spares: 0}
protocol:   {name: $1}
checkpoint: {every: 60ms, storage: nfs, bytes: 64KiB}
failures:   [${4-}]
EOF
}

# Prints the nanoseconds of a hop, as the program has measured them.
hop() {
  sed -n 's/^time: \([0-9]*\)\.\([0-9]\{3\}\).* us per hop.*/\1\2/p' out/program.out
}

for layout in 'ethernet 1' 'ethernet 4' 'infiniband 1' 'infiniband 4' 'myrinet 4' 'myrinet 8'; do
  scenario none $layout # two words
  run_ends completed "ring on $layout"
  echo "$layout $(hop)" >>hops
done
is "$(sort -k3,3nr hops | cut -d' ' -f1,2 | tr '\n' ',')" \
  'ethernet 1,ethernet 4,infiniband 1,infiniband 4,myrinet 4,myrinet 8,' \
  'wires and shared memory in the order of their latencies' hops

# The checkpoint is taken on InfiniBand and shared memory, with four ranks on a node. The run goes on
# over Myrinet and shared memory, with two ranks on a node.
bytes=8192
failure='rank: 5, after: {event: committed, checkpoint: 1, rank: 0}, repair: 20ms'
scenario bookmark infiniband 4 "{$failure, restart_on: {interconnect: myrinet, per_node: 2}}"
run_ends recovered 'InfiniBand to Myrinet'
is "$(value out/result.json crashes)" 1 'one failure'
is "$(grep -c ' [4-7] crash$' out/trace.txt)" 4 'that takes the four ranks of the node'
is "$(grep -c ' crash$' out/trace.txt)" 4 'and no other'
is "$(grep -c '^verification: PASS$' out/program.out)" 1 'the program ends right' out/program.out
is "$(grep -c ' start checkpoint=1 closed ' out/trace.txt)" 8 'all ranks connect anew'
is "$(sed '/ detected /q' out/trace.txt | grep -c ' captured checkpoint=1 closed ')" 8 \
  'InfiniBand was closed for the capture'

# Ethernet stays open for a capture, and is connected anew after a restart all the same.
scenario bookmark ethernet 4 "{$failure}"
run_ends recovered 'Ethernet'
is "$(grep -c ' captured .* closed ' out/trace.txt)" 0 'Ethernet stays open for captures'
is "$(grep -c ' start checkpoint=1 closed ' out/trace.txt)" 8 'and connects anew after a restart'

# A spare node takes all ranks of the node that has failed.
scenario bookmark infiniband 4 "{$failure}"
run_ends recovered 'a spare node' --set platform.spares=1
is "$(grep -c '^verification: PASS$' out/program.out)" 1 'the program ends right on it' out/program.out

# Bookmarks are taken in at once, because their receiver waits for nothing else. A request waits
# until each rank looks for it, which every rank does at moments of its own.
sed 's|control_poll_s" value="[^"]*|control_poll_s" value="200e-3|' "$root/platforms/sif.xml" >slow.xml
scenario bookmark infiniband 4
run_ends completed 'looks every 200 ms' --set platform.file=slow.xml --set protocol.exchange=once \
  --set 'checkpoint={at: [60ms], storage: nfs, bytes: 64KiB}'
jq -r '.phases[] | select(.phase == "coordination") | "\(.ranks) \(.min_s < 0.1) \(.max_s > 0.1)"' \
  out/result.json >looks
is "$(cat looks)" '8 true true' 'the last rank to begin waits for no look, others wait for it' looks

# InfiniBand closes in 20 ms, and in 5 ms more for each connection to another node. In a ring of
# single nodes a rank has two; before the first checkpoint it also has those of a barrier.
for each in 1 8; do
  scenario bookmark infiniband $each
  run_ends completed "$each ranks on a node" --set program.args='["64", "9000"]'
  jq -r '[.phases[] | select(.phase == "suspend").rank0_s * 1e3 | round][:2] | join(" ")' \
    out/result.json >>closed
done
is "$(paste -sd, closed)" '40 30,20 20' 'open connections to other nodes close one by one' closed

# A protocol that knows of no connections cannot take system-level images over InfiniBand.
scenario c3 infiniband 1
"$recline" run scenario.yaml >stdout 2>stderr
is "$?:$(grep -c 'c3 leaves connections open, and infiniband cannot be captured' stderr)" 64:1 \
  'c3 anywhere on InfiniBand is refused' stderr
run_ends completed 'c3 at places of the program is not' --set checkpoint.places=program

[ -n "${RECLINE_LONG:-}" ] || {
  finish 26
  exit
}
# Compares Table 1 of the bookmark paper with the published values.
"$recline" replicate bookmark.t1a bookmark.t1b --json >table.json 2>stderr
is "$?:$(jq '[.values[] | select(.verdict == "failed")] | length' table.json)" 0:0 \
  'Table 1 comes out as scenarios/replication/plan.ini says' stderr
order() { # KEY
  jq -r '.values[] | select(.id | test("t1a.*overhead_pct")) | "\(.'"$1"') \(.id)"' table.json |
    sort -g | cut -d' ' -f2 | tr '\n' ' '
}
is "$(order simulated)" "$(order published)" 'latency suffers in the order that was published'

finish 28
