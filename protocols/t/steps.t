#!/bin/sh
# Plays each *.steps file beside this one by steps-test: the events of a protocol's story, and the
# actions with which it must answer.
. "$(dirname "$0")/tap.sh"
for file in "$here"/*.steps; do
  name=$(basename "$file" .steps)
  "$build/t/steps-test" "$file" >"$dir/lines"
  code=$?
  # lines of steps-test, with the numbers of this test
  while read -r line; do
    case $line in
      'ok '*) report 0 "$name: ${line#* - }" ;;
      'not ok '*) report 1 "$name: ${line#* - }" ;;
    esac
  done <"$dir/lines"
  check "$name is played to its end" test "$code" -le 1 -a "$(wc -l <"$dir/lines")" -gt 10
done
finish
