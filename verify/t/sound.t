#!/bin/sh
# Worlds in which a verdict was wrong once, or would be by a small change of the judge: each claim in
# verify/t/worlds gets the verdict that it expects, and has as many states as its file says
# (`# N states`).
. "$(dirname "$0")/../../protocols/t/tap.sh"

for claim in "$root"/verify/t/worlds/*.yaml; do
  check "$(basename "$claim" .yaml): $(sed -n 's/^statement: //p' "$claim")" "$tool" check "$claim"
  states=$(sed -n 's/^# \([0-9]* states\).*/\1/p' "$claim")
  [ -z "$states" ] || {
    "$tool" check "$claim" >"$dir/out" 2>&1
    check "$(basename "$claim" .yaml): $states" grep -q "^ *$states, " "$dir/out"
  }
done
finish
