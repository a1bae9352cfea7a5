#!/bin/sh
# Processes of programs on real MPI are killed (SIGKILL) at random moments, under each protocol that
# the host takes: at a line of the victim's trace, drawn from all lines of a run without failures.
# The answers are the same, and what all lives have told goes through the world without a violation.
# RECLINE_LONG=N: N kills of each program under each protocol; else one kill in a few of these
# cases. RECLINE_SEED: the seed of the draws.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_mpi t/lulesh-like-mpi
export RECLINE_TRACE=1 RECLINE_EVERY=0.02
seed=${RECLINE_SEED:-$(date +%s)}
echo "# RECLINE_SEED=$seed"
draws=0
draw() { # FROM TO: sets $drawn
  draws=$((draws + 1))
  drawn=$(awk -v s="$seed" -v n=$draws -v a="$1" -v b="$2" \
    'BEGIN { srand(s * 1000 % 2147483647 + n); for (i = 0; i < 9; i++) rand(); print a + int(rand() * (b - a + 1)) }')
}

# processes NUMBER PROGRAM ARG...: each leaves its number in $dir/pid.RANK
processes() {
  number=$1
  shift
  # shellcheck disable=SC2086,SC2016 # a list of words; for the shell of each process
  timeout 600 mpirun ${open-} -n "$number" sh -c \
    'echo $$ >"$0/pid.${OMPI_COMM_WORLD_RANK-$PMI_RANK}"; exec "$@"' "$dir" "$@" </dev/null
}

# Prints what a program says, without times.
answers() { sed '/^time: /d' "$@" | sort -u; }

# Starts the program and kills a process as soon as its trace has that number of lines, unless the job has ended.
killed() { # LINES VICTIM LIFE NUMBER PROGRAM ARG...
  lines=$1 victim=$2 trace=$RECLINE_CHECKPOINTS/trace.$3.$2
  shift 3
  processes "$@" >>"$dir/out" 2>>"$dir/err" &
  job=$!
  tail -n +1 -F -s 0.05 --pid=$job "$trace" 2>/dev/null | {
    [ "$(head -n "$lines" | wc -l)" -lt "$lines" ] || kill -9 "$(cat "$dir/pid.$victim")" 2>/dev/null
  }
  ! wait $job 2>/dev/null
}

# Returns whether all programs had ended in that life: a later start is another run.
had_ended() { # LIFE
  [ "$(grep -l ' account spent=' "$RECLINE_CHECKPOINTS/trace.$1".* | wc -l)" -eq "$ranks" ]
}

# survives KILLS PROTOCOL NUMBER PROGRAM ARG...
survives() {
  kills=$1 RECLINE_PROTOCOL=$2 ranks=$3 name=${4##*/}
  name="${name%-mpi} under $2"
  shift 2
  export RECLINE_PROTOCOL RECLINE_CHECKPOINTS="$dir/checkpoints"
  rm -rf "$RECLINE_CHECKPOINTS"
  processes "$@" >"$dir/plain" 2>"$dir/err"
  is $? 0 "$name: it ends" "$dir/err"
  most=$(wc -l <"$RECLINE_CHECKPOINTS/trace.0.0")
  rm -rf "$RECLINE_CHECKPOINTS"
  dead=0 tries=0
  while [ $dead -lt "$kills" ] && [ $tries -lt $((10 + 10 * kills)) ]; do
    tries=$((tries + 1))
    [ $dead -gt 0 ] || : >"$dir/out" 2>"$dir/err"
    draw 1 $((most * 9 / 10 / kills)) && lines=$drawn # a life has what is left of the program
    draw 0 $((ranks - 1))
    if killed "$lines" "$drawn" $dead "$@" && ! had_ended $dead; then
      dead=$((dead + 1))
    else # the programs had ended ahead of the kill: from the beginning
      rm -rf "$RECLINE_CHECKPOINTS"
      dead=0
    fi
  done
  is $dead "$kills" "$name: processes are killed" "$dir/err"
  processes "$@" >>"$dir/out" 2>"$dir/err"
  is $? 0 "$name: it ends after $dead kills" "$dir/err"
  answers "$dir/plain" >"$dir/expected"
  answers "$dir/out" >"$dir/found"
  same "$dir/found" "$dir/expected" "$name: the same answers"
  exits 0 "$name: the traces fit together" "$recline" join "$RECLINE_CHECKPOINTS" --out "$dir/result"
  is "$(jq -r '"\(.crashes) \(.audit.violations)"' "$dir/result/result.json")" "$dead 0" "$name: each kill is seen, no violation"
  exits 0 "$name: the trace replays" "$recline" check "$dir/result/trace.txt"
}

jacobi() { survives "$1" "$2" 4 "$build/t/jacobi-mpi" 32 400; }
cg() { survives "$1" "$2" 4 "$build/t/cg-mpi" -s S 8; }
lulesh() { survives "$1" "$2" 8 "$build/t/lulesh-like-mpi" 6 20; }
above='bookmark c3 c3-envelopes event-logging event-logging-sorted event-logging-posted
  event-logging-paired message-tagging'
if [ -n "${RECLINE_LONG-}" ]; then
  for protocol in $above; do
    for program in jacobi cg lulesh; do
      $program "$RECLINE_LONG" "$protocol"
    done
  done
  jacobi "$RECLINE_LONG" blocking # which captures in barriers: the others have none
else
  cg 2 c3
  lulesh 1 event-logging
  jacobi 1 bookmark
fi
finish
