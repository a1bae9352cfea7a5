#!/bin/sh
# Writes the table of docs/prove.md anew: what `recline prove --memory` says of each protocol, with 2
# and 3 ranks and lists of one and two entries, each in the time that is given (default 60s).
set -eu
root=$(CDPATH='' cd "$(dirname "$0")/.." && pwd)
recline=${RECLINE_BUILD:-$root/build}/bin/recline
page=$root/docs/prove.md
rows=$(mktemp)
trap 'rm -f "$rows" "$rows.out"' EXIT
for name in $("$recline" list protocols | awk '{ print $1 }'); do
  "$recline" prove --memory --timeout "${1:-60s}" "$name" >"$rows.out" || true
  awk -v name="$name" '
    NR == 1 { verdict = $2; worlds = $3; paths = $5; queries = $7; seconds = $9 }
    /^  memory: / { memory = substr($0, 11) } /^  actions: / { actions = substr($0, 12) }
    /^    / || /^  (memory|actions): / || NR == 1 { next } { why = substr($0, 3) }
    END {
      if (memory == "") memory = verdict; if (actions == "") actions = verdict
      gsub(/\|/, "\\|", memory); gsub(/\|/, "\\|", actions)
      printf "| `%s` | %s | %s | %s | %s | %s | %s |\n", name, memory, actions, worlds, paths, queries, seconds
    }' "$rows.out" >>"$rows"
done
awk -v rows="$rows" '
  /<!-- table -->/ { print; print ""; print "| protocol | memory | actions | worlds | paths | queries | seconds |"
    print "|---|---|---|---|---|---|---|"
    while ((getline line < rows) > 0) print line
    print ""; skip = 1; next }
  /<!-- end -->/ { skip = 0 }
  !skip { print }' "$page" >"$page.new"
mv "$page.new" "$page"
