#!/bin/sh
# Measures what the layer costs whole programs. The programs of scenarios/suites are built by SMPI's
# compilers for plain smpirun, and by recline's wrappers for `recline run` without a protocol and
# under c3, without checkpoints. Prints a table of CPU seconds, medians of ROUNDS (5) rounds. In a
# round each side runs once, one after the other, and the sides change places from round to round. A
# ratio is the median of the rounds' quotients, so what else the machine does in a round hardly
# matters. Arguments that name programs select rows. Nothing is judged here: these numbers are for
# reading. Needs GNU time, and Fortran's compiler.
#
# Plain SMPI decides which programs have a row of numbers: a program that does not end there within
# LIMIT (30) seconds, or deadlocks, is only named. A program that ends but finds its own result
# wrong in plain SMPI is marked, and is taken to have done the same work.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
rounds=${ROUNDS:-5} limit=${LIMIT:-30} sides='plain none c3'
export OMP_NUM_THREADS=1 # recline run sets it, too
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Each line has a program, its ranks, and arguments with which plain smpirun takes about a second.
cat >rows <<'END'
sort 8 -n 32000 -r 100
wavefront 12 200
stencil27 8 160
particles 7 3000
farm 6 10000
bfs 8
dense 6 280
calls 5 600
fem 8
blocks 7 2000
fourier 8 40
relax 64
outofcore 5
sweep 9 250
hybrid 6 250
deck 5 -s 400
END

# ---- building ----

build_in() { # FOLDER COMPILER...: C, C++ and Fortran
  mkdir "$1"
  cp "$root"/scenarios/suites/*.* "$root/scenarios/suites/Makefile" "$1"
  printf '      INTEGER %s\n      PARAMETER (%s)\n' 'NBLOCK, NWORDS, NSTEPS, MODUL, MAXNP' \
    'NBLOCK=3, NWORDS=40, NSTEPS=800, MODUL=10007, MAXNP=64' >"$1/oocparams.h"
  make -s -C "$1" CC="$2" CXX="$3" FC="$4" >make.log 2>&1 || { cat make.log >&2 && exit 1; }
}

# smpif90 does not compile .f, so smpiff stands in for it. smpicxx defaults to C++11, which is too old
# for the programs.
build_in plain smpicc 'smpicxx -std=c++17' smpiff
build_in layer "$build/bin/recline-cc" "$build/bin/recline-c++" "$build/bin/recline-f90"

# ---- running ----

# Runs one side and adds its CPU seconds to the file named by the side. Returns the exit code.
side() { # SIDE PROGRAM RANKS ARGUMENT...
  name=$1 program=$2 ranks=$3
  shift 3
  if [ "$name" = plain ]; then
    seq -f 'node-%g' 0 $((ranks - 1)) >plain/hosts
    set -- smpirun -np "$ranks" -platform "$root/platforms/flat.xml" -hostfile hosts \
      --cfg=smpi/simulate-computation:no --log=root.thres:critical "./$program" "$@"
    cd plain
  else
    words=
    [ $# -eq 0 ] || words=$(printf ', "%s"' "$@")
    cat >layer/run.yaml <<END
program: {binary: ./$program, args: [${words#, }], ranks: $ranks}
platform: {file: flat.xml}
protocol: {name: $name}
END
    set -- "$build/bin/recline" run run.yaml --json
    cd layer
  fi
  code=0
  timeout -k 5 "$limit" /usr/bin/time -q -o ../time -f '%U %S' "$@" >../out 2>&1 || code=$?
  cd ..
  [ $code -eq 124 ] || tail -n 1 time | awk '{ print $1 + $2 }' >>"$name.times"
  return $code
}

median() { # of the numbers of a file
  sort -n "$1" | sed -n "$((rounds / 2 + 1))p"
}

# Runs plain SMPI once. Sets `why` if the program has no numbers, or `mark` if it calls its own result
# wrong.
try_plain() { # PROGRAM RANKS ARGUMENT...
  mark='' why='' code=0
  side plain "$@" || code=$?
  if [ $code -eq 124 ]; then
    why="does not end in $limit s of plain SMPI"
  elif grep -qi 'deadlock detected' out; then
    why='deadlocks in plain SMPI'
  elif [ $code -ne 0 ] && ! grep -q 'verification: *FAIL' out; then
    why="ends with exit code $code in plain SMPI"
  elif [ $code -ne 0 ]; then
    mark='*'
  fi
}

# Prints the cell of a side, and adds its ratio to SIDE.ratios.
cell() { # SIDE
  printf ' %.2f' "$(median "$1.times")"
  if [ "$1" != plain ]; then
    paste -d ' ' "$1.times" plain.times | awk '{ print $1 / $2 }' >quotients
    median quotients >>"$1.ratios"
    printf ' (%.2f)' "$(tail -n 1 "$1.ratios")"
  fi
  printf ' |'
}

row() { # PROGRAM RANKS ARGUMENT...
  try_plain "$@"
  shift 2
  # shellcheck disable=SC2016 # Markdown
  printf '| `%s`%s | %s |' "$program${*:+ $*}" "$mark" "$ranks"
  if [ -n "$why" ]; then
    echo " $why | | |"
    return
  fi
  rm -f ./*.times
  order=$sides
  for _ in $(seq "$rounds"); do
    for each in $order; do
      side "$each" "$program" "$ranks" "$@" || [ "$each$mark" = 'plain*' ] || { cat out >&2 && exit 1; }
    done
    order="${order#* } ${order%% *}"
  done
  for each in $sides; do
    cell "$each"
  done
  echo
}

echo '| | ranks | plain | none | c3 |'
echo '|---|---|---|---|---|'
while read -r program ranks arguments <&3; do
  case " ${*:-$program} " in *" $program "*) ;; *) continue ;; esac
  # shellcheck disable=SC2086 # the words of a line
  row "$program" "$ranks" $arguments
done 3<rows
for each in none c3; do
  sort -n "$each.ratios" | awk -v side="$each" '{ ratio[NR] = $1 }
    END { printf "%s: median %.2f of %d ratios\n", side, (ratio[int((NR + 1) / 2)] + ratio[int(NR / 2) + 1]) / 2, NR }'
done
