#!/bin/sh
# Measures what images cost the simulating machine: time and resident memory of a first image of MIB
# (64) MiB, of a second image after 0, 1, 50 and 100 % of the pages have changed, and of a plain
# copy of the same memory. All are measured in one run; the numbers are medians of ROUNDS (5) runs.
# Nothing is judged here: these numbers are for reading, on a machine that is quiet.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
mib=${MIB:-64} rounds=${ROUNDS:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

column() { # NUMBER: the median of that column
  cut -d ' ' -f "$1" "$scratch/rounds" | sort -n | sed -n "$((rounds / 2 + 1))p"
}

echo '             plain copy        first image       second image        back'
echo '  changed      ms     MiB        ms     MiB        ms     MiB          ms'
for percent in 0 1 50 100; do
  round=0
  while [ $round -lt "$rounds" ]; do
    LD_PRELOAD=$build/lib/librecline_heap.so "$build/t/image-cost" "$mib" $percent
    round=$((round + 1))
  done >"$scratch/rounds"
  for number in 2 3 4 5 6 7 8 9; do
    column $number
  done | paste -s -d ' ' |
    awk '{printf "%7d %% %8.1f %7.1f  %8.1f %7.1f  %8.1f %7.1f    %8.1f\n",
          $1, $2, $3, $4, $5, $6, $7, $8}'
done
