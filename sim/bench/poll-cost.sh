#!/bin/sh
# What a program that polls costs: for each way to poll, each protocol that logs decisions, and about
# SIZES polls, the entries that its event log has to have room for (the least protocol.capacity with which
# a run without checkpoints ends), and microseconds of processor time for each poll: the time of as many
# runs as make 100,000 polls together, at most 20, without that of as many runs that hardly poll. Nothing
# is judged here: entries are exact, times are for reading. Needs GNU time.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
sizes=${SIZES:-1000 10000 100000} room=1048576
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$build/bin/recline-cc" -O2 "$root/sim/bench/poll-cost.c" -o poll-cost
cat >run.yaml <<END
program:  {binary: ./poll-cost, args: [test, 100], ranks: 2}
platform: {file: clan.xml}
protocol: {name: none}
END

run() { # PROTOCOL HOW POLLS CAPACITY: whether it ends. Half of the polls that are asked for are made.
  "$build/bin/recline" run run.yaml --set protocol.name="$1" \
    --set "program.args=[$2, $((2 * $3))]" --set protocol.capacity="$4" >out 2>&1
}

entries() { # PROTOCOL HOW POLLS LEAST: the least room with which it ends, not below LEAST
  low=$(($4 - 1)) high=$4
  until run "$1" "$2" "$3" $high; do
    low=$high
    high=$((2 * high))
  done
  while [ $((high - low)) -gt 1 ]; do
    middle=$(((low + high) / 2))
    if run "$1" "$2" "$3" $middle; then high=$middle; else low=$middle; fi
  done
  echo $high
}

seconds() { # COUNT PROTOCOL HOW POLLS: processor time of so many runs
  count=$1 i=0
  shift
  : >times
  while [ $i -lt "$count" ]; do
    /usr/bin/time -q -a -o times -f '%U %S' "$build/bin/recline" run run.yaml --set protocol.name="$1" \
      --set "program.args=[$2, $((2 * $3))]" --set protocol.capacity=$room >out 2>&1
    i=$((i + 1))
  done
  awk '{ sum += $1 + $2 } END { print sum }' times
}

cost() { # PROTOCOL HOW POLLS: microseconds a poll
  repeat=$((100000 / $3))
  [ $repeat -le 20 ] || repeat=20
  [ $repeat -ge 1 ] || repeat=1
  base=$(seconds $repeat "$1" "$2" 10)
  few=$(sed -n 's/^polls //p' out)
  all=$(seconds $repeat "$1" "$2" "$3")
  echo "$all $base $repeat $(($(sed -n 's/^polls //p' out) - few))" |
    awk '{ printf "%.1f", ($1 - $2) / $3 / $4 * 1e6 }'
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
      printf ' %s us |' "$(cost "$protocol" "$how" "$size")"
    done
    echo
  done
done
