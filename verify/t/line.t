#!/bin/sh
# Tests that the line invariant of a protocol (protocols/line.h) is judged in every state of its
# claims. A clause that is turned into its opposite must be violated, and the report must name it.
# Mutants that break what the invariant rests on must violate a clause, too, and their
# counterexamples must replay. Every third clause is turned; with RECLINE_LONG=1 all are.
. "$(dirname "$0")/../../protocols/t/tap.sh"
cd "$dir" || exit 1

why() { # [FILE]: property and clause of a report in JSON, or the verdict
  jq -r '.claims[0] | if .property == "line-invariant"
    then .property + " " + (.why | capture("clause [0-9]+ \\((?<name>[^)]*)\\)").name)
    else .verdict + " " + (.property // "-") end' "${1:-json}" 2>/dev/null
}

# ---- each clause, turned round ----

claim() { # PROTOCOL FILE VERDICT: the claim `recovers` of $of, of that protocol
  sed "s,protocol: {name: $of\,,protocol: {name: $1\, file: $2\,,
    s,verdict: .*},verdict: $3}," "$root/verify/claims/$of/recovers.yaml"
}

turn_round() { # CLAUSE: folder CLAUSE with a shared object and a claim
  rm -rf "$1" && mkdir -p "$1/protocols/lines" && cp "$root/protocols/$of.c" "$1/turned.c" &&
    sed "s/^#endif\$//; s/^\\(static const struct rcl_clause line\\[\\]\\)/static bool turned(const struct rcl_whole *w, int i, int j) { return !$1(w, i, j); }\\n\\1/
      s/, $1}/, turned}/" "$source" >"$1/protocols/lines/${of}_line.h" && echo '#endif' >>"$1/protocols/lines/${of}_line.h" &&
    sed -i "s/\"$of\([a-z-]*\)\"/\"turned\1\"/" "$1/turned.c" &&
    echo "RECLINE_PROTOCOLS(&protocol_$(echo "$of" | tr - _));" >>"$1/turned.c" &&
    ${CC:-cc} -std=c11 -O0 -shared -fPIC -iquote "$1" -iquote "$root" -o "$1/turned.so" "$1/turned.c" &&
    claim turned turned.so holds >"$1/claim.yaml"
}

turn_each() { # PROTOCOL COUNT: turns round every `each`-th clause of COUNT
  of=$1 source=$root/protocols/lines/${1}_line.h
  clauses=$(sed -n 's/.*RCL_OF_[A-Z_]*, [a-z]*, \([a-z_]*\)},*$/\1/p' "$source")
  for clause in $(echo "$clauses" | awk -v each="$each" 'NR % each == 0'); do
    turn_round "$clause" 2>err
    "$tool" check "$clause/claim.yaml" --audit --json >json 2>>err || true
    name=$(grep -B1 ", $clause}" "$source" | sed -n 's/^ *{"\([^"]*\)".*/\1/p')
    is "$(why)" "line-invariant $name" "$of: clause \"$name\", turned round, is violated" json err
  done
  is "$(echo "$clauses" | wc -l)" "$2" "$of: there are as many clauses"
}
each=3 tests=219
[ -z "${RECLINE_LONG:-}" ] || each=1 tests=350
turn_each blocking 30
turn_each chandy-lamport 26
turn_each lai-yang 27
turn_each message-tagging 34
turn_each event-logging 35
turn_each bookmark 41

# ---- what the explorer keeps of the states before ----

for of in blocking chandy-lamport event-logging bookmark; do
  "$tool" check "$root/verify/claims/$of/recovers.yaml" --audit --json >json 2>err
  is "$(jq -r '.claims[0].verdict' json)" holds "$of: each state looks as it does alone" json err
done

# ---- mutants that break what the line rests on ----

