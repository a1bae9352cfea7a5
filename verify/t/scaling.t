#!/bin/sh
# Exhausts worlds, each within ten minutes and 16 GB (docs/measurements/reductions.md).
# RECLINE_LONG=1.
. "$(dirname "$0")/../../protocols/t/tap.sh"

if [ -z "$RECLINE_LONG" ]; then
  echo '1..0 # SKIP minutes: RECLINE_LONG=1 does it'
  exit 0
fi
for claim in "$root"/verify/scaling/*.yaml; do
  exits 0 "$(basename "$claim" .yaml)" timeout 1200 "$tool" check --reduce all "$claim"
  sed -n 's/^ *\([0-9]* states, .*\)/# \1/p' "$dir/out"
done
finish
