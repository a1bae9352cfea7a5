#!/bin/sh
# Tests memory that the ranks of a node share: the communicator of these ranks, the calls of its
# windows, what a program finds after crashes under every protocol that takes all ranks back, and
# where such memory is refused.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

for program in node-memory-program node-memory-calls; do
  "$build/bin/recline-cc" -O2 -g -Wall -Wextra -Werror "$here/programs/$program.c" -o $program >log 2>&1
  is $? 0 "$program is built" log
done
cat >scenario.yaml <<EOF
program:    {binary: ./node-memory-program, args: [fence, "12"], ranks: 4}
platform:   {file: $root/platforms/clan.xml, per_node: 2}
protocol:   {name: none}
detection:  1ms
EOF
"$recline" list protocols --json >protocols
# Prints the protocols that take ranks back in that way, without those that assume ASSUMPTION.
that_take_back() { # PATTERN [ASSUMPTION]
  jq -r --arg back "$1" --arg not "${2-}" '.protocols[] |
    select((.back | test($back)) and (.assumes | index($not) | not)) | .name' protocols
}
all=$(that_take_back '^all$') alone=$(that_take_back 'failed|dependent')
[ "$(echo "$all" | wc -l)" -gt 8 ] && [ "$(echo "$alone" | wc -l)" -gt 5 ]
report $? 'there are protocols that take back all ranks, and others'

# ---- the calls ----

for per_node in 1 2 4; do
  "$recline" run scenario.yaml --set program.binary=./node-memory-calls \
    --set "program.args=['$per_node']" --set platform.per_node=$per_node --out calls >stdout 2>stderr
  is "$?:$(cat calls/program.out)" '0:0 are wrong' "the calls, $per_node ranks on a node" stderr calls/program.out
done

# ---- crashes ----

# Runs the program, whose ranks wait for each other in that WAY, and prints what is wrong.
runs() { # WAY PER_NODE PROTOCOL FAILURES WORD...
  way=$1 per_node=$2 protocol=$3 failures=$4
  shift 4
  [ -e "right-$way-$per_node" ] || {
    "$recline" run scenario.yaml --set "program.args=[$way,'12']" --set "platform.per_node=$per_node" \
      --out right >stdout 2>stderr
    sort right/program.out >"right-$way-$per_node"
  }
  [ "$protocol" != time-based ] || set -- "$@" --set clocks.longest=400us
  "$recline" run scenario.yaml --json --out found --no-trace --set "program.args=[$way,'12']" \
    --set "platform.per_node=$per_node" --set "protocol.name=$protocol" --set "failures=[$failures]" \
    --set 'checkpoint={every: 5ms, storage: local, bytes: 10kB}' --set limits.simulated=5s "$@" \
    >result.json 2>stderr
  sort found/program.out >found.sorted
  [ "$(value result.json verdict)" = recovered ] && cmp -s found.sorted "right-$way-$per_node" ||
    echo "$way, $per_node on a node, $protocol, $failures: $(cat stderr)"
}

# Prints failures of a KIND: a node or ranks of one node, at that time in ms, or a rank when another
# one of its node has had an event of a checkpoint.
failures_of() { # KIND AT
  victim=$(($2 % 4)) other=$(($2 % 4 ^ 1))
  case $1 in
  node) echo "{rank: $victim, at: $2ms, repair: 1ms}" ;;
  rank) echo "{rank: $victim, at: $2ms, repair: 7ms, kills: rank}" ;;
  twice) echo "{rank: $victim, at: $2ms, repair: 3ms, kills: rank}," \
    "{rank: $other, at: $(($2 + 2))ms, repair: 1ms}" ;;
  *) echo "{rank: $victim, after: {rank: $other, event: $1, checkpoint: 2}, repair: 2ms, kills: rank}" ;;
  esac
}

# Runs the program under one protocol with crashes at many moments. Ways and nodes change from run
# to run.
sweep() { # PROTOCOL WAY...
  protocol=$1 count=0
  shift
  for at in $moments; do
    for kind in node rank twice captured; do
      count=$((count + 1))
      way=$(echo "$@" | awk -v count=$count '{ print $(1 + count % NF) }')
      runs "$way" $((2 + 2 * (count / 2 % 2))) "$protocol" "$(failures_of $kind "$at")"
    done
  done
}

moments='31 101'
[ -z "$RECLINE_LONG" ] || moments=$(seq 3 6 180)
for protocol in $all; do
  ways='fence groups messages'
  ! that_take_back '^all$' same-again | grep -qx "$protocol" || ways="$ways sync locks"
  # shellcheck disable=SC2086 # a list
  sweep "$protocol" $ways >wrong
  is "$(cat wrong)" '' "$protocol: crashes of ranks that share memory"
done

# Under c3 a rank within a collective call is not captured while others are, and what the call stores
# in shared memory belongs to its time before the capture: checkpoints 27 and 34 have such a rank.
checkpoints='6 20 27 34'
[ -z "$RECLINE_LONG" ] || checkpoints=$(seq 2 75)
for checkpoint in $checkpoints; do
  runs leaders 2 c3 "{rank: $((checkpoint % 4)), after: {rank: 0, event: committed, checkpoint: $checkpoint}, \
    repair: 3ms, kills: rank}" --set checkpoint.every=2ms
done >wrong
is "$(cat wrong)" '' 'c3: captures while other ranks of the node are in collective calls'

# ---- what is refused ----

for protocol in $alone; do
  why="$protocol takes ranks back one by one"
  "$recline" run scenario.yaml --set "protocol.name=$protocol" >stdout 2>stderr
  is "$?:$(grep -c "MPI_ERR_RMA_SHARED: $why" stderr)" 64:1 "$protocol refuses shared memory, and says why" stderr
  "$recline" run scenario.yaml --set "protocol.name=$protocol" --set program.binary=./node-memory-calls \
    --set "program.args=['2',refused]" --json --out calls >result.json 2>stderr
  is "$?:$(cat calls/program.out):$(grep -c "allocate_shared was refused: $why" result.json)" \
    '0:0 are wrong:1' '... and the program can handle the error' stderr calls/program.out
done
refused() { # PATTERN DESCRIPTION WORD...
  pattern=$1 description=$2
  shift 2
  "$recline" run scenario.yaml --set protocol.name=c3 "$@" >stdout 2>stderr
  is "$?:$(grep -c "MPI_ERR_RMA_SHARED.*$pattern" stderr)" 64:1 "$description" stderr
}
refused checkpoint.places 'so do checkpoints in places of the program' --set checkpoint.every=5ms \
  --set checkpoint.places=program

# ---- in Fortran ----

if command -v gfortran >/dev/null; then
  "$build/bin/recline-f90" -O2 -g "$here/programs/node-memory-fortran.f90" -o in-fortran >log 2>&1
  is $? 0 'a program in Fortran is built' log
  for failures in '' '{rank: 1, at: 11ms, repair: 1ms}'; do
    "$recline" run scenario.yaml --set program.binary=./in-fortran --set program.args=[] --out found \
      --set protocol.name=chandy-lamport --set checkpoint.every=3ms --set "failures=[$failures]" >stdout 2>stderr
    is "$?:$(sort found/program.out | tr '\n' ';')" "0:$(for rank in 0 1 2 3; do
      echo "rank $rank of 2: $((400 * (rank ^ 1) + 7)), bytes 16;"
    done | tr -d '\n')" "ranks share memory in Fortran${failures:+, with a crash}" stderr found/program.out
  done
else
  ok 'a program in Fortran is built # SKIP no gfortran'
fi
finish
