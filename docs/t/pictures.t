#!/bin/sh
# The counterexample in README.md is the one that recline check finds and recline draw draws.
# Graphviz places the texts, so they are compared in any order.
. "$(dirname "$0")/../../protocols/t/tap.sh"

texts() { grep -o '>[^<]*</text>' "$1" | sort; }
exits 0 'the mutant is violated, as expected' "$recline" check c3-no-suppress --out "$dir/kept"
exits 0 'its counterexample is drawn' "$recline" draw "$dir/kept/c3-no-suppress.trace" -o "$dir/drawn.svg"
texts "$dir/drawn.svg" >"$dir/drawn"
texts "$root/docs/pictures/c3-no-suppress.svg" >"$dir/texts"
check 'the picture has texts' test -s "$dir/texts"
same "$dir/drawn" "$dir/texts" 'the picture in README.md has the texts of the build'
finish 4
