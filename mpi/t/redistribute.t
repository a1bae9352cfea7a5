#!/bin/sh
# Programs on real MPI whose job is killed go on with another number of processes: cg, lulesh-like
# and a Jacobi iteration go from 8 to 4, 6 and 12. The values are the same as in a run that was not
# killed, except for the order of sums. The traces of the second run replay, it can be killed in
# turn, and no file of the first is left. Data that other processes cannot read are refused.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_mpi t/redistribute-jacobi-mpi
export RECLINE_TRACE=1 RECLINE_PROTOCOL=bookmark

# processes NUMBER PROGRAM ARG...: process 1 leaves its number in $dir/pid
processes() {
  number=$1
  shift
  # shellcheck disable=SC2086,SC2016 # a list of words; for the shell of each process
  timeout 300 mpirun ${open-} -n "$number" sh -c \
    '[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != 1 ] || echo $$ >"$0/pid"; exec "$@"' "$dir" "$@" \
    </dev/null >"$dir/out" 2>"$dir/err"
}

# Kills process 1 when a checkpoint of this job is committed, unless the job has ended.
dies() { # NUMBER PROGRAM ARG...
  processes "$@" &
  job=$!
  tail -n +1 -F -s 0.02 --pid="$job" "$RECLINE_CHECKPOINTS/committed" 2>/dev/null |
    while read -r word value; do
      [ "$word" != ranks ] || ranks=$value
      if [ "$word" = checkpoint ] && [ "$ranks" = "$1" ] && [ "$value" -ge 1 ]; then
        kill -9 "$(cat "$dir/pid")"
        break
      fi
    done
  ! wait $job 2>/dev/null
}

# killed NUMBER PROGRAM ARG...: a job may end before it is killed, and is then started again
killed() {
  mkdir -p "$RECLINE_CHECKPOINTS"
  for attempt in 1 2 3 4 5 6; do
    rm -rf "$dir/start"
    cp -r "$RECLINE_CHECKPOINTS" "$dir/start"
    dies "$@" && [ -e "$RECLINE_CHECKPOINTS/committed" ] && return
    rm -rf "$RECLINE_CHECKPOINTS"
    cp -r "$dir/start" "$RECLINE_CHECKPOINTS"
  done
  echo "attempt $attempt" >&2
  return 1
}
parts() { find "$RECLINE_CHECKPOINTS" -name 'checkpoint-*' | sed 's/.*-of-\([0-9]*\)\..*/\1/' | sort -u | xargs; }

distance() { perl "$root/sim/host/t/distance.pl" "$@"; } # FILE FILE PATTERN

# joined NAME: the traces of the second run fit together.
joined() {
  exits 0 "$1: the traces fit together" "$recline" join "$RECLINE_CHECKPOINTS" -o "$dir/trace.txt"
  exits 0 "$1: they replay" "$recline" check "$dir/trace.txt"
}

others() { # NAME EVERY PATTERN MOST PROGRAM ARG...
  name=$1 pattern=$3 most=$4 interval=$2
  shift 4
  RECLINE_TRACE=0 processes 8 "$build/t/$@"
  cp "$dir/out" "$dir/$name"
  export RECLINE_EVERY=$interval RECLINE_CHECKPOINTS="$dir/$name.left"
  check "$name: a process of 8 is killed" killed 8 "$build/t/$@"
  for ranks in 4 6 12; do
    rm -rf "$dir/next"
    cp -r "$dir/$name.left" "$dir/next"
    export RECLINE_CHECKPOINTS="$dir/next"
    processes $ranks "$build/t/$@"
    is "$?" 0 "$name: it ends on $ranks" "$dir/err"
    found=$(distance "$dir/$name" "$dir/out" "$pattern" 2>>"$dir/err")
    [ "${found:-other}" != other ] && [ "$found" -le "$most" ]
    report $? "$name on $ranks: ${found:-no value} units in the last place, at most $most" "$dir/err"
    is "$(find "$dir/next" -name 'c*' | wc -l) $(find "$dir/next" -name 'trace.*' | wc -l)" "0 $ranks" \
      "$name on $ranks: checkpoints are gone, traces are of $ranks"
    joined "$name on $ranks"
  done
}
others jacobi 0.01 '^60 steps' 0 redistribute-jacobi-mpi
others cg 0.05 '^zeta:' 1 cg-mpi -d S
others lulesh 0.05 '^element' 2 lulesh-like-mpi -p -w 12 60

# ---- a chain: 8, then 6, which is killed, then 3 ----

export RECLINE_CHECKPOINTS="$dir/jacobi.left" RECLINE_EVERY=0.001
check 'it is killed on 6 as well' killed 6 "$build/t/redistribute-jacobi-mpi"
is "$(sed -n 's/^ranks //p' "$dir/jacobi.left/committed") $(parts)" '6 6' 'the files are those of 6'
cp -r "$dir/jacobi.left" "$dir/six"
processes 3 "$build/t/redistribute-jacobi-mpi"
is "$? $(grep steps "$dir/out")" "0 $(grep steps "$dir/jacobi")" 'and ends on 3 with the same field' "$dir/err"
RECLINE_CHECKPOINTS="$dir/six" processes 6 "$build/t/redistribute-jacobi-mpi"
is "$? $(grep steps "$dir/out")" "0 $(grep steps "$dir/jacobi")" 'or on 6' "$dir/err"

# ---- blocking ----

export RECLINE_PROTOCOL=blocking RECLINE_CHECKPOINTS="$dir/blocking"
check 'blocking: killed' killed 4 "$build/t/redistribute-jacobi-mpi"
processes 6 "$build/t/redistribute-jacobi-mpi"
is "$? $(grep steps "$dir/out")" "0 $(grep steps "$dir/jacobi")" 'blocking: it ends on 6' "$dir/err"

# ---- what other processes cannot read ----

refused() { # MESSAGE NUMBER PROGRAM ARG...
  message=$1
  shift
  processes "$@"
  is "$? $(grep -c "$message" "$dir/err" | sed 's/^[1-9][0-9]*$/some/')" '64 some' "refused: $message" "$dir/err"
}
left() { # PROTOCOL WORD: 4 processes are killed
  export RECLINE_PROTOCOL="$1" RECLINE_CHECKPOINTS="$dir/refused"
  rm -rf "$dir/refused"
  killed 4 "$build/t/redistribute-jacobi-mpi" $2 || not_ok "$1 $2: killed" "$dir/err"
}
left c3
refused 'messages may cross a checkpoint of c3' 6 "$build/t/redistribute-jacobi-mpi"
left bookmark own
refused 'in which the processes of checkpoint [0-9]* differ, expected recline_protect_distributed()' \
  6 "$build/t/redistribute-jacobi-mpi" own
left bookmark stale
refused 'with another value of an item' 6 "$build/t/redistribute-jacobi-mpi" stale
left bookmark
refused 'as part of another array' 6 "$build/t/redistribute-jacobi-mpi" extents
left bookmark hole
refused 'expected parts that cover the whole' 6 "$build/t/redistribute-jacobi-mpi"
left bookmark gap
processes 6 "$build/t/redistribute-jacobi-mpi"
is "$? $(grep steps "$dir/out")" "0 $(grep steps "$dir/jacobi")" 'what one process does not have another may' "$dir/err"
left bookmark
: >"$dir/refused/checkpoint-$(sed -n 's/^checkpoint //p' "$dir/refused/committed").rank-2-of-4.image"
refused 'rank-2-of-4.image: is damaged' 6 "$build/t/redistribute-jacobi-mpi"

finish
