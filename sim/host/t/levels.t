#!/bin/sh
# Tests levels of storage: from which checkpoint ranks restart when failed nodes have taken what was
# stored on them; what it costs to store and to rebuild images; which settings do not fit together.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 4
  script: |
    rank *: repeat 100 (compute 1s, barrier, checkpoint)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 10s, bytes: 1MB, levels: [{storage: memory}, {storage: nfs, every: 4}]}
detection:  100ms
failures:   [{rank: 1, after: {rank: 0, event: committed, checkpoint: 6}}]
EOF
also() { echo "failures.$1={rank: $2, after: {rank: 0, event: committed, checkpoint: 6}}"; }
levels() { echo "checkpoint.levels=[$1, {storage: nfs, every: 4}]"; }
# Prints the checkpoints from which a rank (0 if none is named) starts again.
starts() { awk -v rank="${1-0}" '$2 == rank && $3 == "start" && $1 > 1 { sub("checkpoint=", "", $4); print $4 + 0 }' out/trace.txt; }

# line FROM NAME KEY=VALUE...: rank 0 goes back to checkpoint FROM.
line() {
  from=$1 name=$2
  shift 2
  "$recline" run scenario.yaml --out out "$@" >stdout 2>stderr
  is "$?:$(value out/result.json verdict):$(starts)" "0:recovered:$from" "$name" stderr
  check '... and the replay agrees' "$build/t/layer-replay" out/trace.txt
}

line 4 'memory is lost with its node'
line 6 'and stays where only a process crashes' --set failures.0.kills=rank
line 6 'a disk comes back with its node' --set "$(levels '{storage: local}')"
line 4 'and is lost when a spare takes over' --set "$(levels '{storage: local}')" --set platform.spares=1
line 0 'without a level above: from the beginning' --set 'checkpoint.levels=[{storage: memory}]'
line 6 'the file server outlives nodes' --set 'checkpoint.levels=[{storage: nfs}]'

partner=$(levels '{storage: memory, redundancy: partner}')
line 6 'a partner has a copy' --set "$partner"
line 4 'but not of two nodes in a row' --set "$partner" --set "$(also 1 2)"
line 6 'it does of two that are none' --set "$partner" --set "$(also 1 3)"
xor=$(levels '{storage: memory, redundancy: xor}')
line 6 'parity stands a node' --set "$xor"
line 4 'not two' --set "$xor" --set "$(also 1 2)"
line 6 'but two in two sets' --set "$(levels '{storage: memory, redundancy: xor, group: 2}')" \
  --set "$(also 1 2)"
coded='{storage: memory, redundancy: reed-solomon'
line 6 'Reed and Solomon stand half of a set' --set "$(levels "$coded}")" --set "$(also 1 2)"
line 4 'not more' --set "$(levels "$coded}")" --set "$(also 1 2)" --set "$(also 2 3)"
line 6 'unless asked to' --set "$(levels "$coded, losses: 3}")" --set "$(also 1 2)" --set "$(also 2 3)"
line 6 'two ranks on a node' --set platform.per_node=2 --set "$partner"
for protocol in blocking c3 event-logging message-tagging chandy-lamport; do
  line 4 "$protocol" --set protocol.name=$protocol
done

# A node may fail when its only rank is already dead, because the process of that rank has crashed.
line "$(printf '6\n4')" 'a process, then its node' --set failures.0.kills=rank \
  --set 'failures.1={rank: 1, after: {rank: 0, event: down}}'

# After a recovery every image is back in its place, so the next node may fail.
line "$(printf '6\n6')" 'two nodes in a row, one after the other' --set "$partner" \
  --set 'failures.1={rank: 2, after: {rank: 2, event: safe-point, recovery: 1, count: 3}}'

# Protocols under which ranks recover one by one have no older line.
alone() {
  "$recline" run scenario.yaml --out out --set protocol.name=pessimistic --set protocol.capacity=9999 \
    --set 'failures=[{rank: 1, at: 45s}]' --set "$1" >stdout 2>stderr
  echo "$(value out/result.json verdict) $(value out/result.json audit.first)"
}
is "$(alone 'checkpoint.levels=[{storage: memory}]')" \
  'lost restorable: checkpoint 4 of rank 1 was lost' 'pessimistic needs the image' stderr
is "$(alone 'checkpoint.levels=[{storage: memory, redundancy: partner}]')" 'recovered null' \
  'which a partner has' stderr

