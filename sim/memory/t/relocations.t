#!/bin/sh
# Tests packed relocations (DT_RELR): in glibc's libmvec, which -ffast-math calls, from C and
# Fortran; and in a library and a program of the test. Each rank begins with the data of the file,
# in which addresses are relocated, also after a crash.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
cat >table.c <<'END'
/* Addresses with gaps of all lengths: single words, bit maps, and gaps longer than one map. */
int number[400];
#define GAP(N) &number[N], 0, &number[(N) + 1], &number[(N) + 2]
#define GAPS(N) GAP(N), GAP((N) + 3), GAP((N) + 6), GAP((N) + 9)
#define MORE(N) GAPS(N), GAPS((N) + 12), GAPS((N) + 24), GAPS((N) + 36)
int *table[] = {MORE(0), MORE(48), [200] = &number[96], [330] = &number[97], MORE(98), 0, &number[146]};
int count = sizeof table / sizeof *table;
int *begun; /* by the constructor, which runs in each rank anew */

__attribute__((constructor)) static void begin(void)
{
  begun = begun ? 0 : table[0];
  for (int i = 0; i < count; i++)
    if (table[i])
      *table[i] += (int)(table[i] - number) + 1;
}
END
cat >program.c <<'END'
#include <math.h>
#include <mpi.h>
#include <stdio.h>
extern int number[400], *table[], count, *begun;
static int *own = &number[7];

static int sum(void)
{
  int all = own == &number[7] && begun == number ? 0 : 1000000;
  for (int i = 0; i < count; i++)
    all += table[i] ? *table[i] : 0;
  return all;
}

int main(int argc, char **argv)
{
  int rank, ranks, first = sum(), token = 0;
  double waves[256];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < 60; step++) {
    for (int i = 0; i < 256; i++)
      waves[i] = sin(i + step + rank);
    for (int i = rank; i < count; i += ranks)
      table[i] = &number[step]; /* this rank's alone */
    own = &number[step];
    token += (int)(1000 * (waves[3] + waves[255]));
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % ranks, 1, (rank + ranks - 1) % ranks, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("%d: first %d, then %d, token %d\n", rank, first, sum(), token);
  MPI_Finalize();
  return 0;
}
END
cat >waves.f90 <<'END'
program waves
  use mpi
  implicit none
  integer :: rank, ranks, step, i, ierr
  real(8) :: x(256), all
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  all = 0
  do step = 1, 20
    do i = 1, 256
      x(i) = i + step + rank
    end do
    x = sin(x)
    call MPI_Allreduce(MPI_IN_PLACE, x, 256, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    all = all + sum(x)
  end do
  print '(i0, f20.9)', rank, all
  call MPI_Finalize(ierr)
end program
END
packed=-Wl,-z,pack-relative-relocs
{
  cc -O2 -shared -fPIC -Wl,-Bsymbolic $packed table.c -o libtable.so &&
    "$build/bin/recline-cc" -O3 -ffast-math $packed program.c -L. -ltable -Wl,-rpath,"$dir" \
      -o program -lm
} >log 2>&1
is $? 0 'a library and a program are built' log
needs() { readelf -d "$1" | grep -c "$2"; }
is "$(needs libtable.so '(RELR)') $(needs program '(RELR)') $(needs program libmvec)" '1 1 1' \
  'both have packed relocations, and libmvec is called'
cat >scenario.yaml <<END
program:    {binary: ./program, ranks: 4}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: c3}
checkpoint: {every: 0.4ms, storage: local, bytes: 1kB}
detection:  100us
END
cases() { # NAME: without crashes; one before the first checkpoint, one later
  run_ends completed "$1" --set protocol.name=none
  sort out/program.out >"$1.expected"
  for at in 0.2ms 1ms; do
    run_ends recovered "$1, crash at $at" \
      --set "failures=[{rank: 1, at: $at, repair: 100us}]"
    sort -u out/program.out >sorted
    same "$1.expected" sorted 'the same result'
  done
}
cases program
is "$(grep -c "first $(awk 'BEGIN { for (n = 1; n <= 147; n++) all += n; print all }')," \
  program.expected)" 4 'each rank began with the data of the file' program.expected
if command -v gfortran >/dev/null; then
  "$build/bin/recline-f90" -O3 -ffast-math waves.f90 -o waves >log 2>&1
  is "$? $(needs waves libmvec)" '0 1' 'a Fortran program that calls libmvec is built' log
  sed -i 's|./program|./waves|' scenario.yaml
  cases waves
fi
finish 14
