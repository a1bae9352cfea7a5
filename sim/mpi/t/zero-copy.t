#!/bin/sh
# Tests large messages, whose bytes stay with their sender until a receive has them. The program of
# t/zero-copy-program.c uses its buffers again as soon as MPI allows, and still finds that receivers
# got what was sent, with crashes and without, under protocols that keep payloads and under others.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

cd "$dir" || exit 1
"$build/bin/recline-cc" -O2 -g -Wall -Wextra -Werror "$here/programs/zero-copy-program.c" -o lent >log 2>&1
is $? 0 'the program is built' log
cat >scenario.yaml <<EOF
program:    {binary: ./lent, args: ["3"], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none, capacity: 256}
detection:  1ms
EOF
echo '3 rounds, 0 failures, PASS' >expected

run() { # VERDICT DESCRIPTION WORD...
  run_ends "$@"
  sort -u out/program.out >printed
  same expected printed "$what: the same result"
}

run completed none
for protocol in c3 bookmark event-logging chandy-lamport uncoordinated pessimistic; do
  set -- --set protocol.name=$protocol --set 'checkpoint={every: 8ms, storage: local, bytes: 10kB}'
  run completed $protocol "$@"
  step=$(awk -v end="$(value out/result.json simulated_s)" 'BEGIN {print end / 9}')
  for i in 1 2 3 4 5 6 7 8; do
    at=$(awk -v i=$i -v step="$step" 'BEGIN {printf "%.6f", i * step}')
    failure="{rank: $((i % 4)), at: ${at}s, repair: 1ms}"
    run recovered "$protocol, $failure" "$@" --set "failures=[$failure]"
  done
done
finish 111
