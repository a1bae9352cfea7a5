#!/bin/sh
# docs/how-sure.md has the table that its results make.
. "$(dirname "$0")/../../protocols/t/tap.sh"

sed -n '/^<!-- table -->$/,/^<!-- end -->$/p' "$root/docs/how-sure.md" | grep '^|' >"$dir/shown"
perl "$root/docs/how-sure.pl" >"$dir/made"
is "$(cat "$dir/shown")" "$(cat "$dir/made")" 'the table is what docs/how-sure.pl prints'
"$recline" list protocols | sed 's/ .*//' | sort >"$dir/all"
is "$(sed -n 's/^| `\([a-z0-9-]*\)` .*/\1/p' "$dir/shown" | sort)" "$(cat "$dir/all")" 'it has every protocol'
finish 2
