#!/bin/sh
# Tests MPI-IO (layer-files.c, layer-files.f90): every call, in C, C++ and Fortran, and the bytes of
# the files in the end, under every protocol that recovers, with crashes and without.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-files
each_makes 'MPI_File_[a-zA-Z0-9_]*\|MPI_Type_\(create_subarray\|get_contents\|get_envelope\)' \
  50 ' of MPI-IO' "$only_in_f08"

write_scenario 4 '["3", ./files]'

# Replaces the function of languages.sh: the program must say $output, and if it recovers, it must
# leave the same files as without a protocol.
attempt() { # PROGRAM VERDICT DESCRIPTION WORD...
  program=$1 ends=$2 description=$3
  shift 3
  rm -rf files
  mkdir files
  run_ends "$ends" "$program, $description" --set "program.binary=./$program" "$@"
  is "$(cat out/program.out)" "$output" "$what: reads and writes the same" out/program.out stderr
  case $program-$ends in
  in-*-recovered)
    diff -r "whole.$program" files >difference 2>&1
    is "$?" 0 "$what: the files are the same" difference
    ;;
  esac
}

every=4ms

for run in $programs; do
  output='3 rounds, 0 failures, PASS'
  [ "$run" != in-fortran ] || output='3 rounds, 0 failures'
  attempt_alone "$run"
  mv files "whole.$run"
  for protocol in c3 pessimistic; do
    recovers "$run" $protocol '{rank: 1, at: 6ms, repair: 1ms}, {rank: 0, at: 14ms, repair: 1ms}'
  done
done

# ---- crashes under all protocols that recover ----
output='3 rounds, 0 failures, PASS'
instants='6 13'
[ -z "$RECLINE_LONG" ] || instants='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18'
for at in $instants; do
  crash="{rank: $((at % 4)), at: ${at}ms, repair: 1ms}"
  recovers_everywhere in-c "$crash" 100us index-based lai-yang mattern optimistic
done

