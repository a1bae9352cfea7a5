#!/bin/sh
# Tests protocols in real runs that violate their assumptions. With crashes these runs end right,
# are refused, or say that something is wrong; no wrong answer comes without such a message.
#
# Scripts make one choice at most, so runs without failures can end in few ways. Runs without a protocol,
# with several seeds, find these ways. With failures a run is
#     right    it ends in one of these ways
#     refused  exit code 64, nothing was started
#     told     the audit has found a violation, or the protocol gave up, or the program is lost
#     silent   anything else: it ends otherwise, and nothing says so
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

write() { # PLACES EVERY SCRIPT-LINE...
  places=$1 every=$2
  shift 2
  cat >scenario.yaml <<EOF
program:
  ranks: $#
  script: |
$(printf '    %s\n' "$@")
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none, interval: 4, capacity: 64}
checkpoint: {every: $every, storage: local, bytes: 4KiB, places: $places}
detection:  1ms
EOF
  for seed in 1 2 3 4 5 6 7 8; do
    "$recline" run scenario.yaml --set seed=$seed 2>/dev/null | grep '^history: '
  done | sort -u >valid
}

# Makes one run, and prints right, refused, told or silent.
judge() { # WORD...
  timeout 60 "$recline" run scenario.yaml --json --out out "$@" >result 2>err
  code=$?
  found=$(grep '^history: ' out/program.out 2>/dev/null | sort -u)
  if [ $code -eq 64 ]; then
    echo refused
  elif [ $code -eq 0 ] && [ "$(echo "$found" | wc -l)" -eq 1 ] && grep -qxF "$found" valid; then
    echo right
  elif [ $code -eq 1 ] && { [ "$(value result audit.violations)" -gt 0 ] ||
    [ "$(value result verdict)" = gave-up ] || [ "$(value result verdict)" = lost ]; }; then
    echo told
  else
    echo "silent: exit code $code, $found, $*"
  fi
  rm -rf out
}

# Crashes two ranks in turn, at six times. The runs must end in each of WORDS at least once, and in
# no other way.
ends() { # DESCRIPTION WORDS SETTING...
  says=$1 words=$2
  shift 2
  : >ends
  for at in 7 10 13 18 26 41; do
    for seed in 1 2; do
      judge "$@" --set seed=$seed \
        --set "failures=[{rank: $((at % 2)), at: ${at}ms, repair: 1ms}]" >>ends
    done
  done
  is "$(sort -u ends | tr '\n' ' ')" "$words " "$says: $words" ends err
}

# A choice after a checkpoint, and then an orphan that carries its outcome.
write program 3ms \
  'rank 0: compute 4ms, checkpoint, choose 2, compute 1ms, send 1, repeat 12 (compute 2ms, send 1 tag 1, recv 1 tag 1, checkpoint)' \
  'rank 1: compute 1ms, recv 0, compute 1ms, checkpoint, repeat 12 (compute 2ms, send 0 tag 1, recv 0 tag 1, checkpoint)'
is "$(wc -l <valid)" 2 'a choice: two ways to end'
for protocol in c3 pessimistic uncoordinated; do
  ends "$protocol: a choice before an orphan" right --set protocol.name=$protocol
done
for protocol in event-logging event-logging-sorted event-logging-posted message-tagging; do
  ends "$protocol: a choice before an orphan" 'right told' --set protocol.name=$protocol
done
ends 'none: any crash' 'right told' --set protocol.name=none
ends 'bookmark, only at places' 'told' --set protocol.name=bookmark
for protocol in chandy-lamport time-based; do
  ends "$protocol, only at places" refused --set protocol.name=$protocol
done
ends 'blocking, no barrier: from the beginning' right --set protocol.name=blocking
for protocol in event-logging pessimistic uncoordinated; do
  ends "$protocol, lists of one entry" told --set protocol.name=$protocol \
    --set protocol.capacity=1
