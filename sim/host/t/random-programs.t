#!/bin/sh
# Runs random programs under random crashes.
#
#   random-programs.t                      RECLINE_RANDOM seeds (19) from RECLINE_SEED (1) on
#   random-programs.t SEED [PROTOCOL]...   this seed alone, with these protocols (none c3 bookmark
#                                          and one more)
#
# Each seed takes one more protocol, in turn, of those in $others. With RECLINE_PROTOCOLS all seeds
# take these protocols instead.
#
# Everything follows from the seed: the program (scenarios/programs/random.c), its ranks (2 to 16),
# the interval and cost of checkpoints, how words of collectives travel, one to three crashes. Each
# program runs under plain smpirun, which is the reference. Then it runs without a protocol and
# without crashes; crashes are spread over the simulated time of this run. Then it runs under each
# protocol with the crashes. Each program must end without violation, its own verification must
# pass, and the states of its ranks, where they are unique (even seeds), must be those of the
# reference. A run that takes a minute counts as one that hangs.
#
# A program that its protocol's assumptions exclude (is_outside) may end otherwise, if the run says so:
# by a violation, by giving up, or as lost.
#
# A failing seed prints the command of its run, and keeps its scenario if RECLINE_KEEP is a folder.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

jobs=${RECLINE_JOBS:-2}
seconds=60
platform=$root/platforms/clan.xml
count=${RECLINE_RANDOM:-19}
first=${RECLINE_SEED:-1}
protocols=${RECLINE_PROTOCOLS:-none c3 bookmark}
# With 38 seeds each of these 19 takes an even and an odd one.
others='event-logging blocking message-tagging chandy-lamport event-logging-posted
chandy-lamport-tree time-based uncoordinated pessimistic pessimistic-wildcards hybrid event-logging-sorted
event-logging-paired lai-yang mattern causal optimistic index-based c3-envelopes'
[ -z "${RECLINE_PROTOCOLS-}" ] || others=
if [ $# -gt 0 ]; then
  first=$1 count=1
  shift
  [ $# -eq 0 ] || protocols=$* others=
fi

# The protocols of a seed: all of $protocols and one of $others.
protocols_of() { # SEED
  echo "$protocols"
  # shellcheck disable=SC2086 # one word for each protocol
  set -- "$1" $others
  [ $# -eq 1 ] || {
    turn=$(($1 % ($# - 1)))
    shift $((turn + 1))
    echo "$1"
  }
}

# Returns whether the protocol's assumptions exclude the program of a seed. event-logging and
# message-tagging need senders that send the same again, but in odd seeds the order of arrival decides
# what is sent. hybrid assumes that a message is received in the iteration in which it is sent. Sorted
# logs forget an order that receives of any tag show.
is_outside() { # SEED PROTOCOL
  case $2-$(($1 % 4)) in
    event-logging-sorted-* | event-logging*-[13] | message-tagging-[13] | hybrid-[12]) return 0 ;;
    *) return 1 ;;
  esac
}

# ---- what follows from a seed ----

# Prints lines "KEY VALUE". The generator is the "minimal standard", which is exact in any awk.
draw() { # SEED SIMULATED_SECONDS PROTOCOL
  awk -v seed="$1" -v length_s="$2" -v protocol="$3" '
    function draw(limit) { at = (at * 16807) % 2147483647; return int(at / 2147483647 * limit) }
    function crash(early, late,    when, repair) {
      repair = sprintf("repair: %dms", 1 + draw(10))
      if (draw(5) == 0)
        when = sprintf("after: {event: %s, count: %d}", kind[1 + draw(kinds)], 1 + draw(40))
      else
        when = sprintf("at: %.9fs", early + (late - early) * draw(100000) / 100000)
      return sprintf("{rank: %d, %s, %s}", draw(ranks), when, repair)
    }
    BEGIN {
      at = (seed * 7919 + 12345) % 2147483646 + 1
      for (i = 0; i < 10; i++) draw(2)
      kinds = split("captured durable committed control send receive arrived choice safe-point down", kind)
      ranks = 2 + draw(15)
      print "ranks", ranks
      interval = length_s / (3 + draw(8)) / (protocol == "c3" ? 3 : 1) # it waits for places
      if (protocol == "time-based") { # a latency that holds when sixteen ranks send much at once
        print "clocks", "{longest: 40ms}"
        if (interval < 0.09) interval = 0.09 # longer than its bounds
      }
      split("separate combined auto", controls)
      print "control", controls[seed % 3 + 1]
      bytes = 2 ^ draw(18)
      storage = draw(3) ? "local" : "nfs"
      detection = 0.0005 * 2 ^ draw(6)
      print "checkpoint", sprintf("{every: %.9fs, storage: %s, bytes: %dB, places: %s}", interval,
        storage, bytes,
        draw(3) == 0 && protocol == "c3" || protocol == "hybrid" ? "program" : "anywhere")
      print "detection", sprintf("%.6fs", detection)
      spares = draw(3)
      print "spares", storage == "local" ? 0 : spares # spares cannot read local disks of other nodes
      crashes = 1 + draw(3)
      list = crash(0, 1.2 * length_s)
      for (i = 1; i < crashes; i++)
        list = list ", " (draw(2) ? crash(0, 1.4 * length_s) : crash(0, 1.2 * length_s))
      print "failures", "[" list "]"
      every = 1 + draw(4)
      print "iterations", sprintf("interval: %d, log: %d, failures: 3", every, draw(every + 1))
    }'
}

drawn() { # KEY
  sed -n "s/^$1 //p" "$case.drawn"
}

write_scenario() { # SEED PROTOCOL
  cat <<END
program:    {binary: random, args: ["$1"], ranks: $(drawn ranks)}
platform:   {file: $platform, spares: $(drawn spares)}
protocol:   {name: $2, capacity: 4000, control: $(drawn control), $(drawn iterations)}
END
  [ "$2" = none ] && return
  cat <<END
checkpoint: $(drawn checkpoint)
detection:  $(drawn detection)
failures:   $(drawn failures)
END
  [ "$2" != time-based ] || echo "clocks:     $(drawn clocks)"
}

# ---- one run ----

plain() { # SEED: leaves $case.plain
  ranks=$(drawn ranks)
  awk -v n="$ranks" 'BEGIN { for (i = 0; i < n; i++) print "node-" i }' >"$case.hosts"
  timeout $seconds smpirun -np "$ranks" -platform "$platform" -hostfile "$case.hosts" \
    --cfg=smpi/simulate-computation:no --log=root.thres:critical \
    "$build/programs/random-plain" "$1" >"$case.plain" 2>"$case.err" || problem=", plain exit code $?"
  [ "$(tail -n 1 "$case.plain")" = 'verification: PASS' ] || problem=', plain SMPI fails'
}

# Prints the values of KEY, each once: a rank that is rolled back from its end prints them again.
printed() { # KEY
  sed -n "s/^$1: //p" "$case.d"/.recline-*/program.out | sort -u
}

# Returns whether the run says that its program was outside of the protocol's assumptions.
is_told() {
  case $verdict in
    gave-up | lost) return 0 ;;
    *) [ "${violations:-0}" -gt 0 ] ;;
  esac
}

simulate() { # SEED PROTOCOL
  write_scenario "$1" "$2" >"$case.yaml"
  rm -rf "$case.d" && mkdir "$case.d"
  TMPDIR=$case.d timeout $seconds "$recline" run "$case.yaml" --json --keep >"$case.json" \
    2>"$case.err"
  code=$?
  verdict=$(value "$case.json" verdict)
  crashes=$(value "$case.json" crashes)
  committed=$(value "$case.json" checkpoints.committed)
  violations=$(value "$case.json" audit.violations)
  if is_outside "$1" "$2" && [ $code -eq 1 ] && is_told; then
    verdict="$verdict and told"
    return
  fi
  [ $code -eq 0 ] || problem="$problem, exit code $code"
  case $verdict-$crashes in
    completed-0 | recovered-[123]) ;;
    *) problem="$problem, verdict ${verdict:-none} after ${crashes:-no} crashes" ;;
  esac
  [ "$violations" = 0 ] || problem="$problem, violations"
  [ "$(printed verification)" = PASS ] || problem="$problem, verification $(printed verification)"
  [ "$(printed state)" = "$(sed -n 's/^state: //p' "$case.plain")" ] || problem="$problem, state"
}

