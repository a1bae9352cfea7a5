#!/bin/sh
# Explores one world by several processes of MPI, with checkpoints by recline's own protocols. A
# process is killed, at several moments; then all start again, and must end with the counts of
# threads. The trace of the protocol in all lives must replay through the world. RECLINE_LONG=1:
# eight worlds, with up to eight processes.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_mpi lib/librecline-transport.so
export RECLINE_TRACE=1

# explore PROCESSES PROTOCOL CLAIM
explore() {
  # shellcheck disable=SC2086 # a list of words
  timeout 300 mpirun ${open-} -n "$1" "$recline" check "$3" --resume "$dir/saves" \
    --checkpoint "$2" --save-every "${every-0.02}" --json </dev/null
}

# Reads what --json prints.
counts() {
  sed -n -e 's/^ *"\(verdict\|states\|transitions\|depth\|reduction\|why\)" : \(.*\),$/\1 \2/p' \
    -e '/"reached" :/,/}/p' "$1"
}

committed() {
  sed -n 's/^checkpoint //p' "$dir"/saves/*/committed 2>/dev/null
}

# kill_at_commit CLAIM CHECKPOINT VICTIM JOB: kills a process as soon as that checkpoint, or a later
# one, is committed, unless the job has ended. The processes that explore are children of the
# processes that mpirun has started.
kill_at_commit() {
  tail -n +1 -F -s 0.1 --pid="$4" "$dir/saves/$(basename "$1" .yaml).checkpoints/committed" \
    2>/dev/null | while read -r word number; do
    if [ "$word" = checkpoint ] && [ "$number" -ge "$2" ]; then
      kill -9 "$(pgrep -f "^$recline check $1 --resume $dir/saves" | while read -r process; do
        pgrep -P "$process" || :
      done | sed -n "$(($3 + 1))p")"
      break
    fi
  done
}

# killed PROCESSES PROTOCOL CLAIM VICTIM: once two more checkpoints are committed
killed() {
  before=$(committed)
  mkdir -p "$dir/saves"
  explore "$1" "$2" "$3" >"$dir/out" 2>"$dir/err" &
  job=$!
  kill_at_commit "$3" $((${before:-0} + 2)) "$4" $job
  ! wait $job 2>/dev/null
}

# survives CLAIM PROCESSES PROTOCOL KILLS: $dir/threads has the counts
survives() {
  story="$(basename "$1" .yaml), $2 processes, $3"
  kill=0
  while [ $kill -lt "$4" ]; do
    check "$story: one is killed" killed "$2" "$3" "$1" $((kill % $2))
    kill=$((kill + 1))
  done
  every=1 explore "$2" "$3" "$1" >"$dir/json" 2>"$dir/err"
  is "$?" 0 "$story: all go on" "$dir/err"
  counts "$dir/json" >"$dir/processes"
  same "$dir/processes" "$dir/threads" "$story: to the counts of threads"
  check "$story: from a checkpoint" test \
    "$(sed -n 's/.*resumed_states. : \([0-9]*\),/\1/p' "$dir/json")" -gt 0
  is "$(find "$dir/saves" -name 'c*' -type f)" '' "$story: which are removed"
  exits 0 "$story: the traces fit together" "$recline" join "$dir"/saves/*.checkpoints -o "$dir/all.trace"
  is "$(grep -c ' detected ' "$dir/all.trace")" "$4" "$story: with each crash"
  exits 0 "$story: the trace replays" "$recline" check "$dir/all.trace"
  rm -rf "$dir/saves"
}

threads() { # CLAIM
  "$recline" check "$1" --json >"$dir/json"
  counts "$dir/json" >"$dir/threads"
}

cp "$here/worlds/big.yaml" "$dir"
threads "$dir/big.yaml"
survives "$dir/big.yaml" 3 bookmark 2
survives "$dir/big.yaml" 3 mattern 2
survives "$dir/big.yaml" 2 blocking 1
for claim in ${RECLINE_LONG:+c3-2.1 c3-recovers bookmark-three-two-crashes event-logging-recovers \
  pessimistic-recovers hybrid-recovers chandy-lamport-recovers uncoordinated-recovers}; do
  threads $claim
  for processes in 2 4 8; do
    for protocol in bookmark blocking mattern lai-yang chandy-lamport; do
      survives $claim $processes $protocol 1
    done
  done
done

# Another world, and what is refused.
check 'one is killed' killed 2 bookmark "$dir/big.yaml" 1
mkdir "$dir/other"
sed 's/checkpoints: 2/checkpoints: 1/' "$dir/big.yaml" >"$dir/other/big.yaml"
exits 64 'another world' explore 2 bookmark "$dir/other/big.yaml"
check 'is told apart' grep -q 'big.checkpoints: is a save of another claim' "$dir/err"
check 'and the checkpoints stay' test -n "$(committed)"
exits 64 'another protocol' explore 2 mattern "$dir/big.yaml"
check 'too' grep -q 'committed:2: protocol bookmark, expected mattern' "$dir/err"
exits 64 'a protocol that wants the same again' explore 2 c3 "$dir/big.yaml"
check 'is refused' grep -q 'c3 relies on a program that does the same again, expected' "$dir/err"
exits 64 'one process' "$recline" check "$dir/big.yaml" --resume "$dir/saves" --checkpoint bookmark
check 'is refused, too' grep -q 'expected processes that mpirun has started' "$dir/err"
finish
