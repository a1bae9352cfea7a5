#!/bin/sh
# Tests programs that are recorded and replayed. Under every protocol, with a crash, the replay has
# the result of the program itself, except for memory. What cannot be replayed is refused by its
# name. RECLINE_LONG=1: all programs under all protocols.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >calls.c <<'END_OF_FILE'
#include <mpi.h>
#include <recline.h>
#include <stdlib.h>
#include <string.h>
enum { MOST = 8, LENGTH = 64 };
static int rank, ranks, right, left;
static double out[MOST * LENGTH], in[MOST * LENGTH];
static int counts[MOST], starts[MOST], same[MOST];

static void messages(MPI_Comm comm, int length)
{
  MPI_Request request[4];
  MPI_Status status;
  int received, seen;
  MPI_Irecv(in, LENGTH, MPI_DOUBLE, left, 1, comm, &request[0]);
  MPI_Irecv(in + LENGTH, LENGTH, MPI_DOUBLE, right, MPI_ANY_TAG, comm, &request[1]);
  MPI_Isend(out, length, MPI_DOUBLE, right, 1, comm, &request[2]);
  MPI_Issend(out, length, MPI_DOUBLE, left, 2, comm, &request[3]);
  MPI_Wait(&request[0], &status);
  MPI_Get_count(&status, MPI_DOUBLE, &received);
  MPI_Waitall(3, request + 1, MPI_STATUSES_IGNORE);
  MPI_Ibsend(out, 1, MPI_INT, right, 3, comm, &request[0]);
  MPI_Irsend(out, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &request[1]);
  MPI_Probe(left, 3, comm, &status);
  MPI_Recv(&seen, 1, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(out, received, MPI_DOUBLE, left, 4, in, LENGTH, MPI_DOUBLE, right, 4, comm, &status);
  MPI_Sendrecv_replace(in, 3, MPI_DOUBLE, right, 5, left, 5, comm, &status);
  if (rank % 2 == 0) {
    MPI_Send(out, 2, MPI_CHAR, right, 6, comm);
    MPI_Ssend(out, 2, MPI_CHAR, right, 6, comm);
    MPI_Bsend(out, 2, MPI_CHAR, right, 6, comm);
  } else {
    for (int i = 0; i < 3; i++)
      MPI_Recv(in, 2, MPI_CHAR, left, 6, comm, &status);
  }
  MPI_Isend(out, 0, MPI_BYTE, right, 7, comm, &request[0]);
  MPI_Request_free(&request[0]);
  MPI_Recv(in, 0, MPI_BYTE, left, 7, comm, &status);
}

static void collectives(MPI_Comm comm, int root)
{
  MPI_Barrier(comm);
  MPI_Bcast(out, LENGTH, MPI_DOUBLE, root, comm);
  MPI_Reduce(out, in, 5, MPI_DOUBLE, MPI_SUM, root, comm);
  if (rank == root)
    MPI_Reduce(MPI_IN_PLACE, in, 5, MPI_DOUBLE, MPI_MAX, root, comm);
  else
    MPI_Reduce(in, NULL, 5, MPI_DOUBLE, MPI_MAX, root, comm);
  MPI_Allreduce(out, in, LENGTH, MPI_DOUBLE, MPI_MIN, comm);
  MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Scan(out, in, 3, MPI_INT, MPI_BXOR, comm);
  MPI_Exscan(out, in, 3, MPI_LONG, MPI_BAND, comm);
  MPI_Gather(out, 4, MPI_DOUBLE, in, 4, rank == root ? MPI_DOUBLE : NULL, root, comm);
  MPI_Scatter(out, 4, rank == root ? MPI_DOUBLE : NULL, in, 4, MPI_DOUBLE, root, comm);
  MPI_Allgather(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, NULL, in, 4, MPI_DOUBLE, comm);
  MPI_Alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, comm);
  MPI_Gatherv(out, counts[rank], MPI_DOUBLE, in, counts, starts, MPI_DOUBLE, root, comm);
  MPI_Scatterv(out, counts, starts, MPI_DOUBLE, in, counts[rank], MPI_DOUBLE, root, comm);
  MPI_Allgatherv(out, counts[rank], MPI_DOUBLE, in, counts, starts, MPI_DOUBLE, comm);
  MPI_Alltoallv(out, same, starts, MPI_DOUBLE, in, same, starts, MPI_DOUBLE, comm);
  MPI_Reduce_scatter_block(out, in, 2, MPI_DOUBLE, MPI_PROD, comm);
}

