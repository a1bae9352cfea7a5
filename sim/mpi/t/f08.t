#!/bin/sh
# Tests module mpi_f08. A program that uses the module runs as others do, under protocols, with
# crashes and without. The module has each procedure and constant that MPI 4.0 binds to Fortran
# 2008, or that an installed Open MPI has. The compiler or the linker names the ones that the module
# lacks.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
if ! command -v gfortran >/dev/null; then
  echo '1..0 # SKIP gfortran is not installed'
  exit 0
fi
cp "$here"/programs/layer-f08.f90 "$here"/programs/layer-rounds.inc "$dir"
cd "$dir" || exit 1
f90=$build/bin/recline-f90

"$f90" -g -Wall -Werror layer-f08.f90 -o in-fortran >log 2>&1
is "$?" 0 'a program with mpi_f08 is built, without a warning' log
nm in-fortran | grep -i ' [A-TV-Z] mpi_[a-z_]*_$' >own
is "$(wc -l <own)" 0 'what is meant by an address is not a variable of its own' own

# These calls are in no program in FORTRAN 77.
nm -D --undefined-only in-fortran | sed -n 's/.* U \(mpi_[a-z0-9_]*\)_f08_$/\1/p' | sort >made
sed -n -e '/MPI [34] |$/d' -e 's/^| `\(MPI_[A-Za-z0-9_]*\)` | \*\*handled\*\* | \*\*handled.*/\1/p' \
  "$root/docs/mpi-coverage.md" | tr A-Z a-z | grep "$only_in_f08" | sort >handled
comm -23 handled made >missing
[ "$(wc -l <handled)" -gt 30 ] && [ ! -s missing ]
is "$?" 0 'it makes every call that programs of other tests do not make in Fortran' missing

# ---- runs ----
cat >scenario.yaml <<EOF
program:    {binary: ./in-fortran, args: ["4"], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF
rounds=4 every=3ms
attempt_alone in-fortran
for protocol in c3 bookmark pessimistic; do
  recovers in-fortran $protocol '{rank: 1, at: 4ms, repair: 1ms}, {rank: 0, at: 8ms, repair: 1ms}'
  recovers in-fortran $protocol '{rank: 3, after: {rank: 0, event: send, count: 60}, repair: 1ms}'
done

# ---- under plain smpirun ----
for i in 0 1 2 3; do echo "node-$i"; done >hosts
cat >plain.f90 <<'EOF'
program plain
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
  integer :: rank, from, key
  integer(MPI_ADDRESS_KIND) :: value
  integer(8) :: sum
  logical :: there
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Irecv(from, 1, MPI_INT32_T, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INT32_T, 3 - rank, 1, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  sum = from
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, &
      0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 2_MPI_ADDRESS_KIND ** 35)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, there)
  if (rank == 0) print '(2(i0, 1x), l1)', from, sum, there .and. value == 2_MPI_ADDRESS_KIND ** 35
  call MPI_Finalize()
end program plain
EOF
"$f90" plain.f90 -o plain >log 2>&1
timeout 60 smpirun -np 4 -platform "$root/platforms/clan.xml" -hostfile hosts \
  --cfg=smpi/simulate-computation:no --log=root.thres:critical ./plain >plain-out 2>err
survives=$?
if [ $survives -ge 128 ]; then # SimGrid 4.0: docs/warts-smpi.md
  ok "under plain smpirun # SKIP SimGrid crashes: exit code $survives"
else
  is "$(cat plain-out)" '3 6 T' 'under plain smpirun' log err
fi

# ---- every procedure ----
tables=$root/sim/mpi/fortran
smpi=$(sed -n 's/.*INCLUDEDIR[^=]*=//p' "$build/CMakeCache.txt" | while read -r folder; do
  [ -e "$folder/smpi/mpif.h" ] && echo "$folder/smpi/mpif.h"
done | head -n 1)
awk -v output=calls -f "$tables/modules.awk" "$tables/constants" "${smpi:-/usr/include/smpi/mpif.h}" \
  "$build/sim/mpi/fortran_symbols" "$tables/procedures" >calls.f90
