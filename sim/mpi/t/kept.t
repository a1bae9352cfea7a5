#!/bin/sh
# Tests that types and groups, which are never freed (sim/mpi/types/type_reuse.h), are used again.
# Programs that make and free them do not need more memory the longer they run, nor do collectives
# of SMPI that make types. Results are right if a rank goes back to a moment when it had not yet
# freed a type.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:    {binary: ./kept, args: ["80"], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF

# ---- right, crashed or not ----
cp "$here/programs/layer-rounds.h" "$here/programs/kept-program.c" .
echo '#include "kept-program.c"' >kept-program.cc
"$build/bin/recline-cc" -std=gnu11 -O2 -Wall -Wextra -Werror kept-program.c -o kept >log 2>&1 &&
  "$build/bin/recline-c++" -O2 -Wall -Wextra -Werror kept-program.cc -o kept-c++ >>log 2>&1
is "$?" 0 'the program is built in C and in C++' log

attempt() { # VERDICT DESCRIPTION WORD...
  ends=$1 description=$2
  shift 2
  run_ends "$ends" "$description" "$@"
  is "$(cat out/program.out)" '80 rounds, 0 failures, PASS' "$what: all is right" out/program.out stderr
}
attempt completed 'no protocol'
attempt completed 'C++' --set program.binary=./kept-c++
for protocol in bookmark c3 message-tagging pessimistic; do
  for at in 5 9; do
    attempt recovered "$protocol, $at ms" --set "protocol.name=$protocol" \
      --set 'checkpoint={every: 3ms, storage: local, bytes: 10kB}' \
      --set "failures=[{rank: 1, at: ${at}ms, repair: 1ms}, {rank: 2, at: $((at + 3))ms, repair: 1ms}]"
  done
done

# ---- as much memory for many rounds as for few ----
cat >memory.h <<'EOF'
#include <stdlib.h>
#include <string.h>
static void tell(void)
{
  char line[200];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, "VmRSS:", 6) == 0)
      printf("%ld\n", atol(line + 6));
  fclose(status);
}
EOF
sed -e 's/^#define PROGRAM.*/&\n#include <stdio.h>\n#include "memory.h"/' \
  -e 's/^  return end(rounds);/  if (rank == 0)\n    tell();\n  return end(rounds);/' \
  kept-program.c >many.c
"$build/bin/recline-cc" -std=gnu11 -O2 many.c -o many >log 2>&1
is "$?" 0 'one that tells its memory' log
cat >alltoall.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "memory.h"
int main(int argc, char **argv)
{
  int rank;
  char out[1024] = "", in[1024];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < atoi(argv[1]); i++)
    MPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, MPI_COMM_WORLD);
  if (rank == 0)
    tell();
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -O2 alltoall.c -o alltoall >log 2>&1
is "$?" 0 'one of collectives' log
memory() { # PROGRAM ROUNDS RANKS: KiB
  "$recline" run scenario.yaml --set "program.binary=./$1" --set "program.args=[$2]" \
    --set "program.ranks=$3" --out out >/dev/null 2>stderr
  head -n 1 out/program.out
}
does_not_grow() { # PROGRAM FEW MANY RANKS DESCRIPTION
  few=$(memory "$1" "$2" "$4") many=$(memory "$1" "$3" "$4")
  echo "$few KiB, $many KiB" >needed
  [ "${few:-0}" -gt 4096 ] && [ "${many:-0}" -gt 4096 ] && [ "$((many - few))" -lt 4096 ]
  is $? 0 "$5" needed stderr
}
does_not_grow many 20 6000 4 'types and groups of 6,000 rounds need no more memory than those of 20'
does_not_grow alltoall 10 500 32 'nor do 500 calls of MPI_Alltoall more than 10'

if command -v gfortran >/dev/null; then
  cat >types.f90 <<'EOF'
program types
  use mpi
  implicit none
  integer :: rounds, i, made, error
  character(len=20) :: argument
  call mpi_init(error)
  call get_command_argument(1, argument)
  read (argument, *) rounds
  do i = 1, rounds
    call mpi_type_vector(3, 1, 2, MPI_INTEGER, made, error)
    call mpi_type_commit(made, error)
    call mpi_type_free(made, error)
  end do
  call tell_memory()
  call mpi_finalize(error)
end program types
EOF
  printf '#include <stdio.h>\n#include "memory.h"\nvoid tell_memory_(void)\n{\n  tell();\n  fflush(NULL);\n}\n' >tell.c
  "$build/bin/recline-cc" -c tell.c -o tell.o >log 2>&1 &&
    "$build/bin/recline-f90" types.f90 tell.o -o types >>log 2>&1
  is "$?" 0 'a program in Fortran is built' log
  does_not_grow types 100 30000 1 'nor do types in Fortran'
else
  ok 'a program in Fortran is built # SKIP no gfortran'
  ok 'nor do types in Fortran # SKIP no gfortran'
fi
finish
