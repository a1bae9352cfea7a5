#!/bin/sh
# A program on real MPI under protocols of recline: processes are killed, all start again, and it
# ends with the same result; the trace of all lives replays through the world. RECLINE_LONG=1: all
# protocols that the host takes, more kills.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_mpi t/jacobi-mpi
export RECLINE_TRACE=1

# processes NUMBER PROGRAM ARG...: each leaves its number in $dir/pid.RANK
processes() {
  number=$1
  shift
  # shellcheck disable=SC2086,SC2016 # a list of words; for the shell of each process
  timeout 600 mpirun ${open-} -n "$number" sh -c \
    'echo $$ >"$0/pid.${OMPI_COMM_WORLD_RANK-$PMI_RANK}"; exec "$@"' "$dir" "$@" </dev/null
}

committed() { # FOLDER: the checkpoint to start from
  sed -n 's/^checkpoint //p' "$1/committed" 2>/dev/null
}

# Kills a process as soon as that checkpoint, or a later one, is committed, unless the job has ended.
kill_at_commit() { # RANK CHECKPOINT JOB
  tail -n +1 -F -s 0.1 --pid="$3" "$RECLINE_CHECKPOINTS/committed" 2>/dev/null |
    while read -r word number; do
      if [ "$word" = checkpoint ] && [ "$number" -ge "$2" ]; then
        kill -9 "$(cat "$dir/pid.$1")"
        break
      fi
    done
}

# killed RANK CHECKPOINTS PROGRAM ARG...: kills the rank when that many more checkpoints are
# committed
killed() {
  victim=$1 until=$(($2 + $(committed "$RECLINE_CHECKPOINTS" || echo 0)))
  shift 2
  mkdir -p "$RECLINE_CHECKPOINTS"
  processes 4 "$@" >"$dir/out" 2>"$dir/err" &
  job=$!
  kill_at_commit "$victim" $until $job
  ! wait $job 2>/dev/null
}

jacobi=$build/t/jacobi-mpi
steps=1500
RECLINE_TRACE=0 processes 4 "$jacobi" 32 $steps >"$dir/plain"
check 'the program runs without the host' grep -q "^$steps steps: " "$dir/plain"

# survives PROTOCOL KILLS
survives() {
  export RECLINE_PROTOCOL="$1" RECLINE_CHECKPOINTS="$dir/$1" RECLINE_EVERY=0.01
  kill=0
  while [ $kill -lt "$2" ]; do
    check "$1: process $((kill % 4)) is killed" killed $((kill % 4)) $((1 + kill % 3)) "$jacobi" 32 $steps
    kill=$((kill + 1))
  done
  last=$(committed "$dir/$1")
  processes 4 "$jacobi" 32 $steps >"$dir/out" 2>"$dir/err"
  is "$?" 0 "$1: it ends" "$dir/err"
  same "$dir/out" "$dir/plain" "$1: with the same result"
  # at any step: a checkpoint that is due before the first barrier is taken at step 0
  check "$1: which went on from a checkpoint" grep -q '^restart at step [0-9]' "$dir/err"
  check "$1: the last that was committed" grep -q "^[^ ]* 0 start checkpoint=$last " "$dir/$1/trace.$2.0"
  is "$(find "$dir/$1" -mindepth 1 -name 'c*')" '' "$1: no checkpoint is left"
  exits 0 "$1: the traces fit together" "$recline" join "$dir/$1" -o "$dir/$1.trace"
  is "$(grep -c ' detected ' "$dir/$1.trace")" "$2" "$1: each kill is seen"
  exits 0 "$1: the trace replays" "$recline" check "$dir/$1.trace"
  exits 0 "$1: a result is written" "$recline" join "$dir/$1" --out "$dir/$1.result"
  is "$(jq -r '"\(.verdict) \(.crashes) \(.audit.violations)"' "$dir/$1.result/result.json")" "recovered $2 0" \
    "$1: which tells of each kill"
  is "$(jq '([.time_s[]] | add) as $sum | ($sum - .simulated_s | fabs) <= 1e-6 * $sum and .time_s.lost > 0 and
    .time_s.restart > 0 and .rank_iterations[3] >= '$steps "$dir/$1.result/result.json")" true \
    "$1: time adds up, some was lost, all iterations were done" "$dir/$1.result/result.json"
}

# Each protocol that the host takes, with checkpoints before and behind the first restart. Protocols
# below the matching are left out: they are for programs that wait at places only.
taken='blocking bookmark c3 c3-envelopes event-logging event-logging-sorted event-logging-posted
  event-logging-paired message-tagging'
survived=$taken
[ -n "${RECLINE_LONG:-}" ] || survived='bookmark c3 event-logging'
for protocol in $survived; do
  survives "$protocol" "${RECLINE_LONG:+1}1"
done

