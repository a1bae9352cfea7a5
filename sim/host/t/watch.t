#!/bin/sh
# Programs that wait for ever end the run within a few rounds of checkpoints, under every kind of
# protocol; programs that wait for a long transfer go on, however many timers go off meanwhile.
. "$(dirname "$0")/../../../protocols/t/tap.sh"

cp "$here/programs/watch-program.c" "$dir"
cd "$dir" || exit 1
"$build/bin/recline-cc" -O2 -Wall -Wextra -Werror watch-program.c -o program >log 2>&1
is "$?" 0 'the program is built' log
cat >scenario.yaml <<EOF
program:    {binary: ./program, args: [never], ranks: 2}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none, capacity: 100}
checkpoint: {every: 5ms, storage: local, bytes: 1kB}
EOF

for protocol in none c3 bookmark chandy-lamport event-logging pessimistic uncoordinated; do
  timeout 60 "$recline" run scenario.yaml --out out --set protocol.name=$protocol >stdout 2>stderr
  is "$?-$(value out/result.json verdict)-$(jq '.simulated_s < 0.06' out/result.json)" 1-lost-true \
    "$protocol: the deadlock is reported soon" stderr out/result.json
  is "$(jq -r '.audit.first' out/result.json | grep -c '^deadlock')" 1 "$protocol: as a deadlock" stderr
done

# As long as a failure is due, a wait is no deadlock.
timeout 60 "$recline" run scenario.yaml --out out --set protocol.name=bookmark \
  --set 'failures=[{rank: 1, at: 100ms, repair: 1ms}]' >stdout 2>stderr
is "$(value out/result.json verdict)-$(value out/result.json crashes)" lost-1 \
  'a failure that is due is awaited' stderr

for protocol in event-logging chandy-lamport pessimistic; do
  timeout 60 "$recline" run scenario.yaml --out out --set protocol.name=$protocol \
    --set 'program.args=[long]' --set checkpoint.every=2us >stdout 2>stderr
  is "$?-$(value out/result.json verdict)" 0-completed "$protocol: a long transfer is awaited" stderr
done

# A program that computes between checkpoints, and sends nothing, does not wait.
cat >computes.yaml <<EOF
program:
  ranks: 1
  script: |
    rank 0: repeat 40 (compute 10ms, checkpoint)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 15ms, storage: local, places: program, writes: foreground, bytes: 1kB}
EOF
timeout 60 "$recline" run computes.yaml --out out >stdout 2>stderr
is "$?-$(value out/result.json verdict)-$(jq '.checkpoints.committed > 5' out/result.json)" \
  0-completed-true 'a program that only computes goes on' stderr
finish 20
