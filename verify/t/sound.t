#!/bin/sh
# Worlds in which a verdict was wrong once: each claim in verify/t/worlds gets the verdict that it
# expects.
. "$(dirname "$0")/../../protocols/t/tap.sh"

for claim in "$root"/verify/t/worlds/*.yaml; do
  check "$(basename "$claim" .yaml): $(sed -n 's/^statement: //p' "$claim")" "$tool" check "$claim"
done
finish
