#!/bin/sh
# Tests Event Logging in runs in which every rank is an initiator (sections 3.3.2 and 5.1). The
# timers of all ranks go off within one interval, all begin the same checkpoint, and the program
# recovers wherever it crashes.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program: {binary: cg, args: [S], ranks: 8}
platform: {file: $root/platforms/clan.xml, spares: 1}
protocol: {name: event-logging, capacity: 4096, initiators: 8}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
detection: 10ms
EOF

run() { timeout 60 "$recline" run scenario.yaml --out out "$@" >stdout 2>stderr; }

# Prints the results of the program, without its time.
found() { grep -v '^time' out/program.out; }

check 'a run without failures completes' run
found >reference
is "$(value out/result.json checkpoints.committed)" 3 'each round of timers makes one checkpoint' stdout
is "$(awk '$3 == "timer" { print $2 }' out/trace.txt | head -n 8 | sort -n | tr '\n' ' ')" \
  '0 1 2 3 4 5 6 7 ' 'the timers of all ranks go off ahead of the first one' out/trace.txt

rank=0
for at in 51 53 117 185; do
  run --set "failures=[{at: ${at}ms, rank: $rank}]"
  found >words
  is "$(value out/result.json verdict)" recovered "rank $rank crashes at $at ms" stdout stderr
  check 'and the results are those without a failure' cmp words reference
  rank=$(((rank + 3) % 8))
done

run --set protocol.initiators=0
is "$?" 64 'no initiator is refused' stderr
finish
