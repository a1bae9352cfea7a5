#!/bin/sh
# Failures by law in runs: each node has its own, which nothing that is added changes; repaired nodes
# fail again; of a platform one node after the other.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 4
  script: |
    rank *: repeat 300 (compute 1s, barrier, checkpoint)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 20s, storage: local, bytes: 1kB}
detection:  100ms
failures:   [{law: exponential, mtbf: 150s, repair: 2s}]
EOF

# "TIME RANK" of each crash before second 250, in the order of time.
crashes() { awk '$3 == "crash" && $1 < 250 { print $1, $2 }' "$1/trace.txt"; }

run_ends recovered 'four nodes that fail by law'
crashes out >four
mv out first
run_ends recovered 'the same once more'
same first/trace.txt out/trace.txt 'in the same bytes'
check 'more than one failure' test "$(wc -l <four)" -gt 2

"$recline" run first/scenario.yaml --out saved >/dev/null
same first/result.json saved/result.json 'so the scenario that a run keeps'

run_ends recovered 'a fifth rank' --set program.ranks=5
crashes out | grep -v ' 4$' >of-four
same four of-four 'the failures of the first four nodes stay where they are'
check 'and the fifth has its own' grep -q ' 4$' <<EOF
$(crashes out)
EOF
run_ends recovered 'another law beside it' \
  --set 'failures.1={law: weibull, mtbf: 900s, shape: 0.7, repair: 2s}'
crashes out >two-laws
is "$(grep -cxFf four two-laws):$(wc -l <two-laws | awk -v n="$(wc -l <four)" '{ print ($1 > n) }')" \
  "$(wc -l <four):1" 'adds failures to those of the first' two-laws four
run_ends recovered 'another seed' --set seed=2
crashes out >other
check 'other failures' sh -c '! cmp -s four other'

# The next failure of a node is counted from its repair, that of a platform from the last repair.
for of in node platform; do
  run_ends recovered "of a $of, a long repair" --set failures.0.repair=100s --set failures.0.of=$of
  awk '$3 == "crash" { print $1, $2 }' out/trace.txt >times
  check 'more than one failure' test "$(wc -l <times)" -gt 1
  is "$(awk -v of=$of '{ key = of == "node" ? $2 : 0
      if (key in last && $1 < last[key] + 100.1) bad++
      last[key] = $1 } END { print bad + 0 }' times)" 0 'strikes none that is being repaired' times
done

# A spare takes the ranks of a node and gives way in turn to the node, which has been repaired; a
# spare may fail as well.
run_ends recovered 'a spare' --set platform.spares=1
check 'has more failures than spares' test "$(value out/result.json crashes)" -gt 1
finish
