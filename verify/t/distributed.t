#!/bin/sh
# One world explored by several processes, which mpirun starts: the counts, verdicts and traces of
# threads. RECLINE_LONG=1: eight worlds with up to eight processes.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
command -v mpirun >/dev/null && [ -e "$build/lib/librecline-transport.so" ] || {
  echo '1..0 # SKIP recline is built without MPI (packages libopenmpi-dev, openmpi-bin)'
  exit 0
}
! mpirun --version 2>&1 | grep -q 'Open MPI' || open='--allow-run-as-root --oversubscribe'

# several PROCESSES ARG...: recline check, as so many processes.
several() {
  processes=$1
  shift
  # shellcheck disable=SC2086 # a list of words
  timeout 300 mpirun ${open-} -n "$processes" "$recline" check "$@" </dev/null
}

# Reads what --json prints.
counts() {
  sed -n -e 's/^ *"\(verdict\|states\|transitions\|depth\|reduction\|why\)" : \(.*\),$/\1 \2/p' \
    -e '/"reached" :/,/}/p' "$1"
}

# agrees NAME PROCESSES ARG...: as threads do.
agrees() {
  name=$1 all=$2
  shift 2
  "$recline" check "$@" --json >"$dir/json" 2>"$dir/err"
  counts "$dir/json" >"$dir/threads"
  for processes in $all; do
    several "$processes" "$@" --json >"$dir/json" 2>"$dir/err"
    counts "$dir/json" >"$dir/processes"
    check "$name: $processes processes" cmp "$dir/threads" "$dir/processes"
  done
}

scaling=$root/verify/scaling
if [ -n "${RECLINE_LONG-}" ]; then
  for claim in c3-2.1 c3-recovers bookmark-three-two-crashes event-logging-recovers \
    pessimistic-recovers hybrid-recovers chandy-lamport-recovers; do
    agrees $claim '1 2 4 8' $claim
  done
  agrees 'stubborn sets' '1 2 4 8' "$scaling/reach-cl-t-4.yaml" --reduce por --max-states 2000000
else
  agrees 'independent recovery' '1 2 4' hybrid-recovers
  agrees 'global recovery' 2 event-logging-recovers
  sed 's/ranks: 4/ranks: 3/' "$scaling/reach-cl-t-4.yaml" >"$dir/three.yaml"
  agrees 'stubborn sets and symmetry' 2 "$dir/three.yaml" --reduce all
  agrees 'fingerprints' 3 c3-bounded --compact
fi

# A violation: the same run.
bad=c3-no-suppress
"$recline" check $bad --out "$dir/one" >/dev/null
exits 0 'a mutant is violated' several 3 $bad --out "$dir/three"
check 'by the same run' cmp "$dir/one/$bad.trace" "$dir/three/$bad.trace"
is "$(grep -c "^$bad " "$dir/out")" 1 'one process reports'
exits 0 'which replays' "$recline" check "$dir/three/$bad.trace"

# What several processes do not do.
exits 64 'two claims' several 2 $bad c3-bounded
check 'are refused in one line' grep -q 'started as 2 processes, expected one claim' "$dir/err"
is "$(grep -c '^recline check' "$dir/err")" 1 'that comes once'
exits 64 'a property of the whole graph' several 2 bookmark-until-equal
check 'is refused' grep -q 'progress needs all states in one process' "$dir/err"
exits 2 'a bound' several 2 c3-bounded --max-states 1000
exits 2 'a time' several 2 c3-2.1 --timeout 0.1
check 'that are too small' grep -q 'bound reached: timeout' "$dir/out"

# mpirun -n 2 with processes that do not find each other, as srun --mpi=none starts them.
exits 64 'processes of which MPI does not know' env SLURM_STEP_NUM_TASKS=2 "$recline" check $bad
check 'are told apart' grep -q 'MPI knows of fewer, expected' "$dir/err"
finish
