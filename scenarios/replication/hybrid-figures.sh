#!/bin/sh
# Figures 6, 7 and 8 of the hybrid protocol's paper (Dichev and Nikolopoulos, EuroMPI 2019): iterations
# summed over the ranks, and time to completion, against the iteration in which a process is crashed,
# for local, global and hybrid rollback (LOG_SIZE = CP_INT / 2); 64 ranks on 16 nodes of
# platforms/cirrus.xml, under the model of ULFM. Pessimistic logging and C3 run the same beside it.
#
#   hybrid-figures.sh --out DIR [--class B] [--side 45] [--step 6] [--ranks 64] [--kinds 'hybrid c3']
#
# Checkpoints lie on the node, which a process that dies does not take with it. Programs wait until
# they are written, as the paper's do, which write them themselves.
#
# cg of that class with its steps as iterations, CP_INT 25; lulesh-like with that many elements in each
# direction, CP_INT 20. The crash is in the interval behind the first checkpoint, in every STEP-th of
# its iterations and in those around LOG_SIZE. Leaves cg.dat, lulesh.dat, figure-6.svg, figure-7.svg
# and figure-8.svg in DIR. A run takes 12 s of processor time for cg B and a minute for lulesh-like.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
published=$root/scenarios/replication/published.csv
class=B side=45 step=6 ranks=64 out=
kinds='local global hybrid pessimistic-wildcards c3'
while [ $# -ge 2 ]; do
  case $1 in
    --out) out=$2 ;;
    --class) class=$2 ;;
    --side) side=$2 ;;
    --step) step=$2 ;;
    --ranks) ranks=$2 ;;
    --kinds) kinds=$2 ;;
    *) break ;;
  esac
  shift 2
done
if [ $# -gt 0 ] || [ -z "$out" ]; then
  echo 'hybrid-figures.sh: expected --out DIR, perhaps --class, --side, --step, --ranks, --kinds' >&2
  exit 64
fi
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/scenario.yaml" <<EOF
program:    {binary: cg, ranks: $ranks}
platform:   {file: cirrus.xml, per_node: 4}
protocol:   {name: hybrid, capacity: 8192}
checkpoint: {storage: local, places: program, writes: foreground}
recovery:   {runtime: ulfm}
EOF

value() { # KEY
  sed -n "s/^  \"$1\": \\([0-9.e-]*\\),*\$/\\1/p" "$scratch/result.json"
}

# Simulates; prints iterations, seconds and how often all ranks were rolled back.
measure() { # WORD...
  "$build/bin/recline" run "$scratch/scenario.yaml" --json --set "program.binary=$program" \
    --set "program.args=$arguments" --set "protocol.interval=$interval" "$@" \
    >"$scratch/result.json" 2>"$scratch/said" || {
    cat "$scratch/said" >&2
    exit 1
  }
  echo "$(value iterations) $(value simulated_s)" \
    "$(sed -n 's/^  "rollbacks": {"global": \([0-9]*\),.*/\1/p' "$scratch/result.json")"
}

# What makes a kind of rollback of the scenario.
settings() { # KIND
  case $1 in
    local) echo "--set protocol.log=$interval" ;;
    global) echo '--set protocol.log=0' ;;
    hybrid) echo "--set protocol.log=$((interval / 2))" ;;
    *) echo "--set protocol.name=$1 --set checkpoint.every=${every}s" ;;
  esac
}

# Of each kind what was measured, after a crash in that iteration of the interval; -1: none.
row() { # ITERATION
  failures='failures=none'
  [ "$1" -lt 0 ] || failures="failures=[{rank: 3, after: {event: send,
    iteration: $((interval + 1 + $1)), count: 4}, kills: rank, repair: 0}]"
  line=$1
  for kind in $kinds; do
    # shellcheck disable=SC2046 # several words
    line="$line $(measure $(settings "$kind") --set "$failures")"
  done
  echo "$line"
}

collect() { # PROGRAM ARGUMENTS CP_INT ITERATIONS
  program=$1 arguments=$2 interval=$3
  # the interval in seconds, for those who checkpoint by time
  every=$(measure --set protocol.name=none --set failures=none |
    awk -v all="$4" -v n="$3" '{ printf "%.6f", $2 / all * n }')
  echo "# iteration of the crash; iterations, seconds and global rollbacks of $kinds"
  row -1
  iteration=0
  while [ "$iteration" -lt "$interval" ]; do
    from_switch=$((iteration - interval / 2))
    if [ $((iteration % step)) -eq 0 ] || [ "${from_switch#-}" -le 1 ]; then
      row "$iteration"
    fi
    iteration=$((iteration + 1))
  done
}

