#!/bin/sh
# check.hazards in runs: what becomes of writes under way at a crash; crashes within steps; control
# messages that overtake each other. Settings that only the explorer has are refused.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 2
  script: |
    rank 0: repeat 40 (compute 1ms, send 1, recv 1)
    rank 1: repeat 40 (compute 1ms, recv 0, send 0)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: pessimistic, capacity: 1000}
checkpoint: {every: 10ms, storage: local, bytes: 512KiB}
failures:   [{rank: 1, at: 45ms}]
EOF

# ends HAZARDS PROTOCOL WORD...: prints the verdict, where rank 1 starts again, and what the audit finds
# first (null: nothing).
ends() {
  "$recline" run scenario.yaml --set "check.hazards=[$1]" --set "protocol.name=$2" ${3:+"$3" "$4"} \
    --out out >out.txt 2>&1
  from=$(awk '$2 == 1 && $3 == "start" && $4 ~ /^checkpoint/ { print $4; exit }' out/trace.txt)
  echo "$(value out/result.json verdict) $from $(value out/result.json audit.first | sed 's/:.*//')"
}

is "$(ends '' pessimistic)" 'recovered checkpoint=1 null' 'a write under way is lost' out.txt
is "$(ends whole-writes pessimistic)" 'recovered checkpoint=2 null' 'or found whole' out.txt
is "$(ends torn-writes pessimistic)" 'recovered checkpoint=2 restorable' 'or torn' out.txt
check 'the replay agrees' "$build/t/layer-replay" out/trace.txt
for protocol in c3 bookmark; do
  is "$(ends torn-writes $protocol --set failures.0.at=15ms)" 'recovered  null' \
    "$protocol starts from none" out.txt
done

# A rank crashes within a step. What it has sent by then arrives, unless the receiver knows of the crash
# before.
for protocol in c3 bookmark pessimistic event-logging chandy-lamport; do
  for actions in 0 1; do
    is "$(ends '' $protocol --set "failures.0={rank: 1, after: {event: durable, actions: $actions}}" | cut -d ' ' -f 1,3)" \
      'recovered null' "$protocol, a crash behind $actions actions" out.txt
    is "$(grep -c " 1 durable .* cut=$actions" out/trace.txt)" 1 'the trace says so'
    check 'the replay agrees' "$build/t/layer-replay" out/trace.txt
  done
done
"$recline" run scenario.yaml --set 'failures.0={rank: 1, after: {rank: 0, event: control, actions: 1}}' >out.txt 2>&1
is "$?-$(grep -c 'after.rank: not the victim, expected it' out.txt)" 64-1 \
  'a rank crashes within its own step' out.txt

# Control messages overtake each other. Protocols that need their order fail, the others recover.
sed -i 's/ranks: 2/ranks: 3/; s/^    rank 1.*/    rank 1: repeat 40 (compute 1ms, recv 0, send 2)\
    rank 2: repeat 40 (compute 1ms, recv 1, send 0)/; s/send 1, recv 1/send 1, recv 2/' scenario.yaml
is "$(ends control-overtakes uncoordinated --set seed=1 | cut -d ' ' -f 1,3)" 'lost deadlock' \
  'uncoordinated: an end overtakes its table' out.txt
check 'the replay agrees' "$build/t/layer-replay" out/trace.txt
is "$(ends '' uncoordinated --set seed=1 | cut -d ' ' -f 1,3)" 'recovered null' 'in order it recovers' out.txt
# Counts control messages that were overtaken: in the trace their numbers fall.
overtaken() { awk '$3 == "control" { split($0, a, "@"); n = a[2] + 0; key = $2 " " $4
    if (n < last[key]) count++; last[key] = n } END { print count + 0 }' out/trace.txt; }
is "$(ends control-overtakes bookmark | cut -d ' ' -f 1,3)" 'recovered null' \
  'bookmark recovers as long as no release is as late as the next checkpoint' out.txt
check 'the replay agrees' "$build/t/layer-replay" out/trace.txt
check 'some are overtaken' test "$(overtaken)" -gt 0
mv out first
ends control-overtakes bookmark >/dev/null
same first/trace.txt out/trace.txt 'the same once more'

# A slow rank is declared dead, sends on, and is ended.
sed -i 's/^    rank 0.*/    rank 0: repeat 60 (compute 1ms, recv 1, send 2)/
    s/^    rank 1.*/    rank 1: repeat 60 (compute 1ms, send 0)/
    s/^    rank 2.*/    rank 2: repeat 60 (compute 1ms, recv 0)/
    s/^failures.*/failures: [{rank: 1, at: 45ms, ends_after: 8ms}]/; s/every: 10ms/every: 25ms/' scenario.yaml
for protocol in blocking bookmark c3 causal chandy-lamport event-logging hybrid lai-yang message-tagging \
  pessimistic uncoordinated; do
  is "$(ends '' $protocol | cut -d ' ' -f 1,3)" 'recovered null' "$protocol: a rank is declared dead" out.txt
  is "$(awk '$4 ~ /^detected/ { exit } / falsely/ { on = 1 } on && $2 == 1 { print $3 }
    $2 == 1 && $3 == "ended" { exit }' out/trace.txt | sort | uniq -c | awk '$2 == "ended" || ($2 == "send" && $1 > 1)' | wc -l)" \
    2 'it sends on until it is ended'
  check 'the replay agrees' "$build/t/layer-replay" out/trace.txt
done
refuses() { # KEY=VALUE, TEXT
  "$recline" run scenario.yaml --set "$1" >out.txt 2>&1
  is "$?-$(grep -c "failures.0.ends_after: $2" out.txt)" 64-1 "refused: $2" out.txt
}
refuses recovery.runtime=ulfm 'with recovery.runtime ulfm'
refuses 'failures.0={law: exponential, mtbf: 1s, ends_after: 1s}' 'beside law or trace'
refuses 'failures.0={rank: 1, after: {event: send, actions: 0}, ends_after: 1s}' 'beside after.actions'
"$recline" run scenario.yaml --set "check.hazards=[control-overtakes]" \
  --set protocol.name=chandy-lamport >out.txt 2>&1
is "$?-$(grep -c 'check.hazards: .* expected' out.txt)" 64-1 'so where channels carry control messages' out.txt
finish
