#!/bin/sh
# Tests failures of the server, which stores checkpoints and logs events. What it was storing or
# reading begins anew when the server is repaired, and ranks that depend on it wait. What the server
# has stored is still there, unless it comes back empty.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

{
  printf 'program:\n  ranks: 4\n  script: |\n'
  for rank in 0 1 2 3; do
    echo "    rank $rank: repeat 60 (compute 1s, send $(((rank + 1) % 4)), recv any, checkpoint)"
  done
  cat <<EOF
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 10s, bytes: 30MB}
detection:  100ms
failures:   []
EOF
} >scenario.yaml
server='kills: server, repair: 15s'
took() { jq -r '.simulated_s | floor' out/result.json; }
# Prints the seconds at which images of rank 1 are durable, before second 60.
durable() { awk '$2 == 1 && $3 == "durable" && /part=image/ && $1 < 60 { printf "%d ", $1 }' out/trace.txt; }

# Images of 30 MB from four ranks to one disk take 3 s. The second checkpoint is written from second 26 on.
run_ends completed 'no failure'
is "$(durable)" '13 29 45 ' 'images are durable in time' out/trace.txt
run_ends completed 'the server fails before' --set "failures=[{$server, at: 21s}]"
is "$(durable | cut -d' ' -f1-2)" '13 39' 'they are written when it is repaired' out/trace.txt
run_ends completed 'the server fails while images are written' --set "failures=[{$server, at: 28s}]"
is "$(durable | cut -d' ' -f1-2):$(value out/result.json crashes)" '13 46:1' 'they begin anew' out/trace.txt
check 'the program goes on meanwhile' test "$(took)" -lt 62
run_ends completed 'it fails at an event' --set "failures=[{$server, after: {event: captured, rank: 1, checkpoint: 2}}]"
is "$(durable | cut -d' ' -f1-2)" '13 45' 'as at that time' out/trace.txt
run_ends completed 'it fails while it is down' --set "failures=[{$server, at: 21s}, {$server, at: 30s}]"
is "$(value out/result.json crashes)" 1 'which is one failure' out/result.json

# If a rank crashes meanwhile, it starts from the last committed checkpoint, once that can be read.
starts() { awk '$2 == 1 && $3 == "start" && $1 > 1 { sub("checkpoint=", "", $4); printf "%d %d\n", $1, $4 }' out/trace.txt; }
run_ends recovered 'a rank crashes while it is down' --set "failures=[{$server, at: 21s}, {rank: 1, at: 25s}]"
is "$(starts)" '39 1' 'and starts when it can read' out/trace.txt
run_ends recovered 'the server fails while ranks read' --set "failures=[{rank: 1, at: 25s}, {$server, at: 27s}]"
is "$(starts)" '45 1' 'which they begin anew' out/trace.txt
run_ends recovered 'and the rank crashes once more' --set "failures=[{rank: 1, at: 25s}, {$server, at: 27s}, {rank: 1, at: 30s}]"
is "$(starts)" '45 1' 'with the same end' out/trace.txt
run_ends recovered 'the coordinator crashes while it is down' --set "failures=[{$server, at: 21s}, {rank: 0, at: 25s}]"
is "$(starts)" '39 1' 'as any other' out/trace.txt
run_ends recovered 'images in memory need no server' --set checkpoint.storage=memory \
  --set "failures=[{$server, at: 21s}, {rank: 1, at: 25s, kills: rank}]"
check 'but for commits' test "$(starts | cut -d' ' -f1)" -lt 30

# The program waits under protocols that hold it until images are stored, or that log its events.
while read -r protocol waits; do
  run_ends completed "$protocol: no failure" --set protocol.name=$protocol --set protocol.capacity=9999
  before=$(took)
  run_ends completed "$protocol: the server fails" --set protocol.name=$protocol --set protocol.capacity=9999 \
    --set "failures=[{$server, at: 21s}]"
  is "$(($(took) > before + 8))" "$waits" "$protocol: the program $([ "$waits" = 1 ] && echo waits || echo 'does not wait')"
done <<EOF
bookmark 1
pessimistic 1
causal 0
uncoordinated 0
event-logging 0
chandy-lamport 0
EOF
run_ends completed 'foreground writes, no failure' --set checkpoint.writes=foreground
before=$(took)
run_ends completed 'the server fails' --set checkpoint.writes=foreground --set "failures=[{$server, at: 21s}]"
check 'any program waits for its images' test "$(took)" -gt $((before + 8))

