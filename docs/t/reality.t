#!/bin/sh
# The tables and the picture of docs/reality.md are those that mpi/bench/reality.pl makes of the numbers
# in docs/reality.
. "$(dirname "$0")/../../protocols/t/tap.sh"
docs=$here/..
perl "$root/mpi/bench/reality.pl" page "$docs/reality" >"$dir/tables" 2>"$dir/err"
is $? 0 'tables are made' "$dir/err"
sed -n '/^<!-- numbers -->$/,/^<!-- numbers end -->$/p' "$docs/reality.md" | sed '1d;$d' >"$dir/shown"
same "$dir/shown" "$dir/tables" 'they are those of the page'
perl "$root/mpi/bench/reality.pl" picture "$docs/reality" >"$dir/picture" 2>"$dir/err"
is $? 0 'so is the picture' "$dir/err"
same "$docs/pictures/reality.svg" "$dir/picture" 'which is that of the page'
check 'it is XML' python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$dir/picture"
# Tests that a changed number changes the page; the runs of each program are counted, too.
cp -r "$docs/reality" "$dir/other"
sed -i '/,simulated_s,/s/,[^,]*$/,9/' "$dir/other/predicted.csv"
perl "$root/mpi/bench/reality.pl" page "$dir/other" >"$dir/changed"
check 'another prediction makes another table' sh -c "! cmp -s '$dir/changed' '$dir/tables'"
finish
