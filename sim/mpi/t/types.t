#!/bin/sh
# Tests that programs are told of types, operations, groups and grids what MPI says, not what SMPI
# does. There are right values, which the machine's Open MPI has as well, and random types whose
# maps are made by the standard's definitions (RECLINE_LONG=1: more of these).
. "$(dirname "$0")/../../../protocols/t/tap.sh"
sources=$here/programs
needs_layer
cd "$dir" || exit 1

build_program() { # COMPILER SOURCE FLAG...
  compiler=$1 source=$2
  shift 2
  "$build/bin/$compiler" -O1 -I"$here/programs" "$@" "$sources/$source" -o "${source%.*}" >log 2>&1 ||
    sed 's/^/# /' log
}

# right PROGRAM RANKS PROTOCOL ARGUMENT...: under recline, on $machine
right() {
  program=$1 ranks=$2 protocol=$3
  shift 3
  cat >scenario.yaml <<END
program:    {binary: ./$program, args: [$*], ranks: $ranks}
platform:   {file: ${machine:-$root/platforms/clan.xml}}
protocol:   {name: $protocol}
checkpoint: {every: 1ms, storage: local, bytes: 10kB}
detection:  1ms
END
  rm -rf out
  "$recline" run scenario.yaml --out out >stdout 2>stderr
  is "$?-$(tail -n 1 out/program.out)" "0-$says: ${many-many values, }all are right" \
    "$program $*, $protocol" out/program.out stderr
}

# Runs the same source under Open MPI, which shows that the right values are not recline's own.
agrees() { # PROGRAM RANKS ARGUMENT...
  program=$1 ranks=$2
  shift 2
  if ! command -v mpicc.openmpi >/dev/null; then
    ok "$program, Open MPI # SKIP it is not there (package libopenmpi-dev)"
    return
  fi
  mpicc.openmpi -I"$here/programs" "$here/programs/$program.c" -o "$program.open" >log 2>&1
  timeout 60 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "./$program.open" "$@" \
    >open.out 2>open.err
  is "$?-$(tail -n 1 open.out)" "0-$says: many values, all are right" "$program $*, Open MPI" \
    open.out open.err
}

build_program recline-cc types-named.c -Wall -Wextra
build_program recline-cc types-derived.c -Wall -Wextra
build_program recline-cc types-other.c -Wall -Wextra
build_program recline-cc types-collectives.c -Wall -Wextra
build_program recline-f90 types-fortran.f90 -Wall

says='types and operations'
right types-named 3 none
right types-named 4 pessimistic
right types-named 3 c3
agrees types-named 3

says='derived types'
right types-derived 1 none 1, 130
# Open MPI counts the alignment of no elements in type 130. Open MPI 5.0.7 packs all bytes of type
# 92, but loses 8 of them in a message to oneself.
case $(mpirun.openmpi --version 2>/dev/null) in
  *' 5.'*) agrees types-derived 1 1 91 ;;
  *) agrees types-derived 1 1 129 ;;
esac
seed=$(date +%s)
echo "# seed $seed"
right types-derived 1 none "$seed", "${RECLINE_LONG:+10}600"
right types-derived 2 uncoordinated "$seed", 100

says='other values'
right types-other 4 none
right types-other 4 causal
agrees types-other 4

# The next tests are of collectives, by each choice of algorithms.
says='collectives'
right types-collectives 4 none
right types-collectives 5 c3
agrees types-collectives 4
for selector in ompi mpich mvapich2; do
  sed "s|<platform version.*|&<config><prop id=\"smpi/coll-selector\" value=\"$selector\"/></config>|" \
    "$root/platforms/clan.xml" >$selector.xml
  machine=$dir/$selector.xml
  right types-collectives 7 none
done
machine=

says='fortran' many=
right types-fortran 3 none
right types-fortran 4 c3

# Fortran programs make each of these calls that is handled in Fortran: here, or in fortran.t
# (attributes), or in f08.t (counts).
sed -n -e '/MPI [34] |$/d' -e 's/^| `\(MPI_[A-Za-z0-9_]*\)` | \*\*handled\*\* | \*\*handled.*/\1_/p' \
  "$root/docs/mpi-coverage.md" | tr A-Z a-z |
  grep 'mpi_\(type_\|dims_create\|group_excl\|group_inters\|reduce_local\|status_set\)' |
  grep -v 'attr\|keyval\|darray\|match_size\|_x_$' | sort >handled
nm -D --undefined-only types-fortran | sed -n 's/.* U \(mpi_[a-z0-9_]*_\)$/\1/p' | sort -u >made
comm -23 handled made >missing
[ "$(wc -l <handled)" -gt 25 ] && [ ! -s missing ]
report $? 'and the program in Fortran makes every such call' missing

# Tests the types of C++, which SMPI's header does not have.
cat >cxx.cc <<'END'
#include <complex>
#include <cstdio>
#include <mpi.h>
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::complex<double> own(1 + rank, 2 - rank), product;
  bool yes = rank == 1, any = false;
  MPI_Allreduce(&own, &product, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
  MPI_Allreduce(&yes, &any, 1, MPI_CXX_BOOL, MPI_LOR, MPI_COMM_WORLD);
  if (rank == 0)
    printf("c++: %s\n", product == std::complex<double>(0, 15) && any ? "all are right" : "WRONG");
  MPI_Finalize();
}
END
sources=$dir
build_program recline-c++ cxx.cc -Wall
says='c++'
right cxx 3 none
finish 21
