#!/bin/sh
# The line invariant of a protocol (protocols/line.h) is judged in every state of its claims: each
# clause that says the opposite is violated, by its name; so do mutants that break what it rests on,
# and their counterexamples replay.
. "$(dirname "$0")/../../protocols/t/tap.sh"
cd "$dir" || exit 1

why() { # [FILE]: property and clause of a report in JSON, or the verdict
  jq -r '.claims[0] | if .property == "line-invariant"
    then .property + " " + (.why | capture("clause [0-9]+ \\((?<name>[^)]*)\\)").name)
    else .verdict + " " + (.property // "-") end' "${1:-json}" 2>/dev/null
}

# ---- each clause, turned round ----

source=$root/protocols/bookmark_line.h
clauses=$(sed -n 's/.*RCL_OF_[A-Z]*, [a-z]*, \([a-z_]*\)},*$/\1/p' "$source")
claim() { # PROTOCOL FILE VERDICT: bookmark-recovers, of that protocol
  sed "s,protocol: {name: bookmark\,,protocol: {name: $1\, file: $2\,,
    s,verdict: .*},verdict: $3}," "$root/verify/claims/bookmark/recovers.yaml"
}

turn_round() { # CLAUSE: folder CLAUSE with a shared object and a claim
  mkdir -p "$1/protocols" && cp "$root/protocols/bookmark.c" "$1/turned.c" &&
    sed "s/^#endif\$//; s/^\\(static const struct rcl_clause line\\[\\]\\)/static bool turned(const struct rcl_whole *w, int i, int j) { return !$1(w, i, j); }\\n\\1/
      s/, $1}/, turned}/" "$source" >"$1/protocols/bookmark_line.h" && echo '#endif' >>"$1/protocols/bookmark_line.h" &&
    sed -i 's/\.name = "bookmark"/.name = "turned"/' "$1/turned.c" &&
    echo 'RECLINE_PROTOCOLS(&protocol_bookmark);' >>"$1/turned.c" &&
    ${CC:-cc} -std=c11 -O1 -shared -fPIC -iquote "$1" -iquote "$root" -o "$1/turned.so" "$1/turned.c" &&
    claim turned turned.so holds >"$1/claim.yaml"
}

for clause in $clauses; do
  turn_round "$clause" 2>err
  "$tool" check "$clause/claim.yaml" --json >json 2>>err || true
  name=$(grep -B1 ", $clause}" "$source" | sed -n 's/^ *{"\([^"]*\)".*/\1/p')
  is "$(why)" "line-invariant $name" "clause \"$name\", turned round, is violated" json err
done
is "$(echo "$clauses" | wc -l)" 29 'all clauses were tried'

# ---- mutants that break what the line rests on ----

mutant() { # NAME CLAUSE
  sed '/^  properties:/d; s/^check:$/check:\n  properties: [line-invariant]/
    s/^check: {/check: {properties: [line-invariant], /' \
    "$root/verify/mutants/bookmark/$1.yaml" >"$1.yaml"
  "$tool" check "$1.yaml" --json --out "out-$1" >json 2>err || true
  is "$(why)" "line-invariant $2" "bookmark~$1 violates clause \"$2\"" json err
  exits 0 "bookmark~$1: the counterexample replays" "$tool" check "out-$1"/*.trace
}

mutant blind drained
mutant commit-early store
mutant count-twice totals
mutant no-hold held
mutant one-way quiet
mutant release-early held
mutant stale-totals drained
mutant until-equal bookmark
mutant wildcard-uncounted totals

# ---- where it is judged ----

judged() { # VERDICT: whether a claim that expects it judges the line, of a protocol turned round
  claim turned turned.so "$1" >totals_hold/claim.yaml
  "$tool" check totals_hold/claim.yaml --json >json 2>err || true
  why
}
is "$(judged violated)" 'holds -' 'a claim that expects a violation is about what programs see' json err

# ---- a clause that reads what it is not shown ----

sed 's/return !totals_hold(w, i, j);/return w->rank[1 << 24].held;/' \
  totals_hold/protocols/bookmark_line.h >wild.h && mv wild.h totals_hold/protocols/bookmark_line.h
${CC:-cc} -std=c11 -O1 -shared -fPIC -w -iquote totals_hold -iquote "$root" -o totals_hold/turned.so \
  totals_hold/turned.c
is "$(judged holds)" 'line-invariant totals' 'a clause that reads elsewhere is an answer' json err
check 'and says so' grep -q 'touches what is not shown to it' json
finish 51
