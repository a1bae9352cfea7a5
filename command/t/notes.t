#!/bin/sh
# Tests the notes of a run beside its figures: values that a user's platform does not give and that
# were assumed, checkpoints that were asked for and not taken, failures that did not strike. Each
# note is in the summary and in --json, once.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >mine.xml <<EOF
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="nodes" prefix="node-" suffix="" radical="0-7" speed="1Gf" bw="1GBps" lat="1us"/>
    <cluster id="service" prefix="service-" suffix="" radical="0-0" speed="1Gf" bw="1GBps" lat="1us"/>
    <link id="between" bandwidth="10GBps" latency="1us"/>
    <zoneRoute src="nodes" dst="service" gw_src="node-nodes_router" gw_dst="service-service_router">
      <link_ctn id="between"/>
    </zoneRoute>
  </zone>
</platform>
EOF
cat >scenario.yaml <<EOF
program:
  ranks: 2
  script: |
    rank 0: repeat 20 (compute 1ms, send 1, recv 1)
    rank 1: repeat 20 (recv 0, send 0)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 5ms, storage: local, bytes: 1kB}
EOF

notes() { # WORD...: prints the notes of a run; nothing if the summary does not show the same ones
  "$recline" run scenario.yaml --out out "$@" >stdout 2>stderr
  jq -r '.notes[]' out/result.json >notes
  sed -n 's/^  note         //p' stdout | cmp -s notes - && cat notes
}

is "$(notes)" '' 'a run of which all is known says nothing' stdout stderr
is "$(notes --set platform.file=mine.xml | sort)" \
  'platform.file: no disk where checkpoints are stored, taken as one that takes no time
platform.file: no memory_copy_bw, taken as 500 MB/s
platform.file: no message_handling_s, taken as 0 s
platform.file: no smpi/ois, taken as 0
platform.file: no smpi/or, taken as 0
platform.file: no smpi/os, taken as 0' 'what a platform does not say, and what was assumed' stdout

is "$(notes --set protocol.name=hybrid --set checkpoint.places=program | sed 's/, asked for [0-9]* times;/;/')" \
  'checkpoint: none was committed; hybrid takes them at the beginning of iterations (recline_iteration), and the program came to 2 safe points, 0 iterations, 0 barriers' \
  'hybrid without iterations takes no checkpoint' stdout stderr
is "$(notes --set protocol.name=blocking | sed 's/[0-9][0-9]* /N /g; s/^.*; //')" \
  'blocking takes them at barriers, and the program came to N safe points, N iterations, N barriers' \
  'blocking without barriers takes none' stdout stderr
is "$(notes --set checkpoint.places=program | cut -d , -f 1)" \
  'checkpoint: none was committed' 'a program without places takes none' stdout stderr
is "$(notes --set checkpoint.every=1s)" \
  'checkpoint.every: no checkpoint was taken, the run ended before' 'the run was too short' stdout

is "$(sed -i 's/compute 1ms, send 1/compute 25ms, send 1/; s/repeat 20/repeat 3/' scenario.yaml
  notes --set protocol.name=bookmark | sed 's/[0-9][0-9]* /N /g')" \
  'checkpoint.every: about N checkpoints were due and N committed; the program came to N safe points, asked for N times' \
  'a program that seldom calls MPI has few checkpoints' stdout stderr
sed -i 's/compute 25ms, send 1/compute 1ms, send 1/; s/repeat 3/repeat 20/' scenario.yaml
is "$(notes --set 'failures=[{rank: 1, at: 8ms, repair: 2ms}, {rank: 1, at: 8.1ms},
    {rank: 0, at: 1s}, {rank: 0, after: {event: committed, checkpoint: 90}}]' |
  sed 's/ended at .*/ended/')" \
  'failures.1: did not strike, rank 1 was down
failures.2: did not strike, the run ended
failures.3: did not strike, its point came 0 times, expected 1' 'failures that did not strike' \
  stdout stderr

# Figures of the summary.
is "$(notes --set platform.file=mine.xml >/dev/null; jq -r '.warnings[]' out/result.json | sort)" \
  'platform.file: no disk where checkpoints are stored, taken as one that takes no time
platform.file: no memory_copy_bw, taken as 500 MB/s' 'notes on which figures depend are warnings'
notes --set checkpoint.bytes=64GB --set checkpoint.every=20ms --set checkpoint.storage=memory >/dev/null
check 'what an image counts as stands beside what was measured' grep -q \
  '^  images .* KiB in all ranks; .*; on storage each counts as 64 GB (checkpoint.bytes)$' stdout
notes --set checkpoint.bytes=64KiB --set checkpoint.every=20ms --set checkpoint.storage=memory >/dev/null
check 'in the unit in which it is round' grep -q 'counts as 64 KiB (checkpoint.bytes)$' stdout
is "$(grep -E '^  (phase|time) |^    (compute|mpi) ' stdout | grep -Ec '[0-9][0-9.]{5,}')" 0 \
  'times have four digits' stdout
notes --set protocol.name=none >/dev/null
sent=$(value out/result.json messages.sent)
notes --set protocol.name=pessimistic >/dev/null
is "$(jq -r '.messages | "\(.sent) \(.suppressed) \(.replayed)"' out/result.json)" "$sent 0 0" \
  'a message that waits in a log is sent once, without a crash not again' stdout
cat >short.c <<EOF
#include <mpi.h>
#include <smpi/smpi.h>
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  smpi_execute_flops(1);
  MPI_Finalize();
  return argc > 1 ? 3 : 0;
}
EOF
"$build/bin/recline-cc" short.c -o short >log 2>&1 || not_ok 'the program is built' log
cat >short.yaml <<EOF
program:  {binary: ./short, ranks: 1}
platform: {file: $root/platforms/clan.xml}
protocol: {name: none}
EOF
"$recline" run short.yaml >stdout 2>stderr
check 'a time that is short has a unit' grep -Eq '^  time         [1-9][0-9.]* ns simulated' stdout
"$recline" run short.yaml --set 'program.args=[fails]' >stdout 2>stderr
check 'how the program ended stands in the first line' grep -q '^completed, with exit code 3  short' stdout
finish 15
