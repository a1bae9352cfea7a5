#!/bin/sh
# Tests collectives of all classes with crashes everywhere, under a protocol that handles
# collectives (c3) and under one that sees their messages (bookmark).
#
# What a rank gives to a collective is what it has seen so far, so a wrong replay shows in the
# histories that the script prints at the end. The histories must be those of a run without
# failures, no property may be violated, and the trace must replay. All this holds whichever way the
# protocol's words travel (c3+combined: with the data). RECLINE_LONG=1: more places, and every rank
# is the victim.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

replay=$build/t/layer-replay
scale=$((1 + 3 * ${RECLINE_LONG:-0}))
cat >"$dir/scenario.yaml" <<EOF
program:
  ranks: 5
  script: |
    rank 0: repeat 8 (bcast 0, checkpoint, bcast 0, send 1 tag 7, compute 1ms, reduce 2, recv 4 tag 7, bcast 4, checkpoint, allreduce, compute 200us, barrier, reduce 3, checkpoint)
    rank 1: repeat 8 (compute 700us, bcast 0, bcast 0, checkpoint, recv 0 tag 7, send 2 tag 7, reduce 2, bcast 4, allreduce, checkpoint, barrier, reduce 3)
    rank 2: repeat 8 (bcast 0, compute 1500us, bcast 0, recv 1 tag 7, send 3 tag 7, checkpoint, reduce 2, bcast 4, checkpoint, allreduce, barrier, reduce 3, checkpoint)
    rank 3: repeat 8 (bcast 0, bcast 0, recv 2 tag 7, send 4 tag 7, reduce 2, checkpoint, bcast 4, compute 900us, allreduce, barrier, compute 1ms, reduce 3)
    rank 4: repeat 8 (checkpoint, bcast 0, bcast 0, recv 3 tag 7, send 0 tag 7, reduce 2, bcast 4, allreduce, compute 1ms, checkpoint, barrier, reduce 3)
platform: {file: $root/platforms/clan.xml}
protocol: {name: c3}
checkpoint: {every: 5ms, storage: local, bytes: 4KiB}
detection: 1ms
EOF

control_of() { # PROTOCOL
  case $1 in *+*) echo "${1#*+}" ;; *) echo separate ;; esac
}

# Runs one line of a list of cases. Leaves the answer in $dir/answer.LINE.
run_case() { # JOB PROTOCOL|PLACES|FAILURES
  IFS='|' read -r protocol places failures <<EOF
$2
EOF
  out=$dir/out.$1
  rm -rf "$out"
  problem=
  "$recline" run "$dir/scenario.yaml" --json --out "$out" --set "protocol.name=${protocol%+*}" \
    --set "protocol.control=$(control_of "$protocol")" --set "checkpoint.places=$places" \
    --set "failures=$failures" >/dev/null 2>"$dir/err.$1" ||
    problem="exit code $?"
  [ "$(value "$out/result.json" verdict)" = recovered ] || problem="$problem, no recovery"
  [ "$(value "$out/result.json" audit.violations)" = 0 ] || problem="$problem, a violation"
  histories=$(grep '^history: ' "$out/program.out" | sort -u)
  [ "$histories" = "$(cat "$dir/$protocol.$places.history")" ] ||
    problem="$problem, other histories"
  "$replay" "$out/trace.txt" >>"$dir/err.$1" 2>&1 || problem="$problem, the trace does not replay"
  if [ -z "$problem" ]; then
    echo "ok - $protocol, places $places: $failures"
  else
    echo "not ok - $protocol, places $places, failures $failures: $problem"
    sed -n '1,5s/^/#   said: /p' "$dir/err.$1"
  fi
}

work() { # JOB
  line=0
  while read -r what; do
    line=$((line + 1))
    [ $((line % 2)) -eq $(($1 % 2)) ] || continue
    run_case "$1" "$what" >"$dir/answer.$line"
  done <"$dir/cases"
}

# Makes the run without failures. Leaves PROTOCOL.PLACES.history, .trace and the simulated time.
reference() { # PROTOCOL PLACES
  out=$dir/reference.$1.$2
  "$recline" run "$dir/scenario.yaml" --json --out "$out" --set "protocol.name=${1%+*}" \
    --set "protocol.control=$(control_of "$1")" --set "checkpoint.places=$2" \
    >/dev/null 2>"$dir/err"
  is "$?-$(value "$out/result.json" verdict)" 0-completed "$1, places $2: completes" "$dir/err"
  grep '^history: ' "$out/program.out" >"$dir/$1.$2.history"
  "$replay" "$out/trace.txt" >/dev/null 2>"$dir/err"
  is $? 0 "$1, places $2: its trace replays" "$dir/err"
  seconds=$(value "$out/result.json" simulated_s)
}

instants() { # PROTOCOL PLACES HOW MANY
  awk -v head="$1|$2" -v n="$3" -v end="$seconds" -v all="${RECLINE_LONG:-0}" 'BEGIN {
    for (i = 0; i < n; i++)
      for (k = 0; k < (all > 0 ? 5 : 1); k++)
        printf "%s|[{rank: %d, at: %.9fs, repair: 1ms}]\n", head, (i + k) % 5, (i + 0.5) * end / n
  }'
}

# Lists crashes each time that an event happens at a rank, up to HOW MANY; each once alone, and once
# with one more crash.
points() { # PROTOCOL PLACES HOW MANY EVENT...
  head="$1|$2" many=$3
  shift 3
  for event; do
    case $event in committed) step=1 from=0 ;; *) step=7 from=$((many % 5)) ;; esac
    i=0
    while [ $i -lt "$many" ]; do
      rank=$(((i + from) % 5))
      [ "$event" != committed ] || rank=0
      count=$((1 + i * step / 2))
      case $event in captured | committed) count=$((1 + i / 5)) ;; esac
      point="{rank: $rank, after: {event: $event, rank: $rank, count: $count}, repair: 1ms}"
      echo "$head|[$point]"
      echo "$head|[$point, {rank: $(((i + 2) % 5)), after: {event: start, recovery: 1}, repair: 1ms}]"
      i=$((i + 1))
    done
  done
}

cases() {
  for places in anywhere program; do
    reference c3 $places >&3
    instants c3 $places $((10 * scale))
    points c3 $places $((3 * scale)) collective collected captured
    points c3 $places 3 committed
  done
  for control in combined auto; do
    reference c3+$control anywhere >&3
    instants c3+$control anywhere $((4 * scale))
    points c3+$control anywhere $((2 * scale)) collective collected captured
  done
  reference bookmark anywhere >&3
  instants bookmark anywhere $((5 * scale))
}

exec 3>&1
cases >"$dir/cases"
cases=$(wc -l <"$dir/cases")
tap_said=10
work 1 &
work 2 &
wait
tell_answers "$cases"
for other in bookmark c3+combined c3+auto; do
  same "$dir/c3.anywhere.history" "$dir/$other.anywhere.history" "the same under $other"
done
result=$dir/reference.c3+combined.anywhere/result.json
is "$(value "$result" control.separate)" 40 'combined: words ahead of 8 barriers at 5 ranks alone'
is "$(value "$dir/reference.c3.anywhere/result.json" control.separate)" \
  "$(($(value "$result" control.combined) + 40))" 'combined: as many calls with words'
finish $((cases + 15))
