#!/bin/sh
# A referee: the reference worlds, modelled by hand for SPIN, have the numbers of states and of
# transitions that the explorer finds. SPIN counts the first state as a transition, too.
. "$(dirname "$0")/tap.sh"

if ! command -v spin >/dev/null; then
  echo '1..0 # SKIP spin is not installed'
  exit 0
fi

# ours PROTOCOL PROPERTY SENDS: states and transitions.
ours()
{
  cat >"$scratch/world.yaml" <<END
id: world
statement: a reference world
source: docs/explorer.md
program:
  ranks: 3
  script: |
    rank *: free $3
protocol: {name: $1}
check: {checkpoints: 1, crashes: 0, properties: [$2]}
expect: {verdict: holds}
END
  "$tool" check "$scratch/world.yaml" --json |
    sed -n 's/^ *"\(states\|transitions\)" : \([0-9]*\),/\1 \2/p'
}

# spins SENDS OPTION...: the same by SPIN, in its words of errors, too.
spins()
{
  (
    cd "$scratch"
    sends=$1
    shift
    spin "-DK=$sends" "$@" -a "$root/verify/bench/snapshot.pml" >/dev/null
    gcc -O1 -DSAFETY -o pan pan.c
    ./pan -m100000 -w22 >pan.out
    grep -q 'errors: 0$' pan.out || cat pan.out
    sed -n 's/^ *\([0-9]*\) states, stored$/states \1/p' pan.out
    echo "transitions $(($(sed -n 's/^ *\([0-9]*\) transitions .*/\1/p' pan.out) - 1))"
  )
}

# agree PROTOCOL PROPERTY SENDS OPTION...
agree()
{
  protocol=$1 property=$2 sends=$3
  shift 3
  ours "$protocol" "$property" "$sends" >"$scratch/ours"
  spins "$sends" "$@" >"$scratch/spins" 2>&1
  check "$protocol, $sends sends each: $(paste -s -d ' ' "$scratch/ours")" \
    diff "$scratch/ours" "$scratch/spins"
}

agree cl-c invariant 1
agree cl-c invariant 2
agree cl-t tokens 1 -DTOKENS
finish
