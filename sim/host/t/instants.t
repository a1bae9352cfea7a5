#!/bin/sh
# Tests when checkpoints are asked for: at instants, up to a number in all, or as the program calls
# for them.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >steps.c <<'EOT'
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  int rank, ranks, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i <= 100; i++) {
    smpi_execute_flops(1e6);
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1 && (i == 20 || i == 21 || i == 60))
      recline_request_checkpoint();
  }
  printf("%d\n", got);
  MPI_Finalize();
  return got != 100;
}
EOT
"$build/bin/recline-cc" -O2 -o steps steps.c
cat >run.yaml <<EOF
program: {binary: ./steps, ranks: 4}
platform: {file: clan.xml}
protocol: {name: bookmark}
checkpoint: {bytes: 1kB}
EOF

# Prints the times of TIMER at a rank, in ms.
timers() { # RANK
  awk -v rank="$1" '$2 == rank && $3 == "timer" { printf "%s%.0f", comma, 1000 * $1; comma = " " }' out/trace.txt
}

# Tests the number of commits and the times of TIMER at rank 0. A step takes 14.3 ms, and a rank that
# computes is told only at its next call.
told() { # EXPECTED DESCRIPTION --set KEY=VALUE...
  expected=$1 what=$2
  shift 2
  rm -rf out
  "$recline" run run.yaml --out out "$@" >stdout 2>stderr
  is "$?:$(jq .checkpoints.committed out/result.json):$(timers 0)" "0:$expected" "$what" stderr
}

told '0:' 'none, where nothing asks'
told '2:157 501' 'at two instants' --set 'checkpoint.at=[500ms,150ms]'
told '2:43 72' 'what comes while one is under way, is told behind it' --set 'checkpoint.at=[30ms,50ms]'
told '1:72' 'two that pass while nobody is told are one' --set 'checkpoint.at=[60ms,61ms]'
told '2:100 215' 'so many in all' --set checkpoint.every=100ms --set checkpoint.count=2
told '4:100 158 273 388' 'instants beside an interval' --set checkpoint.every=100ms \
  --set 'checkpoint.at=[150ms]' --set checkpoint.count=4
told '0:' 'calls are ignored'
told '3:300 329 888' 'as the program calls; a call while one is under way asks for the next' \
  --set checkpoint.calls=taken
told '2:300 329' 'and no more than so many' --set checkpoint.calls=taken --set checkpoint.count=2

# Where each rank has a timer, a call asks for a checkpoint of the calling rank.
told '3:' 'ranks by themselves' --set protocol.name=uncoordinated --set checkpoint.calls=taken
is "$(timers 1)" '300 329 873' 'it is the caller that is told' out/trace.txt

# The coordinator crashes when it is told. The program calls again after the restart.
rm -rf out
"$recline" run run.yaml --out out --set checkpoint.calls=taken \
  --set 'failures=[{rank: 0, after: {event: timer, rank: 0}, repair: 5ms}]' >stdout 2>stderr
is "$?:$(jq -r '.verdict' out/result.json):$(grep -c '^100$' out/program.out):$(timers 0 | wc -w)" 0:recovered:4:4 \
  'a crash as it is told, and the program calls again' stderr out/program.out

# A request that comes while ranks replay is put off, and told again. The same is true of a request
# whose checkpoint a crash undoes before the commit. Each such request leads to a commit.
asked() { # EXPECTED DESCRIPTION --set KEY=VALUE...
  expected=$1 what=$2
  shift 2
  rm -rf out
  "$recline" run run.yaml --out out --set checkpoint.storage=local "$@" >stdout 2>stderr
  is "$?:$(jq -r '"\(.verdict) \(.checkpoints.committed)"' out/result.json)" "0:recovered $expected" "$what" stderr
}
for protocol in c3 c3-envelopes event-logging message-tagging bookmark lai-yang pessimistic optimistic; do
  each=1
  case $protocol in pessimistic | optimistic) each=4 ;; esac # a request of each rank
  asked $((2 * each)) "$protocol: behind a commit and a crash, while ranks replay" \
    --set "protocol.name=$protocol" --set 'checkpoint.at=[150ms,410ms]' \
    --set 'failures=[{rank: 2, at: 400ms, repair: 5ms}]'
  asked "$each" "$protocol: one that a crash undoes" --set "protocol.name=$protocol" \
    --set 'checkpoint.at=[150ms]' --set 'failures=[{rank: 0, after: {rank: 0, event: captured}, repair: 5ms}]'
done

refused() { # PATTERN DESCRIPTION --set KEY=VALUE...
  pattern=$1 what=$2
  shift 2
  "$recline" run run.yaml "$@" >stdout 2>stderr
  is "$?:$(grep -c "$pattern" stderr)" 64:1 "$what" stderr
}
refused 'checkpoint.at.1: "3x" is no time' 'no time' --set 'checkpoint.at=[1s,3x]'
refused 'checkpoint.at: time-based has clocks' 'clocks ask by themselves' --set protocol.name=time-based \
  --set 'checkpoint.at=[1s]'
refused 'checkpoint.calls: time-based has clocks' 'no calls either' --set protocol.name=time-based \
  --set checkpoint.calls=taken
rm -rf out
"$recline" run run.yaml --out out --set 'checkpoint.at=[100s]' >stdout 2>stderr
is "$(grep -c 'checkpoint.at: no checkpoint was taken, the run ended before' stdout)" 1 'one that comes too late' stdout
finish 32
