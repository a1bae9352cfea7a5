#!/bin/sh
# `recline prove --memory` (docs/prove.md): protocols are proved; each seeded flaw, and no other, is
# found with an event; so is the flaw of a mutant. Skipped where the prover is not built.
# RECLINE_LONG=1 adds the proofs of c3 and pessimistic.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
[ -x "$build/bin/recline-prove" ] || {
  echo '1..0 # SKIP recline is built without its prover (packages clang, llvm-dev, libz3-dev)'
  exit 0
}
cd "$dir" || exit 1
small='--ranks 2 --capacity 1'

verdict() { # [OPTION]... PROTOCOL: the verdict, and what fails first
  "$recline" prove --memory "$@" >out 2>err
  code=$?
  set -- $(sed -n '1s/^[^ ]* *\([a-z]*\) .*/\1/p' out)
  echo "$1 $code"
}

# ---- proved ----

is "$(verdict none)" 'proved 0' 'none, all worlds' out err
is "$(verdict blocking)" 'proved 0' 'blocking, all worlds' out err
is "$(verdict chandy-lamport)" 'proved 0' 'chandy-lamport, all worlds' out err
# shellcheck disable=SC2086 # options
is "$(verdict $small lai-yang)" 'proved 0' 'lai-yang, 2 ranks, lists of one entry' out err
# shellcheck disable=SC2086 # options
is "$(verdict $small bookmark)" 'proved 0' 'bookmark, 2 ranks, lists of one entry' out err
tests=78
if [ -n "${RECLINE_LONG:-}" ]; then
  # shellcheck disable=SC2086 # options
  is "$(verdict $small c3)" 'proved 0' 'c3, 2 ranks, lists of one entry' out err
  # shellcheck disable=SC2086 # options
  is "$(verdict $small pessimistic)" 'proved 0' 'pessimistic, 2 ranks, lists of one entry' out err
  tests=80
fi

# ---- seeded ----

seeded() { # SEED VERDICT WORDS: what is said of it
  { echo "#define SEED $1" && cat "$root/prove/t/seeded.c"; } >"$1.c"
  # shellcheck disable=SC2086 # options
  is "$(verdict $small "$1.c")" "$2" "$1: $2" out err
  [ -z "$3" ] || check "$1: $3" grep -q -e "$3" out
  [ -z "$3" ] || check "$1: with an event" grep -q 'event: arrived ' out
}

seeded NONE 'proved 0' ''
seeded OVERRUN 'fails 1' 'memory: writes .* bytes behind its state'
seeded BEFORE 'fails 1' 'memory: reads .* bytes before its state'
seeded OVERFLOW 'fails 1' 'memory: a signed sum overflows'
check 'in the names of fields' grep -q '^    state: .*difference=' out
seeded SHIFT 'fails 1' 'memory: a shift is out of its range'
seeded DIVISION 'fails 1' 'memory: a division has no result'
seeded NULLED 'fails 1' 'memory: writes through a null pointer'
seeded CONSTANT 'fails 1' 'memory: writes to the event, which it may only read'
seeded ROOM 'fails 1' 'memory: wants more actions than there is room for'
seeded LIST 'fails 1' 'actions: discard at arrived: expected one of deliver, discard or keep'
seeded FIELD 'fails 1' 'actions: deliver at arrived: expected the receive of the event'
seeded ARRAY 'fails 1' 'memory: an index is out of its array'
seeded MEETING 'fails 1' 'memory: writes .* bytes behind its state'
check 'with the way that leads there' grep -q 'event: arrived .* tag=5 .*' out
{ echo '#define SEED UNKEPT' && cat "$root/prove/t/seeded.c"; } >UNKEPT.c
# shellcheck disable=SC2086 # options
is "$(verdict $small UNKEPT.c)" 'undecided 2' 'UNKEPT: nothing is proved' out err
check 'as there is no state' grep -q 'no state keeps its invariants' out

# ---- a flaw with one value of a parameter ----

seeded ONCE 'fails 1' 'memory: reads by an index that leads out of its object'
small="$small --set protocol.exchange=once"
seeded ONCE 'fails 1' 'memory: reads .* bytes before its state'
check 'the value is said' grep -q '^ONCE.c  *fails  *2 worlds, protocol.exchange=once, ' out
small='--ranks 2 --capacity 1 --set protocol.exchange=in-turn'
seeded ONCE 'proved 0' ''
small='--ranks 2 --capacity 1'

# ---- mutants, and what is not proved ----

# shellcheck disable=SC2086 # options
is "$(verdict $small bookmark~commit-early)" 'proved 0' \
  'a mutant that is wrong with other ranks only is right with memory' out err
is "$(verdict --timeout 0.01s bookmark)" 'undecided 2' 'time is up' out err

# ---- bad input ----

refused() { # WORDS DESCRIPTION COMMAND...: one line, 64
  words=$1
  shift
  exits 64 "$@"
  is "$(grep -c . err)" 1 "in one line" err
  check "that says '$words'" grep -q -e "$words" err
}
refused 'expected a protocol (recline list protocols)' 'no such protocol' "$recline" prove --memory nosuch
refused 'expected a mutant' 'no such mutant' "$recline" prove --memory bookmark~nosuch
refused 'expected its source in C' 'a shared object' "$recline" prove --memory mine.so
echo 'int x = ;' >bad.c
exits 64 'a source that does not compile' "$recline" prove --memory bad.c
refused '^recline prove: protocol.exchange: "thrice" is unknown, expected twice, once, in-turn or gathered.* (from --set)$' \
  'an unknown value' "$recline" prove --set protocol.exchange=thrice bookmark
refused '^recline prove: unknown key "protocol.name", expected interval, ' 'a key that is no parameter' \
  "$recline" prove --set protocol.name=c3 bookmark
refused '^recline prove: --set protocol.crossings=2, expected a parameter of bookmark (iterations, exchange)$' \
  "another protocol's parameter" "$recline" prove --set protocol.crossings=2 bookmark
refused '^recline prove: --set checkpoint.places=program, expected a parameter of blocking (none)$' \
  'a protocol without parameters' "$recline" prove --memory --set checkpoint.places=program blocking
finish $tests
