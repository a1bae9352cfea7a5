#!/bin/sh
# The verdict matrix: every cell has a verdict, and docs/protocols/matrix.md says the same.
. "$(dirname "$0")/tap.sh"

"$build/bin/recline" check --matrix --jobs 2 >"$scratch/table" 2>"$scratch/err"
check 'recline check --matrix' test $? -eq 0
sed -n '/^<!-- table -->$/,/^<!-- end -->$/p' "$root/docs/protocols/matrix.md" |
  sed '1d;$d' >"$scratch/page"
check 'docs/protocols/matrix.md shows what it prints' cmp -s "$scratch/table" "$scratch/page"
empty=$(grep -c -e '|  *|' -e 'inconclusive' -e 'breach' "$scratch/table")
check "no cell is empty ($empty are)" test "$empty" -eq 0
rows=$(grep -c '^| `' "$scratch/table")
protocols=$("$build/bin/recline" list protocols | wc -l)
check "a row for each protocol ($rows of $protocols)" test "$rows" -eq "$protocols"
finish
