#!/bin/sh
# Tests intercommunicators, which plain SMPI does not have (layer-intercomm.c, layer-intercomm.f90):
# every call that is handled, in C, C++ and Fortran, under every protocol that recovers, with
# crashes and without.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-intercomm
each_makes 'MPI_Intercomm_[a-z]*\|MPI_Comm_\(remote_[a-z]*\|test_inter\)' 4 ''

write_scenario 5 '["6"]'

rounds=6 every=6ms
for run in $programs; do
  attempt_alone "$run"
  for protocol in c3 pessimistic; do
    recovers "$run" $protocol '{rank: 1, at: 5ms, repair: 1ms}, {rank: 0, at: 9ms, repair: 1ms}'
  done
done

# ---- crashes under all protocols that recover ----
instants='7 29'
[ -z "$RECLINE_LONG" ] ||
  instants='1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47'
for at in $instants; do
  crash="{rank: $((at % 5)), at: ${at}ms, repair: 1ms}"
  recovers_everywhere in-c "$crash" 200us
done

# ---- more than there are numbers: intercommunicators of the same groups are used again ----
cat >again.c <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
  int rank, other = -1;
  MPI_Comm between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 17000; i++) {
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 1, &between);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &other, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE);
    if (other != 1 - rank)
      MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_free(&between);
  }
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -O2 -Wall again.c -o again >log 2>&1
run_ends completed '17,000 of two ranks' --set program.binary=./again --set program.ranks=2

# ---- calls that do not exist for intercommunicators are refused ----
cat >wrong.c <<'EOF'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  int rank, one = 1, sum;
  MPI_Comm half, between;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (argv[1][0] == 'o') /* their groups overlap */
    half = MPI_COMM_WORLD;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, argv[1][0] == 'o' ? 0 : 1 - rank % 2, 1, &between);
  if (argv[1][0] == 's')
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, between);
  if (argv[1][0] == 'w')
    MPI_Win_create(&one, sizeof one, 1, MPI_INFO_NULL, between, &window);
  if (argv[1][0] == 'm')
    MPI_Intercomm_merge(half, 0, &between);
  if (argv[1][0] == 'r')
    MPI_Send(&one, 1, MPI_INT, 4, 1, between);
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -O2 -Wall wrong.c -o wrong >log 2>&1
refused() { # ARGUMENT PATTERN DESCRIPTION WORD...
  argument=$1 pattern=$2 description=$3
  shift 3
  "$recline" run scenario.yaml --set program.binary=./wrong --set "program.args=[$argument]" "$@" \
    >stdout 2>stderr
  is "$?:$(grep -c "$pattern" stderr)" 64:1 "$description" stderr
}
refused overlap 'rank 0 is in both groups' 'groups that overlap'
refused scan 'MPI_Iscan on an intercommunicator, expected an intracommunicator' 'a scan'
refused window 'MPI_Win_create on an intercommunicator' 'a window'
refused merge 'MPI_Intercomm_merge on an intracommunicator' 'a merge of one group'
refused rank 'rank 4 in a communicator of [23] ranks' 'a rank that the other group does not have'
refused - 'MPI_Intercomm_create with images at the application level' 'images of protected memory' \
  --set protocol.name=c3 --set 'checkpoint={every: 6ms, level: application}'

smpicc -std=gnu11 "$here/programs/layer-intercomm.c" -o plain 2>log
seq -f 'node-%g' 0 4 >hosts
! smpirun -np 5 -platform "$root/platforms/flat.xml" -hostfile hosts ./plain 1 >err 2>&1
is "$?:$(grep -c 'Not yet implemented: PMPI_Intercomm_create' err)" 0:1 'plain SMPI has none' log err
finish
