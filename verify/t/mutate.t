#!/bin/sh
# Tests verify/bench/mutate.pl: changes are made, compiled, and noticed by claims. Some changes of
# its list of known ones must go unnoticed, and 20 changes of the judge must be noticed.
# RECLINE_LONG=1 tries all changes of both lists, and RECLINE_COUNT (3) changes of every source of
# the judge, drawn by RECLINE_SEED (401).
. "$(dirname "$0")/../../protocols/t/tap.sh"
mutate=$root/verify/bench/mutate.pl
known=$root/verify/bench/mutate-known.txt
blocking=protocols/blocking.c
rm -rf "$build/mutate"

"$mutate" --build "$build" --seed 2 --count 3 $blocking >"$dir/out" 2>"$dir/err"
status=$?
check 'it ends with 0 or 1' test "$status" -le 1
check 'some change is noticed by a claim' grep -q '^noticed by blocking-[a-z-]*: [a-z]' "$dir/out"
check 'and all are counted' grep -q "^$blocking: 3 changes, .*; of [0-3] others [0-3] noticed ([1-9][0-9]* claims)" "$dir/out"
# The kept results must be enough: a change that is linked again would also be judged again.
cp "$build/mutate/results" "$dir/results"
"$mutate" --build "$build" --seed 2 --count 3 $blocking >"$dir/again" 2>>"$dir/err"
check 'the same seed makes the same changes' cmp "$dir/out" "$dir/again"
check 'and what claims said of them is kept' cmp "$dir/results" "$build/mutate/results"
"$mutate" --build "$build" --seed 2..3 --count 4 $blocking >"$dir/again" 2>>"$dir/err"
check 'seeds take turns' test "$(sed -n '2,3p' "$dir/out")" = "$(sed -n '2,3p' "$dir/again")"

printf '%s\n' "$blocking ||| r->state->lost = 0; ||| ; ||| there is no such line" >"$dir/known"
"$mutate" --build "$build" --known-file "$dir/known" --known >"$dir/out" 2>"$dir/err"
check 'a known change of a line that is gone is refused' test "$?" -eq 64
printf '%s\n' "$blocking leave ||| r->state->wanted = false; ||| ; ||| not true" >"$dir/known"
"$mutate" --build "$build" --known-file "$dir/known" --known >"$dir/out" 2>"$dir/err"
check 'one that a claim notices is not accepted' test "$?" -eq 1
check 'and is named' grep -q '^NOT KNOWN TO BE NONE by blocking' "$dir/out"

[ "${RECLINE_LONG:-0}" = 1 ] || {
  grep '^protocols/time-based' "$known" >"$dir/known"
  known=$dir/known
}
"$mutate" --build "$build" --known-file "$known" --known --count 0 >"$dir/out" 2>"$dir/err"
check 'the known changes of the tree go unnoticed' test "$?" -eq 0
check 'all of them' test "$(grep -c '^known' "$dir/out")" -eq "$(grep -c '^protocols/' "$known")"

# What must be noticed: the first 20 of the judge, or all.
noticed=$root/verify/bench/mutate-noticed.txt
[ "${RECLINE_LONG:-0}" = 1 ] || {
  grep '^\(verify\|world\)/.*|||' "$noticed" | head -n 20 >"$dir/noticed"
  noticed=$dir/noticed
}
"$mutate" --build "$build" --noticed "$noticed" >"$dir/out" 2>"$dir/err"
check 'each change that must be noticed is' test "$?" -eq 0
sed -n 's/^\(MISSED\|NO C\)/# &/p' "$dir/out"
check 'all of them' test "$(grep -c '^noticed' "$dir/out")" -eq "$(grep -c '^[a-z].*|||' "$noticed")"
check '20 or more of the judge' test "$(grep -c '^\(verify\|world\)/' "$noticed")" -ge 20
printf '%s\n' 'world/rules/world_judge.c judge_timers ||| bool each = w->protocol->independent || w->protocol->clocks; ||| bool each = w->protocol->independent; ||| none-lost' >"$dir/missed"
"$mutate" --build "$build" --noticed "$dir/missed" >"$dir/out" 2>"$dir/err"
check 'one that its claim does not notice is missed' test "$?" -eq 1
check 'and named' grep -q '^MISSED world/rules/world_judge.c, judge_timers' "$dir/out"
if [ "${RECLINE_LONG:-0}" = 1 ]; then
  "$mutate" --build "$build" --judge --seed "${RECLINE_SEED:-401}" --count "${RECLINE_COUNT:-3}" >"$dir/out" 2>"$dir/err"
  check 'changes of the judge are noticed, or known to be none' test "$?" -eq 0
  sed -n 's/^SURVIVES/# &/p' "$dir/out"
  finish 17
else
  finish 16
fi
