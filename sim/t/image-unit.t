#!/bin/sh
# Capture and restore without MPI, unoptimized and optimized (and fortified).
here=$(cd "$(dirname "$0")" && pwd)
bin=${RECLINE_BUILD:-$here/../../build}/t

echo 1..2
n=0
for optimize in 0 2; do
  n=$((n + 1))
  said=$("$bin/image-unit-O$optimize" 2>&1)
  code=$?
  echo "$said" | sed 's/^/# /'
  if [ $code = 0 ] && echo "$said" | grep -q '^1\.\.' && ! echo "$said" | grep -q '^not ok'; then
    echo "ok $n - at -O$optimize"
  else
    echo "not ok $n - at -O$optimize: exit $code"
  fi
done
