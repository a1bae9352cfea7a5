#!/bin/sh
# Calls of MPI 4, which SMPI does not have (layer-mpi4.c, layer-mpi4.f90): each that is handled, in C,
# C++ and Fortran, under every protocol that recovers, crashed or not.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-mpi4
for program in $programs; do
  calls_of_mpi_4 >handled
  [ "$program" != in-fortran ] ||
    { calls_of_mpi_4 in_fortran | tr A-Z a-z >lower && mv lower handled; }
  all_are_made 29 "$program: makes every call of MPI 4 that is handled" "$program"
done

cat >scenario.yaml <<EOF
program:    {binary: ./in-c, args: ["6"], ranks: 5}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF

rounds=6 every=3ms
for run in $programs; do
  attempt_alone "$run"
  for protocol in c3 bookmark pessimistic uncoordinated; do
    recovers "$run" $protocol '{rank: 1, at: 3ms, repair: 1ms}, {rank: 0, at: 6ms, repair: 1ms}'
  done
done
"$build/t/layer-replay" out/trace.txt >log 2>&1
is $? 0 'a trace with their messages replays' log
instants='3'
[ -z "${RECLINE_LONG-}" ] || instants='1 2 3 4 5 6 7 8 9'
for at in $instants; do
  recovers_everywhere in-c "{rank: $((at % 5)), at: ${at}ms, repair: 1ms}" 200us
done

# ---- what MPI forbids ----
cat >wrong.c <<'EOF'
#include <mpi.h>
#include <string.h>
static int is(const char *a, const char *b)
{
  return strcmp(a, b) == 0;
}
int main(int argc, char **argv)
{
  const char *what = argv[1];
  char out[12] = "", in[12];
  int rank;
  MPI_Request request[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Psend_init(out, 3, 4, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
  MPI_Precv_init(in, is(what, "sizes") ? 2 : 3, 4, MPI_CHAR, 1 - rank, is(what, "tag") ? 1 << 30 : 1,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
  if (is(what, "inactive"))
    MPI_Pready(0, request[0]);
  MPI_Startall(2, request);
  if (is(what, "receive"))
    MPI_Pready(0, request[1]);
  if (is(what, "send"))
    MPI_Parrived(request[0], 0, &rank);
  MPI_Pready_range(0, 1, request[0]);
  if (is(what, "cancel"))
    MPI_Cancel(&request[0]);
  if (is(what, "free"))
    MPI_Request_free(&request[0]);
  MPI_Pready(is(what, "twice") ? 1 : is(what, "range") ? 3 : 2, request[0]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 64 && is(what, "many"); i++)
    MPI_Psend_init(out, 3, 4, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -O2 -Wall wrong.c -o wrong >log 2>&1
refused() { # ARGUMENT PATTERN
  "$recline" run scenario.yaml --set program.binary=./wrong --set "program.args=[$1]" \
    --set program.ranks=2 >stdout 2>stderr
  is "$?:$(grep -c "$2" stderr)" 64:1 "refused: $1" stderr
}
refused sizes 'partitions of 8 bytes in all, expected the 12 bytes that are sent'
refused tag 'expected at least one partition and a tag below 16777216'
refused inactive 'MPI_Pready, expected a partitioned send that is started'
refused receive 'MPI_Pready, expected a partitioned send that is started'
refused send 'MPI_Parrived of partition 0, expected one of a partitioned receive'
refused cancel 'cancels a collective or partitioned operation'
refused free 'frees the request of a collective or partitioned operation under way'
refused twice 'MPI_Pready of partition 1, expected one of 3 that is not ready yet'
refused range 'MPI_Pready of partition 3, expected one of 3 that is not ready yet'
refused many 'expected at most 64 requests of one peer and tag'

# ---- outside of a run ----
seq -f 'node-%g' 0 4 >hosts
smpirun -np 5 -platform "$root/platforms/clan.xml" -hostfile hosts ./in-c 1 >stdout 2>stderr
is "$?:$(grep -c 'MPI_Psend_init is recline.s alone, expected recline run' stderr)" 64:1 \
  'plain smpirun has none of them' stderr
finish
