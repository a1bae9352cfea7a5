#!/bin/sh
# Tests protocol.capacity: with its default real programs run, and take memory only for used entries
# of lists. If a list is full, or will soon be, a message names a value that helps.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
cat >scenario.yaml <<END
program:    {binary: cg, args: [S], ranks: 8}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: c3}
checkpoint: {every: 50ms, bytes: 64KiB}
detection:  10ms
failures:   [{rank: 3, at: 150ms, repair: 20ms}]
END
for protocol in c3 event-logging hybrid message-tagging pessimistic causal uncoordinated; do
  run_ends recovered "$protocol, default capacity" --set protocol.name=$protocol --memory 150MB
done

small='--set protocol.name=uncoordinated --set protocol.capacity=1024'
# shellcheck disable=SC2086 # a list
"$recline" run scenario.yaml $small >told 2>err
is $? 1 'lists of 1,024 entries are too small' told err
check 'the end names list, key and a value' grep -q \
  '(sent-messages): protocol.capacity is 1024, try 16384$' told
is "$(grep -c 'warning: .* three quarters .*(sent-messages): protocol.capacity is 1024' err)" 1 \
  'a warning came before, once' err
run_ends recovered 'with that value' --set protocol.name=uncoordinated --set protocol.capacity=16384
is "$(grep -c warning stderr)" 0 'and without a warning' stderr

# Checkpoints are asked for faster than tables are gathered, or than one rank can store them. Some are
# left out.
cat >slow.c <<END
#include <mpi.h>
#include <recline.h>
#include <smpi/smpi.h>
int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  recline_image_bytes(rank == 3 ? 4000000 : 100);
  for (int i = 0; i < 40; i++) {
    smpi_execute_flops(7e4); /* 1 ms */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
END
"$build/bin/recline-cc" -O1 slow.c -o slow 2>log || not_ok slow log
often='--set checkpoint.every=1ms --set checkpoint.bytes=0 --set failures=none'
# shellcheck disable=SC2086 # a list
run_ends completed 'uncoordinated, more checkpoints than tables' --set protocol.name=uncoordinated \
  $often --set program.binary=ring --set 'program.args=["4096", "400"]' --set checkpoint.storage=memory
# shellcheck disable=SC2086
run_ends completed 'index-based, more checkpoints than one rank can store' $often \
  --set protocol.name=index-based --set program.binary=./slow --set program.ranks=4 \
  --set checkpoint.storage=local

# Each rank sends thousands of messages (RECLINE_LONG=1: 33,607, with 54 checkpoints). The protocol
# frees what no recovery line needs.
rounds=150 at=0.9
[ -z "${RECLINE_LONG:-}" ] || rounds=600 at=3.5
run_ends recovered 'uncoordinated, room for 1,024 messages and 32 checkpoints' \
  --set protocol.name=uncoordinated --set protocol.capacity=1024 --set program.binary=halo \
  --set "program.args=[\"8192\", \"$rounds\"]" --set checkpoint.every=10ms --set checkpoint.storage=local \
  --set "failures=[{rank: 3, kills: rank, at: ${at}s, repair: 20ms}]"
finish 15
