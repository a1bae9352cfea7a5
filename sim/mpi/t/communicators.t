#!/bin/sh
# Tests programs that make and free more communicators than there are numbers (16,000).
# Communicators of the same members are used again, with the same results under checkpoints and
# crashes; requests that still name a communicator keep it. RECLINE_LONG: 40,000 under every
# protocol.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
cat >again.c <<'EOF'
#include <mpi.h>
#include <recline.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, wrong;

static void expect(int right, int round, const char *what)
{
  wrong += !right;
  if (!right && wrong < 5)
    fprintf(stderr, "rank %d, round %d: %s\n", rank, round, what);
}

static void use(MPI_Comm comm, int round)
{
  int members, here, sum, least, next;
  MPI_Comm_size(comm, &members);
  MPI_Comm_rank(comm, &here);
  MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == members * (members - 1) / 2, round, "allreduce");
  int value = 10 * round + here;
  MPI_Sendrecv(&value, 1, MPI_INT, (here + 1) % members, 1, &next, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm,
               MPI_STATUS_IGNORE);
  expect(next == 10 * round + (here + members - 1) % members, round, "sendrecv");
  MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, comm);
  MPI_Bcast(&least, 1, MPI_INT, 0, comm);
}

/* Persistent requests keep a communicator that is freed. */
static void keep(int round)
{
  int sent = 1, other = 2, got = 0, after = 0;
  MPI_Comm old, young;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &old);
  if (rank == 0)
    MPI_Recv_init(&got, 1, MPI_INT, 1, 3, old, &request);
  if (rank == 1)
    MPI_Send_init(&sent, 1, MPI_INT, 0, 3, old, &request);
  MPI_Comm_free(&old);
  MPI_Comm_dup(MPI_COMM_WORLD, &young);
  if (rank == 1)
    MPI_Send(&other, 1, MPI_INT, 0, 3, young);
  if (rank < 2) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
  if (rank == 0) {
    MPI_Recv(&after, 1, MPI_INT, 1, 3, young, MPI_STATUS_IGNORE);
    expect(got == 1 && after == 2, round, "requests of the freed communicator");
  }
  use(young, round);
  MPI_Comm_free(&young);
}

int main(int argc, char **argv)
{
  int ranks, rounds = argc > 1 ? atoi(argv[1]) : 10;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < rounds; i++) {
    MPI_Comm all, some, pair;
    recline_iteration((unsigned)i + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(all, i % 3 == 0 ? rank / 2 : i % 3 == 1 ? rank % 2 : 0, i % 2 ? rank : -rank, &some);
    MPI_Comm_split(MPI_COMM_WORLD, i + rank / 2, 0, &pair);
    if (i % 50 == 0) {
      use(all, i);
      use(some, i);
      use(pair, i);
    }
    MPI_Comm_free(&some);
    if (i % 2)
      MPI_Comm_free(&pair);
    MPI_Comm_free(&all);
    if (i % 2 == 0)
      MPI_Comm_free(&pair);
    if (i % 200 == 0)
      keep(i);
  }
  int all_wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d rounds, %d wrong\n", rounds, all_wrong);
  MPI_Finalize();
  return wrong > 0;
}
EOF
"$build/bin/recline-cc" again.c -o again >log 2>&1
is $? 0 'the program is built' log
rounds=5800 # three communicators each
[ -z "${RECLINE_LONG:-}" ] || rounds=14000
cat >scenario.yaml <<EOF
program:    {binary: ./again, ranks: 4, args: [$rounds]}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3, capacity: 32000, interval: 100}
checkpoint: {every: 40ms, bytes: 64KiB}
detection:  1ms
failures:   [{rank: 1, at: 200ms, repair: 5ms}, {rank: 2, at: 600ms, repair: 5ms}]
EOF
again() { # PROTOCOL
  timeout 500 "$recline" run scenario.yaml --set protocol.name="$1" --out out >said 2>stderr
  is "$? $(cat out/program.out) $(value out/result.json crashes)" "0 $rounds rounds, 0 wrong 2" "$1" said stderr
}
protocols='c3 blocking'
[ -z "${RECLINE_LONG:-}" ] || # uncoordinated never empties its logs
  protocols=$("$recline" list protocols | awk '$1 != "none" && $1 != "uncoordinated" { print $1 }')
for protocol in $protocols; do
  again "$protocol"
done

# ---- a rank crashes while it is charged for messages that make a communicator ----
cat >begun.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
enum { COUNT = 10 };
int main(int argc, char **argv)
{
  int rank, sum = 0, all = 0;
  MPI_Comm made[COUNT];
  MPI_Request request[COUNT];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < COUNT; i++)
    MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &request[i]);
  MPI_Waitall(COUNT, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < COUNT; i++) {
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, made[i]);
    all += sum;
    MPI_Comm_free(&made[i]);
  }
  if (rank == 0)
    printf("%d\n", all);
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" begun.c -o begun >log 2>&1
right=0
for at in 40 60 70 80 90 100 110; do
  timeout 60 "$recline" run scenario.yaml --set program.binary=./begun --set program.ranks=2 \
    --set 'program.args=[]' --set 'checkpoint={every: 30us, storage: local, bytes: 10kB}' \
    --set "failures=[{rank: 1, at: ${at}us, repair: 100us}]" --set detection=50us --out out \
    >said 2>stderr || cat stderr >>errors
  [ "$(cat out/program.out)" = 90 ] && right=$((right + 1))
  rm -f out/program.out
done
is $right 7 'seven crashes while nonblocking duplicates are made' errors

# ---- communicators of one parent, made in every way ----
"$build/bin/recline-cc" -Wall -Wextra -Werror "$here/programs/comm-ways.c" -o ways >log 2>&1
is $? 0 'the program of all ways is built' log
for protocol in c3 pessimistic causal; do
  timeout 60 "$recline" run scenario.yaml --set program.binary=./ways --set 'program.args=[]' \
    --set protocol="{name: $protocol, capacity: 4096}" \
    --set 'checkpoint={every: 2ms, storage: local, bytes: 10kB}' --set detection=50us \
    --set 'failures=[{rank: 1, at: 4ms, repair: 100us}, {rank: 3, at: 9ms, repair: 100us}]' \
    --out out >said 2>stderr
  is "$? $(cat out/program.out) $(value out/result.json crashes)" '0 0 astray 2' \
    "$protocol: communicators of one parent stay apart" said stderr
done
finish
