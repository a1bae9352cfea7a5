#!/bin/sh
# Tests what `cmake --install` makes, in a prefix with a space in its name. No file there names the
# source or the build folder. The installation builds and runs programs, checks claims, and serves
# protocols that are kept elsewhere. With RECLINE_PREFIX=/usr the packages that are installed there
# are tested.
. "$(dirname "$0")/../../protocols/t/tap.sh"
[ -n "${RECLINE_PREFIX-}" ] || needs_layer
cd "$dir" || exit 1
unset RECLINE_DATA RECLINE_PLATFORMS RECLINE_PROGRAMS PKG_CONFIG_PATH LD_LIBRARY_PATH

if [ -n "${RECLINE_PREFIX-}" ]; then
  place=$RECLINE_PREFIX
else
  cmake --install "$build" --prefix "$dir/first place" >log 2>&1
  is $? 0 'installed' log
  mv 'first place' 'a place' # nothing in the installation may depend on where it was
  place="$dir/a place"

  # The search covers debug information. The names are looked for without symbolic links.
  source=$(cd "$root" && pwd -P)
  is "$(grep -r -l -F -e "$source" -e "$build" "$place")" '' 'no file names the source or build folder'
  is "$(find "$place" -type f -exec readelf -d {} + 2>/dev/null | grep -E 'R(UN)?PATH' |
    grep -v -F '$ORIGIN')" '' 'libraries are looked for beside what needs them'
fi

commands=$("$place/bin/recline" --help | sed -n '/^Commands:/,/^$/s/^  [a-z]/&/p' | wc -l)
is "$(find "$place/share/man/man1" -name 'recline*.1*' | wc -l)" $((1 + commands)) 'a manual page for recline, and one for each command'
[ -s "$place/share/bash-completion/completions/recline" ]
is $? 0 'completion is installed'

cat >ring.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank, ranks, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 2000; i++) {
    int mine = rank + i, theirs = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % ranks, 0, &theirs, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += theirs;
  }
  printf("rank %d: %d\n", rank, sum);
  MPI_Finalize();
  return 0;
}
END
"$place/bin/recline-cc" -O2 -Wall -Wextra -Werror ring.c -o 'my ring' >log 2>&1
is $? 0 'recline-cc builds a program' log
cat >modern.f90 <<'END'
program modern
  use mpi_f08
  call MPI_Init()
  call MPI_Finalize()
end program modern
END
if command -v gfortran >/dev/null; then
  "$place/lib/recline/bin/mpi/mpif90" modern.f90 -o modern >log 2>&1
  is $? 0 'mpif90 finds its module' log
else
  ok 'mpif90 finds its module # SKIP no gfortran'
fi
cat >run.yaml <<'END'
program: {binary: ./my ring, ranks: 4}
platform: {file: clan.xml}
protocol: {name: c3}
checkpoint: {every: 1ms, bytes: 64KiB}
failures: [{rank: 2, after: {rank: 0, event: committed, checkpoint: 1}}]
expect: {verdict: recovered, program_exit: 0}
END
"$place/bin/recline" run run.yaml --out 'the result' >stdout 2>stderr
is "$?:$(sort 'the result/program.out' | head -n 1)" '0:rank 0: 2005000' \
  'it crashes and recovers under recline' stderr
"$place/bin/recline" run "$place/share/recline/scenarios/demo.yaml" >stdout 2>stderr
is $? 0 'an installed scenario runs' stderr
"$place/bin/recline" check c3-no-suppress c3-1.1 --out 'the checks' >stdout 2>stderr
is $? 0 'an installed claim and a mutant are checked' stdout stderr
"$place/bin/recline" draw c3 -o c3.svg >stdout 2>stderr && grep -q '<svg' c3.svg
is $? 0 'the states of a protocol are drawn' stderr
# The second mutant changes a header. Without clang there is no page to play them in.
plays() { "$place/bin/recline" play "$1" -o "$1.html" >stdout 2>stderr; }
[ ! -e "$place/lib/recline/play/page.html" ] || { plays c3-no-suppress && plays event-logging-hash-not-perfect; }
is $? 0 'mutants are played' stderr

# A user's own protocol is built with find_package and with pkg-config.
cp "$place"/share/recline/examples/* .
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES C)
find_package(recline 0.2 REQUIRED)
add_library(restart MODULE restart.c)
set_target_properties(restart PROPERTIES PREFIX "")
target_link_libraries(restart PRIVATE recline::protocol)
enable_testing()
add_test(NAME recovers COMMAND ${RECLINE_EXECUTABLE} check ${CMAKE_CURRENT_SOURCE_DIR}/claim.yaml)
END
sed 's,file: restart.so,file: build/restart.so,' restart-recovers.yaml >claim.yaml
{ cmake -S . -B build "-DCMAKE_PREFIX_PATH=$place" && cmake --build build; } >log 2>&1
is $? 0 'a protocol is built with find_package' log
ctest --no-tests=error --test-dir build >log 2>&1
is $? 0 'and its claim holds' log
export PKG_CONFIG_PATH="$place/lib/pkgconfig"
eval "cc -std=c11 -shared -fPIC $(pkg-config --cflags recline) -o restart.so restart.c" >log 2>&1
is $? 0 'or with pkg-config' log
"$place/bin/recline" check restart-recovers.yaml >stdout 2>stderr
is $? 0 'and its claim holds' stdout stderr

# The same program on real MPI.
on_real_mpi() {
  ! mpirun --version 2>&1 | grep -q 'Open MPI' || open='--allow-run-as-root --oversubscribe'
  mpicc ring.c -L "$place/lib/recline/lib" -lrecline-mpi-host -o 'real ring' || return
  export LD_LIBRARY_PATH="$place/lib/recline/lib" RECLINE_PROTOCOL=c3 RECLINE_CHECKPOINTS='its checkpoints'
  # shellcheck disable=SC2086 # a list of words
  mpirun ${open-} -n 4 './real ring' </dev/null
}
if [ -e "$place/lib/recline/lib/librecline-mpi-host.so" ] && command -v mpirun >/dev/null; then
  on_real_mpi >stdout 2>stderr
  is "$?:$(sort stdout | head -n 1):$(ls -d 'its checkpoints')" '0:rank 0: 2005000:its checkpoints' \
    'a program runs on real MPI under the installed host' stderr
else
  is 0 0 'there is no MPI here'
fi
[ -n "${RECLINE_PREFIX-}" ] || finish 17
finish 14