run_ends completed 'failures of the server by law' --set "failures=[{$server, law: exponential, mtbf: 15s}]"
check 'again and again' test "$(value out/result.json crashes)" -gt 1
cp out/trace.txt first
run_ends completed 'with nodes that fail later' --set "failures=[{$server, law: exponential, mtbf: 15s}, {rank: 0, at: 9999s}]"
same first out/trace.txt 'the same ones'

# The server comes back without what it had stored.
empty='kills: server, repair: 5s, returns: empty'
run_ends completed 'the server comes back empty' --set "failures=[{$empty, at: 21s}]"
run_ends recovered 'and a rank crashes before the next checkpoint' --set "failures=[{$empty, at: 21s}, {rank: 1, at: 23s}]"
is "$(starts)" '24 0' 'from the beginning' out/trace.txt
run_ends recovered 'or behind it' --set "failures=[{$empty, at: 21s}, {rank: 1, at: 55s}]"
is "$(starts)" '58 3' 'from that one' out/trace.txt
run_ends recovered 'it comes back empty while ranks read' --set "failures=[{rank: 1, at: 25s}, {$empty, at: 27s}]"
is "$(starts)" '33 0' 'they begin anew from the beginning' out/trace.txt
levels='checkpoint.levels=[{storage: local}, {storage: nfs, every: 2}]'
run_ends recovered 'with levels on nodes' --set "$levels" --set "failures=[{$empty, at: 46s}, {rank: 1, at: 47s, kills: rank}]"
is "$(starts | cut -d' ' -f2)" 3 'those are left' out/trace.txt
check 'as the trace says' "$tool" replay out/trace.txt
lost() { # DESCRIPTION REASON ARGUMENT...
  what=$1 reason=$2
  shift 2
  "$recline" run scenario.yaml --out out --set protocol.capacity=9999 "$@" >said 2>stderr
  is "$?:$(value out/result.json verdict):$(grep -c "restorable: $reason" stderr)" 1:lost:1 "$what" stderr
}
fails="failures=[{$empty, at: 21s}, {rank: 1, at: 23s, kills: rank}]"
lost 'causal: the image is lost' 'checkpoint 1 of rank 1 was lost' --set "$fails" --set protocol.name=causal
lost 'pessimistic: the events are lost' 'the log behind checkpoint 2 of rank 1 was lost' \
  --set "failures=[{$empty, at: 24.5s}, {rank: 1, at: 25.5s, kills: rank}]" --set protocol.name=pessimistic --set checkpoint.storage=local
run_ends recovered 'unless they were written again' --set protocol.name=pessimistic --set protocol.capacity=9999 \
  --set checkpoint.storage=local --set "failures=[{$empty, at: 24.5s}, {rank: 1, at: 31.5s, kills: rank}]"
"$recline" campaign scenario.yaml --runs 4 --out many --set "failures=[{law: exponential, mtbf: 40s, kills: rank},
  {$empty, law: exponential, mtbf: 30s}]" --set limits.simulated=1h >said 2>stderr
is "$?:$(awk -F, 'NR > 1' many/runs.csv | wc -l)" 0:4 'a campaign of both' said stderr

bad() { # PATTERN FAILURE
  "$recline" run scenario.yaml --set "failures=[{kills: server, $2}]" >stdout 2>stderr
  is "$?:$(wc -l <stderr):$(grep -c "^scenario.yaml:[0-9]*: failures.0.$1" stderr)" 64:1:1 "$1" stderr
}
bad 'rank: beside kills: server' 'rank: 1, at: 1s'
bad 'after.rank: missing, expected the rank' 'after: {event: captured}'
bad 'after.rank: not the victim' 'after: {event: captured, rank: 0, actions: 1}'
bad 'ends_after: beside' 'at: 1s, ends_after: 1s'
bad 'restart_on: beside' 'at: 1s, restart_on: {per_node: 1}'
bad 'returns: beside' 'at: 1s, returns: never'
"$recline" run scenario.yaml --set 'failures=[{rank: 0, at: 1s, returns: empty}]' >stdout 2>stderr
is "$?:$(wc -l <stderr):$(grep -c "failures.0.returns: empty, expected kills: server" stderr)" 64:1:1 \
  'a node loses what its levels say' stderr
bad 'of: beside' 'law: exponential, mtbf: 1h, of: zone'
bad 'burst: beside' 'law: exponential, mtbf: 1h, burst: 2, within: 1s'
finish