int main(int argc, char **argv)
{
  MPI_Comm half, twin;
  int mine;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int i = 0; i < MOST; i++)
    counts[i] = i + 1, starts[i] = i * (i + 1) / 2, same[i] = 1;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 1 : rank == 2 ? MPI_UNDEFINED : 0, -rank, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  double begun = MPI_Wtime();
  for (int i = 0; i < 6; i++) {
    recline_iteration((unsigned)i + 1);
    smpi_execute_flops(1e7 * (rank + 1));
    out[i] = rank + i + MPI_Wtime() - begun;
    messages(i % 2 ? twin : MPI_COMM_WORLD, i);
    smpi_execute(0.01);
    collectives(MPI_COMM_WORLD, i % ranks);
    MPI_Sendrecv(out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (half != MPI_COMM_NULL)
      MPI_Allreduce(&rank, &mine, 1, MPI_INT, MPI_SUM, half);
    recline_potential_checkpoint();
  }
  MPI_Comm_free(&twin);
  MPI_Finalize();
  return 0;
}
END_OF_FILE
# Calls that are begun and completed later, neighbourhood collectives, and types and operations of
# the program.
cat >more.c <<'END_OF_FILE'
#include <mpi.h>
#include <recline.h>
enum { MOST = 8, LENGTH = 96 };
static int rank, ranks, right, left;
static double out[LENGTH], in[4][LENGTH];
static int counts[MOST], starts[MOST], bytes[MOST];
static MPI_Aint places[MOST];
static MPI_Datatype column, types[MOST];
static MPI_Op longest, last;

static void longer(void *a, void *b, int *count, MPI_Datatype *type)
{
  (void)type;
  for (int i = 0; i < *count; i++)
    if (((double *)b)[i] < ((double *)a)[i])
      ((double *)b)[i] = ((double *)a)[i];
}

static void later(void *a, void *b, int *count, MPI_Datatype *type)
{
  (void)a, (void)b, (void)count, (void)type;
}

static void begun(MPI_Comm comm, int root)
{
  MPI_Request all[9];
  MPI_Ibcast(out, 7, MPI_DOUBLE, root, comm, &all[0]);
  MPI_Iallgather(out, 2, MPI_DOUBLE, in[0], 2, MPI_DOUBLE, comm, &all[1]);
  MPI_Iallreduce(out, in[1], 5, MPI_DOUBLE, longest, comm, &all[2]);
  MPI_Ibarrier(comm, &all[3]);
  smpi_execute(0.001 * rank);
  MPI_Wait(&all[1], MPI_STATUS_IGNORE);
  MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, in[0], counts, starts, MPI_DOUBLE, comm, &all[1]);
  MPI_Igather(out, 3, MPI_DOUBLE, in[2], 3, MPI_DOUBLE, root, comm, &all[4]);
  MPI_Ialltoallv(out, counts, starts, column, in[3], counts, starts, column, comm, &all[5]);
  MPI_Iscatterv(out, counts, starts, MPI_DOUBLE, &in[2][50], counts[rank], MPI_DOUBLE, root, comm, &all[6]);
  MPI_Ireduce(rank == root ? MPI_IN_PLACE : out, out + 40, 4, MPI_DOUBLE, last, root, comm, &all[7]);
  MPI_Irecv(in[2] + 60, 1, column, left, 1, comm, &all[8]);
  MPI_Send(out, 1, column, right, 1, comm);
  MPI_Waitall(9, all, MPI_STATUSES_IGNORE);
  MPI_Ireduce_scatter(out, in[0], counts, MPI_DOUBLE, MPI_SUM, comm, &all[0]);
  MPI_Ireduce_scatter_block(MPI_IN_PLACE, in[1], 3, MPI_DOUBLE, last, comm, &all[1]);
  MPI_Iscan(out, in[2], 3, MPI_DOUBLE, MPI_SUM, comm, &all[2]);
  MPI_Iexscan(out, in[3], 3, MPI_DOUBLE, longest, comm, &all[3]);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  MPI_Ialltoallw(out, counts, bytes, types, in[0], counts, bytes, types, comm, &all[0]);
  MPI_Iscatter(out, 2, MPI_DOUBLE, in[1], 2, MPI_DOUBLE, root, comm, &all[1]);
  MPI_Igatherv(out, counts[rank], MPI_DOUBLE, in[2], counts, starts, MPI_DOUBLE, root, comm, &all[2]);
  MPI_Ialltoall(MPI_IN_PLACE, 0, NULL, in[3], 2, MPI_DOUBLE, comm, &all[3]);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
}

