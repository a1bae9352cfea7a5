#!/bin/sh
# A referee: worlds modelled by hand for SPIN have the numbers of states and of transitions that the
# explorer finds, and the same verdict. SPIN counts the first state as a transition, too.
# RECLINE_LONG=1: larger ones as well.
. "$(dirname "$0")/../../protocols/t/tap.sh"
. "$root/verify/bench/world.sh"

if ! command -v spin >/dev/null; then
  echo '1..0 # SKIP spin is not installed'
  exit 0
fi

# ours: verdict, states and transitions of the world.
ours()
{
  "$tool" check "$dir/world.yaml" --whole --json |
    sed -n -e 's/^ *"verdict" : "\(.*\)",/verdict \1/p' \
      -e 's/^ *"\(states\|transitions\)" : \([0-9]*\),/\1 \2/p'
}

# The compiler takes longer to optimize the search of a small model than the search takes.
[ -n "${RECLINE_LONG:-}" ] && optimize=-O1 || optimize=-O0

# spins MODEL OPTION...: the same by SPIN. What a model writes and never reads is state, too: -o2.
spins()
{
  (
    cd "$dir"
    model=$1
    shift
    spin -o2 "$@" -a "$root/verify/bench/$model.pml" >/dev/null
    gcc "$optimize" -DSAFETY -o pan pan.c
    ./pan -m100000 -w22 >pan.out
    grep -q 'errors: 0$' pan.out && echo verdict holds || cat pan.out
    sed -n 's/^ *\([0-9]*\) states, stored$/states \1/p' pan.out
    echo "transitions $(($(sed -n 's/^ *\([0-9]*\) transitions .*/\1/p' pan.out) - 1))"
  )
}

# agree TITLE MODEL OPTION...: the world that was written last, and that model.
agree()
{
  title=$1
  shift
  ours >"$dir/ours"
  spins "$@" >"$dir/spins" 2>&1
  check "$title: $(paste -s -d ' ' "$dir/ours")" diff "$dir/ours" "$dir/spins"
}

# snapshot PROTOCOL PROPERTY SENDS OPTION...: a reference world.
snapshot()
{
  write_world "$dir/world.yaml" "$1" 3 ", properties: [$2]" "rank *: free $3"
  title="$1, 3 ranks, $3 sends each"
  sends=$3
  shift 3
  agree "$title" snapshot "-DK=$sends" "$@"
}

# chandy_lamport RANKS SENDS
chandy_lamport()
{
  write_world "$dir/world.yaml" chandy-lamport "$1" '' "rank *: free $2"
  agree "chandy-lamport, $1 ranks, $2 sends each" chandy-lamport "-DN=$1" "-DK=$2"
}

# crashing PROTOCOL CRASHES: the world of crashes.pml.
crashing()
{
  crashes=$2 commits=1 write_world "$dir/world.yaml" "$1" 2 '' 'rank 0: send 1, recv 1' 'rank 1: send 0, recv 0'
  agree "$1, a message each way, $2 crashes" "$1" "-DCRASHES=$2"
}

snapshot cl-c invariant 1
snapshot cl-c invariant 2
snapshot cl-t tokens 1 -DTOKENS
chandy_lamport 2 1
chandy_lamport 2 2
if [ -n "${RECLINE_LONG:-}" ]; then
  chandy_lamport 3 1
fi
crashing bookmark 0
crashing bookmark 2
crashing message-tagging 2
crashing c3 1
if [ -n "${RECLINE_LONG:-}" ]; then
  crashing c3 2
fi
write_world "$dir/world.yaml" none 3 '' 'rank 0: recv any, recv any' 'rank *: send 0'
agree 'wildcard receives' matching
write_world "$dir/world.yaml" none 2 '' 'rank 0: send 1 tag 1, send 1' \
  'rank 1: irecv a 0, recv 0 tag 1, wait a'
agree 'messages of two tags' matching -DTAGS

# Puts the same flaw into the model and into the protocol: SPIN and the explorer must both notice
# it.
agree_on_error() # TITLE MUTANT MODEL OPTION...
{
  title=$1 mutant=$2
  shift 2
  "$tool" check "$mutant" >/dev/null 2>&1
  violated=$?
  spins "$@" >"$dir/spins" 2>&1
  check "$title: a mutant is violated, and so is the model" \
    test "$violated/$(grep -c 'assertion violated' "$dir/spins")" = 0/1
}
agree_on_error 'bookmark that does not look at its bookmarks' bookmark-blind bookmark -DBLIND
agree_on_error 'message-tagging that forgets orphans' message-tagging-no-orphans message-tagging -DNO_ORPHANS
agree_on_error 'c3 that logs no late message' c3-no-late-log c3 -DNO_LATE_LOG
finish
