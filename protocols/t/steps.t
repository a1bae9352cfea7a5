#!/bin/sh
# Each *.steps file beside this one: the events of one protocol's story and the actions that it must
# answer with, played by steps-test.
. "$(dirname "$0")/tap.sh"
for file in "$here"/*.steps; do
  name=$(basename "$file" .steps)
  "$build/t/steps-test" "$file" >"$dir/lines"
  code=$?
  # its own lines, with the numbers of this test
  while read -r line; do
    case $line in
      'ok '*) report 0 "$name: ${line#* - }" ;;
      'not ok '*) report 1 "$name: ${line#* - }" ;;
    esac
  done <"$dir/lines"
  check "$name is played to its end" test "$code" -le 1 -a "$(wc -l <"$dir/lines")" -gt 10
done
finish
