#!/bin/sh
# Measures what the MPI layer costs: CPU seconds and MiB by plain smpirun, and by `recline run`
# without a protocol, under c3 and under pessimistic, without checkpoints, side by side. The
# programs are a halo exchange with an allreduce per step, collectives and ping-pong, on each number
# of RANKS (64). Prints medians of ROUNDS (3) rounds. CONTROL sets protocol.control. Nothing is
# judged here: these numbers are for reading. Needs GNU time.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
rounds=${ROUNDS:-3} sides="plain ${PROTOCOLS:-none c3 pessimistic}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
smpicc -O2 "$root/sim/bench/layer-cost.c" -o layer-cost-plain
"$build/bin/recline-cc" -O2 "$root/sim/bench/layer-cost.c" -o layer-cost
ln -s "$build/programs/halo" halo
ln -s "$build/programs/halo-plain" halo-plain

side() { # SIDE PROGRAM RANKS WORD...: adds a line "CPU KiB" to the file named by the side
  name=$1 program=$2 ranks=$3
  shift 3
  if [ "$name" = plain ]; then
    seq -f 'node-%g' 0 $((ranks - 1)) >hosts
    set -- smpirun -np "$ranks" -platform "$root/platforms/flat.xml" -hostfile hosts \
      --cfg=smpi/simulate-computation:no --log=root.thres:critical "./$program-plain" "$@"
  else
    words=$(printf '"%s", ' "$@")
    cat >run.yaml <<END
program: {binary: ./$program, args: [${words%, }], ranks: $ranks}
platform: {file: flat.xml}
protocol: {name: $name${CONTROL:+, control: $CONTROL}}
END
    set -- "$build/bin/recline" run run.yaml --json
  fi
  /usr/bin/time -q -o time -f '%U %S %M' "$@" >out 2>&1 || { cat out >&2 && exit 1; }
  awk '{ print $1 + $2, $3 }' time >>"$name.times"
}

compare() { # NAME PROGRAM RANKS WORD...
  title=$1
  shift
  rm -f ./*.times
  for round in $(seq "$rounds"); do
    for each in $sides; do side "$each" "$@"; done
  done
  printf '%-20s %5d' "$title" "$2"
  for each in $sides; do
    sort -n "$each.times" | sed -n "$((rounds / 2 + 1))p" >median
    [ "$each" != plain ] || cp median base
    paste -d ' ' median base | awk '{ printf "  %7.2f %5.2f %5.0f", $1, $1 / $3, $2 / 1024 }'
  done
  echo
}

printf '%-20s %5s' '' ranks
for each in $sides; do printf '  %7s %5s %5s' "$each" / MiB; done
echo
for n in ${RANKS:-64}; do
  share=$((6400 / n)) # about as many messages in each row; enough steps to hide the beginning
  compare 'halo 512 B' halo "$n" 512 "$share"
  compare 'halo 64 KiB' halo "$n" 65536 "$share"
  compare 'allreduce 8 B' layer-cost "$n" allreduce 8 $((5 * share))
  compare 'allreduce 64 KiB' layer-cost "$n" allreduce 65536 $((4 * share))
  compare 'bcast 8 B' layer-cost "$n" bcast 8 $((10 * share))
  compare 'alltoall 8 B' layer-cost "$n" alltoall 8 $((10 * (6400 / n * 64 / n + 1)))
  compare 'ping-pong 8 B' layer-cost "$n" pingpong 8 $((40 * share))
done