static void blocking(MPI_Comm comm, int root)
{
  MPI_Reduce_scatter(out, in[0], counts, MPI_DOUBLE, longest, comm);
  MPI_Reduce_scatter(MPI_IN_PLACE, in[0], counts, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, in[0], 3, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Alltoallw(out, counts, bytes, types, in[0], counts, bytes, types, comm);
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in[0], counts, bytes, types, comm);
  MPI_Bcast(out, 1, column, root, comm);
  MPI_Allreduce(out, in[0], 9, MPI_DOUBLE, last, comm);
  MPI_Gatherv(out, 1, column, in[0], counts, starts, MPI_DOUBLE, root, MPI_COMM_SELF);
}

static void among_neighbours(MPI_Comm grid, MPI_Comm graph)
{
  MPI_Request request[2];
  MPI_Neighbor_allgather(out, 2, MPI_DOUBLE, in[0], 2, MPI_DOUBLE, grid);
  MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in[0], 2, MPI_DOUBLE, graph);
  MPI_Neighbor_alltoallv(out, counts, starts, MPI_DOUBLE, in[0], counts + 1, starts, MPI_DOUBLE, graph);
  MPI_Neighbor_alltoallw(out, counts, places, &column, in[1], counts + 1, places, &column, graph);
  MPI_Ineighbor_allgatherv(out, 2, MPI_DOUBLE, in[2], (int[]){2, 2, 2, 2}, starts, MPI_DOUBLE, grid, &request[0]);
  MPI_Ineighbor_alltoall(out, 3, MPI_DOUBLE, in[3], 3, MPI_DOUBLE, grid, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
  MPI_Comm grid, row, odd, pair, graph, twin, alone;
  MPI_Group world, some;
  MPI_Request lasting[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Type_vector(3, 1, 4, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Op_create(longer, 1, &longest);
  MPI_Op_create(later, 0, &last);
  for (int i = 0; i < MOST; i++)
    counts[i] = 1 + (i == 6), starts[i] = i, bytes[i] = 8 * 10 * i, places[i] = 8 * 10 * i,
    types[i] = i % 2 == rank % 2 ? column : MPI_DOUBLE;
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){1, 0}, 0, &grid);
  MPI_Cart_sub(grid, (int[]){0, 1}, &row);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, (int[]){3, 1}, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &odd);
  if (rank % 2)
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &pair);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &twin);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &alone);
  MPI_Send_init(out, 8, MPI_DOUBLE, right, 3, twin, &lasting[0]);
  MPI_Recv_init(in[0], 8, MPI_DOUBLE, left, 3, twin, &lasting[1]);
  MPI_Ssend_init(out + 8, 1, column, MPI_PROC_NULL, 3, twin, &lasting[2]);
  for (int i = 0; i < 5; i++) {
    recline_iteration((unsigned)i + 1);
    smpi_execute(0.03);
    out[i] = rank + i;
    MPI_Startall(3, lasting);
    begun(i % 2 ? twin : MPI_COMM_WORLD, i % ranks);
    MPI_Waitall(3, lasting, MPI_STATUSES_IGNORE);
    blocking(MPI_COMM_WORLD, 0);
    among_neighbours(grid, graph);
    MPI_Start(&lasting[1]);
    MPI_Start(&lasting[0]);
    MPI_Barrier(row);
    if (rank % 2)
      MPI_Allreduce(out, in[1], 2, MPI_DOUBLE, MPI_SUM, i % 2 ? odd : pair);
    MPI_Wait(&lasting[0], MPI_STATUS_IGNORE);
    MPI_Wait(&lasting[1], MPI_STATUS_IGNORE);
    recline_potential_checkpoint();
  }
  MPI_Request_free(&lasting[0]);
  MPI_Send_init(out, 8, MPI_DOUBLE, MPI_PROC_NULL, 3, twin, &lasting[0]);
  MPI_Request_free(&lasting[0]);
  MPI_Comm_disconnect(&twin);
  MPI_Finalize();
  return 0;
}
END_OF_FILE
compile() { "$build/bin/recline-cc" -O2 "$1.c" -o "$1" >compile.log 2>&1 || not_ok "$1 compiles" compile.log; }
compile calls
compile more

