#!/bin/sh
# The verdict matrix: every cell has a verdict, and docs/protocols/matrix.md says the same.
. "$(dirname "$0")/../../protocols/t/tap.sh"

"$build/bin/recline" check --matrix --jobs 2 >"$dir/table" 2>"$dir/err"
check 'recline check --matrix' test $? -eq 0
sed -n '/^<!-- table -->$/,/^<!-- end -->$/p' "$root/docs/protocols/matrix.md" |
  sed '1d;$d' >"$dir/page"
check 'docs/protocols/matrix.md shows what it prints' cmp -s "$dir/table" "$dir/page"
empty=$(grep -c -e '|  *|' -e 'inconclusive' -e 'breach' "$dir/table")
check "no cell is empty ($empty are)" test "$empty" -eq 0
rows=$(grep -c '^| `' "$dir/table")
protocols=$("$build/bin/recline" list protocols | wc -l)
check "a row for each protocol ($rows of $protocols)" test "$rows" -eq "$protocols"
finish
