#!/bin/sh
# What a program that polls costs: for each way to poll, and each protocol that logs decisions, the
# entries that its event log has to have room for in a run of few polls and in one of many (the least
# protocol.capacity with which a run without checkpoints ends), and microseconds of processor time for
# each poll, from the difference of two runs. Nothing is judged here: entries are exact, times are for
# reading. Needs GNU time.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
few=2000 many=20000 polls=${POLLS:-200000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$build/bin/recline-cc" -O2 "$root/sim/bench/poll-cost.c" -o poll-cost
cat >run.yaml <<END
program:  {binary: ./poll-cost, args: [test, 100], ranks: 2}
platform: {file: clan.xml}
protocol: {name: none}
END

run() { # PROTOCOL HOW POLLS CAPACITY: whether it ends; its processor time is in seconds
  /usr/bin/time -q -o time -f '%U %S' "$build/bin/recline" run run.yaml --set protocol.name="$1" \
    --set "program.args=[$2, $3]" --set protocol.capacity="$4" >out 2>&1 || return 1
  awk '{ print $1 + $2 }' time >seconds
}

entries() { # PROTOCOL HOW POLLS
  low=0 high=65536
  while [ $((high - low)) -gt 1 ]; do
    middle=$(((low + high) / 2))
    if run "$1" "$2" "$3" $middle; then high=$middle; else low=$middle; fi
  done
  echo $high
}

cost() { # PROTOCOL HOW: microseconds a poll
  run "$1" "$2" $few 1048576
  cp seconds base
  before=$(sed -n 's/^polls //p' out)
  run "$1" "$2" "$polls" 1048576
  paste -d ' ' seconds base | awk -v polls=$(($(sed -n 's/^polls //p' out) - before)) \
    '{ printf "%.1f", ($1 - $2) / polls * 1e6 }'
}

echo '| | polls | `test` | with a clock | `iprobe` | with a clock |'
echo '|---|---|---|---|---|---|'
for protocol in ${PROTOCOLS:-pessimistic pessimistic-wildcards causal optimistic}; do
  printf '| `%s` ' "$protocol"
  run "$protocol" test $few 1048576
  fewer=$(sed -n 's/^polls //p' out)
  run "$protocol" test $many 1048576
  printf '| %s, %s ' "$fewer" "$(sed -n 's/^polls //p' out)"
  for how in test test-clock iprobe iprobe-clock; do
    printf '| %s, %s; %s us ' "$(entries "$protocol" $how $few)" "$(entries "$protocol" $how $many)" \
      "$(cost "$protocol" $how)"
  done
  echo '|'
done