done
ends 'c3, lists of one entry' right --set protocol.name=c3 --set protocol.capacity=1
ends 'message-tagging, lists of one entry' 'right told' --set protocol.name=message-tagging \
  --set protocol.capacity=1

# A choice makes an iteration different when it is repeated.
write program 3ms \
  'rank 0: repeat 4 (iteration, compute 2ms, send 1, recv 1), iteration, choose 2, send 1, recv 1, repeat 9 (iteration, compute 2ms, send 1, recv 1)' \
  'rank 1: repeat 4 (iteration, compute 2ms, recv 0, send 0), iteration, recv 0, send 0, repeat 9 (iteration, compute 2ms, recv 0, send 0)'
ends 'hybrid: a choice in an iteration' 'right told' --set protocol.name=hybrid

# A choice gives a message another tag the second time. Then the message that was received was never sent.
cat >tags.c <<'END'
#include <mpi.h>
#include <recline.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  int rank, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (unsigned i = 1; i <= 12; i++) {
    recline_iteration(i);
    usleep(2000);
    if (rank == 0)
      MPI_Send(&value, 1, MPI_INT, 1, i == 6 ? recline_choose(2) : 9, MPI_COMM_WORLD);
    else
      MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0)
    puts("history: ended");
  MPI_Finalize();
  return 0;
}
END
"$build/bin/recline-cc" -o tags tags.c >said 2>&1
cat >scenario.yaml <<END
program:    {binary: ./tags, ranks: 2}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: hybrid, interval: 4, capacity: 64}
checkpoint: {storage: local, bytes: 4KiB, places: program}
detection:  1ms
END
echo 'history: ended' >valid
ends 'hybrid: a tag that is chosen' 'right told'

# A barrier keeps a wildcard from messages that are sent after it, but not from messages that are sent
# again.
write program 3ms \
  'rank 0: repeat 12 (iteration, compute 1ms, send 0, recv any tag any, barrier, recv 1, compute 2ms)' \
  'rank 1: repeat 12 (iteration, barrier, send 0)'
ends 'hybrid: a barrier in front of a wildcard' 'right told' --set protocol.name=hybrid
ends 'pessimistic-wildcards: the same' right --set protocol.name=pessimistic-wildcards

# Messages are received an iteration after they were sent, so their sender has no copy of some.
write program 3ms \
  'rank 0: iteration, send 1 tag 9, repeat 12 (iteration, compute 2ms, send 1 tag 9, send 1, recv 1)' \
  'rank 1: iteration, repeat 12 (iteration, compute 2ms, recv 0, recv 0 tag 9, send 0), recv 0 tag 9'
ends 'hybrid: messages cross iterations' told --set protocol.name=hybrid \
  --set protocol.log=1

# Markers need order. Channels have it, whatever the host does. Messages with different tags have none, so
# markers above the matching separate nothing.
write anywhere 3ms \
  'rank 0: repeat 12 (compute 1ms, send 1 tag 1, send 1 tag 2, recv 1 tag 3)' \
  'rank 1: repeat 12 (recv 0 tag 2, compute 2ms, recv 0 tag 1, send 0 tag 3)'
ends 'chandy-lamport: messages overtake by their tags' right --set protocol.name=chandy-lamport
ends 'chandy-lamport above the matching: the same' 'right told' \
  --set protocol.name=chandy-lamport~application

# Receives of any tag, whose order sorted logs do not know.
write anywhere 3ms \
  'rank 0: repeat 12 (compute 2ms, send 1 tag 2, send 1 tag 1, recv 1 tag 3)' \
  'rank 1: repeat 12 (compute 2ms, recv 0 tag any, recv 0 tag any, send 0 tag 3)'
ends 'event-logging: any tag' right --set protocol.name=event-logging
ends 'time-based: clocks off by more than they may' 'right told' --set protocol.name=time-based \
  --set checkpoint.every=8ms --set clocks.longest=1ms --set clocks.deviation=1us \
  --set clocks.skew=1ms
finish 27
