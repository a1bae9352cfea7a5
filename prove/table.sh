#!/bin/sh
# Writes the table of docs/prove.md anew: what `recline prove --memory` says of each protocol, with 2
# and 3 ranks and lists of one and two entries, each in the time that is given (default 60s). One
# protocol is proved on each processor.
set -eu
root=$(CDPATH='' cd "$(dirname "$0")/.." && pwd)
recline=${RECLINE_BUILD:-$root/build}/bin/recline
page=$root/docs/prove.md
rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT
export recline rows time="${1:-60s}"
names=$("$recline" list protocols | awk '{ print $1 }')
# shellcheck disable=SC2016 # for the shell of each protocol
printf '%s\n' "$names" | xargs -P "$(nproc)" -I NAME sh -c '
  "$recline" prove --memory --timeout "$time" "$1" >"$rows/$1.out" || true' sh NAME
for name in $names; do
  awk -v name="$name" '
    NR == 1 { verdict = $2; worlds = $3; paths = $5; queries = $7; seconds = $9 }
    /^  memory: / { memory = substr($0, 11) } /^  actions: / { actions = substr($0, 12) }
    END {
      if (memory == "") memory = verdict; if (actions == "") actions = verdict
      gsub(/\|/, "\\|", memory); gsub(/\|/, "\\|", actions)
      printf "| `%s` | %s | %s | %s | %s | %s | %s |\n", name, memory, actions, worlds, paths, queries, seconds
    }' "$rows/$name.out" >>"$rows/table"
done
awk -v rows="$rows/table" '
  /<!-- table -->/ { print; print ""; print "| protocol | memory | actions | worlds | paths | queries | seconds |"
    print "|---|---|---|---|---|---|---|"
    while ((getline line < rows) > 0) print line
    print ""; skip = 1; next }
  /<!-- end -->/ { skip = 0 }
  !skip { print }' "$page" >"$page.new"
mv "$page.new" "$page"
