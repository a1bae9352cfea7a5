#!/bin/sh
# Measures what a program that polls costs, for each way to poll, each protocol that logs choices,
# and about SIZES polls. It prints two numbers. The first is the count of entries for which the
# event log needs room: the least protocol.capacity with which a run without checkpoints ends. The
# second is microseconds of processor time for each poll: the least time of several runs, minus the
# least time of runs that hardly poll. Nothing is judged here: entries are exact, times are for
# reading. Needs bash, whose times are in milliseconds.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
sizes=${SIZES:-1000 10000 100000} room=1048576
least_timed=10000 # the time of fewer polls is less than the difference between two runs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$build/bin/recline-cc" -O2 "$root/sim/bench/poll-cost.c" -o poll-cost
cat >run.yaml <<END
program:  {binary: ./poll-cost, args: [test, 100], ranks: 2}
platform: {file: clan.xml}
protocol: {name: none}
END

run() { # PROTOCOL HOW POLLS CAPACITY: fails if the run does not end. A run makes half of its polls.
  "$build/bin/recline" run run.yaml --set protocol.name="$1" \
    --set "program.args=[$2, $((2 * $3))]" --set protocol.capacity="$4" >out 2>&1
}

entries() { # PROTOCOL HOW POLLS LEAST: prints the least capacity for a run to end, from LEAST on
  low=$(($4 - 1)) high=$4
  until run "$1" "$2" "$3" "$high"; do
    low=$high
    high=$((2 * high))
  done
  while [ $((high - low)) -gt 1 ]; do
    middle=$(((low + high) / 2))
    if run "$1" "$2" "$3" "$middle"; then high=$middle; else low=$middle; fi
  done
  echo "$high"
}

seconds() { # COUNT PROTOCOL HOW POLLS: prints the least processor time of COUNT runs
  count=$1 i=0
  shift
  : >spent
  while [ $i -lt "$count" ]; do
    bash -c 'TIMEFORMAT="%3U %3S" && time "$@" >out 2>&1' run "$build/bin/recline" run run.yaml \
      --set protocol.name="$1" --set "program.args=[$2, $((2 * $3))]" --set protocol.capacity=$room 2>>spent
    i=$((i + 1))
  done
  awk '{ s = $1 + $2; if (NR == 1 || s < least) least = s } END { print least }' spent
}

cost() { # PROTOCOL HOW POLLS: prints the microseconds of a poll
  repeat=$((300000 / $3))
  base=$(seconds 20 "$1" "$2" 10)
  few=$(sed -n 's/^polls //p' out)
  all=$(seconds $repeat "$1" "$2" "$3")
  echo "$all $base $(($(sed -n 's/^polls //p' out) - few))" |
    awk '{ printf "%.1f", ($1 - $2) / $3 * 1e6 }'
}

printf '| | polls |'
for size in $sizes; do
  printf ' %s |' "$size"
done
echo
printf '|---|---|'
for size in $sizes; do
  printf -- '---|'
done
echo
for protocol in ${PROTOCOLS:-none pessimistic pessimistic-wildcards causal optimistic}; do
  for how in ${WAYS:-test test-clock iprobe iprobe-clock}; do
    printf '| `%s` | `%s` |' "$protocol" "$how"
    least=2
    for size in $sizes; do
      [ "$protocol" = none ] || least=$(entries "$protocol" "$how" "$size" "$least")
      [ "$protocol" = none ] || printf ' %s;' "$least"
      if [ "$size" -ge $least_timed ]; then printf ' %s us' "$(cost "$protocol" "$how" "$size")"; fi
      printf ' |'
    done
    echo
  done
done
