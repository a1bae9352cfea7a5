#!/bin/sh
# A program that misuses its heap is told so, instead of destroying it silently.
here=$(cd "$(dirname "$0")" && pwd)
bin=${RECLINE_BUILD:-$here/../../build}/t

echo 1..4
n=0
for what in twice inside beyond; do
  n=$((n + 1))
  said=$( ("$bin/heap-abuse" $what; exit $?) 2>&1)
  case $?:$said in
  0:*) echo "not ok $n - $what: not noticed" ;;
  *"recline: free or realloc of what is not the start of a block"*) echo "ok $n - $what" ;;
  *) echo "not ok $n - $what: $said" ;;
  esac
done
if "$bin/heap-abuse"; then echo "ok 4 - none"; else echo "not ok 4 - none"; fi
