#!/bin/sh
# Tests files over a rollback: streams of C++ (files-program.cc), descriptors (files-undo.c) and
# units of Fortran (files-program.f90). Programs read and write them as without a crash, also files
# that they change in place, make anew or read again.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

cp "$here"/files-* "$dir"
cd "$dir" || exit 1
mkdir tmp
TMPDIR=$dir/tmp
export TMPDIR
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

# ---- programs that see what is wrong themselves ----

# Runs PROGRAM in folders of its own; COMMAND makes its input for the rank in $rank.
changes() { # PROGRAM COMMAND
  prepare="rm -rf new; mkdir new; for rank in 0 1 2; do $2 >new/input-\$rank; done"
  eval "$prepare"
  run_ends completed "$1, no crash" --set "program.binary=./$1" --set "program.args=[$dir/new]"
  wrong_said "$1, no crash"
  rm -rf old
  mv new old
  for crash in 'c3 7' 'bookmark 13' 'pessimistic 18' 'bookmark 1'; do
    eval "$prepare"
    run_ends recovered "$1 with ${crash% *}, a crash at ${crash#* } ms" \
      --set "program.binary=./$1" --set "program.args=[$dir/new]" \
      --set "protocol.name=${crash% *}" \
      --set "failures=[{rank: 1, at: ${crash#* }ms, repair: 1ms}]"
    wrong_said "$what"
    diff -r old new >difference 2>&1
    is "$?" 0 "$what: writes the same" difference
  done
}

wrong_said() { # DESCRIPTION
  is "$(grep -h wrong out/program.out | tr -dc 0-9)" 0 "$1: reads the same" out/program.out
}

"$build/bin/recline-cc" -O2 -g -Wall -Wextra -Werror files-undo.c -o undo >log 2>&1
is "$?" 0 'the C program is built' log
changes undo 'printf abcdefghijklmnopqrstuvwxyz'

if ! command -v gfortran >/dev/null; then
  finish 41
fi
LC_ALL=C.UTF-8 # with a locale that libc has to load, which libgfortran does
"$build/bin/recline-f90" -O2 -g files-program.f90 -o units >log 2>&1
is "$?" 0 'the Fortran program is built' log
changes units 'seq $((100 * rank + 1)) $((100 * rank + 20))'
is "$(ls -A "$TMPDIR")" '' 'of scratch files nothing is left'
finish 57
