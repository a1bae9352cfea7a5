#!/bin/sh
# Tests one-sided communication, where both sides make calls (layer-windows.c, layer-windows.f90)
# and where the target makes none (layer-locks.c, layer-locks.f90): every call that is handled, in
# C, C++ and Fortran, under every protocol that recovers, with crashes and without.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-locks
for program in $programs; do mv "$program" "locks-${program#in-}"; done
build_in_all layer-windows
beside=locks-
each_makes 'MPI_Win_[a-zA-Z0-9_]*\|MPI_\(R*Get\|R*Put\|R*Accumulate\|R*Get_accumulate\|Rget\|Rput\|Raccumulate\|Rget_accumulate\|Fetch_and_op\|Compare_and_swap\)' \
  30 '' "$only_in_f08"

write_scenario 4 '["6"]'

rounds=6 every=3ms
for run in $programs $(echo "$programs" | sed 's/in-/locks-/g'); do
  attempt_alone "$run"
  for protocol in c3 pessimistic; do
    recovers "$run" $protocol '{rank: 1, at: 5ms, repair: 1ms}, {rank: 0, at: 9ms, repair: 1ms}'
  done
done

# ---- crashes under all protocols that recover ----
instants='4 11'
[ -z "$RECLINE_LONG" ] || instants='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18'
for at in $instants; do
  crash="{rank: $((at % 4)), at: ${at}ms, repair: 1ms}"
  recovers_everywhere in-c "$crash" 200us
  recovers_everywhere locks-c "$crash" 200us hybrid event-logging message-tagging
done

# ---- what cannot be right is refused ----
cat >wrong.c <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
  int memory = 0;
  MPI_Info info;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", argv[1][0] == 'n' ? "true" : "false");
  MPI_Win_create(&memory, sizeof memory, 1, info, MPI_COMM_WORLD, &window);
  if (argv[1][0] == 'b')
    MPI_Put(&argc, 1, MPI_INT, 0, 1, 1, MPI_INT, window), MPI_Win_fence(0, window);
  else if (argv[1][0] == 'm') {
    static int much[1 << 20];
    for (int i = 0; i < 600; i++)
      MPI_Get(much, 1 << 20, MPI_INT, 0, 0, 1 << 20, MPI_INT, window);
    MPI_Win_fence(0, window);
  } else
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window), MPI_Win_unlock(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -O2 -Wall wrong.c -o wrong >log 2>&1
refused() { # ARGUMENT PROTOCOL PATTERN DESCRIPTION
  "$recline" run scenario.yaml --set program.binary=./wrong --set "program.args=[$1]" \
    --set "protocol.name=$2" >stdout 2>stderr
  is "$?:$(grep -c "$3" stderr)" 64:1 "$4" stderr
}
refused beyond none 'an access beyond its window of 4 bytes' 'an access beyond a window'
refused much none 'an epoch of a window has [0-9]* bytes for one rank' 'more than fits into a message'
for protocol in event-logging hybrid message-tagging; do
  refused lock $protocol "locks a window under $protocol, which relies on messages that say the same" \
    "locks, by $protocol, as a reply depends on who came first"
done
refused no-locks none 'locks a window that was made with "no_locks"' \
  'a lock of a window that forbids them'

# ---- ranks of one node share no memory, as a recovery line would cut what they write ----
cat >node.c <<'EOF'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
  enum { LENGTH = MPI_MAX_PROCESSOR_NAME };
  int rank, ranks, size, unit, length, same = 0;
  long *own, *all;
  MPI_Aint bytes;
  MPI_Comm node;
  MPI_Win window;
  char name[LENGTH] = "", *names;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  names = calloc(ranks, LENGTH);
  MPI_Get_processor_name(name, &length);
  MPI_Allgather(name, LENGTH, MPI_CHAR, names, LENGTH, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    same += !strcmp(name, names + (size_t)i * LENGTH);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  MPI_Win_allocate_shared(8 * sizeof *own, sizeof *own, MPI_INFO_NULL,
                          argc > 1 ? MPI_COMM_WORLD : node, &own, &window);
  MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &all);
  for (int step = 0; step < 20; step++) {
    MPI_Win_fence(0, window);
    all[step % 8] += 100 * rank + step;
    smpi_execute_flops(1e6);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d: %d by name, %d by split_type, %ld bytes, %ld\n", rank, same, size, (long)bytes,
         all[3]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -O2 -Wall node.c -o node >log 2>&1
node() { # WORD...
  "$recline" run scenario.yaml --json --set program.binary=./node --set program.args=[] \
    --set platform.per_node=2 --set check.properties=[agreement] --out node-out "$@" >node.json 2>node.err
}
seq 0 3 | awk '{ printf "rank %d: 2 by name, 1 by split_type, 64 bytes, %d\n", $1, 300 * $1 + 33 }' >alone
node
sort node-out/program.out >found
same found alone 'each rank of a node is alone with its shared window' node.err
wrong=
for protocol in blocking bookmark c3 chandy-lamport pessimistic causal uncoordinated; do
  node --set protocol.name=$protocol --set checkpoint.every=3ms \
    --set 'failures=[{rank: 1, at: 9ms, repair: 1ms}, {rank: 2, at: 20ms, repair: 1ms}]'
  sort node-out/program.out >found
  [ "$(value node.json verdict)" = recovered ] && cmp -s found alone || wrong="$wrong $protocol"
done
is "$wrong" '' 'and so it is when ranks of the node crash' node.err
"$recline" run scenario.yaml --set program.binary=./node --set program.args=[world] \
  --set platform.per_node=2 >stdout 2>stderr
is "$?:$(grep -c 'MPI_ERR_RMA_SHARED' stderr)" 64:1 'a window that several ranks share is refused' stderr
finish
