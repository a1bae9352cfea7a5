#!/bin/sh
# Tests crashes of a rank in its second life while the words of a collective are on their way (c3),
# at every other microsecond of a call: the rank must not ask again for the words that it has waited
# for. If a rank in its first life asked again, it would find the words, because the incarnation
# tells calls apart.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
cat >scenario.yaml <<EOF
program:
  ranks: 4
  script: |
    rank *: allreduce, member 1, allreduce on 1, compute 1ms, allreduce
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3, control: separate}
checkpoint: {every: 100ms, storage: nfs, bytes: 256KiB}
detection:  10ms
EOF
once='{rank: 0, at: 0.1ms, repair: 5ms}'
timeout 60 "$recline" run scenario.yaml --set "failures=[$once]" --out out >said 2>&1
is "$?" 0 'one crash is recovered from' said
collected=$(awk '$1 > 0.001 && $2 == 1 && $3 == "collected" { print $1; exit }' out/trace.txt)
tries=0 broken=
while [ $tries -lt 50 ]; do
  tries=$((tries + 1))
  at=$(awk -v t="$collected" -v n=$tries 'BEGIN { printf "%.9f", t - 2e-6 * n }')
  timeout 60 "$recline" run scenario.yaml --set "failures=[$once, {rank: 1, at: ${at}s, repair: 5ms}]" \
    >said 2>&1 || broken="$broken $at: $(grep -m 1 breach said)"
done
is "$broken" '' 'so is a second one at any point of a call'
finish
