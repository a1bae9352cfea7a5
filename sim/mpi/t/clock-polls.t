#!/bin/sh
# Tests programs in C, C++ and Fortran that poll, and read clocks in between. They crash in six
# places under every protocol that makes choices come out again, and in one place under protocols
# that let the program choose anew. Whatever followed from a clock before a crash must follow from
# it again. The logs are small, because readings between polls with the same outcome need no
# entries.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
flags='-O1 -g -Wall -Wextra -Werror'
for source in c:cc cc:c++ f90:f90; do
  # shellcheck disable=SC2086 # a list
  "$build/bin/recline-${source#*:}" $flags "$here/programs/clock-polls-program.${source%:*}" \
    -o "program.${source%:*}" >log 2>&1
  is $? 0 "the program in ${source%:*} is built" log
done
cat >scenario.yaml <<EOF
program:    {binary: ./program.c, ranks: 3}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none, capacity: 256}
checkpoint: {every: 2ms, storage: local, bytes: 1kB}
detection:  100us
EOF

# ---- entries ----
# A log has an entry for each outcome that differs from the one before at the same rank.
"$recline" run scenario.yaml --set protocol.name=pessimistic --out out >stdout 2>stderr
awk '$3 == "choice" { polls++; entries += $4 != last[$2]; last[$2] = $4 }
  END { print polls, entries > "/dev/stderr"; print (polls > 10000), (entries < polls / 10) }' \
  out/trace.txt >found 2>counts
is "$(cat found)" '1 1' 'of ten choices less than one is an entry' counts stderr

# ---- crashes ----
crash() { # PROGRAM PROTOCOL RANK MICROSECONDS
  rm -rf out
  "$recline" run scenario.yaml --no-trace --out out --set "program.binary=./program.$1" \
    --set "protocol.name=$2" --set "failures=[{rank: $3, at: $4us, repair: 200us}]" >stdout 2>stderr
  echo "$?: $(sed -n 's/^\([a-z-]*\)  .*/\1/p' stdout | sed 1q) $(sort out/program.out | tr '\n' ' ')"
}
sweep() { # PROGRAM PROTOCOL LENGTH PLACE...: places are in 24ths of LENGTH microseconds
  program=$1 protocol=$2 length=$3
  shift 3
  for place; do
    crash "$program" "$protocol" $((place % 3)) $((length * place / 24))
  done >found
  is "$(sort -u found)" '0: recovered 0: done 1: done 2: done ' \
    "$protocol: program.$program, crashed in $# places" found stderr
}
for protocol in pessimistic pessimistic-wildcards causal optimistic c3; do
  sweep c $protocol 42000 1 6 11 14 19 22
  sweep cc $protocol 17000 7 20
  sweep f90 $protocol 17000 8 21
done
for protocol in c3-envelopes bookmark chandy-lamport lai-yang mattern uncoordinated index-based \
  event-logging blocking hybrid; do
  sweep c $protocol 42000 13
done
finish 29
