#!/bin/sh
# Messages, computations and disks take the times that the description of a machine says.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >probe.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <smpi/smpi.h>

/* One way: half of there and back, once both are there. */
static void probe(int rank, int other, int bytes)
{
  char *data = calloc(1, (size_t)bytes);
  int peer = rank == 0 ? other : 0;
  double began = 0;
  for (int turn = 0; turn < 4 && (rank == 0 || rank == other); turn++) {
    began = turn == 2 ? MPI_Wtime() : began;
    if ((rank == 0) == (turn % 2 == 0))
      MPI_Send(data, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0)
    printf("%d %d %.3f us\n", other, bytes, 5e5 * (MPI_Wtime() - began));
  MPI_Barrier(MPI_COMM_WORLD);
  free(data);
}

int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double began = MPI_Wtime();
  smpi_execute_flops(3e9);
  if (rank == 0)
    printf("3 Gflop %.3f s\n", MPI_Wtime() - began);
  began = MPI_Wtime();
  smpi_execute(0.5);
  if (rank == 0)
    printf("half %.3f s\n", MPI_Wtime() - began);
  for (int other = 1; other < 4; other++) {
    probe(rank, other, 1);
    probe(rank, other, 10000000);
  }
  MPI_Finalize();
  return 0;
}
END
"$build/bin/recline-cc" -w -o probe probe.c || { echo 'Bail out! no program'; exit 1; }
cat >scenario.yaml <<'END'
program:  {binary: ./probe, ranks: 4}
platform:
  nodes:    4
  per_node: 2
  speed:    2Gf
  memory:   20GBps
  network:  {latency: 30us, bandwidth: 1GBps, overhead: 4us, eager: 8KiB, hop: 7us, group: 1}
  within_node: {latency: 3us, bandwidth: 5GBps}
  storage:  {bandwidth: 100MBps, read_bandwidth: 400MBps, write_latency: 50ms}
  local:    {bandwidth: 50MBps, write_latency: 20ms}
protocol: {name: none}
END
said() { # PATTERN
  sed -n "s/^$1 //p" out/program.out
}
near() { # FOUND EXPECTED DESCRIPTION: found within a hundredth, because a reading of the clock takes time
  awk -v found="${1%% *}" -v wanted="$2" 'BEGIN { d = found - wanted
    exit !(d < wanted / 100 + 0.2 && d > -wanted / 100) }'
  report $? "$3: $1, described $2"
}
run_ends completed 'a flat machine'
is "$(said '3 Gflop')" '1.500 s' 'flop by the speed of a core'
is "$(said half)" '0.500 s' 'and so do seconds'
near "$(said '1 1')" 11 'a byte within a node: two overheads and its latency'
near "$(said '2 1')" 38 'between nodes: two overheads and the latency of the network'
near "$(said '1 10000000')" 2009 '10 MB within a node: three latencies, and 5 GB/s'
near "$(said '2 10000000')" 10090 'between nodes: three latencies, and 1 GB/s'
flat=$(said '2 1')
run_ends completed 'a fat tree' --set platform.topology=fat-tree
near "$(said '2 1')" 52 'between groups: two hops more'
run_ends completed 'a tapered one' --set platform.topology=fat-tree --set platform.network.taper=4
near "$(said '2 10000000')" 40132 'whose trunk is a quarter'
run_ends completed 'a dragonfly' --set platform.topology=dragonfly
near "$(said '2 1')" 45 'between its groups: one hop more'
run_ends completed 'one group of two nodes' --set platform.topology=fat-tree --set platform.network.group=2
is "$(said '2 1')" "$flat" 'within a group nothing is added'

# ---- disks ----

cat >scenario.yaml <<'END'
program:
  ranks: 2
  script: |
    rank 0: repeat 300 (compute 10ms, send 1, recv 1)
    rank 1: repeat 300 (compute 10ms, send 0, recv 0)
platform:   {nodes: 3, speed: 1Gf, memory: 20GBps, network: {latency: 2us, bandwidth: 10GBps},
             storage: {bandwidth: 100MBps, read_bandwidth: 400MBps, write_latency: 50ms},
             local: {bandwidth: 50MBps, write_latency: 20ms}, mtbf: 1h}
protocol:   {name: bookmark}
checkpoint: {every: 1s, count: 1, bytes: 10MB}
END
between() { # RANK FROM TO: milliseconds
  awk -v rank="$1" -v from="$2" -v to="$3" '$2 != rank { next }
    !began && $0 ~ from { began = $1 }
    began && $0 ~ to { printf "%.0f\n", 1000 * ($1 - began); exit }' out/trace.txt
}
run_ends completed 'images on the file system'
is "$(between 0 'captured' 'durable')" 250 '20 MB at 100 MB/s and the latency of a synced write' out/trace.txt
is "$(between 0 'durable' 'committed')" 50 'the record of a commit waits for it, too' out/trace.txt
run_ends completed 'images on local disks' --set checkpoint.storage=local
is "$(between 0 'captured' 'durable')" 220 '10 MB at 50 MB/s and its own latency' out/trace.txt
run_ends recovered 'a crash' --set 'failures=[{rank: 1, at: 2s, repair: 1ms}]' --set detection=1ms
is "$(between 1 ' crash' ' start ')" 51 \
  'the image of a rank is read at 400 MB/s beside the other one, without a latency' out/trace.txt
rm -rf out

# ---- what is told ----

run_ends completed 'no default is left out of the notes' --set platform='{nodes: 3, per_node: 2}'
is "$(value out/result.json warnings[])" \
  'platform.speed: not stated, taken as 10Gf
platform.memory: not stated, taken as 10GBps
platform.network.latency: not stated, taken as 2us
platform.network.bandwidth: not stated, taken as 12.5GBps
platform.storage.bandwidth: not stated, taken as 1GBps
platform.storage.write_latency: not stated, taken as 5ms' 'what figures depend on is a warning'
is "$(value out/result.json notes[] | grep 'nothing else')" \
  'platform: taken, as it says nothing else: network.overhead 400ns, network.eager 8KiB, within_node.latency 500ns, within_node.bandwidth 5GBps' \
  'the rest is a note'
run_ends completed 'large images' --set platform='{nodes: 3}' --set checkpoint.bytes=100MB
value out/result.json warnings[] >warnings
! grep -q write_latency warnings && grep -q storage.bandwidth warnings
report $? 'the latency of a write is no warning where images take long' warnings
run_ends completed 'local disks' --set platform='{nodes: 3}' --set checkpoint.storage=local
value out/result.json warnings[] >warnings
! grep -q storage warnings && grep -q local.bandwidth warnings
report $? 'nor is a disk to which nothing is written' warnings
finish
