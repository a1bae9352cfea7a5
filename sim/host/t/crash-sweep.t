#!/bin/sh
# Crashes CG, class S, on 8 ranks, everywhere; on request also other programs.
#
# For each protocol that recovers: a run without failures is the reference; then crashes - at 60
# instants spread evenly over the simulated time of the reference, - at every protocol point that
# the trace of the reference has: each kind of event with each number of a
#     checkpoint, and five events, from the first to the last, of the kinds without a number,
#   - a second time during the recovery: at its protocol points, and shortly after detection.
# Each rank is the victim in turn. All crashes come before the program would have ended, so each run
# must recover, with results of the same bits as the reference, and with nothing found by the audit.
# Without a protocol every crash must lose the program, and no verification may be printed.
#
# c3 and bookmark are crashed in every 32nd of these places and of the pairs, the other protocols in
# every 80th, and optimistic, which has many more places, in every 320th. So each protocol tests the
# rules that all protocols share, and each in other places.
#
# RECLINE_LONG=1: every rank as the victim, every instant with a second crash, for all protocols.
# RECLINE_PROGRAM: cg, halo, ring, random or lulesh-like instead of cg. RECLINE_TOPOLOGY: its
# program.topology. RECLINE_JOBS: runs at a time (2 by default). A failing case prints the command
# that repeats it. crash-sweep.t PROTOCOL... sweeps only these protocols, in all places, or with
# RECLINE_STEP=N in every N-th.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

ranks=8
instants=60
jobs=${RECLINE_JOBS:-2}
repair=20ms
detection=0.01
program=${RECLINE_PROGRAM:-cg}
every=50ms
case $program in
  cg) args=S words=5 ;; # words: the number of words of its results
  halo) args='"8192", "60"' words=5 ;;
  ring) args='"4096", "400"' words=4 ;;
  random) args='"2"' words=4 every=20ms ;; # an even seed: its results are unique
  lulesh-like) args='"4", "60"' words=4 every=20ms ;;
  *) echo "Bail out! program $program, expected cg, halo, ring, random or lulesh-like" && exit 1 ;;
esac
scenario=$dir/scenario.yaml
cat >"$scenario" <<EOF
program:    {binary: $program, args: [$args], ranks: $ranks${RECLINE_TOPOLOGY:+, topology: $RECLINE_TOPOLOGY}}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: c3}
checkpoint: {every: $every, storage: nfs, bytes: 64KiB}
detection:  ${detection}s
EOF

# Prints the words that `recline run` needs for a protocol. bookmark-once is bookmark with one exchange.
settings() { # PROTOCOL
  echo "--set protocol.name=${1%-once}"
  case $1 in
    bookmark-once) echo --set protocol.exchange=once ;;
    causal) echo --set protocol.failures=2 ;;
    hybrid) # with this interval and log some recoveries are local, and others global
      echo --set checkpoint.places=program --set protocol.interval=3 --set protocol.log=2
      [ "$program" != random ] || echo '--set program.args=["4"]' # a program that has iterations
      ;;
  esac
}

# ---- one case ----

# Runs $protocol with these words. Leaves $case.json and $case.err, and in $printed the output of the
# program. Keeps private folders in place of --out, whose trace would double the time.
simulate() { # WORD...
  rm -rf "$case.d" && mkdir "$case.d"
  # shellcheck disable=SC2046 # words
  TMPDIR=$case.d "$recline" run "$scenario" $(settings "$protocol") --json --keep "$@" \
    >"$case.json" 2>"$case.err"
  code=$?
  printed=$(echo "$case.d"/.recline-*/program.out)
  return $code
}

complain() { # PROBLEM FAILURES
  echo "not ok - $1, failures $2"
  echo "#   recline run $scenario" $(settings "$protocol") "--set 'failures=[$2]'"
  echo '#   with that scenario being'
  sed 's/^/#     /' "$scenario"
  sed -n '1,5s/^/#   said: /p' "$case.err"
}

# Prints the results of a program, without times, each once: a program that crashes at its very end
# prints its results again.
results() { # FILE
  grep -E '^(zeta|checksum|state|digest|verification): ' "$1" | sort -u
}

# A crash that must be recovered.
recovers() { # NAME FAILURES
  simulate --set "failures=[$2]" || problem="exit code $?"
  verdict=$(value "$case.json" verdict)
  crashes=$(value "$case.json" crashes)
  case $verdict-$crashes in
    recovered-[12]) ;;
    *) problem="verdict ${verdict:-none} after ${crashes:-no} crashes" ;;
  esac
  [ "$(value "$case.json" audit.violations)" = 0 ] || problem='a violation'
  found=$(results "$printed")
  [ "$found" = "$(cat "$dir/$protocol.results")" ] || problem="other results: $found"
}

