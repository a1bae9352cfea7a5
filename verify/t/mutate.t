#!/bin/sh
# verify/bench/mutate.pl: changes are made, compiled, and noticed by claims; what it knows is checked.
. "$(dirname "$0")/../../protocols/t/tap.sh"
mutate=$root/verify/bench/mutate.pl

"$mutate" --build "$build" --seed 2 --count 3 protocols/chandy-lamport.c >"$dir/out" 2>"$dir/err"
status=$?
check 'it ends with 0 or 1' test "$status" -le 1
check 'some change is noticed by a claim' grep -q '^noticed by chandy-lamport-[a-z-]*: [a-z]' "$dir/out"
check 'and all are counted' grep -q '^protocols/chandy-lamport.c: of [0-9]* changes .* of 3 others noticed ([1-9][0-9]* claims)' "$dir/out"
grep '^    ' "$dir/out" >"$dir/first" # on a busy machine another claim may be the first to notice
"$mutate" --build "$build" --seed 2 --count 3 protocols/chandy-lamport.c >"$dir/out" 2>>"$dir/err"
grep '^    ' "$dir/out" >"$dir/second"
check 'the same seed makes the same changes' cmp "$dir/first" "$dir/second"

printf '%s\n' 'protocols/chandy-lamport.c ||| r->state->lost = 0; ||| ; ||| there is no such line' >"$dir/known"
"$mutate" --build "$build" --known-file "$dir/known" --known >"$dir/out" 2>"$dir/err"
check 'a known change of a line that is gone is refused' test "$?" -eq 64
printf '%s\n' "protocols/chandy-lamport.c ||| r->state->durable = 0; ||| ; ||| not true" >"$dir/known"
"$mutate" --build "$build" --known-file "$dir/known" --known >"$dir/out" 2>"$dir/err"
check 'one that a claim notices is not accepted' test "$?" -eq 1
check 'and is named' grep -q '^NOT KNOWN TO BE NONE by chandy-lamport' "$dir/out"
"$mutate" --build "$build" --known >"$dir/out" 2>"$dir/err"
check 'the known changes of the tree go unnoticed' test "$?" -eq 0
check 'all of them' test "$(grep -c '^known ' "$dir/out")" -eq "$(grep -c '^protocols/' "$root/verify/bench/mutate-known.txt")"
finish 9
