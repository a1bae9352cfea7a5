#!/bin/sh
# The programs of the scenarios compute what they should, without recline.
#
# What is compared: zeta of CG with the published value, on every grid shape (one rank, square, twice
# as wide as high); the bits of two runs; the printed first iterations of the fact sheet; the
# checksum of the ring. Class A, and B with RECLINE_LONG=1, take longer.
#
# The verdict is read from what the program printed: smpirun's exit code alone proves nothing, since
# a simulation that ends in a deadlock can still exit with 0.

here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
root=$here/../../..
build=${RECLINE_BUILD:-$root/build}
platform=$root/platforms/clan.xml
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
hostfile=$dir/hosts
output=$dir/output

test_number=0

ok() { # STATUS DESCRIPTION
  test_number=$((test_number + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $test_number - $2"
  else
    echo "not ok $test_number - $2"
    sed 's/^/# /' "$output"
  fi
}

is() { # FOUND EXPECTED DESCRIPTION
  [ "$1" = "$2" ]
  status=$?
  ok $status "$3"
  [ $status -eq 0 ] || printf '# found:    %s\n# expected: %s\n' "$1" "$2"
}

# Runs the plain program; leaves its lines in $output and the exit code in $code.
run() { # RANKS PROGRAM ARGUMENTS...
  ranks=$1
  program=$build/programs/$2-plain
  shift 2
  smpirun -np "$ranks" -platform "$platform" -hostfile "$hostfile" \
    --cfg=smpi/simulate-computation:no --cfg=smpi/tmpdir:"$dir" --log=root.thres:critical \
    "$program" "$@" >"$output" 2>&1
  code=$?
}

# Did the last run print this line, exactly once, and exit with this code?
ended_with() { # LINE CODE
  [ "$(grep -c -x "$1" "$output")" -eq 1 ] && [ "$code" -eq "$2" ]
}

is_close() { # FOUND EXPECTED: within 1e-10, relatively
  awk -v found="$1" -v expected="$2" \
    'BEGIN { error = (found - expected) / expected; exit !(error <= 1e-10 && -error <= 1e-10) }'
}

zeta() {
  awk '$1 == "zeta:" { print $2 }' "$output"
}

check_cg() { # CLASS RANKS ZETA: 3 tests
  run "$2" cg "$1"
  ended_with 'verification: PASS' 0
  ok $? "cg $1 on $2 ranks says it is verified"
  is_close "$(zeta)" "$3"
  ok $? "cg $1 on $2 ranks: zeta is $3 within 1e-10"
  first=$(cat "$output")
  run "$2" cg "$1"
  is "$(cat "$output")" "$first" "cg $1 on $2 ranks prints the same again, bits and time"
}

check_ring() { # RANKS BYTES LAPS: 1 test
  run "$1" ring "$2" "$3"
  ended_with 'verification: PASS' 0
  ok $? "ring of $1 ranks, $2 bytes, $3 laps"
}

for program in cg ring; do
  if [ ! -e "$build/programs/$program-plain" ]; then
    echo "Bail out! $build/programs/$program-plain is not built"
    exit 1
  fi
done
i=0
while [ $i -lt 32 ]; do
  echo "node-$i"
  i=$((i + 1))
done >"$hostfile"

for ranks in 1 2 4 8 16; do
  check_cg S $ranks 8.5971775078648
done
check_cg W 4 10.362595087124
check_cg A 8 17.130235054029
if [ "${RECLINE_LONG:-0}" = 1 ]; then
  check_cg B 32 22.712745482631
fi

run 4 cg -v S 3
iteration=0
for expected in 9.9986441579140 8.5733279203222 8.5954510374058; do
  iteration=$((iteration + 1))
  found=$(awk -v n=$iteration '$1 == "iteration:" && $2 == n { print $6 }' "$output")
  is_close "$found" "$expected"
  ok $? "cg S on 4 ranks: zeta after iteration $iteration is $expected"
done
run 4 cg S 3
grep -q '^verification: SKIP' "$output" && [ "$code" -eq 0 ]
ok $? "cg with fewer iterations does not claim to be verified"
[ "$(grep -c '^iteration:' "$output")" -eq 0 ]
ok $? "cg without -v prints no iterations"

run 3 cg S
is "$code" 64 "cg on 3 ranks is a usage error"
run 2 cg X
is "$code" 64 "cg with an unknown class is a usage error"
run 2 cg S 0
is "$code" 64 "cg with no iterations is a usage error"

check_ring 1 4 3
check_ring 2 4 100
check_ring 5 0 2
check_ring 7 1000 4
check_ring 32 8192 2
check_ring 3 100000 5 # rendezvous
run 2 ring 4
is "$code" 64 "ring without laps is a usage error"

# What clan.xml promises: 20 us for 4 bytes and 100 MB/s for long messages, within 5 %.
run 2 ring 4 1000
awk '$1 == "time:" && $5 == "hop," { us = $2 } END { exit !(us > 19 && us < 21) }' "$output"
ok $? "4 bytes take 20 us on clan.xml"
run 2 ring 4194304 10
awk '$1 == "time:" && $5 == "hop," { mb = $6 } END { exit !(mb > 95 && mb < 105) }' "$output"
ok $? "4 MiB travel at 100 MB/s on clan.xml"

echo "1..$test_number"
