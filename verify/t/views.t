#!/bin/sh
# Fine views of a local cache (docs/explorer.md) lead to the same states: a world whose components
# have so many values that they are made, explored by one worker and by two. Its numbers are those
# of a search over whole components.
. "$(dirname "$0")/../../protocols/t/tap.sh"

sum() # WORKERS: states, transitions and depth
{
  "$tool" check "$root/verify/scaling/reach-pessimistic-4.yaml" --workers "$1" --max-states 700000 \
    --json >"$dir/out"
  sed -n 's/^ *"\(states\|transitions\|depth\)" : \([0-9]*\),/\2/p' "$dir/out" | paste -s -d ' '
}

is "$(sum 1)" '525837 3649817 16' 'one worker'
is "$(sum 2)" '525837 3649817 16' 'two workers'
finish
