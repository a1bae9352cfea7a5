#!/bin/sh
# Tests calls with large counts (large.awk), by programs of other tests whose calls are renamed, by
# layer-large.c, whose calls take lists of counts or return a count, and by one call of each form in
# Fortran 2008. The programs are right without a protocol and under protocols, with crashes and
# without; a count that does not fit an int is refused.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cp "$here"/programs/layer-* "$dir"
cd "$dir" || exit 1

build_in_all layer-large

# Renames the calls whose arguments are converted as they are passed.
{
  echo '#include <mpi.h>'
  sed -n -e '/MPI_Count \*\|const MPI_Aint \*\|MPI_Aint \*disp/d' \
    -e 's/^MPI_CALL(XBT_PUBLIC int, \(MPI_[A-Za-z_]*\)_c, .*/#define \1(...) \1_c(__VA_ARGS__)/p' \
    "$build/include/mpi/mpi-large.h"
} >renamed.h
[ "$(wc -l <renamed.h)" -gt 100 ]
is "$?" 0 'more than 100 calls can be renamed' renamed.h
: >log
for name in mpi comms nonblocking mpi-misc windows locks files mpi4; do
  "$build/bin/recline-cc" -std=gnu11 -O1 -I. -include ./renamed.h "layer-$name.c" -o "large-$name" >>log 2>&1
done
sed -n 's/^| `\(MPI_[A-Za-z0-9_]*_c\)` | \*\*handled.*/\1/p' "$root/docs/mpi-coverage.md" >handled
all_are_made 140 'every call with a large count that is handled is made' in-c large-*

write_scenario 5 '["6"]'
rounds=6 every=3ms
for run in $programs; do
  attempt_alone "$run"
  for protocol in c3 pessimistic; do
    recovers "$run" $protocol '{rank: 1, at: 4ms, repair: 1ms}, {rank: 0, at: 7ms, repair: 1ms}'
  done
done
recovers_everywhere in-c '{rank: 3, at: 7ms, repair: 1ms}' 200us
for name in comms nonblocking mpi-misc mpi4; do
  attempt "large-$name" completed 'no protocol'
  recovers "large-$name" bookmark '{rank: 2, at: 8ms, repair: 1ms}'
done
for name in windows locks; do
  recovers "large-$name" c3 '{rank: 2, at: 4ms, repair: 1ms}' --set program.ranks=4
done
mkdir files
rounds=3
recovers large-files bookmark '{rank: 1, at: 4ms, repair: 1ms}' --set program.ranks=4 \
  --set 'program.args=["3", ./files]'

# ---- beyond an int ----
cat >beyond.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
  MPI_Datatype million, type;
  MPI_Count size, lower, extent, list[] = {1, 3000000000}, none[] = {0, 0};
  char *what = argv[1], byte = 0;
  MPI_Init(&argc, &argv);
  MPI_Type_contiguous_c(1000000, MPI_INT, &million);
  MPI_Type_contiguous_c(1000, million, &type);
  MPI_Type_size_c(type, &size);
  MPI_Type_get_extent_c(type, &lower, &extent);
  printf("%lld %lld\n", size, extent);
  if (strcmp(what, "count") == 0)
    MPI_Send_c(&byte, 3000000000, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  if (strcmp(what, "list") == 0)
    MPI_Alltoallv_c(&byte, list, (MPI_Aint *)none, MPI_CHAR, &byte, none, (MPI_Aint *)none, MPI_CHAR,
                    MPI_COMM_WORLD);
  if (strcmp(what, "envelope") == 0)
    MPI_Type_get_envelope_c(type, list, list, list, list, &argc);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -O2 -Wall beyond.c -o beyond >log 2>&1
beyond() { # ARGUMENT CODE
  rm -rf out
  "$recline" run scenario.yaml --set program.binary=./beyond --set "program.args=[$1]" --set program.ranks=2 \
    --out out >stdout 2>stderr
  code=$?
  is "$code:$(grep -c "${3:-^}" stderr)" "$2:${4:-0}" "$1" log stderr
}
beyond sizes 0
is "$(sort -u out/program.out)" '4000000000 4000000000' 'sizes of types beyond an int' out/program.out
beyond count 64 'MPI_Send_c of 3000000000, expected at most 2147483647: SMPI counts by int' 1
beyond list 64 'MPI_Alltoallv_c of 3000000000, expected at most 2147483647' 1
beyond envelope 64 'MPI_Type_get_envelope_c is not handled, expected a program without it' 1
finish
