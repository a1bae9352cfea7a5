#!/bin/sh
# Tests calls that SMPI does not have, of MPI 4 and for tools (layer-mpi4.c, layer-mpi4.f90): each
# handled call, in C, C++ and Fortran, under every protocol that recovers, with crashes and without.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-mpi4
for program in $programs; do
  calls_of_mpi_4 >handled
  [ "$program" != in-fortran ] ||
    { calls_of_mpi_4 in_fortran | tr A-Z a-z >lower && mv lower handled; }
  all_are_made 29 "$program: makes every one that is handled" "$program"
done

write_scenario 5 '["6"]'

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

# ---- a program of sessions alone, in the middle of which ranks crash ----
cat >alone.c <<'END'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
  int rank, sum = 0, is_late = argc > 1 && strcmp(argv[1], "late") == 0;
  MPI_Session session, other;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &rank);
  for (int step = 0; step < 12; step++) {
    int each = rank + step, all;
    MPI_Allreduce(&each, &all, 1, MPI_INT, MPI_SUM, comm);
    sum = (sum * 31 + all) % 1000003;
    smpi_execute_benched(1e-3);
  }
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
  MPI_Session_finalize(&session);
  if (argc > 1 && !is_late) { /* the world begins later, and ends earlier */
    MPI_Init(&argc, &argv);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
  }
  MPI_Comm_free(&comm);
  if (rank == 0)
    printf("sum %d\n", sum);
  MPI_Session_finalize(&other);
  if (is_late)
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
  return 0;
}
END
"$build/bin/recline-cc" -std=gnu11 -O2 -Wall -Wextra alone.c -o alone >log 2>&1
sum=$(awk 'BEGIN { for (step = 0; step < 12; step++) sum = (sum * 31 + 10 + 5 * step) % 1000003; print "sum", sum }')
for args in '' world; do
  for protocol in none c3 bookmark pessimistic; do
    set -- completed
    [ $protocol = none ] || set -- recovered --set 'failures=[{rank: 2, at: 7ms, repair: 1ms}]' \
      --set 'checkpoint={every: 3ms, storage: local, bytes: 10kB}'
    ends=$1
    shift
    run_ends "$ends" "sessions alone${args:+, then the $args}, $protocol" --set program.binary=./alone \
      --set "program.args=[$args]" --set "protocol.name=$protocol" "$@"
    is "$(cat out/program.out)" "$sum" "$protocol: its result" out/program.out
  done
done

if command -v gfortran >/dev/null; then
  cat >alone.f90 <<'EOF'
program alone
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  integer :: rank, all, both
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
  call MPI_Comm_create_from_group(group, 'all', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Allreduce(rank, all, 1, MPI_INTEGER, MPI_SUM, comm)
  call MPI_Init()
  call MPI_Allreduce(all, both, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  call MPI_Comm_free(comm)
  if (rank == 0) print '(i0)', both
  call MPI_Session_finalize(session)
end program alone
EOF
  "$build/bin/recline-f90" alone.f90 -o alone-fortran >log 2>&1
  run_ends completed 'sessions alone, then the world, in Fortran' --set program.binary=./alone-fortran
  is "$(cat out/program.out)" 50 'its result' log out/program.out
else
  ok 'sessions alone, then the world, in Fortran # SKIP no gfortran'
  ok 'its result # SKIP no gfortran'
fi

# ---- calls that are refused by name ----
not_handled() { # CALL ARGUMENTS
  printf '#include <mpi.h>\nint main(void)\n{\n  MPI_Session session;\n  MPI_Errhandler errors;\n%s' \
    "  MPI_Comm comm; (void)errors; (void)comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  return $1($2);
}" >one.c
  "$build/bin/recline-cc" -O2 -Wall one.c -o one >log 2>&1
  "$recline" run scenario.yaml --set program.binary=./one >stdout 2>stderr
  is "$?:$(grep -c "$1 is not handled, expected a program without it" stderr)" 64:1 "refused: $1" log stderr
}
not_handled MPI_Session_create_errhandler 'NULL, &errors'
not_handled MPI_Session_call_errhandler 'session, 1'
not_handled MPI_Intercomm_create_from_groups \
  'MPI_GROUP_NULL, 0, MPI_GROUP_NULL, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm'
"$recline" run scenario.yaml --set program.binary=./alone --set 'program.args=[late]' >stdout 2>stderr
is "$(grep -c 'completed, with exit code 64' stdout):$(grep -c 'MPI_Session_init where all sessions have ended' stderr)" 1:1 \
  'a session behind the end of MPI, which SimGrid begins once' stdout stderr

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
is "$?:$(grep -c 'MPI_Psend_init exists in recline run only, expected recline run' stderr)" 64:1 \
  'plain smpirun has none of them' stderr
finish
