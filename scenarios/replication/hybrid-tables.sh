#!/bin/sh
# Tables 3 and 4 of the hybrid protocol's paper (Dichev and Nikolopoulos, EuroMPI 2019): what the log of
# a process grows by in an iteration, and the shares of copying payloads and state in the run time,
# simulated on platforms/cirrus.xml beside the published numbers. All are those of one more iteration:
# the difference of two runs without failures. It takes 2.5 minutes of processor time and 9 GB of
# memory, most of it for CG C with 256 ranks and LULESH with 216: --small runs cg.B.64 and
# lulesh-like.27 in their stead.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
published=$root/scenarios/replication/published.csv
small=
case ${1-} in
  --small) small=1 ;;
  '') ;;
  *)
    echo 'hybrid-tables.sh: expected nothing or --small' >&2
    exit 64
    ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A key at the top, or below one as in "time_s.mpi".
value() { # FILE KEY
  tr ',{' '\n\n' <"$1" | sed -n "s/^ *\"${2##*.}\": \\([0-9.e-]*\\).*/\\1/p" | sed -n 1p
}

simulate() { # FILE PROGRAM ARGUMENTS RANKS PER-NODE
  cat >"$scratch/scenario.yaml" <<EOF
program:    {binary: $2, args: [$3], ranks: $4}
platform:   {file: cirrus.xml, per_node: $5}
protocol:   {name: hybrid, interval: 100, capacity: 16384}
checkpoint: {places: program}
EOF
  "$build/bin/recline" run "$scratch/scenario.yaml" --json >"$scratch/$1" 2>"$scratch/said" || {
    cat "$scratch/said" >&2
    exit 1
  }
}

# Leaves two runs, of which the second has one or two iterations more.
pair() { # PROGRAM ARGUMENTS FIRST SECOND RANKS PER-NODE
  simulate less.json "$1" "$2, \"$3\"" "$5" "$6"
  simulate more.json "$1" "$2, \"$4\"" "$5" "$6"
}

# What an iteration adds to a key.
grows() { # KEY ITERATIONS
  echo "$(value "$scratch/less.json" "$1") $(value "$scratch/more.json" "$1")" |
    awk -v n="$2" '{ printf "%.9g", ($2 - $1) / n }'
}

says() { # ID
  awk -F, -v id="$1" '$1 == id { print $(NF - 1) ($NF == "size" ? "" : " " $NF) }' "$published"
}

table_3() { # NAME PROGRAM ARGUMENTS FIRST SECOND ITERATIONS RANKS
  pair "$2" "$3" "$4" "$5" "$7" 16
  echo "$(grows payload_bytes "$6") $(value "$scratch/more.json" image_bytes)" |
    awk -v name="$1" -v ranks="$7" -v theirs="$(says "hybrid.t3.$1.payload")" \
      -v heap="$(says "hybrid.t3.$1.heap")" -v share="$(says "hybrid.t3.$1.pct")" '{
        payload = $1 / ranks
        printf "%-12s %12.0f kB %10s %11.1f MB %10s %9.3f %% %9s\n", name, payload / 1e3, theirs,
          $2 / 1e6, heap, 100 * payload / $2, share
      }'
}

echo 'Table 3: what the log of a process grows by in an iteration (for CG: in a step)'
printf '%-12s %15s %10s %14s %10s %11s %9s\n' '' payload published image heap share published
table_3 cg.B.16 cg '-s, B' 1 2 26 16
[ -n "$small" ] || table_3 cg.C.16 cg '-s, C' 1 2 26 16
table_3 lulesh.27 lulesh-like '"45"' 1 3 2 27

row_4() { # WHAT KEY ID SCALE: seconds of 75 iterations, their share, and as published
  echo "$(grows "$2" "$4") $(grows simulated_s "$4")" |
    awk -v what="$1" -v theirs="$(says "$3")" -v share="$(says "${3}_pct")" \
      '{ printf "  %-14s %9.4f s %7.2f %% %12s %9s\n", what, 75 * $1, 100 * $1 / $2, theirs, share }'
}

table_4() { # NAME PUBLISHED-AS PROGRAM ARGUMENTS FIRST SECOND ITERATIONS RANKS PER-NODE
  pair "$3" "$4" "$5" "$6" "$8" "$9"
  echo "$1, beside $2"
  row_4 MPI mpi "hybrid.t4.$2.mpi" "$7"
  row_4 'payload copy' payload_s "hybrid.t4.$2.payload_copy" "$7"
  row_4 'buffer copy' state_s "hybrid.t4.$2.buffer_copy" "$7"
  row_4 total simulated_s "hybrid.t4.$2.total" "$7"
}

echo
echo 'Table 4: seconds of 75 iterations and their shares, simulated and published'
if [ -n "$small" ]; then
  table_4 lulesh-like.27 lulesh.216 lulesh-like '"45"' 1 3 2 27 27
  table_4 cg.B.64 cg.C.256 cg B 1 2 1 64 32
else
  table_4 lulesh-like.216 lulesh.216 lulesh-like '"45"' 1 3 2 216 36
  table_4 cg.C.256 cg.C.256 cg C 1 2 1 256 32
fi