# ---- rank 0 empties a file, or removes it, by calls of libc; then all make it again ----
cat >again.c <<'EOF'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  int rank, ranks, wrong = 0, in;
  MPI_File file;
  MPI_Offset size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < 20; round++) {
    int out = 100 * round + rank, place = 4 * (rank + ranks * (round % 5));
    if (rank == 0 && access("again", F_OK) == 0)
      wrong += (round % 2 ? truncate("again", 0) : unlink("again")) != 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, "again", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_get_size(file, &size);
    wrong += size != 0;
    MPI_File_write_at_all(file, place, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    smpi_execute_benched(5e-4 * (1 + rank));
    in = -1;
    MPI_File_read_at(file, place + (rank ? -4 : 4), &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    wrong += in != 100 * round + (rank ? rank - 1 : 1);
    MPI_File_close(&file);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -O2 -Wall again.c -o made-again >log 2>&1
output='0 wrong'
while read -r protocol rank at; do
  rm -f again
  attempt made-again recovered "$protocol, rank $rank crashes at $at ms" --set 'program.args=[]' \
    --set "protocol.name=$protocol" --set 'checkpoint={every: 5ms, storage: local, bytes: 10kB}' \
    --set "failures=[{rank: $rank, at: ${at}ms, repair: 1ms}]"
done <<EOF
c3 2 7
bookmark 2 4
pessimistic 0 4
uncoordinated 0 13
EOF

# ---- a rank that goes back alone reads the same bytes of such a file by open() again, although
# others have made the next version since, or deleted the file ----
"$build/bin/recline-cc" -O2 -Wall "$here/programs/files-mpi-read.c" -o made-read >log 2>&1
rm -f header
"$recline" run scenario.yaml --out out --set program.binary=./made-read --set 'program.args=[header]' \
  >stdout 2>stderr
output=$(cat out/program.out)
is "$(cut -d ' ' -f 3 out/program.out | sort -u | wc -l)" 1 'all ranks see the same' out/program.out
for protocol in pessimistic causal uncoordinated; do
  for at in 9 12; do
    rm -f header
    attempt made-read recovered "$protocol, rank 0 crashes at $at ms" --set 'program.args=[header]' \
      --set "protocol.name=$protocol" --set 'checkpoint={every: 4ms, storage: local, bytes: 10kB}' \
      --set "failures=[{rank: 0, at: ${at}ms, repair: 1ms}]"
  done
done

# ---- after any call in which all members wait for each other, other ranks see what a rank has
# written; rank 0 looks for the file and empties it while other ranks may not have gone back yet
# ----
cat >met.c <<'EOF'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <unistd.h>
static int ranks;
static void meet(int way)
{
  int one = 1, all[2][16] = {{0}};
  if (way == 0)
    MPI_Barrier(MPI_COMM_WORLD);
  else if (way == 1)
    MPI_Allreduce(&one, all[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else if (way == 2)
    MPI_Allgather(&one, 1, MPI_INT, all[0], 1, MPI_INT, MPI_COMM_WORLD);
  else
    MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
  int rank, wrong = 0, in, elements;
  MPI_File file;
  MPI_Status status;
  MPI_Datatype twice;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_create_hvector(2, 1, 0, MPI_INT, &twice);
  MPI_Type_commit(&twice);
  for (int round = 0; round < 20; round++) {
    int out = 100 * round + rank, next = (rank + 1) % ranks;
    if (rank == 0 && access("met", F_OK) == 0)
      wrong += round == 0 || truncate("met", 0) != 0;
    MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, "met", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 8 * rank, &out, 1, twice, &status);
    MPI_Get_elements(&status, twice, &elements);
    wrong += elements != 2;
    smpi_execute_benched(5e-4 * (1 + rank));
    meet(round % 4);
    in = -1;
    MPI_File_read_at(file, 8 * next + 4, &in, 1, MPI_INT, &status);
    wrong += in != 100 * round + next;
    MPI_File_close(&file);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -O2 -Wall met.c -o made-met >log 2>&1
output='0 wrong'
rm -f met
attempt made-met completed 'meeting, no protocol' --set 'program.args=[]'
while read -r protocol rank at; do
  rm -f met
  attempt made-met recovered "meeting, $protocol, rank $rank crashes at $at ms" \
    --set 'program.args=[]' --set "protocol.name=$protocol" \
    --set 'checkpoint={every: 5ms, storage: local, bytes: 10kB}' \
    --set "failures=[{rank: $rank, at: ${at}ms, repair: 1ms}]"
  is "$(wc -c <met)" 32 "$what: the file is whole"
done <<EOF
c3 2 7
bookmark 0 4
pessimistic 0 4
pessimistic 0 23
uncoordinated 0 4
uncoordinated 0 23
EOF

# ---- a rank that goes back alone sets a size once more, which is not to cut what came since ----
cat >resized.c <<'EOF'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank, ranks, wrong = 0, in;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File_open(MPI_COMM_WORLD, "resized", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int round = 0; round < 20; round++) {
    int out = 100 * round + rank, next = (rank + 1) % ranks;
    MPI_File_set_size(file, 4 * ranks * round);
    MPI_File_write_at(file, 4 * (ranks * round + rank), &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    smpi_execute_benched(5e-4 * (1 + rank));
    MPI_Barrier(MPI_COMM_WORLD);
    in = -1;
    MPI_File_read_at(file, 4 * (ranks * round + next), &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    wrong += in != 100 * round + next;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", wrong);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -O2 -Wall resized.c -o made-resized >log 2>&1
output='0 wrong'
rm -f resized
attempt made-resized completed 'sizes, no protocol' --set 'program.args=[]'
mv resized whole.resized
while read -r protocol rank at; do
  rm -f resized
  attempt made-resized recovered "sizes, $protocol, rank $rank crashes at $at ms" \
    --set 'program.args=[]' --set "protocol.name=$protocol" \
    --set 'checkpoint={every: 4ms, storage: local, bytes: 10kB}' \
    --set "failures=[{rank: $rank, at: ${at}ms, repair: 1ms}]"
  cmp resized whole.resized >difference 2>&1
  is "$?" 0 "$what: the file is the same" difference
done <<EOF
chandy-lamport 0 13
causal 0 13
pessimistic 0 24
EOF

# ---- what cannot be rolled back is refused ----
cat >shared.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank, one = 1, sum = 0, in;
  MPI_File file;
  MPI_Offset size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (int i = 0; i <= rank; i++)
    MPI_File_write_shared(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_ordered(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int i = 0; i <= rank; i++)
    MPI_File_read_shared(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE), sum += in;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_File_get_size(file, &size);
  if (rank == 0)
    printf("%d %d\n", sum, (int)size);
  MPI_File_close(&file);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -O2 -Wall shared.c -o shared-pointer >log 2>&1
output='10 56'
attempt shared-pointer completed 'the shared pointer without a protocol' --set 'program.args=[]'
"$recline" run scenario.yaml --set program.binary=./shared-pointer --set 'program.args=[]' \
  --set protocol.name=c3 >stdout 2>stderr
is "$?:$(grep -c 'MPI_File_write_shared are refused under a recovery protocol' stderr)" 64:1 \
  'under one it is refused' stderr
finish
