#!/bin/sh
# A program that misuses its heap is told so; its heap is not silently destroyed.
here=$(cd "$(dirname "$0")" && pwd)
bin=${RECLINE_BUILD:-$here/../../../build}/t

echo 1..10
n=0
for what in twice inside beyond stack constant number other; do
  n=$((n + 1))
  said=$( ("$bin/heap-abuse" $what; exit $?) 2>&1)
  case $?:$said in
  0:*) echo "not ok $n - $what: not noticed" ;;
  *"recline: free or realloc of what is not the start of a block"*) echo "ok $n - $what" ;;
  *) echo "not ok $n - $what: $said" ;;
  esac
done
if "$bin/heap-abuse"; then echo "ok 8 - none"; else echo "not ok 8 - none"; fi

# Only the check of all blocks notices this misuse; an image makes it when RECLINE_CHECKS is set.
said=$(RECLINE_CHECKS=1 "$bin/heap-abuse" overrun 2>&1)
case $?:$said in
64:*"recline: rank 0 has written past the end of a block"*) echo "ok 9 - overrun" ;;
*) echo "not ok 9 - overrun: $said" ;;
esac
if RECLINE_CHECKS=1 "$bin/heap-abuse"; then echo "ok 10 - none, checked"; else echo "not ok 10 - none"; fi
