#!/bin/sh
# Table 1 of the bookmark paper (Hursey et al., HPDC 2009): what its protocol costs messages while no
# checkpoint is taken, simulated on platforms/sif.xml beside the published numbers. Latency is that of
# 1 byte, bandwidth that of 16 MiB messages, both from a ping-pong (ring on two ranks).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
published=$root/scenarios/replication/published.csv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints what ring says: microseconds and MB/s of a hop.
measure() { # INTERCONNECT RANKS-ON-A-NODE PROTOCOL BYTES LAPS
  cat >"$scratch/ring.yaml" <<END
program:  {binary: ring, args: ["$4", "$5"], ranks: 2}
platform: {file: sif.xml, interconnect: $1, per_node: $2}
protocol: {name: $3}
END
  "$build/bin/recline" run "$scratch/ring.yaml" --out "$scratch/out" >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    exit 1
  }
  sed -n 's/^time: \([0-9.]*\) us per hop, \([0-9.]*\) MB\/s$/\1 \2/p' "$scratch/out/program.out"
}

value() { # ID
  awk -F, -v id="$1" '$1 == id { print $(NF - 1) }' "$published"
}

row() { # NAME INTERCONNECT RANKS-ON-A-NODE
  for protocol in none bookmark; do
    measure "$2" "$3" "$protocol" 1 1000 # the first lap begins when rank 0 has left a barrier
    measure "$2" "$3" "$protocol" 16777216 20
  done | awk -v name="$1" -v base="$(value "bookmark.t1a.$1.base")" -v cr="$(value "bookmark.t1a.$1.cr")" \
    -v wide="$(value "bookmark.t1b.$1.base")" -v wide_cr="$(value "bookmark.t1b.$1.cr")" '
    { us[NR] = $1; mbps[NR] = $2 * 8 }
    function line(what, ours, ours_cr, theirs, theirs_cr) {
      printf "%-14s %-12s %9.2f %9.2f %+8.1f %% %9.2f %9.2f %+8.1f %%\n", name, what, ours, ours_cr,
        100 * (ours_cr / ours - 1), theirs, theirs_cr, 100 * (theirs_cr / theirs - 1)
    }
    END {
      line("latency us", us[1], us[3], base, cr)
      line("bandw. Mb/s", mbps[2], mbps[4], wide, wide_cr)
    }'
}

printf '%-27s %9s %9s %10s %9s %9s %10s\n' '' simulated 'with C/R' change published 'with C/R' change
row ethernet-tcp ethernet 1
row infiniband infiniband 1
row myrinet-mx myrinet 1
row shared-memory ethernet 2
