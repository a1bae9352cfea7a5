#!/bin/sh
# Explores one world by several processes, which mpirun starts: counts, verdicts and traces must be
# those of threads. RECLINE_LONG=1: eight worlds with up to eight processes.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_mpi lib/librecline-transport.so

# several PROCESSES ARG...: recline check, as so many processes.
several() {
  processes=$1
  shift
  # shellcheck disable=SC2086 # lists of words
  timeout 300 mpirun ${open-} -n "$processes" ${preloaded-} "$recline" check "$@" </dev/null
}

# Reads what --json prints.
counts() {
  sed -n -e 's/^ *"\(verdict\|states\|transitions\|depth\|reduction\|why\|livelock_judged\)" : \(.*\),$/\1 \2/p' \
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
worlds='c3-2.1 c3-recovers bookmark-three-two-crashes event-logging-recovers pessimistic-recovers
  hybrid-recovers chandy-lamport-recovers uncoordinated-recovers'
if [ -n "${RECLINE_LONG-}" ]; then
  for claim in $worlds; do
    agrees $claim '1 2 4 8' $claim
  done
  agrees 'stubborn sets' '1 2 4 8' "$scaling/reach-cl-t-4.yaml" --reduce por --max-states 2000000
else
  agrees 'independent recovery' '1 2 4' hybrid-recovers
  agrees 'global recovery' 2 event-logging-recovers
  agrees 'progress, by steps of all' '2 3' bookmark-progress
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

# One of them is killed, and all start again: the same counts.
cp "$here/worlds/big.yaml" "$dir"
saving() { # PROCESSES CLAIM
  several "$1" "$2" --resume "$dir/saves" --save-every 0 --json
}
# killed PROCESSES CLAIM LEVEL: a process is killed after its part of the first save of that level,
# or of a later one (kill-at-save.c). Fails if the processes end before that.
level=40 # struct head of verify/explore/resume.c
killed() {
  preloaded="env KILL_AT_SAVE=$level:$(($3 - 1)) LD_PRELOAD=$build/t/libkill-at-save.so"
  saving "$1" "$2" >"$dir/out" 2>"$dir/err"
  code=$? preloaded=
  [ $code = 137 ] || [ $code = 9 ] # as Open MPI says that it was signal 9, or MPICH
}
"$recline" check "$dir/big.yaml" --json >"$dir/json"
counts "$dir/json" >"$dir/threads"
check 'one of three is killed' killed 3 "$dir/big.yaml" 10
check 'and, gone on from there, once more' killed 3 "$dir/big.yaml" 25
saving 3 "$dir/big.yaml" >"$dir/json" 2>"$dir/err"
is "$?" 0 'it goes on' "$dir/err"
check 'from the second save' test "$(sed -n 's/.*resumed_states. : \([0-9]*\),/\1/p' "$dir/json")" -gt 10000
counts "$dir/json" >"$dir/processes"
check 'to the same counts' cmp "$dir/threads" "$dir/processes"
is "$(ls "$dir/saves")" '' 'and leaves no save'
for claim in ${RECLINE_LONG:+$worlds}; do
  "$recline" check "$claim" --json >"$dir/json"
  counts "$dir/json" >"$dir/threads"
  for processes in 2 4 8; do
    check "$claim: one of $processes is killed" killed $processes "$claim" 5
    saving $processes "$claim" >"$dir/json" 2>"$dir/err"
    counts "$dir/json" >"$dir/processes"
    check 'all go on to the same counts' cmp "$dir/threads" "$dir/processes"
  done
done

# Tests what several processes refuse to do.
exits 64 'two claims' several 2 $bad c3-bounded
check 'are refused in one line' grep -q 'started as 2 processes, expected one claim' "$dir/err"
is "$(grep -c '^recline check' "$dir/err")" 1 'that comes once'
exits 2 'ways round, of which steps alone do not decide' several 2 bookmark-until-equal
check 'are not looked for' grep -q 'bound reached: memory of one process' "$dir/out"
exits 2 'a bound' several 2 c3-bounded --max-states 1000
exits 2 'a time' several 2 c3-2.1 --timeout 0.1
check 'that are too small' grep -q 'bound reached: timeout' "$dir/out"

# Starts processes as the mpirun of another library does, and as srun --mpi=none does.
exits 64 'processes of which MPI does not know' env PMI_SIZE=2 PMI_RANK=0 "$recline" check $bad
check 'are told apart' grep -q 'MPI does not know of all, expected' "$dir/err"
exits 64 'processes that do not know of MPI' env SLURM_STEP_NUM_TASKS=2 "$recline" check $bad
check 'too' grep -q 'none can find the others, expected' "$dir/err"
finish
