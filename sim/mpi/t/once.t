#!/bin/sh
# Tests that no two objects of the layer define the same function. SMPI declares MPI's calls weak,
# so the linker would take one of two definitions and say nothing.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# Prints the functions that more than one of the objects defines, with the objects.
twice() { # OBJECT...
  nm -A --defined-only "$@" | sed -n 's/^\(.*\):[0-9a-f]* [TW] \([^ ]*\)$/\2 \1/p' | sort -u |
    awk '$1 == last { print last, before, $2 } { last = $1; before = $2 }'
}

find "$build/sim/mpi/CMakeFiles/recline_mpi.dir" -name '*.o' >objects
# shellcheck disable=SC2046 # a list
nm --defined-only $(cat objects) | sed -n 's/.* [TW] \(MPI_[A-Za-z_]*\)$/\1/p' | sort -u >calls
many=$(awk 'END { print (NR > 400) }' calls)
is "$many" 1 'the objects of the layer define more than 400 calls of MPI' calls
# shellcheck disable=SC2046
twice $(cat objects) >found
is "$(cat found)" '' 'none of their functions twice'

# The function finds two definitions of which one is weak.
echo 'int MPI_Twice(void) { return 1; }' >one.c
echo '__attribute__((weak)) int MPI_Twice(void) { return 2; } int other(void) { return 3; }' >two.c
${CC:-cc} -c one.c two.c 2>log
is "$(twice one.o two.o)" 'MPI_Twice one.o two.o' 'a second definition is found, if it is weak, too' log
finish
