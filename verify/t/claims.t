#!/bin/sh
# Lock 5: every claim and every mutant gets its verdict; lying hosts are noticed. Lock 4: every
# counterexample replays. Lock 7: the same claim gives the same trace, byte for byte.
# RECLINE_LONG=1 adds the claims whose files say that they are long, and verify/claims/long;
# RECLINE_QUICK=1 takes every third of the others, as under the sanitizers; RECLINE_AUDIT=1 runs all
# that the explorer remembers again, and compares.
. "$(dirname "$0")/../../protocols/t/tap.sh"

twice='c3-no-suppress bookmark-release-early lie-c3-early-durable' # their traces are compared
short=$(grep -L '^# long' "$root"/verify/claims/*/*.yaml "$root"/verify/mutants/*/*.yaml | grep -v /claims/long/)
case ${RECLINE_LONG:+long}${RECLINE_QUICK:+quick} in
  long*) which='--all --long' ;;
  quick)
    # shellcheck disable=SC2086 # one word for each
    which="$(echo "$short" | awk 'NR % 3 == 0' | grep -vx "$(for id in $twice; do claim_file "$id"; done)") $twice"
    ;;
  *) which=$short ;;
esac
# shellcheck disable=SC2086 # one word for each claim
"$tool" check $which ${RECLINE_AUDIT:+--audit} --jobs 2 --tap --out "$dir/all" >"$dir/tap" 2>"$dir/err"
grep -v -e '^TAP version' -e '^1\.\.' "$dir/tap" || sed 's/^/# /' "$dir/err"
tap_said=$(grep -c -e '^ok' -e '^not ok' "$dir/tap")
tap_failed=$(grep -c '^not ok' "$dir/tap")
check 'there are claims and mutants' test "$tap_said" -gt 20

for trace in "$dir"/all/*.trace; do
  check "$(basename "$trace") replays" "$tool" replay "$trace"
  check "$(basename "$trace") ends with a violation" \
    sh -c 'tail -n 1 "$1" | grep -q "^violation "' - "$trace"
done

for id in $twice; do
  "$tool" check "$id" --out "$dir/again" >/dev/null 2>&1
  check "$id twice gives the same trace" cmp "$dir/all/$id.trace" "$dir/again/$id.trace"
done

# Checks docs/known-bugs.md: it has every number, its claims exist, and their runs are as long as it
# says.
table=$root/docs/known-bugs.md
check 'the known bugs are 1 to 31' test \
  "$(sed -n 's/^| \([0-9]*\) |.*/\1/p' "$table" | sort -nu | tr '\n' ' ')" = "$(seq -s ' ' 31) "
is_as_told() { # ID MOVES
  file=$(claim_file "$1")
  case $2 in
    holds) grep -q 'verdict: holds' "$file" ;;
    *) test "$(sed '1,/^---$/d' "$dir/all/$1.trace" | grep -c '^[0-9]')" -eq "$2" ;;
  esac
}
sed -n 's/^|.*| `\(.*\)` | \(.*\) |$/\1 \2/p' "$table" | sort -u >"$dir/known"
check 'they are shown by many claims and mutants' test "$(wc -l <"$dir/known")" -gt 50
while read -r id moves; do
  if [ -n "${RECLINE_LONG:-}" ] || [ "$moves" = holds ] || [ -f "$dir/all/$id.trace" ]; then
    check "known bug: $id $moves" is_as_told "$id" "$moves"
  fi
done <"$dir/known"

# Checks docs/protocols/: states and moves are those that were found.
awk -f "$root/verify/t/pages.awk" "$dir/tap" "$root"/docs/protocols/*.md >"$dir/pages" \
  2>"$dir/compared"
check 'the pages tell the numbers that were found' test ! -s "$dir/pages"
check "and many ($(cat "$dir/compared"))" test "$(cut -d ' ' -f 1 "$dir/compared")" -gt 100
sed 's/^/# /' "$dir/pages"

for patch in "$root"/verify/mutants/*/*.patch; do
  check "$(echo "$patch" | claim_names) has a claim" test -f "${patch%.patch}.yaml"
done
finish
