#!/bin/sh
# The programs of the scenarios compute what they should, without recline.
#
# Zeta of CG must be the published value on every shape of the grid (one rank, square, twice as wide as
# high), two runs must have the same bits, and the first iterations must be those of the fact sheet. The
# ring must have its checksum. Class A, and B with RECLINE_LONG=1, take longer.
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

# Returns whether the last run printed this line exactly once, and exited with this code.
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

# Prints the energy at the origin that the run has printed.
origin_energy() {
  awk '$1 == "origin" && $2 == "energy:" { print $4 }' "$output"
}

check_lulesh() { # RANKS SIDE: 2 tests
  run "$1" lulesh-like "$2" 20
  ended_with 'verification: PASS' 0
  ok $? "lulesh-like on $1 ranks conserves energy"
  first=$(cat "$output")
  run "$1" lulesh-like "$2" 20
  is "$(cat "$output")" "$first" "lulesh-like on $1 ranks prints the same again, bits and time"
}

for program in cg ring lulesh-like; do
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

run 8 cg -s S
ended_with 'verification: PASS' 0
ok $? "cg that marks its steps computes the same"

# The same gas is computed on one rank, on 8 and on 27. At the origin, forces have the same sum in any order.
check_lulesh 1 12
whole=$(origin_energy)
check_lulesh 8 6
is "$(origin_energy)" "$whole" "8 ranks compute what one does"
check_lulesh 27 4
is "$(origin_energy)" "$whole" "27 ranks compute what one does"
run 4 lulesh-like 4 2
is "$code" 64 "lulesh-like on 4 ranks is a usage error"
run 8 lulesh-like 0
is "$code" 64 "lulesh-like without elements is a usage error"

check_ring 1 4 3
check_ring 2 4 100
check_ring 5 0 2
check_ring 7 1000 4
check_ring 32 8192 2
check_ring 3 100000 5 # rendezvous
run 2 ring 4
is "$code" 64 "ring without laps is a usage error"

# clan.xml promises 20 us for 4 bytes and 100 MB/s for long messages, within 5 %.
run 2 ring 4 1000
awk '$1 == "time:" && $5 == "hop," { us = $2 } END { exit !(us > 19 && us < 21) }' "$output"
ok $? "4 bytes take 20 us on clan.xml"
run 2 ring 4194304 10
awk '$1 == "time:" && $5 == "hop," { mb = $6 } END { exit !(mb > 95 && mb < 105) }' "$output"
ok $? "4 MiB travel at 100 MB/s on clan.xml"

# cirrus.xml promises 2 us and 50 Gb/s between nodes, with 36 ranks on a node.
platform=$root/platforms/cirrus.xml
printf 'cirrus-%d\n' 0 1 >"$hostfile"
run 2 ring 1 1000
awk '$1 == "time:" && $5 == "hop," { us = $2 } END { exit !(us > 1.9 && us < 2.1) }' "$output"
ok $? "1 byte takes 2 us on cirrus.xml"
run 2 ring 16777216 10
awk '$1 == "time:" && $5 == "hop," { mb = $6 } END { exit !(mb > 6000 && mb < 6300) }' "$output"
ok $? "16 MiB travel at 50 Gb/s on cirrus.xml"
i=0
while [ $i -lt 36 ]; do
  echo cirrus-0
  i=$((i + 1))
done >"$hostfile"
run 36 ring 1 1000
awk '$1 == "time:" && $5 == "hop," { us = $2 } END { exit !(us > 0.45 && us < 0.55) }' "$output"
ok $? "36 ranks share a node of cirrus.xml"

echo "1..$test_number"
