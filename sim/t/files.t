#!/bin/sh
# Files that are open over a rollback (files-program.cc, files-program.f90): streams of C and C++ go
# on where they were, and are written as without a crash; units of Fortran are not put back.
. "$(dirname "$0")/tap.sh"

cp "$here"/files-program.* "$dir"
cd "$dir" || exit 1
"$build/bin/recline-c++" -O2 -g -Wall -Wextra -Werror files-program.cc -o streams >log 2>&1
is "$?" 0 'the program is built' log
mkdir clean crash
# more than a buffer holds: a line of it is read in each step
awk 'BEGIN { for (i = 0; i < 25; i++) printf "%d%1000s\n", 100 + i, "" }' | tee clean/numbers >crash/numbers

cat >scenario.yaml <<EOF
program:    {binary: ./streams, args: ["$dir/clean"], ranks: 3}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 5ms, storage: local, bytes: 10kB}
detection:  1ms
EOF
run_ends completed 'no crash'
cp out/program.out expected

for at in 1ms 4ms 7ms 11ms 14ms 17ms 18ms 19ms; do
  rm -f crash/*-*
  run_ends recovered "rank 1 crashes at $at" --set "program.args=[$dir/crash]" \
    --set "failures=[{rank: 1, at: $at, repair: 1ms}]"
  same expected out/program.out "$what: reads the same"
  diff -r clean crash >difference 2>&1
  is "$?:$(ls crash | wc -l)" 0:16 "$what: writes the same" difference
done

if ! command -v gfortran >/dev/null; then
  finish 26
fi
"$build/bin/recline-f90" -O2 -g files-program.f90 -o units >log 2>&1
is "$?" 0 'the Fortran program is built' log
crash='failures=[{rank: 0, at: 12ms, repair: 1ms}]'
run_ends recovered 'a unit' --set program.binary=./units --set "program.args=[$dir]" --set "$crash"
is "$(cat out/program.out)" 'done' 'a unit: goes on' out/program.err
is "$(sort -u unit.txt | wc -l):$(sort unit.txt | uniq -d)" '20:step 11' \
  'a unit: what was written since the checkpoint is written twice' unit.txt
finish 30
