#!/bin/sh
# Tests capture and restore without MPI: unoptimized, and optimized (and fortified); with a kernel
# that tells which pages were touched, and with one that does not. image-unit.t [SEED] repeats
# random steps.
here=$(cd "$(dirname "$0")" && pwd)
bin=${RECLINE_BUILD:-$here/../../../build}/t

seed=${1:-$(date +%s)}

echo 1..4
n=0
for variant in O0 O2 'O0 unmapped' 'O2 unmapped'; do
  n=$((n + 1))
  said=$("$bin/image-unit-${variant%% *}" "$seed" ${variant#O?} 2>&1)
  code=$?
  echo "$said" | sed 's/^/# /'
  if [ $code = 0 ] && echo "$said" | grep -q '^1\.\.' && ! echo "$said" | grep -q '^not ok'; then
    echo "ok $n - $variant"
  else
    echo "not ok $n - $variant: exit $code"
  fi
done
