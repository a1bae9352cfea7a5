#!/bin/sh
# Tests requests for checkpoints. A rank is told of no request while no checkpoint could be taken,
# however long that lasts. Under every protocol whose checkpoints shorten logs, it is told of one
# when a log fills, before the protocol has to give up.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

timers() { # FOLDER: prints how often a rank was told that it is time for a checkpoint
  grep -c '^[0-9.]* [0-9]* timer' "$1/trace.txt"
}

# ---- while nothing can be done ----

cat >repair.yaml <<END
program:    {binary: ring, args: ["4096", "200"], ranks: 4}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: c3}
checkpoint: {every: 500us, bytes: 4KiB, storage: local}
detection:  1ms
failures:   [{rank: 1, at: 10ms, repair: 50ms, kills: rank}]
END
protocols='blocking bookmark c3 c3-envelopes causal chandy-lamport chandy-lamport-tree event-logging
event-logging-paired event-logging-posted event-logging-sorted index-based lai-yang mattern
message-tagging optimistic pessimistic pessimistic-wildcards uncoordinated'
for protocol in $protocols; do
  for repair in 50ms 1h; do
    rm -rf $repair
    timeout 60 "$recline" run repair.yaml --set protocol.name="$protocol" \
      --set failures.0.repair=$repair --out $repair >stdout 2>stderr
  done
  is "$(value 1h/result.json verdict) $(timers 1h)" "recovered $(timers 50ms)" \
    "$protocol: as many requests in a repair of an hour as in one of 50 ms" stderr
done

# ---- where a log fills ----

# In each round a rank makes a choice and sends to the next rank.
cat >fill.c <<'END'
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  int rank, ranks, sum = 0, got, rounds = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < rounds; i++) {
    smpi_execute_flops(7e4); /* 1 ms */
    int said = rank + i + (int)recline_choose(2) / 2;
    MPI_Sendrecv(&said, 1, MPI_INT, (rank + 1) % ranks, i % 7, &got, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, i % 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += got;
  }
  printf("%d: %d\n", rank, sum);
  MPI_Finalize();
  return 0;
}
END
"$build/bin/recline-cc" -O1 fill.c -o fill 2>log || not_ok 'the program is built' log
cat >fill.yaml <<END
program:    {binary: ./fill, args: ["600"], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: pessimistic, capacity: 256}
checkpoint: {every: 10min, bytes: 4KiB, storage: local}
detection:  1ms
failures:   [{rank: 1, at: 300ms, repair: 1ms, kills: rank}]
END
fills='causal event-logging event-logging-paired event-logging-posted index-based optimistic pessimistic
pessimistic-wildcards uncoordinated'
for protocol in $fills; do
  rm -rf out
  timeout 60 "$recline" run fill.yaml --set protocol.name="$protocol" --out out >stdout 2>stderr
  is "$?:$(value out/result.json verdict)" 0:recovered "$protocol: a log that fills asks" stderr
  check "$protocol: more than once, and not at every message" \
    test "$(timers out)" -ge 2 -a "$(timers out)" -le 200
done

# A log that fills asks for no checkpoint that the scenario does not allow.
for set in checkpoint.every=0 checkpoint.count=1; do
  rm -rf out
  timeout 60 "$recline" run fill.yaml --set $set --set 'program.args=["1200"]' --set failures=none \
    --out out >stdout 2>stderr
  is "$(value out/result.json verdict)" gave-up "$set is kept to" stderr
done
finish
