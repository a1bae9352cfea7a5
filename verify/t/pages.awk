# What the pages of docs/protocols/ say of claims and mutants, against what `recline check --all --tap`
# says: states in tables with a column `states`, moves in those with `moves`. Prints what differs.
#   awk -f pages.awk TAP PAGE...
FNR == NR {
  if ($1 == "ok" || $1 == "not") id = $1 == "ok" ? $4 : $5
  if ($3 == "states,") states[id] = $2
  if (match($0, /by step [0-9]+:/)) moves[id] = substr($0, RSTART + 8, RLENGTH - 9) + 1 # from 0 on
  next
}
FNR == 1 { page = FILENAME; sub(/.*\//, "", page); sub(/\.md$/, "", page) }
!/^\|/ { column = 0; next }
/^\|---/ { next }
!column {
  cells = split($0, head, "|")
  for (i = 2; i < cells; i++) {
    if (head[i] ~ /^ (claim|mutants?) $/) names = i
    if (head[i] ~ /^ (states|(violated, after )?moves|found after) $/) column = i
  }
  counts_states = head[column] ~ /states/
  column = column && names ? column : -1
  next
}
column > 0 {
  split($0, cell, "|")
  found = cell[column]
  gsub(/`[^`]*`/, "", found)
  told = ""
  while (match(cell[names], /`[^`]*`/)) {
    id = substr(cell[names], RSTART + 1, RLENGTH - 2)
    cell[names] = substr(cell[names], RSTART + RLENGTH)
    sub(/^-/, "", id)
    if (!(id in states)) id = page "-" id
    if (match(found, /[0-9][0-9,]*/)) { # the last one is that of all that follow
      told = substr(found, RSTART, RLENGTH)
      found = substr(found, RSTART + RLENGTH)
      gsub(/,/, "", told)
    }
    if (told == "" || !(id in states)) continue # a verdict only, or left out
    number = counts_states ? states[id] : moves[id]
    if (told != number) print page ": " id ": " told ", expected " number
    compared++
  }
}
END { print compared + 0 " compared" > "/dev/stderr" }
