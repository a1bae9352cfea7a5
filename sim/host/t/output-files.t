#!/bin/sh
# Tests files of output_files over crashes, under every protocol, written by streams of C and C++,
# write(2) and units of Fortran. After each write each file is a beginning of the file of a run
# without failures, and at the end it is that file. What programs may not do with such files is
# refused in one line.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cp "$here"/programs/output-files.* "$here/programs/output-watch.c" "$here/programs/output-restarts.c" "$dir"
cd "$dir" || exit 1
check 'a program in C++ is built' \
  "$build/bin/recline-c++" -O2 -g -Wall -Wextra -Werror output-files.cc -o in-c
check 'a program in Fortran is built' "$build/bin/recline-f90" -O2 -g output-files.f90 -o in-fortran
check 'what looks at the files is built' \
  cc -shared -fPIC -O2 -Wall -Wextra -Werror output-watch.c -o watch.so

cat >scenario.yaml <<END
program:      {binary: ./in-c, ranks: 3}
platform:     {file: $root/platforms/clan.xml}
protocol:     {name: c3}
checkpoint:   {every: 20ms, storage: nfs, bytes: 64KiB}
detection:    1ms
failures:     [{rank: 1, at: 75ms, repair: 1ms}]
output_files: [log.*]
END

# Makes the expected files by a run without failures, whose writes reach the files at once.
expected() { # [OPTION]...
  rm -rf log.* expected
  "$recline" run scenario.yaml --set failures=none --set protocol.name=none --set output=passes \
    --no-trace "$@" >log 2>&1 || return 1
  mkdir expected && mv log.* expected
}

# Runs the scenario with a crash, and watches its files (output-watch.c).
watched() { # [OPTION]...
  rm -f found
  WATCH_FOUND=$dir/found WATCH_EXPECTED=$dir/expected LD_PRELOAD=$dir/watch.so \
    "$recline" run scenario.yaml --no-trace "$@" --out out >log 2>&1
}

# Tests that nothing wrong was seen, and that no file was ever shorter than before.
only_grew() {
  awk '/wrong/ || $2 < seen[$1] { exit 1 } { seen[$1] = $2 }' found
}

# Tests that the last run was right, and that all files are as expected at the end.
right() { # STATUS NAME
  status=$1
  [ "$(jq .crashes out/result.json)" = 1 ] || status=2
  for file in expected/log.*; do
    cmp -s "$file" "${file#*/}" || status=3
  done
  only_grew || status=4
  report "$status" "$2" log found
}

expected
is "$? $(ls expected | wc -l)" '0 12' 'without failures: twelve files' log
count=4
for protocol in $("$recline" list protocols | sed 's/ .*//' | grep -v '^none$\|^time-based$'); do
  for at in 40ms 110ms; do
    rm -f log.*
    for rank in 0 1 2; do
      echo 'of an older run' >log.stream.$rank
    done
    watched --set "protocol.name=$protocol" --set "failures.0.at=$at"
    right $? "$protocol, a crash at $at: each file is right at every moment"
    count=$((count + 1))
  done
done

rm -f log.*
watched --set protocol.name=pessimistic
grows=$(wc -l <found)
is "$([ "$grows" -gt 100 ] && echo often)" often "pessimistic: files grow all the time, $grows times"
rm -f log.*
watched --set checkpoint.every=0
is "$? $(cut -d' ' -f1 found | uniq -c | awk '$1 > 1')" '0 ' \
  'c3 without checkpoints: each is written at once at the end' log found
rm -f log.*
watched --set output=passes
only_grew
is $? 1 'output passes: files go back' log found

# The files to which the program appends exist before the run.
rm -f log.*
for rank in 0 1 2; do
  cp expected/log.again.$rank log.again.$rank
  cat log.again.$rank >>expected/log.again.$rank
done
LOG_BEFORE=$(wc -c <log.again.0)
export LOG_BEFORE
watched --set protocol.name=pessimistic
right $? 'an older file is added to, and the program sees that it is there'
unset LOG_BEFORE
# At the application level main runs again, and truncates its file once more. As a repetition, that must
# not reach the file.
"$build/bin/recline-cc" -O2 -g -Wall -Wextra -Werror output-restarts.c -o restarts >log 2>&1
is $? 0 'a program that restarts from the beginning of main is built' log
restarts="--set program.binary=./restarts --set checkpoint.level=application"
expected $restarts
for protocol in c3 pessimistic; do
  rm -f log.*
  watched $restarts --set "protocol.name=$protocol"
  right $? "$protocol, application level: each file is right at every moment"
  sort out/program.out | uniq -d >twice
  is "$(wc -l <out/program.out) $(wc -l <twice)" '39 0' "and each line is printed once" out/program.out
  count=$((count + 2))
done

expected --set program.binary=./in-fortran
for protocol in c3 pessimistic optimistic; do
  for at in 40ms 110ms; do
    rm -f log.*
    watched --set program.binary=./in-fortran --set "protocol.name=$protocol" \
      --set "failures.0.at=$at"
    right $? "$protocol, Fortran, a crash at $at: each file is right at every moment"
    count=$((count + 1))
  done
done

refused() { # WORD WHAT FILE
  rm -f log.*
  "$recline" run scenario.yaml --set "program.args=[$1]" --set failures=none --no-trace --out out \
    >log 2>&1
  is "$? $(grep -c "rank 1 $2 .*/log.$3.1, which is in output_files, expected" log)" '64 1' \
    "$1: refused in one line" log
  count=$((count + 1))
}
refused seek 'writes over' stream
refused position 'writes over' writes
refused truncate truncates writes
refused read reads writes
refused look reads writes
refused update reads writes
refused remove 'removes or replaces' writes
refused rename renames writes
refused dup duplicates writes
refused mpi 'opens by MPI-IO' writes
finish $((count + 5))