complain() { # SEED PROTOCOL
  echo "not ok - seed $1, $2: ${problem#, }"
  echo "#   sim/host/t/random-programs.t $1 $2"
  echo '#   recline run on'
  sed 's/^/#     /' "$case.yaml"
  sed -n '1,8s/^/#   said: /p' "$case.err"
  [ -z "${RECLINE_KEEP-}" ] || cp "$case.yaml" "$RECLINE_KEEP/random-$1-$2.yaml"
}

run_seed() { # SEED: prints an answer for each protocol
  length_s=0.1
  draw "$1" $length_s none >"$case.drawn"
  problem=
  plain "$1"
  write_scenario "$1" none >"$case.yaml"
  before=$problem
  problem=
  simulate "$1" none
  length_s=$(value "$case.json" simulated_s)
  problem=$before$problem
  for protocol in $(protocols_of "$1"); do
    if [ "$protocol" != none ]; then
      draw "$1" "${length_s:-0.1}" "$protocol" >"$case.drawn"
      problem=$before
      simulate "$1" "$protocol"
    fi
    if [ -z "$problem" ]; then
      echo "ok - seed $1, $protocol: $(drawn ranks) ranks, $verdict, $crashes crashes," \
        "$committed checkpoints"
    else
      complain "$1" "$protocol"
    fi
  done
  rm -rf "$case.d"
}

# Runs every `jobs`-th seed, and leaves the answers in $dir/answer.SEED.
work() { # NUMBER
  seed=$((first + $1))
  case=$dir/case.$1
  while [ $seed -lt $((first + count)) ]; do
    run_seed $seed >"$dir/answer.$seed"
    seed=$((seed + jobs))
  done
}

# ---- all ----

job=0
while [ $job -lt $jobs ]; do
  work $job &
  job=$((job + 1))
done
wait

seed=$first
while [ $seed -lt $((first + count)) ]; do
  while IFS= read -r line; do
    case $line in
      'ok - '*) ok "${line#ok - }" ;;
      'not ok - '*) not_ok "${line#not ok - }" ;;
      *) echo "$line" ;;
    esac
  done <"$dir/answer.$seed"
  seed=$((seed + 1))
done
total=0
for protocol in $(protocols_of "$first"); do
  total=$((total + count))
done
# Runs whose crashes never struck would have passed so far; here they fail.
if [ "$count" -ge 10 ]; then
  struck=$(cat "$dir"/answer.* | grep -c ', recovered, .* crashes, [1-9]')
  is "$([ "$struck" -ge $((total / 4)) ] && echo many)" many \
    "$struck recovered with checkpoints committed"
  total=$((total + 1))
fi
finish $total
