#!/bin/sh
# Tests what libc keeps for the process: the environment, and the last error of the dynamic linker.
# Each rank has its own environment, which rolls back with the rank.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >environment.c <<'EOF'
#define _GNU_SOURCE
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int wrong;
static void expect(const char *name, const char *value)
{
  const char *found = getenv(name);
  if (!value != !found || (found && strcmp(found, value)))
    wrong++, fprintf(stderr, "%s is %s\n", name, found ? found : "not set");
}
int main(int argc, char **argv)
{
  int rank;
  char text[32], put[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect("OUTSIDE", "given");
  for (int i = 0; i < 20; i++) {
    snprintf(text, sizeof text, "%d", 100 * rank + i);
    snprintf(put, sizeof put, "PUT=%s", text);
    expect("SET", i % 4 == 1 || i == 0 ? NULL : "last");
    i % 4 ? setenv("SET", text, 1) : unsetenv("SET");
    if (i % 2)
      putenv(put);
    smpi_execute_benched(5e-4 * (1 + rank));
    MPI_Barrier(MPI_COMM_WORLD);
    expect("SET", i % 4 ? text : NULL);
    expect("PUT", i ? text : NULL);
    if (i % 4)
      setenv("SET", "last", 1);
  }
  putenv("PUT");
  expect("PUT", NULL);
  setenv("OUTSIDE", "other", 0);
  expect("OUTSIDE", "given");
  wrong += setenv("A=B", "x", 1) != -1 || setenv("", "x", 1) != -1;
  if (rank == 1)
    clearenv();
  MPI_Barrier(MPI_COMM_WORLD);
  expect("OUTSIDE", rank == 1 ? NULL : "given");
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  return MPI_Finalize();
}
EOF
check 'a program that changes its environment' \
  "$build/bin/recline-cc" -O2 -Wall environment.c -o environment

cat >scenario.yaml <<EOF
program:    {binary: ./environment, ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF
OUTSIDE=given
export OUTSIDE

attempt() { # PROTOCOL VERDICT WORD...
  protocol=$1 verdict=$2
  shift 2
  "$recline" run scenario.yaml --out out --set "protocol.name=$protocol" "$@" >stdout 2>stderr
  is "$?:$(jq -r .verdict out/result.json):$(cat out/program.out)" "0:$verdict:0 wrong" \
    "$protocol: $said_of" stderr
}

said_of='each rank has its own'
attempt none completed
while read -r protocol rank at; do
  attempt "$protocol" recovered --set 'checkpoint={every: 4ms, storage: local, bytes: 10kB}' \
    --set "failures=[{rank: $rank, at: ${at}ms, repair: 1ms}]"
done <<EOF
c3 1 13
bookmark 3 9
pessimistic 0 21
uncoordinated 2 17
EOF

cat >linker.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
  int rank, wrong = 0;
  char name[40], *block[8] = {NULL};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; i++) {
    smpi_execute_benched(5e-4 * (1 + rank));
    MPI_Barrier(MPI_COMM_WORLD);
    free(block[i % 8]);
    block[i % 8] = malloc(16 + 8 * (size_t)i);
    memset(block[i % 8], 255, 16 + 8 * (size_t)i);
    snprintf(name, sizeof name, "missing_%d_%d", rank, i);
    wrong += dlsym(RTLD_DEFAULT, name) != NULL;
    const char *error = dlerror();
    wrong += !error || !strstr(error, name);
    wrong += dlsym(RTLD_DEFAULT, name) != NULL;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  return MPI_Finalize();
}
EOF
check 'a program that looks for symbols that are missing' \
  "$build/bin/recline-cc" -O2 -Wall linker.c -o linker
said_of='what libc keeps of an error'
for protocol in c3 bookmark; do
  attempt $protocol recovered --set program.binary=./linker \
    --set 'checkpoint={every: 15ms, storage: local, bytes: 10kB}' \
    --set 'failures=[{rank: 1, at: 13ms, repair: 1ms}]'
done
finish