mutant() { # NAME CLAUSE: of $of
  sed '/^  properties:/{:more
    /\]/!{N
    b more
    }
    d
    }
    s/^check:$/check:\n  properties: [line-invariant]/
    s/, properties: \[[^]]*\]//; s/^check: {/check: {properties: [line-invariant], /' \
    "$root/verify/mutants/$of/$1.yaml" >"$1.yaml"
  "$tool" check "$1.yaml" --json --out "out-$1" >json 2>err || true
  is "$(why)" "line-invariant $2" "$of~$1 violates clause \"$2\"" json err
  exits 0 "$of~$1: the counterexample replays" "$tool" check "out-$1"/*.trace
}

mutant blind drained
mutant commit-early store
mutant count-twice totals
mutant no-hold held
mutant one-way quiet
mutant release-early held
mutant stale-totals drained
mutant undetailed drained
mutant until-equal bookmark
mutant wildcard-uncounted totals
of=blocking
mutant any-barrier together
mutant done-early count
mutant erase-early restorable
mutant not-quiet decided
mutant own-count decided
mutant release-early held
mutant wants-alone decided
of=chandy-lamport
mutant capture-late before
mutant erase-early restorable
mutant forget-early cut
mutant image-not-awaited written
mutant last-marker-not-awaited log
mutant log-not-awaited written
mutant marker-from-initiator marker
mutant marker-late marker
mutant not-redelivered totals
mutant own-forgotten cut
mutant record-all cut
of=lai-yang
mutant colourless white
mutant counts-kept white
mutant counts-not-awaited closed
mutant early-delivered red
mutant early-uncounted red
mutant erase-early restorable
mutant image-not-awaited written
mutant log-not-awaited written
mutant no-record cut
mutant not-redelivered totals
mutant own-forgotten white
of=message-tagging
mutant commit-kept begins
mutant commit-without-one committing
mutant done-early count
mutant dropped-behind white
mutant dropped-counted white
mutant dropped-uncounted white
mutant early-counted-again early
mutant early-uncounted red
mutant erase-early restorable
mutant no-hold held
mutant no-late-log cut
mutant no-orphans early
mutant not-counted closed
mutant not-erased bounded
mutant slot-shared totals
mutant taken-unlogged kept
mutant zero-not-awaited closed
of=event-logging
mutant begins-uncommitted begins
mutant done-early 'done'
mutant erase-early restorable
mutant expired-forgotten totals
mutant given-twice totals
mutant hash-without-tag 'late envelope'
mutant log-not-awaited given
mutant no-drop totals
mutant no-hold held
mutant no-late-log late
mutant not-erased bounded
mutant older-forgotten logs
mutant one-orphan-log logs
mutant taken-unlogged late
mutant told-any begins
of=bookmark

# ---- where it is judged ----

judged() { # VERDICT: whether a claim that expects it judges the line, of a protocol turned round
  claim turned turned.so "$1" >totals_hold/claim.yaml
  "$tool" check totals_hold/claim.yaml --json >json 2>err || true
  why
}
is "$(judged violated)" 'holds -' 'a claim that expects a violation is about what programs see' json err

# ---- what a clause is shown ----

says() { # STATEMENTS: the clause `totals` of the protocol in totals_hold consists of them
  sed "s/^static bool turned(.*/static bool turned(const struct rcl_whole *w, int i, int j) { $1 }/" \
    totals_hold/protocols/lines/bookmark_line.h >other.h &&
    mv other.h totals_hold/protocols/lines/bookmark_line.h &&
    ${CC:-cc} -std=c11 -O0 -shared -fPIC -w -iquote totals_hold -iquote "$root" \
      -o totals_hold/turned.so totals_hold/turned.c
}
dead='w->rank[(i + 1) % w->ranks].standing == RCL_STANDS_DEAD'
says "return i != j || $dead;"
is "$(judged holds)" 'holds -' 'a clause about one rank does not see the next one' json err
says "return i == j || j != (i + 1) % w->ranks || $dead;"
is "$(judged holds)" 'line-invariant totals' 'a clause about two ranks sees both' json err
says 'return w->rank[1 << 24].held;'
is "$(judged holds)" 'line-invariant totals' 'a clause that reads elsewhere is an answer' json err
check 'and says so' grep -q 'touches what is not shown to it' json
finish $tests