cat >calls.yaml <<EOF
program:    {binary: ./calls, ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 100ms, storage: nfs, bytes: 256KiB}
detection:  10ms
failures:   [{rank: 1, at: 220ms}]
EOF
sed 's/{binary.*}/{binary: cg, args: [S], ranks: 8}/; s/220ms/150ms/; s/100ms/50ms/' calls.yaml >cg.yaml
sed 's/{binary.*}/{binary: lulesh-like, args: [4, 20], ranks: 8}/; s/220ms/2ms/; s/100ms/1ms/; s/10ms/1ms/; s/256KiB/1kB/' \
  calls.yaml >lulesh-like.yaml

record() { timeout 100 "$recline" run "$1.yaml" --set 'failures=[]' --record "$2" >stdout 2>stderr; }
# Leaves the result without its figures of memory.
result() { # OUT WORD...
  out=$1
  shift
  timeout 100 "$recline" run "$@" --json >json 2>stderr
  code=$?
  { jq 'del(.image_bytes, .rank_image_bytes, .output)' json && echo "$code" && cat stderr; } >"$out"
}

sed 's/calls/more/' calls.yaml >more.yaml
for program in calls more cg lulesh-like; do
  record $program recording-$program
  is "$?:$(cat stderr)" 0: "$program is recorded" stderr
done
protocols='c3 bookmark event-logging pessimistic hybrid'
[ -z "${RECLINE_LONG-}" ] || protocols="$protocols none blocking chandy-lamport time-based message-tagging
  uncoordinated causal"
for protocol in $protocols; do
  programs='calls more'
  case ${RECLINE_LONG:+all}$protocol in
    all* | c3) programs='calls more cg lulesh-like' ;;
  esac
  for program in $programs; do
    set -- $program.yaml --set protocol.name=$protocol
    result own "$@"
    result replayed "$@" --replay recording-$program
    same own replayed "$protocol: $program and its replay have one result"
  done
done

# A protocol with a fault: the audit of the replay finds as much.
set -- cg.yaml --set protocol.name=pessimistic~no-suppress
result own "$@"
result replayed "$@" --replay recording-cg
check 'a protocol with a fault is found out' test "$(jq .audit.violations json)" -gt 0
for out in own replayed; do # the program sees wrong values, its replay has none
  sed -i '/"program_exit"/d' $out
done
same own replayed 'by the same violations'

# Without checkpoint.bytes a checkpoint of the replay counts as many bytes as one of the program.
"$recline" run cg.yaml --set checkpoint.bytes=0 --json >own 2>stderr
"$recline" run cg.yaml --set checkpoint.bytes=0 --replay recording-cg --json >replayed 2>stderr
is "$(jq -s '(.[0].simulated_s / .[1].simulated_s - 1) | . * . < 0.0001' own replayed)" true \
  'images count as they were measured' own replayed