collect cg "[-s, $class, \"3\"]" 25 78 >"$scratch/cg.dat"
collect lulesh-like "[\"$side\", \"45\"]" 20 45 >"$scratch/lulesh.dat"
mv "$scratch/cg.dat" "$scratch/lulesh.dat" "$out"

title() { # cg or lulesh
  case $1 in
    cg) echo "cg.$class.$ranks" ;;
    *) echo "lulesh-like.$ranks, $side^3" ;;
  esac
}

# The column of the data where that kind begins; nothing if it was not run.
column() { # KIND
  at=2
  for run in $kinds; do
    [ "$run" != "$1" ] || echo $at
    at=$((at + 3))
  done
}

# A line of a figure: what is measured of a kind or, if `when` is not empty, of those of its runs for
# which that is true.
line() { # OF KIND OFFSET WHEN TITLE
  printf "'%s' using (\$1 < 0 %s ? NaN : \$1):%d with linespoints title '%s'" "$out/$1.dat" \
    "${4:+|| !($4)}" $(($(column "$2") + $3)) "$5"
}

# Local and global rollbacks of hybrid are lines of their own.
lines() { # FIGURE OF
  case $1 in
    figure-6) line "$2" local 0 '' local && printf ', ' && line "$2" global 0 '' global ;;
    figure-7) line "$2" local 1 '' local && printf ', ' && line "$2" global 1 '' global ;;
    figure-8)
      rolled="\$$(($(column hybrid) + 2))"
      line "$2" hybrid 1 "$rolled == 0" 'hybrid, local' && printf ', '
      line "$2" hybrid 1 "$rolled > 0" 'hybrid, global'
      ;;
  esac
}

draw() { # FIGURE LABEL LEAST KEY KIND...: if these were run
  figure=$1 label=$2 least=$3 key=$4
  shift 4
  for kind; do
    [ -n "$(column "$kind")" ] || return 0
  done
  {
    echo "set terminal svg size 900,360 background 'white'; set output '$scratch/$figure.svg'"
    echo "set multiplot layout 1,2; set key $key; set xlabel 'iteration of the crash'"
    echo "set ylabel '$label'; set yrange [$least:*]"
    for of in cg lulesh; do
      echo "set title '$(title $of)'; plot $(lines "$figure" $of)"
    done
  } | gnuplot
  mv "$scratch/$figure.svg" "$out/$figure.svg"
}
draw figure-6 'iterations of all ranks' '*' 'top left' local global
draw figure-7 'time to completion (s)' 0 'bottom right' local global
draw figure-8 'time to completion (s)' '*' 'top left' hybrid

for of in cg lulesh; do
  echo "$(title $of): iterations and seconds, by the iteration of the crash"
  awk -v kinds="$kinds" -v ranks="$ranks" -v interval="$([ $of = cg ] && echo 25 || echo 20)" '
    BEGIN {
      n = split(kinds, kind)
      printf "%5s", ""
      for (k = 1; k <= n; k++) {
        at[kind[k]] = 3 * k - 1
        printf "%24s", kind[k]
      }
      print ""
    }
    /^#/ { next }
    {
      printf "%5s", $1 < 0 ? "none" : $1
      for (k = 1; k <= n; k++) printf "%14d %9.4f", $(3 * k - 1), $(3 * k)
      print ""
    }
    $1 < 0 { free = $2; next }
    { points++ }
    "local" in at {
      l = at["local"]
      local += !$(l + 2) && $l == free + $1
    }
    "global" in at { # in the first iteration behind the checkpoint nothing need be logged
      g = at["global"]
      global += ($(g + 2) || $1 == 0) && $g >= free + ranks * $1
    }
    "local" in at && "global" in at {
      ratio = $(l + 1) / $(g + 1)
      if (points == 1 || ratio < least) least = ratio
      if (points == 1 || ratio > most) most = ratio
    }
    "hybrid" in at { # of the first iteration that is not logged nothing may be needed yet
      h = at["hybrid"]
      if ($(h + 2)) first = first == "" ? $1 : first
      else last = $1
      log_size = int(interval / 2)
      hybrid += $1 == log_size || ($(h + 2) > 0) == ($1 > log_size)
    }
    END {
      if (l && g) {
        printf "  Figure 6: in %d of %d runs local repeats iterations of one rank only; in %d global those of all\n",
          local, points, global
        printf "  Figure 7: local takes %.3f to %.3f of the time of global\n", least, most
      }
      if (h)
        printf "  Figure 8: LOG_SIZE %d, hybrid is local up to iteration %d and global from %d on, right in %d of %d runs\n",
          log_size, last, first, hybrid, points
    }' "$out/$of.dat"
done
for figure in f6 f7 f8; do
  grep "^hybrid\.$figure," "$published" | cut -d, -f4- | tr -d '"' | sed 's/^/published: /'
done
