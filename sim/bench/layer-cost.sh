#!/bin/sh
# What the MPI layer costs in real time: a halo exchange with an allreduce per step, on RANKS ranks
# (64), by plain smpirun and by `recline run`, side by side in one run, medians of ROUNDS (5) rounds:
# of wall-clock seconds and, as others may use the machine, of CPU seconds. The limits are 1.25 for
# none and 1.6 for c3, but nothing is judged here: these numbers are for reading.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
ranks=${RANKS:-64} rounds=${ROUNDS:-5} steps=${STEPS:-100}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

i=0
while [ $i -lt "$ranks" ]; do
  echo "node-$i"
  i=$((i + 1))
done >"$scratch/hosts"

scenario() { # PROTOCOL BYTES
  cat >"$scratch/$1.yaml" <<EOF
program: {binary: halo, args: ["$2", "$steps"], ranks: $ranks}
platform: {file: flat.xml}
protocol: {name: $1, capacity: 64}
checkpoint: {every: 0}
EOF
}

# Wall-clock and CPU seconds of a command and its children.
timed() { # COMMAND...
  perl -MTime::HiRes=time -e '
    my $began = time;
    my $status = system(@ARGV);
    my $wall = time - $began;
    my ($user, $system, $u, $s) = times;
    print STDERR "$wall ", $u + $s, "\n";
    exit($status >> 8)' "$@" 2>"$scratch/time" >"$scratch/out"
  tail -n 1 "$scratch/time"
}

plain() { # BYTES
  timed smpirun -np "$ranks" -platform "$root/platforms/flat.xml" -hostfile "$scratch/hosts" \
    --cfg=smpi/simulate-computation:no --log=root.thres:critical \
    "$build/programs/halo-plain" "$1" "$steps"
}

layered() { # PROTOCOL
  timed "$build/bin/recline" run "$scratch/$1.yaml" --json
}

median() { # COLUMN FILE
  cut -d ' ' -f "$1" "$scratch/$2" | sort -n | sed -n "$((rounds / 2 + 1))p"
}

printf '%8s %5s %9s %9s %9s %8s %8s\n' bytes '' plain none c3 none/ c3/
for bytes in 512 4096 65536; do
  scenario none "$bytes"
  scenario c3 "$bytes"
  for side in plain none c3; do : >"$scratch/$side"; done
  round=0
  while [ $round -lt "$rounds" ]; do
    plain "$bytes" >>"$scratch/plain"
    layered none >>"$scratch/none"
    layered c3 >>"$scratch/c3"
    round=$((round + 1))
  done
  for column in 1 2; do
    echo "$bytes $column $(median $column plain) $(median $column none) $(median $column c3)" |
      awk '{printf "%8d %5s %8.2fs %8.2fs %8.2fs %8.2f %8.2f\n", $1, $2 == 1 ? "wall" : "CPU", $3, $4,
        $5, $4 / $3, $5 / $3}'
  done
done