# A start in the folder of a run that has ended is another run, even if an earlier start was killed
# while it removed the old traces.
again() { # PROTOCOL WHAT
  RECLINE_PROTOCOL="$1" RECLINE_CHECKPOINTS="$dir/$1" RECLINE_EVERY=0.01 \
    processes 4 "$jacobi" 32 $steps >"$dir/out" 2>"$dir/err"
  is "$?" 0 "$1, $2: it ends" "$dir/err"
  is "$(find "$dir/$1" -name 'trace.*' | sed 's,.*/,,' | sort | xargs)" 'trace.0.0 trace.0.1 trace.0.2 trace.0.3' \
    "$1, $2: its traces replace those of the run that had ended"
  exits 0 "$1, $2: they fit together" "$recline" join "$dir/$1" -o "$dir/again.trace"
  check "$1, $2: one start, to the end" grep -q ' 1 starts, .* ended, 0 violations$' "$dir/out"
}
cp -r "$dir/c3" "$dir/ended"
again c3 again
cp "$dir"/ended/trace.* "$dir/c3"
rm "$dir"/c3/trace.*.1 "$dir/c3/trace.0.2"
again c3 'behind an unfinished start'
# A process that goes on from a checkpoint behind the end of its program does not tell again that the
# program has finished.
sed -i '/ finished$/d' "$dir/c3/trace.0.3"
again c3 'behind a checkpoint at the end'

# All protocols that are in neither list are refused.
others='none chandy-lamport chandy-lamport-tree lai-yang mattern'
for protocol in $("$recline" list protocols --json | jq -r '.protocols[].name'); do
  case " $(echo $taken $others) " in
    *" $protocol "*) continue ;;
  esac
  exits 64 "$protocol is refused" env RECLINE_PROTOCOL="$protocol" RECLINE_TRACE=0 \
    RECLINE_CHECKPOINTS="$dir/refused" mpirun ${open-} -n 2 "$jacobi" 8 10
done

# Traces that do not tell what has happened are refused.
mkdir "$dir/wrong"
for file in "$dir"/c3/trace.0.*; do
  sed 's/ # \(.\)/ # 0/' "$file" >"$dir/wrong/${file##*/}"
done
exits 64 'another digest' "$recline" join "$dir/wrong" -o "$dir/wrong.trace"
check 'is told' grep -q "trace.0.[0-9]*:[0-9]*: the process says '.*', the world '" "$dir/err"
for file in "$dir"/c3/trace.0.*; do
  grep -v ' arrived .*tag=1' "$file" >"$dir/wrong/${file##*/}"
done
exits 64 'a step that is left out' "$recline" join "$dir/wrong" -o "$dir/wrong.trace"
check 'too' grep -q ':[0-9]*: ' "$dir/err"
check 'and nothing is written' test ! -e "$dir/wrong.trace"

# Misspelt settings are refused.
for setting in RECLINE_CHECKPOINT=x RECLINE_PROTOCOLL=c3 RECLINE_EVRY=3 RECLINE_WHATEVER=1; do
  exits 64 "$setting" env "$setting" mpirun ${open-} -n 2 "$jacobi" 8 10
  check 'is refused' grep -q "there is no setting ${setting%=*}, expected" "$dir/err"
done
exits 64 'what is nearest' env RECLINE_CHECKPOINT=x mpirun ${open-} -n 2 "$jacobi" 8 10
check 'is named' grep -q 'did you mean RECLINE_CHECKPOINTS?' "$dir/err"

# Settings of other parts of recline pass, because CI sets some of them for all tests.
others=$(cd "$here/../.." && grep -rhoE '(getenv\("|\$\{|ENV\{)RECLINE_[A-Z_]+' --include=*.c --include=*.t \
  --include=*.sh --include=*.pl --include=*.pm --include=run --include=recline \
  base command mpi play plots protocols report sim verify world .ci debian recline |
  sed 's/.*RECLINE_/RECLINE_/' | sort -u |
  grep -vxE 'RECLINE_(CHECKPOINTS|PROTOCOL|EVERY|CAPACITY|TRACE|EXECUTABLE)')
check 'others are found' [ "$(echo "$others" | wc -l)" -ge 25 ]
# shellcheck disable=SC2046,SC2086 # a list of words
exits 0 'settings of other parts' env $(printf '%s=1 ' $others) mpirun ${open-} -n 2 "$jacobi" 8 10

# The command line of docs/mpi-host.md compiles a program, which runs.
mkdir "$dir/user"
cp "$here/jacobi.c" "$dir/user/program.c"
ln -s "$build" "$dir/user/build"
line=$(sed -n 's/^mpicc /mpicc /p' "$root/docs/mpi-host.md")
check 'the line compiles a program' sh -c "cd '$dir/user' && $line -lm"
(cd / && unset LD_LIBRARY_PATH && processes 2 "$dir/user/program" 8 10 >"$dir/out" 2>"$dir/err")
check 'which runs, in another folder' grep -q '^10 steps: ' "$dir/out"

# The host refuses some protocols, and files that do not fit.
RECLINE_CHECKPOINTS=$dir/bad RECLINE_PROTOCOL=c3
exits 64 'a protocol of another kind' env RECLINE_PROTOCOL=pessimistic \
  mpirun ${open-} -n 2 "$jacobi" 8 10
check 'is refused' grep -q 'restarts processes one by one, expected' "$dir/err"
mkdir -p "$dir/bad"
printf 'recline-checkpoint 1\nprotocol c3\nranks 3\ncheckpoint 2\n' >"$dir/bad/committed"
exits 64 'checkpoints of another number of processes' mpirun ${open-} -n 2 "$jacobi" 8 10
check 'are refused' grep -q 'committed:3: checkpoints of 3 processes, expected 2' "$dir/err"
sed -i 's/ranks 3/ranks 2/' "$dir/bad/committed"
exits 64 'parts that are not there' mpirun ${open-} -n 2 "$jacobi" 8 10
check 'are missed' grep -q 'checkpoint-2.rank-[01]-of-2.image: is damaged, expected' "$dir/err"
finish
