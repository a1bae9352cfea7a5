#!/bin/sh
# Tests what build systems ask the compilers: which command they would run, and which version they
# are; also by the names of other MPI libraries' compilers.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
cat >init.c <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
  return MPI_Init(&argc, &argv);
}
EOF
names='cc c++'
! command -v gfortran >/dev/null || names="$names f90 ff"

# ---- a command that is shown does the same ----
"$build/bin/recline-cc" init.c -o made >log 2>&1
shown=$("$build/bin/recline-cc" -show init.c -o shown 2>>log)
beneath=$("$build/bin/recline-cc" --showme:command)
is "${shown%% *}" "$beneath" 'what is shown begins with the compiler beneath'
eval "$shown" >>log 2>&1
is "$?" 0 'and can be run' log
needed() { # FILE
  readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' '
}
is "$(needed shown)" "$(needed made)" 'and links the same libraries, in the same order' log
is "$("$build/bin/recline-cc" -showme init.c -o shown)" "$shown" '-showme is -show'
eval "$beneath $("$build/bin/recline-cc" --showme:compile) -c init.c -o init.o" >log 2>&1 &&
  eval "$beneath init.o $("$build/bin/recline-cc" --showme:link) -o parts" >>log 2>&1
is "$?" 0 'flags of compiling and of linking, for the compiler beneath' log
is "$(needed parts)" "$(needed made)" 'link the same' log

# ---- who they are ----
for name in $names; do
  "$build/bin/recline-$name" --version >version 2>&1
  is "$?:$(tail -n 1 version | sed 's/[0-9.]*$//'):$(grep -c SimGrid version)" \
    "0:recline-$name: recline :0" "recline-$name --version" version
  is "$("$build/bin/recline-$name" --showme:version)" "$(tail -n 1 version)" 'and --showme:version'
  is "$(head -n 1 version)" \
    "$("$("$build/bin/recline-$name" --showme:command)" --version | head -n 1)" \
    'the first line is that of the compiler beneath' version
done
for folder in $("$build/bin/recline-cc" --showme:incdirs); do
  [ -e "$folder/mpi.h" ] || [ -e "$folder/recline.h" ] || echo "$folder"
done >without
is "$(cat without)" '' '--showme:incdirs'
for library in $("$build/bin/recline-cc" --showme:libs); do
  [ -e "$("$build/bin/recline-cc" --showme:libdirs)/lib$library.so" ] || echo "$library"
done >without
is "$(cat without)" '' '--showme:libs and --showme:libdirs'
"$build/bin/recline-cc" --showme:odd >log 2>&1
is "$?:$(grep -c 'showme:odd, expected one of command' log)" 64:1 'another question is refused' log

# ---- by the names of others ----
PATH=$build/bin/mpi:$PATH
for pair in mpicc:cc mpicxx:c++ mpic++:c++ mpiCC:c++ mpif77:ff mpif90:f90 mpifort:f90; do
  case " $names " in
  *" ${pair#*:} "*)
    is "$(${pair%:*} --showme:version | sed 's/:.*//')" "recline-${pair#*:}" "${pair%:*}"
    ;;
  *) ok "${pair%:*} # SKIP no gfortran" ;;
  esac
done
mpicc init.c -o named >log 2>&1
is "$?:$(needed named)" "0:$(needed made)" 'which links the same' log

# shellcheck disable=SC2086 # a list
set -- $names
finish $((17 + 3 * $#))
