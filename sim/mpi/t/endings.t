#!/bin/sh
# Tests how programs end. Each failure names its rank, and what the program printed last is kept.
# exit() after MPI_Finalize ends a process, as without a simulator. Options reach the program.
. "$(dirname "$0")/../../../protocols/t/tap.sh"

cp "$here/programs/endings-program.cc" "$here/programs/endings-arguments.c" "$dir"
cd "$dir" || exit 1
"$build/bin/recline-c++" -O2 -Wall -Wextra -Werror endings-program.cc -o endings >log 2>&1 &&
  "$build/bin/recline-cc" -O2 -Wall -Wextra -Werror endings-arguments.c -o arguments >>log 2>&1
is "$?" 0 'the programs are built' log

cat >scenario.yaml <<EOF
program:    {binary: ./endings, args: [exit], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 4ms, storage: local, bytes: 10kB}
EOF

fails() { # HOW EXPECTED
  timeout 60 "$recline" run scenario.yaml --set "program.args=[$1]" >stdout 2>stderr
  is "$?-$(grep -c 'last words' stderr)-$(grep -c "^recline run: rank 1 $2" stderr)" 64-1-1 \
    "$1: names the rank, keeps the last words" stdout stderr
}

fails segv 'was ended by signal 11 (SIGSEGV: Segmentation fault)'
fails stack 'has overflowed its stack of [0-9]* KiB'
fails abort 'was ended by signal 6 (SIGABRT: Aborted)'
fails raise 'was ended by signal 15 (SIGTERM: Terminated)'
fails throw 'was ended by signal 6 (SIGABRT: Aborted)'
fails _exit 'has called _exit(7)'
fails MPI_Abort 'has called MPI_Abort(9)'
fails return 'has returned from its program without MPI_Finalize'

timeout 60 "$recline" run scenario.yaml --out out >stdout 2>stderr
is "$?-$(grep -c '^leaving 3$' out/program.out)-$(grep -c destroyed out/program.out)" 0-4-0 \
  'exit() in a function that throws nothing: all ranks end, locals are not destroyed' stderr
is "$(grep -c '^funneled$' out/program.out)" 1 'MPI_THREAD_FUNNELED is provided' out/program.out

timeout 60 "$recline" run scenario.yaml --set program.binary=./arguments --out out \
  --set 'program.args=[--, --help, "--log=root.thres:info", --, "--cfg=smpi/np:1", --]' \
  >stdout 2>stderr
is "$?:$(sed -n 's/^argument //p' out/program.out | tr '\n' ' ')" \
  '0:1: -- 2: --help 3: --log=root.thres:info 4: -- 5: --cfg=smpi/np:1 6: -- ' \
  "options like SimGrid's reach the program" stderr

# Builds start some of their programs directly.
printf '#include <mpi.h>\n#include <stdlib.h>\nint main(void) { exit(7); }\n' >direct.c
"$build/bin/recline-cc" direct.c -o direct >log 2>&1
./direct >stdout 2>stderr
is "$?" 7 'exit() of a program that is started directly, without MPI' stderr
finish 13
