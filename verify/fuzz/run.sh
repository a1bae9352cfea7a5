#!/bin/sh
# run.sh SECONDS [BUILD]: runs each fuzzer for at most SECONDS, from the kept corpus and the files
# of the tree. New inputs are not kept. An input that fails is printed, and the exit code is then 1.
# The seed is fixed, and SECONDS also limits the number of inputs, so that a faster machine tries no
# inputs that other machines do not try.
set -eu
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
root=$here/../..
build=${2:-$root/build-fuzz}
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
mkdir "$new/scenario" "$new/claim" "$new/platform" "$new/script" "$new/trace"
cp "$root"/scenarios/*.yaml "$new/scenario"
for claim in "$root"/verify/claims/*/*.yaml; do
  folder=${claim%/*}
  cp "$claim" "$new/claim/${folder##*/}-${claim##*/}"
done
cp "$root"/platforms/*.xml "$new/platform"
cd "$new"
failed=0
for fuzzer in scenario:2500 script:100000 trace:2000 platform:4000 claim:250; do
  name=${fuzzer%:*} inputs=$(($1 * ${fuzzer#*:}))
  echo "fuzz-$name"
  if ! "$build/t/fuzz-$name" -seed=1 -runs="$inputs" -max_total_time="$1" -max_len=4000 -timeout=60 -rss_limit_mb=2000 \
    -print_final_stats=1 "$new/$name" "$here/corpus/$name" >"$new/log" 2>&1; then
    failed=1
    tail -n 60 "$new/log"
    for input in crash-* oom-* timeout-* leak-*; do
      [ ! -e "$input" ] || { echo "$input:" && base64 "$input" && rm "$input"; }
    done
  else
    grep number_of_executed_units "$new/log"
  fi
done
exit $failed
