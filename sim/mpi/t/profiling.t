#!/bin/sh
# Tests profiling tools: functions named MPI_... between a program and MPI, which call MPI by
# PMPI_.... A tool is a part of the program, or a library, in C and in Fortran. The layer stands
# behind the tool: after a crash under a protocol, the tool's counts are put back like all data of
# the program.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >tool.c <<'END_OF_FILE'
#include <mpi.h>
#include <stdio.h>
static int sends, sums;
int MPI_Init(int *argc, char ***argv)
{
  return PMPI_Init(argc, argv);
}
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r)
{
  sends++;
  return PMPI_Isend(b, n, t, to, tag, c, r);
}
int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
  int rank, mine = ++sums, least;
  PMPI_Comm_rank(c, &rank);
  PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (least != mine)
    printf("rank %d: %d calls of mine, %d of another\n", rank, mine, least);
  return PMPI_Allreduce(s, r, n, t, o, c);
}
int MPI_Finalize(void)
{
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("tool: rank %d: %d sends, %d sums\n", rank, sends, sums);
  return PMPI_Finalize();
}
END_OF_FILE
cat >program.c <<'END_OF_FILE'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank, ranks, total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 300; i++) {
    int mine = rank + i, theirs = 0, sum;
    MPI_Request request;
    MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(&theirs, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&theirs, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    total += sum;
  }
  printf("rank %d: %d\n", rank, total);
  MPI_Finalize();
  return 0;
}
END_OF_FILE

# 300 sends and sums in each of 4 ranks; the sum over i of 4 i + 6.
for rank in 0 1 2 3; do
  echo "rank $rank: 181200"
  echo "tool: rank $rank: 300 sends, 300 sums"
done | sort >expected

crash() { # PROGRAM PROTOCOL NAME: tests what the program and its tool print
  cat >run.yaml <<END_OF_FILE
program: {binary: ./$1, ranks: 4}
platform: {file: clan.xml}
protocol: {name: $2}
checkpoint: {every: 1ms, bytes: 4KiB}
failures: [{rank: 2, at: 3ms}]
expect: {verdict: recovered, program_exit: 0}
END_OF_FILE
  rm -rf out
  "$recline" run run.yaml --out out >stdout 2>stderr
  code=$?
  sort -u out/program.out >printed # a line can come again after a crash
  is "$code:$(cmp printed expected 2>&1)" 0: "$3" stderr printed
}

"$build/bin/recline-cc" -O2 -Wall -Wextra -Werror program.c tool.c -o inside >log 2>&1
is $? 0 'a tool is linked into a program' log
crash inside c3 'c3: it sees every call, once'
crash inside pessimistic 'and under pessimistic'

"$build/bin/recline-cc" -O2 -fPIC -shared tool.c -o libtool.so >log 2>&1 &&
  "$build/bin/recline-cc" -O2 program.c -L. -Wl,-rpath,"$dir" -profile=tool -o beside >log 2>&1
is $? 0 'a tool is a library, named by -profile' log
crash beside c3 'c3: each rank has its own counts'

"$build/bin/recline-cc" -O2 program.c -L. -ltool -Wl,-rpath,"$dir" -o given >log 2>&1
is $? 0 'a tool is a library as others are' log
crash given c3 'c3: it comes ahead of the layer'
"$build/bin/recline-cc" -O2 -fPIC -c tool.c -o tool.o >log 2>&1 && ar rcs libarchived.a tool.o &&
  "$build/bin/recline-cc" -O2 program.c -L "$dir" -larchived -o archived >>log 2>&1
is $? 0 'a tool is an archive' log
crash archived c3 'c3: and so it does'
"$build/bin/recline-cc" -O2 program.c ./libarchived.a -o named >>log 2>&1
crash named pessimistic 'pessimistic: given by the name of its file'

cat >tool.f90 <<'END_OF_FILE'
subroutine mpi_bcast(buffer, n, type, root, comm, error)
  integer :: buffer(*), n, type, root, comm, error
  integer, save :: count = 0
  count = count + 1
  call pmpi_bcast(buffer, n, type, root, comm, error)
  if (count == 200) print '(a,i0,a,i0)', 'tool: ', count, ' times ', buffer(1)
end subroutine
program main
  include 'mpif.h'
  integer :: error, i, value(1), rank
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 200
    value(1) = 0
    if (rank == 1) value(1) = i
    call mpi_bcast(value, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  end do
  call mpi_finalize(error)
end program
END_OF_FILE
"$build/bin/recline-f90" -O2 tool.f90 -o fortran >log 2>&1
is $? 0 'a tool in Fortran' log
echo 'tool: 200 times 200' >expected
crash fortran bookmark 'bookmark: it sees every call, once'

# If another compiler than recline-cc makes the tool, its PMPI calls would be SimGrid's own, past
# the layer.
cc -O2 -fPIC -shared -I"$(dirname "$(find /usr/include -name smpi.h | head -n 1)")" \
  -DSMPI_NO_OVERRIDE_MALLOC=1 tool.c -o libtool.so >log 2>&1
"$recline" run run.yaml --set program.binary=./beside --out out >stdout 2>stderr
is "$?:$(grep -c 'libtool.so calls PMPI_.*, expected it linked by recline-cc' stderr)" 64:1 \
  'a tool that was linked without recline is refused' stderr log
finish 13
