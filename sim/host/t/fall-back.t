#!/bin/sh
# Tests restarts that fail (recovery.attempts). If a checkpoint holds damage, the run goes back to
# the checkpoint before it: under every protocol that can do so, at both levels, however the program
# ends itself. No output of the damaged part leaves. The run gives up where it cannot go back
# further. Failures that have nothing to do with the checkpoint count, too. Protocols and scenarios
# that cannot fall back are refused.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cp "$here/programs/fall-back-program.c" "$dir"
cd "$dir" || exit 1
"$build/bin/recline-cc" -O1 -g fall-back-program.c -o damaged 2>log || not_ok 'the program' log

cat >scenario.yaml <<END
program:    {binary: ./damaged, args: ['0', abort], ranks: 4}
platform:   {file: clan.xml}
protocol:   {name: bookmark}
checkpoint: {at: [50ms, 110ms], storage: nfs, level: application}
detection:  1ms
limits:     {simulated: 5s}
END
damage=program.args.0=120 # ms; rank 1 is hit at 100 ms
simulate() {
  timeout 60 "$recline" run scenario.yaml --out out "$@" >stdout 2>stderr
  status=$?
  sort out/program.out >lines 2>>stderr
}
starts() { awk '$2 == 1 && $3 == "start" && $1 > 0 { sub("checkpoint=", "", $4); printf "%d ", $4 }' out/trace.txt; }

# line NAME LINES WORD...: the run recovers through these checkpoints, with the lines of a sound run.
line() {
  name=$1 through=$2
  shift 2
  simulate "$@"
  is "$status $(value out/result.json verdict) $(value out/result.json audit.violations): $(starts)" \
    "0 recovered 0: $through" "$name" stderr
  same sound lines "... prints each line once, as a sound run does"
  check '... and the replay agrees' "$build/t/layer-replay" out/trace.txt
}

simulate
cp lines sound
is "$status $(value out/result.json verdict) $(wc -l <sound)" '0 completed 96' 'a sound run' stderr

# ---- without the key the run ends with one line ----

simulate --set $damage
is "$status $(head -n 1 stderr | cut -d';' -f1)" \
  '64 recline run: rank 1 was ended by signal 6 (SIGABRT: Aborted)' 'without the key' stderr

# ---- each protocol, at both levels ----

for protocol in blocking bookmark c3 event-logging event-logging-sorted message-tagging; do
  for level in application system; do
    line "$protocol, $level" '2 2 1 ' --set $damage --set recovery.attempts=2 \
      --set protocol.name=$protocol --set checkpoint.level=$level
  done
done
for protocol in chandy-lamport lai-yang mattern; do
  line "$protocol" '2 2 1 ' --set $damage --set recovery.attempts=2 --set protocol.name=$protocol \
    --set checkpoint.level=system
done
line 'time-based' '2 2 1 ' --set $damage --set recovery.attempts=2 --set protocol.name=time-based \
  --set checkpoint.level=system --set checkpoint.at=[] --set checkpoint.every=90ms
line 'a number of attempts' '2 1 ' --set $damage --set recovery.attempts=1
is "$(value out/result.json checkpoints.abandoned) $(grep -o 'checkpoint 2 was abandoned at [0-9.]* s, as 1 restart from it failed' out/result.json | wc -l)" \
  '1 1' 'the result names the checkpoint'
grep -q '2 committed, 1 abandoned' stdout
report $? 'so does the summary' stdout
is "$(grep -c '^attempts 1$' out/trace.txt)" 1 'and the trace has the number'

# ---- how a rank ends itself ----

for how in fault exit job; do
  line "$how" '2 2 1 ' --set $damage --set recovery.attempts=2 --set program.args.1=$how
done

# ---- levels of storage ----

line 'levels keep what is needed' '2 2 1 ' --set $damage --set recovery.attempts=2 \
  --set 'checkpoint={at: [50ms, 110ms], level: application, levels: [{storage: memory}, {storage: nfs, every: 2}]}'

# ---- failures that come from outside count alike, until a checkpoint commits ----

outside='{rank: 1, after: {rank: 0, event: committed, checkpoint: 2}, kills: rank, repair: 1ms}'
again() { echo "failures.$1={rank: 1, after: {rank: 1, event: start, checkpoint: 2, count: $1}, kills: rank, repair: 1ms}"; }
line 'other failures, one attempt' '2 1 ' --set "failures.0=$outside" --set "$(again 1)" \
  --set recovery.attempts=1
line 'other failures, two attempts' '2 2 ' --set "failures.0=$outside" --set "$(again 1)" \
  --set recovery.attempts=2
line 'a checkpoint that commits ends the count' '1 2 ' --set recovery.attempts=1 \
  --set 'failures=[{rank: 2, at: 80ms, kills: rank, repair: 1ms}, {rank: 2, at: 250ms, kills: rank, repair: 1ms}]'
line 'from the beginning' '0 0 ' --set recovery.attempts=2 \
  --set 'failures=[{rank: 2, at: 20ms, kills: rank, repair: 1ms}, {rank: 2, at: 30ms, kills: rank, repair: 1ms}]'

# ---- an end ----

gives_up() { # NAME REASON WORD...
  name=$1 reason=$2
  shift 2
  simulate "$@"
  is "$status $(value out/result.json verdict) $(value out/result.json audit.violations): $(value out/result.json gave_up)" \
    "1 gave-up 0: $reason" "$name" stderr
}
gives_up 'no checkpoint behind the beginning' \
  '1 restart from the beginning failed (recovery.attempts), and there is no earlier checkpoint to go back to' \
  --set recovery.attempts=1 \
  --set 'failures=[{rank: 2, at: 20ms, kills: rank, repair: 1ms}, {rank: 2, at: 30ms, kills: rank, repair: 1ms}]'
gives_up 'restarts that fail ahead of the data' \
  '2 restarts from checkpoint 1 failed (recovery.attempts), and there is no earlier checkpoint to go back to' \
  --set $damage --set recovery.attempts=2 --set program.args.1=early
is "$(value out/result.json checkpoints.abandoned) $(value out/result.json crashes)" '1 5' \
  '... count, too' out/result.json
gives_up 'damage in two checkpoints' \
  '2 restarts from checkpoint 2 failed (recovery.attempts), and there is no earlier checkpoint to go back to' \
  --set $damage --set recovery.attempts=2 --set 'checkpoint.at=[50ms, 110ms, 150ms]'
gives_up 'damage that comes again' \
  '2 restarts from checkpoint 2 failed, after 2 from checkpoint 1 (recovery.attempts)' \
  --set program.args.0=9999 --set recovery.attempts=2 --set checkpoint.at=[] --set checkpoint.every=70ms
is "$(comm -23 lines sound | wc -l)" 0 'no line of the damaged part has left' lines

# ---- refused ----

refused() { # MESSAGE WORD...
  message=$1
  shift
  "$recline" run scenario.yaml --set recovery.attempts=2 "$@" >stdout 2>stderr
  is "$? $(grep -c "recovery.attempts: $message" stderr)" '64 1' "refused: $message" stderr
}
for protocol in pessimistic causal optimistic uncoordinated index-based hybrid; do
  refused "2, expected 0: under $protocol a rank starts from its newest image" --set protocol.name=$protocol
done
refused '2, expected 0: none commits no checkpoint' --set protocol.name=none
refused 'beside checkpoint.then: stop' --set checkpoint.then=stop
"$recline" run scenario.yaml --set checkpoint.then=stop --out left >stdout 2>stderr
refused '2, expected 0: left has no checkpoint before its last' --restart left
refused '.*expected.*1000' --set recovery.attempts=1001

finish
