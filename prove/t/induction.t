#!/bin/sh
# `recline prove PROTOCOL` (docs/prove.md): the line invariant of blocking is proved; mutants of
# blocking, bookmark, chandy-lamport and lai-yang are refuted, with the name of a clause and the
# move after which it fails. The test is skipped where the prover is not built. RECLINE_LONG=1 adds
# the proofs of the other protocols, three ranks, the other mutants, a mutant that only stands
# still, and proofs without one clause.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
[ -x "$build/bin/recline-prove" ] || {
  echo '1..0 # SKIP recline is built without its prover (packages clang, llvm-dev, libz3-dev)'
  exit 0
}
cd "$dir" || exit 1

verdict() { # [OPTION]... PROTOCOL: the verdict
  "$recline" prove "$@" >out 2>err
  code=$?
  set -- $(sed -n '1s/^[^ ]* *\([a-z]*\) .*/\1/p' out)
  echo "$1 $code"
}

# ---- proved ----

never='1 timer, 0 control none from 1, 0 control release from 1, 1 control none from 0'
is "$(verdict --keep moves blocking)" 'proved 0' 'blocking, two ranks' out err
is "$(sed -n 's/^  cannot happen: //p' out)" "$never, 1 control done from 0" \
  'all other moves can happen, those of barriers among them' out
check 'how much was asked is said' grep -q ' clauses .* moves, .* paths, .* queries, ' out

# ---- kept ----

files() { ls moves | wc -l | tr -d ' '; }

all=$(files)
cp out first
echo cut >"moves/$(ls moves | sed -n 1p)"
is "$(verdict --keep moves blocking)" 'proved 0' 'blocking once more' out err
check 'of its moves one is proved anew, whose file was cut' grep -q " $((all - 1)) moves as before, " out
is "$(sed -n 2p out)" "$(sed -n 2p first)" 'and the same moves cannot happen'
is "$(files)" "$all" 'each move has one file'

# ---- refuted ----

of=bookmark
refuted() { # MUTANT CLAUSE [OPTION]...: fails by that clause of ${of}_line.h
  mutant=$1 clause=$2
  shift 2
  is "$(verdict "$@" "$of~$mutant")" 'fails 1' "$of~$mutant fails" out err
  check "by clause $clause" grep -q -E "^  clause \"($clause)\" of ranks [0-9] and [0-9]: " out
  check 'behind a move, from a state' sh -c \
    "grep -q '^    move: ' out && grep -q '^    before: ' out && grep -q '^    after: ' out"
}
refuted blind drained
check 'in the names of fields' grep -q -E '^ +state of 0: phase=(WANTED|DRAINING) .* peers\[1\]\.sent=' out
of=blocking
refuted wants-alone together --keep moves
check 'of whose moves none was known' sh -c '! grep -q " as before, " out'
check 'in a barrier of all ranks' grep -q '^    move: *0 collected barrier: ' out
of=chandy-lamport
refuted own-forgotten cut
refuted log-not-awaited written
of=lai-yang
refuted colourless white
refuted late-not-awaited closed

# ---- values of parameters ----

of=bookmark
refuted blind drained --keep moves --set protocol.exchange=once
check 'the value is said' grep -q ' capacity 1, protocol.exchange=once, .* clauses ' out
refuted blind drained --keep moves --set protocol.exchange=once --set checkpoint.places=anywhere
check 'with another value no move was known' sh -c '! grep -q " as before, " out'
refuted blind drained --keep moves --set protocol.exchange=once
check 'with the same value the moves were' grep -q ' moves as before, ' out
"$recline" prove --json --keep moves --set protocol.exchange=once bookmark~blind | tr -d ' \n' >json
check 'and in JSON' grep -qF ',"set":["protocol.exchange=once"],' json

# ---- not proved ----

sed 's/RCL_ASSUMES_FIFO | //; s/spanning tree", NULL/spanning tree", line/' \
  "$root/protocols/chandy-lamport.c" >unordered.c
echo 'RECLINE_PROTOCOLS(&protocol_chandy_lamport);' >>unordered.c
is "$(verdict unordered.c)" 'fails 1' 'markers in channels that are not said to keep their order' out err
check 'as nothing is known to be ahead of a marker' grep -q '^  clause "ahead"' out
is "$(verdict none)" 'undecided 2' 'none states no line invariant' out err
check 'and it is said' grep -q 'it states no line invariant' out
is "$(verdict --timeout 1s bookmark)" 'undecided 2' 'time is up' out err
check 'and that is said' grep -q '^  the time is up$' out
exits 64 '--without and --memory' "$recline" prove --memory --without told bookmark
exits 64 '--json and --memory' "$recline" prove --memory --json bookmark
exits 64 '--keep and --memory' "$recline" prove --memory --keep moves bookmark

# ---- long ----

needs() { # PROTOCOL: others fail when a clause is left out, except where docs/prove.md says that all are proved
  sed -n "/^| of \`$1\`, left out/,/^\$/p" "$root/docs/prove.md" >rows
  sed -n 's/^    {"\([a-z ]*\)", .*/\1/p' "$root/protocols/lines/$1_line.h" >clauses
  while read -r clause; do
    case $(grep "^|.*\`$clause\`.* | .* |\$" rows) in
      *'all others are proved'*) expected='proved 0' ;;
      *) expected='fails 1' ;;
    esac
    is "$(verdict --timeout 0 --without "$clause" "$1")" "$expected" "$1 without clause \"$clause\"" out err
  done <clauses
}