"$f90" -Wall -Wno-unused-dummy-argument -Werror calls.f90 -o calls >log 2>&1
is "$?" 0 'calls of all procedures, by the names of their arguments, with an error and without' log
sed -n 's/^subroutine of_\(MPI_[A-Za-z0-9_]*\).*/\1/p' calls.f90 | tr A-Z a-z | sort >there
[ "$(wc -l <there)" -gt 330 ]
is "$?" 0 'which are more than 330' there
sed -n 's/^| `\(MPI_[A-Za-z0-9_]*\)` | [^|]* | [^n ].*/\1/p' "$root/docs/mpi-coverage.md" |
  tr A-Z a-z | sort | comm -23 - there | grep -v '_\(extent\|resized\)_c$' | tr '\n' ' ' >not-there
is "$(cat not-there)" "mpi_address mpi_attr_delete mpi_attr_get mpi_attr_put mpi_errhandler_create \
mpi_errhandler_get mpi_errhandler_set mpi_keyval_create mpi_keyval_free \
mpi_type_create_indexed mpi_type_extent mpi_type_hindexed mpi_type_hvector mpi_type_lb mpi_type_struct \
mpi_type_ub " 'all that FORTRAN 77 has, but for what MPI 3 has removed, SMPI alone has, or is as wide as an address'

# Prints the names of a module, which gfortran compresses.
names_in() { # FILE
  gzip -dc "$1" | tr "'" '\n' | grep '^mpi_[a-z0-9_]*$' | sort -u
}

# Prints the names that the module does not have.
not_in_module() { # MODULE FILE
  { echo 'program names' && sed "s/.*/  use $1, only: &/" "$2" && echo 'end program names'; } >names.f90
  "$f90" -fmax-errors=0 -fsyntax-only names.f90 2>&1 |
    sed -n "s/^Error: Symbol [^m]*\(mpi_[a-z0-9_]*\).* not found in module.*/\1/p" | sort -u
}

awk '/^[a-zM]/ && !/^callback/ { sub(/:.*/, ""); print tolower($NF) }' "$tables/procedures" |
  sort >table
comm -23 table there >lacking
not_in_module mpi_f08 table >refused
[ -s lacking ]
is "$?" 0 'MPI 4.0 has more' table
same lacking refused 'what it has besides is not in the module, and the compiler names it'
while read -r name; do
  printf 'subroutine of_%s\n  use mpi_f08\n  call %s()\nend subroutine\n' "$name" "$name"
done <lacking >one.f90
echo 'end' >>one.f90
"$f90" one.f90 -o one >log 2>&1
is "$?" 1 'a program that calls one of these is not linked' log
sed -n 's/.*undefined reference to .\(mpi_[a-z0-9_]*\)_.*/\1/p' log | sort >named
same lacking named 'and each is named'

# ---- what Open MPI has ----
interfaces=$(find /usr/lib -name mpi_f08_interfaces.mod 2>/dev/null | head -n 1)
types=$(find /usr/lib -name mpi_f08_types.mod 2>/dev/null | head -n 1)
if [ -n "$interfaces" ] && [ -n "$types" ] && gzip -t "$interfaces" 2>/dev/null; then
  names_in "$interfaces" | sed -n 's/_f08$//p' | sort -u >theirs
  not_in_module mpi_f08 theirs | comm -23 - lacking >missing # which the compiler names
  is "$(tr '\n' ' ' <missing)" '' \
    "the procedures of Open MPI's module ($(wc -l <theirs))"
  # names of Open MPI's own, of MPI 1, of other languages, of sessions and of ULFM are left out
  names_in "$types" | grep -v -e 'fortran_\|_f08\|mpi_val$\|^mpi_t_' -e '^mpi_[lu]b$' \
    -e '_\(2\|2double_\|cxx_\)complex$' -e 'combiner_.*_integer$' -e '^mpi_\(ft\|types\|session\|session_null\)$' \
    -e '^mpi_err_\(proc_.*\|revoked\|session\|value_too_large\)$' -e '^mpi_errors_abort$' \
    -e '^mpi_comm_type_hw_' -e '^mpi_max_\(pset_name\|stringtag\)_len$' >theirs
  not_in_module mpi_f08 theirs >missing
  is "$(tr '\n' ' ' <missing)" '' "and its constants and types ($(wc -l <theirs))"
