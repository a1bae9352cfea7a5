#!/bin/sh
# Tests what the words of a protocol that handles collectives (c3) cost in a call, on 8 nodes of
# clan.xml. `combined` copies the data once at the sender and once at the receiver. `separate` makes
# one collective of one byte per rank ahead of the data, also by the platform's algorithm. A barrier
# has such a collective in either case.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
"$build/bin/recline-cc" -O2 -o times "$here/programs/times-program.c" >log 2>&1
is "$?" 0 'the program is built' log

# Writes to FILE the time of the slowest rank for each size of all calls.
measure() { # FILE PROTOCOL CONTROL
  cat >scenario.yaml <<EOF
program: {binary: ./times, args: ["1048576", all, "1"], ranks: 8}
platform: {file: clan.xml, spares: 0}
protocol: {name: $2, control: $3}
checkpoint: {every: 1000s}
EOF
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --out out >stdout 2>stderr
  is "$?" 0 "$2, $3" stderr
  awk '{ most = 0
    for (i = 3; i <= NF; i++) most = $i > most ? $i : most
    printf "%s %d %.9f\n", $1, $2, most }' out/program.out >"$1"
}
measure native none separate
measure separate c3 separate
measure combined c3 combined

# Tests a condition on `extra`, the seconds by which a call in FILE is slower than without a
# protocol. `word` is how long an allgather of a byte takes without a protocol.
holds() { # FILE CALL BYTES CONDITION DESCRIPTION
  word=$(awk '$1 == "allgather" && $2 == 1 { print $3 }' native)
  awk -v call="$2" -v bytes="$3" '$1 == call && $2 == bytes { print $3 }' native "$1" >pair
  awk 'NR == 1 { native = $1 } NR == 2 { extra = $1 - native }
    END { copy = 1048576 / 350e6; word = '"$word"'; exit !(NR == 2 && native > 0 && '"$4"') }' pair
  report $? "$5" pair
}
near='extra > 0.999 * want && extra < 1.002 * want + 2e-6'
for call in bcast bcast_from_last reduce allreduce; do
  holds combined $call 1048576 "(want = 2 * copy) && $near" "combined $call: two copies in all"
done
for call in gather allgather; do
  holds combined $call 1048576 "(want = 9 * copy) && $near" "combined $call: one, and one of 8 blocks"
done
for call in bcast gather allgather reduce allreduce; do
  holds combined $call 4 'extra > -1e-9 && extra < 2e-6' "combined $call of 4 B: its own algorithm"
  holds separate $call 1048576 'extra > 20e-6 && extra < 120e-6' "separate $call: some messages"
done
for file in separate combined; do
  holds $file barrier 1 'extra > 0.999 * word && extra < 1.001 * word' \
    "$file barrier: an allgather of a byte, and the barrier"
done
finish 22