# A crash that must lose the program.
loses() { # NAME FAILURES
  simulate --set "failures=[$2]" --set expect.verdict=lost ||
    problem="exit code $?"
  verdict=$(value "$case.json" verdict)
  crashes=$(value "$case.json" crashes)
  [ "$verdict-$crashes" = lost-1 ] || problem="verdict ${verdict:-none}"
  [ "$(value "$case.json" audit.violations)" = 0 ] || problem='a violation'
  [ -z "$(results "$printed")" ] || problem='a result was printed'
}

# One line of a list of cases.
run_case() { # PROTOCOL|JUDGE|NAME|FAILURES
  IFS='|' read -r protocol judge name failures <<EOF
$1
EOF
  problem=
  $judge "$name" "$failures"
  if [ -z "$problem" ]; then
    echo "ok - $protocol: $name: $verdict, $crashes"
  else
    complain "$protocol: $name: $problem" "$failures"
  fi
  rm -rf "$case.d"
}

# Calls the function for every `jobs`-th line of a file, beginning with line $1, and keeps its output in
# FILE.LINE.
work() { # FIRST LINE, FUNCTION, FILE
  line=0
  while read -r what; do
    line=$((line + 1))
    [ $((line % jobs)) -eq $(($1 % jobs)) ] || continue
    case=$dir/case.$1
    $2 "$what" >"$3.$line"
  done <"$3"
}

# Calls the function for all lines of a file, for at most `jobs` at a time.
at_the_same_time() { # FUNCTION FILE
  job=1
  while [ $job -le "$jobs" ]; do
    work $job "$1" "$2" &
    job=$((job + 1))
  done
  wait
}

# ---- the cases ----

# Runs the reference. Leaves PROTOCOL.results, PROTOCOL.trace and PROTOCOL.cases. The run's only
# failure comes after the end. If there were no failure at all, computation could not be
# interrupted, and events of one instant could come in another order than in runs with crashes,
# whose points would then never come.
reference() { # PROTOCOL
  protocol=$1
  case=$dir/$1
  out=$dir/$1.out
  # shellcheck disable=SC2046 # words
  "$recline" run "$scenario" $(settings "$1") --set 'failures=[{rank: 0, at: 1h}]' --json \
    --out "$out" >"$case.json" 2>"$case.err"
  code=$?
  results "$out/program.out" >"$case.results"
  found=$code-$(value "$case.json" verdict)-$(grep -c FAIL "$case.results")
  found=$found-$(wc -w <"$case.results")
  if [ "$found" = "0-completed-0-$words" ]; then
    echo "ok - $program: $1: without failures it completes and verifies"
  else
    echo "not ok - $program: $1: without failures: $found"
    sed -n '1,5s/^/#   said: /p' "$case.err"
  fi
  mv "$out/trace.txt" "$case.trace"
  seconds=$(value "$case.json" simulated_s)
  cases >"$case.cases"
}

instants() { # JUDGE
  awk -v protocol="$protocol" -v judge="$1" -v n=$instants -v end="$seconds" -v ranks=$ranks \
    -v repair=$repair -v all="${RECLINE_LONG:-0}" 'BEGIN {
    for (i = 0; i < n; i++) {
      at = (i + 0.5) * end / n
      for (k = 0; k < (all > 0 ? ranks : 1); k++) {
        victim = (i + k) % ranks
        printf "%s|%s|rank %d at %.6f s|{rank: %d, at: %.9fs, repair: %s}\n", protocol, judge,
          victim, at, victim, at, repair
      }
    }
  }'
}

# Prints the protocol points of the reference in their order, except for safe points, of which a trace
# leaves out most. A line "KIND CHECKPOINT RANK COUNT" is the COUNT-th event of that kind and checkpoint
# (0: it has none) at the rank that had the first one.
points() {
  awk -v ranks=$ranks '
    BEGIN {
      kinds = split("start down timer send receive choice collective arrived control collected captured durable committed", kind)
      for (i = 1; i <= kinds; i++) known[kind[i]] = 1
    }
    /^---/ { body = 1; next }
    !body || !($3 in known) { next }
    {
      checkpoint = 0
      for (i = 4; i <= NF && $i != "|"; i++)
        if ($i ~ /^checkpoint=/) checkpoint = substr($i, 12)
      point = $3 " " checkpoint
      if (!(point in rank)) order[++points] = point
      # a rank that has not started cannot crash, so a start is counted at the last rank to start
      if (!(point in rank) || $3 == "start") { rank[point] = $2; count[point] = 0 }
      if (rank[point] == $2) count[point]++
      # so events before the last start do not count either
      if ($3 == "start" && checkpoint == 0 && ++started <= ranks) for (p in count) before[p] = count[p]
    }
    END {
      for (i = 1; i <= points; i++) {
        point = order[i]
        split(point, part, " ")
        # events with a checkpoint are few, so each is taken; of the many others five are
        from = part[1] == "start" ? 1 : before[point] + 1
        places = count[point] - from + 1
        steps = part[2] == 0 && places > 5 ? 5 : places
        for (k = 0; k < steps; k++)
          print point, rank[point], steps == 1 ? from : from + int(k * (places - 1) / (steps - 1))
      }
    }' "$dir/$protocol.trace"
}