else
  ok "the procedures of Open MPI's module # SKIP there is none"
  ok "and its constants and types # SKIP there is none"
fi

# ---- constants, in every module ----
awk '!/^#/ && NF && $1 != "old" {
  for (i = 2; i <= NF; i++) { sub(/=.*/, "", $i); print tolower($i) }
}' "$tables/constants" >constants
not_in_module mpi_f08 constants >missing
is "$(wc -l <constants):$(wc -l <missing)" "$(sort -u constants | wc -l):0" \
  'every constant is in mpi_f08' missing
not_in_module mpi constants >missing
is "$(wc -l <missing)" 0 'and in mpi' missing
cat >old.f <<'EOF'
      program old
      include 'mpif.h'
      integer error, rank, class
      integer numbers(2)
      call mpi_init(error)
      numbers(1) = 1
      call mpi_allreduce(MPI_IN_PLACE, numbers, 1, MPI_INT32_T, MPI_SUM,
     &    MPI_COMM_WORLD, error)
      call mpi_error_class(MPI_ERR_RMA_SYNC, class, error)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
      if (rank .eq. 0) print *, numbers(1), class .eq. MPI_ERR_RMA_SYNC,
     &    MPI_SUBARRAYS_SUPPORTED, MPI_COUNT_KIND
      call mpi_finalize(error)
      end
EOF
"$build/bin/recline-ff" old.f -o old >log 2>&1
"$recline" run scenario.yaml --set program.binary=./old --set 'program.args=[]' >stdout 2>stderr
is "$(sed -n '1s/  */ /gp' stdout)" ' 4 T F 8' 'constants that mpif.h lacked, in fixed form' log stderr
cat >sizes.f90 <<'EOF'
program sizes
  use mpi
  integer :: n, error
  complex(8) :: many(5)
  call mpi_sizeof(many, n, error)
  if (error /= MPI_SUCCESS .or. n /= 16) error stop 1
end program sizes
EOF
"$f90" sizes.f90 -o sizes >log 2>&1 && ./sizes >>log 2>&1
is "$?" 0 'mpi_sizeof of module mpi' log

# ---- C and C++ ----
cat >within.cc <<'EOF'
extern "C" {
#include <mpi.h>
}
typedef int swap(const void *, const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Win);
int main()
{
  swap *call = MPI_Compare_and_swap;
  const int compared = 1;
  int out = 2, in;
  return call(&out, &compared, &in, MPI_INT, 0, 0, MPI_WIN_NULL);
}
EOF
"$build/bin/recline-c++" -Wall -Werror within.cc -o within >log 2>&1
is "$?" 0 'mpi.h within extern "C"' log
cat >const.c <<'EOF'
#include <mpi.h>
int swap(const int *compared, MPI_Win window);
int swap(const int *compared, MPI_Win window)
{
  int out = 2, in;
  PMPI_Compare_and_swap(&out, compared, &in, MPI_INT, 0, 0, window);
  return MPI_Compare_and_swap(&out, compared, &in, MPI_INT, 0, 0, window);
}
EOF
"$build/bin/recline-cc" -Wall -Werror -c const.c >log 2>&1
is "$?" 0 'MPI_Compare_and_swap compares what is constant' log

# ---- module mpi: it has Fortran's statuses in both forms ----
cat >both.f90 <<'EOF'
program both
  use mpi
  implicit none
  integer :: old(MPI_STATUS_SIZE), again(MPI_STATUS_SIZE), error
  type(MPI_Status) :: status
  call MPI_Init(error)
  old = 0
  old(MPI_TAG) = 7
  call MPI_Status_f2f08(old, status, error)
  status%MPI_SOURCE = 3
  call MPI_Status_f082f(status, again, error)
  print '(3(i0, :, 1x))', status%MPI_TAG, again(MPI_TAG), again(MPI_SOURCE)
  call MPI_Finalize(error)
end program both
EOF
"$f90" -Wall -Werror both.f90 -o both >log 2>&1
"$recline" run scenario.yaml --set program.binary=./both --set program.ranks=1 \
  --set 'program.args=[]' --out out >>log 2>&1
is "$? $(cat out/program.out)" '0 7 7 3' 'module mpi converts statuses' log

finish 34