# Costs of images of 100 MB: memory and disks have 100 MB/s, the network 50 MB/s, encoding 25 MB/s.
{
  cat <<'EOF'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
    <prop id="network/crosstraffic" value="0"/>
    <prop id="smpi/bw-factor" value="0:1"/>
    <prop id="network/bandwidth-factor" value="1"/>
  </config>
  <zone id="all" routing="Cluster">
    <prop id="memory_copy_bw" value="100e6"/>
    <prop id="encode_bw" value="25e6"/>
EOF
  for host in node-0 node-1 node-2 node-3 service-0; do
    cat <<EOF
    <host id="$host" speed="1Gf"><disk id="d" read_bw="100MBps" write_bw="100MBps"/></host>
    <link id="$host-link" bandwidth="50MBps" latency="0" sharing_policy="SPLITDUPLEX"/>
    <host_link id="$host" up="$host-link_UP" down="$host-link_DOWN"/>
EOF
  done
  printf '  </zone>\n</platform>\n'
} >platform.xml
# cost "STORE READ" LEVEL NAME: STORE is the time in seconds from the beginning of a store of rank 1
# to its end, READ the time from the rank's crash to its start.
cost() {
  "$recline" run scenario.yaml --out out --set platform.file=platform.xml --set checkpoint.bytes=100MB \
    --set checkpoint.every=30s --set detection=0 --set "checkpoint.levels=[$2]" \
    --set 'failures=[{rank: 1, at: 95s, repair: 0}]' >stdout 2>stderr
  is "$(awk '$2 != 1 { next }
    / store part=image/ { began = $1 }
    $3 == "durable" { stored = $1 - began }
    $3 == "crash" { crashed = $1 }
    $3 == "start" && crashed { printf "%.1f %.1f\n", stored, $1 - crashed; exit }' out/trace.txt)" \
    "$1" "$3" out/trace.txt
}
cost '1.0 1.0' '{storage: local}' 'a disk'
cost '3.0 1.0' '{storage: local, redundancy: partner}' 'a partner, and a disk that comes back'
cost '3.0 6.0' '{storage: memory, redundancy: partner}' 'a copy and a send; two reads and two copies'
cost '7.3 7.3' '{storage: memory, redundancy: xor}' 'parity: copy, send, encode, a third'
cost '14.0 8.0' '{storage: memory, redundancy: reed-solomon}' 'two of four: twice, and as much again'

bad() { # KEY LEVELS PATTERN
  "$recline" run scenario.yaml --set "checkpoint.levels=[$2]" >stdout 2>stderr
  is "$?:$(wc -l <stderr):$(grep -c "^scenario.yaml:[0-9]*: checkpoint.levels.$1: $3" stderr)" 64:1:1 "$3" stderr
}
# The partner fails while its copy is read. The ranks that read wait for the detection, and for another
# recovery line.
line "$(printf '6\n4')" 'two in a row, one while the other recovers' --set "$partner" --set checkpoint.bytes=100MB \
  --set 'failures.1={rank: 2, after: {rank: 0, event: down}}' --set detection=2s --set failures.0.repair=0
is "$(starts 1)" 4 'the first of them does' out/trace.txt

bad 0 '{every: 1}' 'no storage'
bad 0.storage '{storage: tape}' '"tape" is unknown'
bad 0.every '{storage: memory, every: 2}' '2, expected 1'
bad 1.every '{storage: memory}, {storage: nfs}' '1, expected more than the 1'
bad 0.redundancy '{storage: nfs, redundancy: partner}' 'beside nfs'
bad 0.group '{storage: local, group: 2}' 'without redundancy'
bad 0.group '{storage: local, redundancy: xor, group: 3}' 'sets of 3 of 4 nodes'
bad 0.losses '{storage: local, redundancy: xor, losses: 2}' '2, expected 1 without reed-solomon'
bad 0.losses '{storage: local, redundancy: reed-solomon, losses: 4}' '4 of 4 nodes'
"$recline" run scenario.yaml --set checkpoint.storage=nfs >stdout 2>stderr
is "$?:$(grep -c 'checkpoint.storage: beside levels' stderr)" 64:1 'storage beside levels' stderr
"$recline" run scenario.yaml --set protocol.name=pessimistic --set "$xor" >stdout 2>stderr
is "$?:$(grep -c 'ranks take checkpoints apart' stderr)" 64:1 'parity of checkpoints apart' stderr
"$recline" run scenario.yaml --set 'failures.0.restart_on={per_node: 2}' >stdout 2>stderr
is "$?:$(grep -c 'restart_on: images stay' stderr)" 64:1 'images that stay behind' stderr
finish