at_points() {
  points | awk -v protocol="$protocol" -v ranks=$ranks -v repair=$repair -v all="${RECLINE_LONG:-0}" '{
    for (k = 0; k < (all > 0 ? ranks : 1); k++) {
      victim = (NR * 3 + k) % ranks
      printf "%s|recovers|rank %d after %s, checkpoint %d, rank %d, time %d|", protocol, victim, $1,
        $2, $3, $4
      printf "{rank: %d, after: {event: %s, checkpoint: %d, rank: %d, count: %d}, repair: %s}\n",
        victim, $1, $2, $3, $4, repair
    }
  }'
}

# Prints cases with a first crash, and a second one before the recovery is over.
twice() {
  awk -v protocol="$protocol" -v end="$seconds" -v ranks=$ranks -v repair=$repair \
    -v detection=$detection -v all="${RECLINE_LONG:-0}" 'BEGIN {
    kinds = split("down start control send receive arrived captured durable committed timer", kind)
    firsts = all > 0 ? 12 : 3
    for (i = 0; i < firsts; i++) {
      at = (i + 0.5) * end / firsts
      victim = i % ranks
      first = sprintf("{rank: %d, at: %.9fs, repair: %s}", victim, at, repair)
      for (j = 1; j <= kinds; j++) {
        second = (victim + j) % ranks
        place = kind[j] == "committed" || kind[j] == "timer" ? 0 : second
        printf "%s|recovers|rank %d at %.6f s, rank %d after %s in the recovery|%s, ", protocol,
          victim, at, second, kind[j], first
        printf "{rank: %d, after: {event: %s, rank: %d, recovery: 1}, repair: %s}\n", second,
          kind[j], place, repair
      }
      for (late = 0; late < 4; late++) {
        second = (victim + (late == 3 ? 0 : 3 + late)) % ranks # also the same rank again
        then = at + detection * (0.5 + late)
        printf "%s|recovers|rank %d at %.6f s, rank %d at %.6f s|%s, ", protocol, victim, at,
          second, then, first
        printf "{rank: %d, at: %.9fs, repair: %s}\n", second, then, repair
      }
    }
  }'
}

# Prints N where one of N cases is taken: 1 for protocols that are named on the command line.
step() { # PROTOCOL
  case $named-${RECLINE_LONG:-0}-$1 in
    0-0-c3 | 0-0-bookmark | 0-0-none) echo 32 ;;
    0-0-optimistic) echo 320 ;;
    0-0-*) echo 80 ;;
    *) echo "${RECLINE_STEP:-1}" ;;
  esac
}

sampled() {
  awk -v step="$(step "$protocol")" '(NR - 1) % step == 0'
}

# Single crashes and pairs are sampled apart: each protocol has some of both.
cases() {
  if [ "$protocol" = none ]; then
    instants loses | sampled
  else
    { instants recovers && at_points; } | sampled
    twice | sampled
  fi
}

# ---- the sweep ----

named=$#
[ $# -gt 0 ] ||
  set -- c3 bookmark none bookmark-once c3-envelopes event-logging event-logging-sorted event-logging-posted \
    message-tagging chandy-lamport chandy-lamport-tree lai-yang mattern time-based blocking \
    uncoordinated index-based pessimistic-wildcards causal optimistic hybrid
printf '%s\n' "$@" >"$dir/references"
at_the_same_time reference "$dir/references"
tell_answers $# "$dir/references"

for protocol; do
  cat "$dir/$protocol.cases"
done >"$dir/cases"
total=$(wc -l <"$dir/cases")
at_the_same_time run_case "$dir/cases"
tell_answers "$total" "$dir/cases"

# A sweep whose crashes never struck would have passed so far; here it fails.
struck() { # PROTOCOL ANSWER
  cat "$dir"/cases.* | grep -c "^ok - $1: .*: $2\$"
}
for protocol; do
  case $protocol in
    none) is "$(struck none 'lost, 1')" "$(grep -c '^none|' "$dir/cases")" 'none: all were lost' ;;
    *)
      once=$(struck "$protocol" 'recovered, 1')
      again=$(struck "$protocol" 'recovered, 2')
      step=$(step "$protocol")
      is "$([ "$once" -ge $((instants / step)) ] && echo many)" many \
        "$protocol: $once recovered from a crash"
      is "$([ "$again" -ge $(((10 + step - 1) / step)) ] && echo many)" many \
        "$protocol: $again recovered from two"
      total=$((total + 1))
      ;;
  esac
done
finish $((total + 2 * $#))
