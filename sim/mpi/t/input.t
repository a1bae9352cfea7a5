#!/bin/sh
# Tests program.stdin: rank 0 reads the file, by lines and in pieces larger than a buffer, and reads
# the same bytes again after a rollback.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cp "$here/programs/input.c" "$here/programs/input.f90" "$dir"
cd "$dir" || exit 1
"$build/bin/recline-cc" -O2 -g -Wall -Wextra -Werror input.c -o reads >log 2>&1
is "$?" 0 'the program is built' log
awk 'BEGIN { for (i = 0; i < 150; i++) printf "%d%200s\n", 1000 + 7 * i % 61, "" }' >numbers
sum=$(awk '{ sum = (3 * sum + $1) % 1000003 } END { print "150 numbers, " sum }' numbers)

cat >scenario.yaml <<EOF
program:    {binary: ./reads, ranks: 3, stdin: numbers}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 2ms, storage: local, bytes: 10kB}
detection:  1ms
EOF
reads_all() { # VERDICT DESCRIPTION WORD...
  run_ends "$@"
  is "$(cat out/program.out)" "$sum" "$2: it reads all, once"
}
crashes() { # DESCRIPTION PROGRAM
  reads_all completed "$1, no crash" --set "program=$2"
  for crash in 'c3 0 1' 'c3 0 4' 'c3 1 6' 'bookmark 0 5' 'pessimistic 0 6' 'pessimistic 1 6'; do
    protocol=${crash%% *} at=${crash##* } rank=${crash#* }
    reads_all recovered "$1, $protocol, rank ${rank% *} crashes at $at ms" --set "program=$2" \
      --set "protocol.name=$protocol" \
      --set "failures=[{rank: ${rank% *}, at: ${at}ms, repair: 1ms}]"
  done
}
crashes 'lines' '{binary: ./reads, ranks: 3, stdin: numbers}'
crashes 'a descriptor' '{binary: ./reads, args: [descriptor], ranks: 3, stdin: numbers}'

run_ends completed 'without it' --set 'program={binary: ./reads, ranks: 3}'
is "$(cat out/program.out)" '0 numbers, 0' 'without it: there is nothing to read'

refused() { # LINE DESCRIPTION WORD...
  line=$1 what=$2
  shift 2
  "$recline" run scenario.yaml "$@" >log 2>&1
  is "$? $(cat log)" "64 $line" "$what"
}
refused 'scenario.yaml:1: program.stdin: "none" is not there, expected a file (from --set)' \
  'no such file' --set program.stdin=none
refused "scenario.yaml:1: program.stdin: beside a script, expected stdin with a binary only \
(from --set)" 'beside a script' \
  --set 'program={script: "rank 0: send 1\nrank 1: recv 0", ranks: 2, stdin: numbers}'

if ! command -v gfortran >/dev/null; then
  finish 33
fi
"$build/bin/recline-f90" -O2 -g input.f90 -o unit >log 2>&1
is "$?" 0 'the Fortran program is built' log
crashes 'unit 5' '{binary: ./unit, ranks: 3, stdin: numbers}'
# A failed statement of Fortran ends the process while its unit is locked; the end flushes that
# unit.
timeout 60 "$recline" run scenario.yaml --set 'program={binary: ./unit, ranks: 3}' --out out \
  >stdout 2>stderr </dev/null
is "$?:$(grep -c 'End of file' out/program.err)" 3:1 'unit 5 at its end: the program fails' stderr
finish 49
