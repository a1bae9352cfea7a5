#!/bin/sh
# Tests that what the system tells a program does not depend on the run or on the machine that
# simulates: memory, processes, load, random bytes (system-program.cc). Nor do results depend on the
# locale that a program sets.
. "$(dirname "$0")/../../../protocols/t/tap.sh"

cp "$here/programs/system-program.cc" "$here"/programs/system-*.c "$dir"
cd "$dir" || exit 1
"$build/bin/recline-c++" -O2 -Wall -Wextra -Werror system-program.cc -o program >log 2>&1 &&
  "$build/bin/recline-cc" -O2 -Wall -Wextra -Werror system-locale.c -o locale >>log 2>&1 &&
  "$build/bin/recline-cc" -O2 -Wall -Wextra -Werror system-cycles.c -o cycles >>log 2>&1
is "$?" 0 'the programs are built' log

cat >scenario.yaml <<EOF
program:    {binary: ./program, ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: pessimistic, capacity: 1000}
checkpoint: {every: 4ms, storage: local, bytes: 10kB}
failures:   [{rank: 1, at: 10ms, repair: 1ms}]
EOF
run() { # OUT WORD...
  to=$1
  shift
  timeout 60 "$recline" run scenario.yaml --out "$to" "$@" >stdout 2>stderr
}

run first
is "$?-$(value first/result.json verdict)-$(value first/result.json audit.violations)" 0-recovered-0 \
  'a rank that asks the system recovers and sends the same again' stderr
(ulimit -s unlimited; run second) # another environment of the same machine
same first/trace.txt second/trace.txt 'another run: the same trace'
same first/program.out second/program.out 'the same answers'
is "$(sort first/program.out | uniq -d | wc -l)" 0 'random bytes are not the same twice' first/program.out
run third --set seed=8
is "$(cmp -s first/program.out third/program.out || echo other)" other 'another seed: others'

# A value that is not simulated is found when a rank sends it and, after a crash, sends another
# value. A trace has the violations that are counted, and none of properties that the protocol does
# not promise.
audit() { # PROTOCOL EXPECTED DESCRIPTION
  rm -rf "$1"
  run "$1" --set program.binary=./cycles --set protocol.name="$1" --set checkpoint.every=100us \
    --set failures.0.rank=0 --set failures.0.at=300us
  is "$(grep '^violation' "$1/trace.txt" | cut -d ' ' -f 1-3 | uniq -c | tr -s ' \n' '  ')$(
    value "$1/result.json" audit.violations)" "$2" "$3" stderr
}
audit pessimistic ' 1 violation agreement rank=1: 1' 'a violation at the end is counted and traced'
audit event-logging 0 'quiet channels are not promised, nor traced where they are not quiet'

# Makes a locale with a decimal comma, because not all systems have one.
mkdir locales
if localedef -i de_DE -f UTF-8 "$dir/locales/de_DE.UTF-8" >/dev/null 2>&1; then
  run plain --set program.binary=./locale
  LOCPATH=$dir/locales LC_ALL=de_DE.UTF-8 "$recline" run scenario.yaml --out comma \
    --set program.binary=./locale >stdout 2>stderr
  is "$?" 0 'a program under de_DE.UTF-8 runs' stderr
  is "$(grep -c ',' comma/program.out)-$(grep -c ',' plain/program.out)" 11-0 \
    'it prints its numbers with a comma' comma/program.out
  for which in plain comma; do
    sed '/ output output=/s/content=[0-9a-f]*//' $which/trace.txt >$which.trace
  done
  same plain.trace comma.trace 'the trace is the same, but for what is printed'
  same plain/result.json comma/result.json 'the result is the same'
else
  for what in runs comma trace result; do ok "$what # SKIP no sources of locales"; done
fi
finish 12
