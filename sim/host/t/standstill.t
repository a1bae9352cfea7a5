#!/bin/sh
# Tests that no run stands still because its host has lost a request, a timer or a control message.
# There are requests while programs that have ended are held, control messages that travel with
# messages which no receive awaits, and alarms and messages that are due when the run is over.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

run() { # EXPECTED DESCRIPTION SCENARIO --set KEY=VALUE...
  expected=$1 what=$2
  shift 2
  timeout 60 "$recline" run "$@" --out out >stdout 2>stderr
  is "$?:$(jq -r '"\(.verdict) \(.audit.violations)"' out/result.json)" "0:$expected" "$what" stderr
}

cat >tell.c <<'EOF'
#include <mpi.h>

int main(int argc, char **argv)
{
  int rank, ranks, word = 7;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < ranks && !rank; i++)
    MPI_Send(&word, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
  if (rank)
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -o tell tell.c
cat >tell.yaml <<EOF
program: {binary: ./tell, ranks: 3}
platform: {file: clan.xml}
protocol: {name: bookmark}
checkpoint: {every: 100us, storage: local, bytes: 10kB}
detection: 1ms
failures: [{rank: 1, at: 10us, repair: 1ms}]
EOF
# The first checkpoint commits at 2.704 ms. Rank 1 ends after it, and ranks 0 and 2 had ended before it.
run 'recovered 0' 'a checkpoint is asked for when the programs that it would hold are let go' \
  tell.yaml --set 'checkpoint.at=[2.5ms]'
for at in 1.26ms 2.1ms 2.12ms 2.54ms 2.57ms 2.71ms; do
  run 'recovered 0' "it is asked for at $at" tell.yaml --set "checkpoint.at=[$at]"
done

# Rank 1 crashes after a choice that is not on stable storage. Rank 0 goes back to before its first send
# and copies its image for a long time. Meanwhile it hears what rank 1 has received, and tells rank 1 the
# same with its first message, which rank 1 receives last.
cat >last.c <<'EOF'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static char data[1 << 20];

int main(int argc, char **argv)
{
  int rank, flag, word = 7, bytes = atoi(argv[1]), is_synchronous = argv[2][0] == 's';
  MPI_Request first = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  usleep(1000);
  MPI_Iprobe(1 - rank, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  if (rank == 0) {
    (is_synchronous ? MPI_Issend : MPI_Isend)(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &first);
    usleep(10000);
    MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
  } else {
    usleep(10000);
    MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -o last last.c
sed 's/\(memory_copy_bw" value=\)"[^"]*"/\1"1e6"/' "$root/platforms/clan.xml" >slow.xml
cat >last.yaml <<EOF
program: {binary: ./last, ranks: 2}
platform: {file: slow.xml}
protocol: {name: optimistic}
checkpoint: {at: [0.5ms], storage: local, bytes: 10kB}
detection: 1ms
failures: [{rank: 1, after: {rank: 0, event: arrived}, repair: 1ms}]
EOF
for protocol in optimistic causal pessimistic; do
  for message in '4, standard' '4, synchronous' '1000000, standard'; do
    run 'recovered 0' "$protocol: a report rides on a message that is received last ($message)" \
      last.yaml --set "program.args=[$message]" --set "protocol.name=$protocol"
  done
done

# The run is over at 11.1 ms, and ranks hear of that at 31 ms. Alarms of clocks and control messages that
# are late come in between.
sed 's/\(service-0-ethernet" bandwidth="43.8MBps" latency=\)"[^"]*"/\1"20ms"/' \
  "$root/platforms/clan.xml" >far.xml
is_over() { # PROTOCOL DESCRIPTION --set KEY=VALUE...
  protocol=$1 what=$2
  shift 2
  run 'completed 0' "$protocol: $what when the run is over" last.yaml --set platform.file=far.xml \
    --set 'program.args=[4, standard]' --set "protocol.name=$protocol" --set 'failures=[]' "$@"
}
for protocol in $("$recline" list protocols --json |
  jq -r '.protocols[] | select(.assumes | index("clocks")).name'); do
  is_over "$protocol" 'an alarm is due' --set 'clocks={deviation: 100us, longest: 200us}' \
    --set 'checkpoint={every: 15ms}'
done
is_over pessimistic-wildcards 'a control message is late' --set 'check.hazards=[control-overtakes]'

finish 18