# A campaign makes one recording for all cells of a program, and has the same rows.
sed 's/failures:.*/failures: [{law: exponential, mtbf: 1s, repair: 5ms}]/' calls.yaml >campaign.yaml
campaign() { timeout 200 "$recline" campaign campaign.yaml --sweep protocol.name=event-logging,bookmark --runs 2 "$@" >stdout 2>stderr; }
campaign --out direct
campaign --replay --out again
is "$?:$(cat stderr):$(find again/recordings -name program | wc -l)" 0::1 'a campaign by replay' stderr
for folder in direct again; do
  jq -c 'del(.image_bytes, .rank_image_bytes, .output)' $folder/runs.jsonl >$folder.rows
done
same direct.rows again.rows 'has the rows of one without'
sed -i d again/runs.jsonl
campaign --replay --out again
is "$(jq -c 'del(.image_bytes, .rank_image_bytes, .output)' again/runs.jsonl)" "$(cat direct.rows)" \
  'also where the recording is there already'
campaign --out again
is "$?:$(grep -c 'not as this campaign' stderr)" 64:1 'it cannot go on without replays' stderr

# ---- what is refused ----

"$recline" run calls.yaml --set 'failures=[]' --set protocol.capacity=2 --record short >stdout 2>stderr
is "$?:$(grep -c '^gave-up ' stdout):$(test -e short/program && echo whole)" 1:1: \
  'a run that does not come to its end is no recording' stdout stderr
refused() { # NAME PATTERN STATEMENT
  cat >bad.c <<END
#include <mpi.h>
#include <recline.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  int rank, flag = 0, in = 0, out = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)flag, (void)in, (void)out, (void)request;
  $3
  MPI_Finalize();
  return 0;
}
END
  compile bad
  sed 's/calls/bad/' calls.yaml >bad.yaml
  rm -rf recording
  record bad recording
  is "$?:$(grep -c -e "$2" stderr):$(test -e recording && echo left)" 64:1: "$1 is refused" stderr
}
own='MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);'
refused MPI_ANY_SOURCE 'receive or a probe from MPI_ANY_SOURCE, which may come out differently' \
  "$own MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE); MPI_Wait(&request, MPI_STATUS_IGNORE);"
"$recline" campaign bad.yaml --replay --runs 1 --out refused >stdout 2>stderr
is "$?:$(grep -c 'cannot be recorded' stderr):$(test -e refused && echo left)" 64:1: 'so is a campaign by replay' stderr
refused MPI_Test 'MPI_Test, which may come out differently' "$own MPI_Test(&request, &flag, MPI_STATUS_IGNORE);"
refused MPI_Waitany 'MPI_Waitany, which may come out differently' "$own MPI_Waitany(1, &request, &flag, MPI_STATUS_IGNORE);"
refused MPI_Iprobe 'MPI_Iprobe, which may come out differently' \
  'MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);'
refused recline_choose 'recline_choose, which may come out differently' 'recline_choose(2);'
refused 'a sleep' 'sleep, which may come out differently' 'sleep(1);'
refused MPI_Graph_create 'MPI_Graph_create, which recordings do not have' \
  'MPI_Comm graph; int zero = 0; MPI_Graph_create(MPI_COMM_WORLD, 1, &zero, &zero, 0, &graph);'
refused MPI_File_open 'MPI_File_open, which recordings do not have' \
  'MPI_File file; MPI_File_open(MPI_COMM_WORLD, "f", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);'
refused 'a decision by a clock' 'rank 0 does something else when clocks and seed differ' \
  'smpi_execute(1); double t = MPI_Wtime(); smpi_execute(t);'
refused 'a decision by the seed' 'rank [0-9] does something else when clocks' \
  'unsigned short r; getrandom(&r, sizeof r, 0); smpi_execute_flops(r);'
"$recline" run calls.yaml --record refused >stdout 2>stderr
is "$?:$(grep -c 'a run without failures' stderr)" 64:1 'failures are refused' stderr
"$recline" run cg.yaml --set program.args=[W] --replay recording-cg >stdout 2>stderr
is "$?:$(grep -c 'a recording of something else' stderr)" 64:1 'the recording of another program is refused' stderr
rm recording-cg/program
"$recline" run cg.yaml --replay recording-cg >stdout 2>stderr
is "$?:$(wc -l <stderr)" 64:1 'and one that is not whole' stderr
finish