happens() { # NEVER: all moves of the proof but these can happen
  is "$(sed -n 's/^  cannot happen: //p' out)" "$1" 'all other moves can happen' out
}

lines=50
if [ -n "${RECLINE_LONG:-}" ]; then
  is "$(verdict --timeout 0 bookmark)" 'proved 0' 'bookmark, two ranks' out err
  never='1 timer, 0 control none from 1, 0 control request from 1, 0 control release from 1'
  never="$never, 0 control begin from 1, 1 control none from 0, 1 control done from 0"
  happens "$never, 1 control held from 0"
  is "$(verdict --timeout 0 --set protocol.exchange=once bookmark)" 'proved 0' 'bookmark, one exchange' out err
  never='1 timer'
  for control in none request bookmark release answer held begin; do
    never="$never, 0 control $control from 1"
  done
  for control in none bookmark 'done' answer held begin; do
    never="$never, 1 control $control from 0"
  done
  happens "$never"
  is "$(verdict --timeout 0 chandy-lamport)" 'proved 0' 'chandy-lamport, two ranks' out err
  happens '1 timer, 0 control none from 1, 1 control none from 0, 1 control done from 0'
  is "$(verdict --timeout 0 lai-yang)" 'proved 0' 'lai-yang, two ranks' out err
  never='1 timer'
  for control in none take late closed; do
    never="$never, 0 control $control from 1"
  done
  for control in none take late closed 'done'; do
    never="$never, 1 control $control from 0"
  done
  happens "$never"
  of=blocking
  refuted not-quiet 'decided|channels'
  refuted own-count 'decided|channels'
  refuted any-barrier decided
  refuted release-early held
  refuted done-early count
  refuted erase-early restorable
  refuted not-erased bounded
  is "$(verdict blocking~wants-again)" 'fails 1' 'blocking~wants-again fails' out err
  check 'by a numbered invariant' grep -q '^  clause "numbered" of rank 0' out
  needs blocking
  of=chandy-lamport
  refuted application totals
  refuted children-not-awaited committing
  refuted done-kept count
  refuted erase-early restorable
  refuted forget-early cut
  refuted image-not-awaited written
  refuted last-marker-not-awaited log
  refuted marker-from-initiator marker
  refuted marker-late marker
  refuted neighbour-unmarked marker
  refuted not-erased bounded
  refuted not-redelivered totals
  for mutant in no-record record-all; do
    is "$(verdict chandy-lamport~$mutant)" 'fails 1' "chandy-lamport~$mutant fails" out err
    check 'by a numbered invariant' grep -q '^  clause "numbered" of rank 0' out
  done
  refuted capture-late before --ranks 3
  needs chandy-lamport
  of=lai-yang
  refuted counts-kept tell
  refuted counts-not-awaited closed
  refuted early-delivered red
  refuted early-uncounted red
  refuted erase-early bounded
  refuted image-not-awaited written
  refuted log-not-awaited written
  refuted no-record cut
  refuted not-erased bounded
  refuted not-redelivered totals
  refuted own-forgotten white
  is "$(verdict --timeout 0 --ranks 3 lai-yang)" 'proved 0' 'lai-yang, three ranks' out err
  is "$(verdict --timeout 0 --ranks 3 chandy-lamport)" 'proved 0' 'chandy-lamport, three ranks' out err
  is "$(verdict --timeout 0 --capacity 2 chandy-lamport)" 'proved 0' 'with two entries' out err
  of=message-tagging
  refuted commit-kept begins
  refuted no-hold held
  refuted early-uncounted red
  is "$(verdict --timeout 0 message-tagging)" 'proved 0' 'message-tagging, two ranks' out err
  of=event-logging
  refuted no-hold held --timeout 0
  refuted told-any begins --timeout 0
  refuted begins-uncommitted begins --timeout 0 --set protocol.crossings=0
  refuted expired-forgotten totals --timeout 0 --set protocol.initiators=1
  one='--timeout 0 --set protocol.initiators=1 --set protocol.crossings=0'
  # shellcheck disable=SC2086 # options
  for pair in done-early:count erase-early:restorable given-twice:totals no-drop:totals not-erased:bounded \
    older-forgotten:logs one-orphan-log:logs taken-unlogged:log log-not-awaited:given; do
    refuted "${pair%:*}" "${pair#*:}" $one
  done
  # shellcheck disable=SC2086 # options
  refuted hash-without-tag 'late envelope' $one
  never='0 control none from 1, 0 control committed from 1, 1 control none from 0, 1 control done from 0'
  is "$(verdict --timeout 0 event-logging)" 'proved 0' 'event-logging, two ranks' out err
  is "$(sed -n 's/^  cannot happen: //p' out)" "$never" 'all other moves can happen'
  of=bookmark
  refuted commit-early 'store|durable'
  refuted release-early held
  refuted no-hold held
  refuted one-way 'quiet|channels'
  refuted stale-totals drained
  refuted erase-early restorable
  refuted begins-alone begin
  refuted turns-early asked
  refuted unanswered empty
  needs bookmark
  is "$(verdict --timeout 0 --ranks 3 bookmark)" 'proved 0' 'bookmark, three ranks' out err
  is "$(verdict --timeout 0 bookmark~no-drain)" 'proved 0' 'bookmark~no-drain, which stands still' out err
  lines=340
fi
finish $lines
