#!/bin/sh
# Tests checkpoint and terminate: a run ends when its last checkpoint has committed, and leaves the
# checkpoint in a folder. A later run goes on from there, also on another platform, with another
# placement, in another byte order, and with messages that were under way. Together they print what
# one run would. What cannot be left, or does not fit, is refused. RECLINE_LONG: more instants.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cp "$here"/programs/application-program.c "$here"/programs/restart-*.c "$dir"
cd "$dir" || exit 1

# ---- stopping ----

cg() { # NAME WORD...
  name=$1
  shift
  "$recline" run "$root/scenarios/application-level.yaml" --json --out "$name" \
    --set failures=none --set expect.verdict=completed "$@" >"$name.json" 2>"$name.err"
}
stops() { # NAME WORD...
  cg "$@" --set checkpoint.then=stop --set expect.verdict=stopped
}
told() { # EXPECTED DESCRIPTION: of "exit verdict committed left"
  is "$code $(value "$name.json" verdict) $(value "$name.json" checkpoints.committed) $(value \
    "$name.json" restart.left)" "$1" "$2" "$name.err"
}
stops first
code=$?
told '0 stopped 1 1' 'a run stops behind its first checkpoint'
stops instants --set checkpoint.every=0 --set 'checkpoint.at=[20ms, 120ms]'
code=$?
told '0 stopped 2 2' 'or behind the last that is named'
stops second --set checkpoint.count=2
code=$?
told '0 stopped 2 2' 'or behind as many as it may ask for'
is "$(ls second/checkpoint | tr '\n' ' ')" \
  "manifest $(seq -f 'rank-%g.image' 0 7 | tr '\n' ' ')" 'it leaves images and a manifest'
"$tool" replay second/trace.txt >/dev/null 2>log
report $? 'its trace replays' log
(cd second && sed -n 's/^file [0-9]* \([0-9a-f]*\) \(.*\)/\1  \2/p' checkpoint/manifest |
  sha256sum --quiet -c) >log 2>&1
report $? 'the manifest has the sums of the files' log
stops first --set checkpoint.every=0 --set 'checkpoint.at=[10s]' --set expect.verdict=completed
code=$?
told '1 completed 0 0' 'a run that ends before is not stopped'
note=$(grep -c 'checkpoint.then: not stopped' first.json)
is "$note-$(ls first | tr '\n' ' ')" \
  '1-activity.txt program.out result.json scenario.yaml trace.txt ' \
  'which is noted, and what was left there before is gone' first.json

refused() { # LINE WORD...
  line=$1
  shift
  "$recline" run "$root/scenarios/application-level.yaml" "$@" >log 2>&1
  code=$?
  is "$code $(sed "s/^[^:]*:[0-9]*: //; s/ (from --set)\$//; s,$dir/,,g" log)" "64 $line" \
    "refused: $line" log
}
stop='--set checkpoint.then=stop --out out'
refused 'checkpoint.then: stop, expected continue or checkpoint.level: application: images of all memory are of one process' \
  $stop --set checkpoint.level=system
refused 'checkpoint.then: stop, expected continue: pessimistic commits no checkpoint of all ranks' \
  $stop --set protocol.name=pessimistic
refused 'checkpoint.then: stop, expected continue or checkpoint.storage: nfs: what is on nodes stays there' \
  $stop --set checkpoint.storage=local
refused 'checkpoint.then: stop, and no checkpoint is asked for, expected checkpoint.every, at or calls' \
  $stop --set checkpoint.every=0
refused 'checkpoint.then: stop leaves a checkpoint, expected --out DIR, where it is left' \
  --set checkpoint.then=stop
refused 'checkpoint.then: stop leaves a checkpoint, expected no --no-trace: it has a part in it' \
  $stop --no-trace
is "$(ls -d out 2>/dev/null)" '' 'which leaves nothing'

# ---- going on ----

numbers() { grep -E '^(residual|zeta|verification)' "$1/program.out"; }
cg undisturbed
numbers undisturbed >digits
mv second moved
goes_on() { # DESCRIPTION VERDICT ROLLBACKS WORD...: from `moved`
  what=$1 expected="0 $2 2 0 $3"
  shift 3
  cg next --restart moved "$@"
  is "$? $(value next.json verdict) $(value next.json restart.from) $(value next.json \
    audit.violations) $(value next.json rollbacks.global)" "$expected" "$what" next.err
  numbers next >found
  same found digits "$what: the digits of one run"
  "$tool" replay next/trace.txt >/dev/null 2>log
  report $? "$what: a trace of all replays" log
}
goes_on 'from a folder that has moved' completed 0
lines=$(wc -l <moved/trace.txt)
head -n "$lines" next/trace.txt | cmp -s - moved/trace.txt
report $? 'which begins with that of the run before'
is "$(sed -n "$((lines + 1)),\$s/^[0-9.]* \([0-9-]\) \(crash\|detected\).*/\1 \2/p" next/trace.txt |
  tr '\n' ' ')" "$(seq -f '%g crash' 0 7 | tr '\n' ' ')- detected " 'then all ranks fail, once'
is "$(awk 'NR > 14 && $1 + 0 < last + 0 { wrong++ } NR > 14 { last = $1 } END { print wrong + 0 }' \
  next/trace.txt)" 0 'times rise in all of it'
goes_on 'on InfiniBand, four ranks on a node' completed 0 --set platform.file=sif.xml \
  --set platform.interconnect=infiniband --set platform.placement=block --set platform.per_node=4
faster=$(value next.json simulated_s | awk '{ print ($1 < 0.05) }')
is "$faster" 1 'at the speed of that' next.json
goes_on 'a failure behind that' recovered 1 --set expect.verdict=recovered \
  --set 'failures.0={rank: 3, at: 50ms, repair: 20ms}'
goes_on 'a failure while ranks restart' recovered 0 --set expect.verdict=recovered \
  --set 'failures.0={rank: 3, at: 1ms, repair: 20ms}'

# The ring of the bookmark paper: first on InfiniBand, then on Myrinet with half as many ranks on a node.
sif='--set platform.file=sif.xml --set platform.placement=block --set protocol.name=bookmark
  --set platform.spares=0 --set checkpoint.every=0'
stops infiniband $sif --set platform.interconnect=infiniband --set platform.per_node=4 \
  --set 'checkpoint.at=[3ms]'
code=$?
told '0 stopped 1 1' 'bookmark stops on InfiniBand'
cg next --restart infiniband $sif --set platform.interconnect=myrinet --set platform.per_node=2
is "$? $(value next.json verdict) $(value next.json restart.from)" '0 completed 1' \
  'and goes on on Myrinet' next.err
numbers next >found
same found digits 'with the digits of one run'

# ---- messages that were under way ----

for program in application restart; do
  "$build/bin/recline-cc" -O1 -g $program-program.c -o $program 2>log || not_ok "$program" log
done
# Makes a platform whose nodes all have that byte order.
order() { # PLATFORM ORDER
  sed "s,\\(<host id=\"node-[0-9]*\" [^>]*>\\),\\1<prop id=\"byte_order\" value=\"$2\"/>," \
    "$root/platforms/clan.xml" >"$1"
}
order big.xml big
order little.xml little
simulate() { # NAME PROGRAM WORD...
  cat >scenario.yaml <<END
program:    {binary: ./$2, ranks: 4}
platform:   {file: clan.xml}
protocol:   {name: c3, capacity: 4000}
checkpoint: {every: 6ms, storage: nfs, level: application}
limits:     {simulated: 2s}
END
  name=$1
  shift 2
  timeout 120 "$recline" run scenario.yaml --json --out "$name" "$@" >"$name.json" 2>"$name.err"
}
payloads() { grep -c '^payload ' "$1/checkpoint/manifest"; }

# Makes three runs, each in another byte order than the one before. Together they print what one run does.
chain() { # PROGRAM COUNT WORD...: the second run has one checkpoint more
  program=$1 count=$2
  shift 2
  simulate one "$program" "$@" --set platform.file=big.xml --set checkpoint.then=stop \
    --set checkpoint.count="$count" || return 1
  simulate two "$program" "$@" --set platform.file=little.xml --set checkpoint.then=stop \
    --restart one || return 1
  simulate three "$program" "$@" --set platform.file=big.xml --restart two --set platform.placement=block \
    --set platform.per_node=2 || return 1
  sort one/program.out two/program.out three/program.out >found
}
for program in restart application; do
  simulate right $program --set checkpoint.every=0
  sort right/program.out >$program.lines
done
instants=${RECLINE_LONG:+$(seq 1 12)}
for protocol in c3 bookmark event-logging message-tagging; do
  wrong_at='' held=0 done=0 counts=${instants:-1 3}
  for count in $counts; do
    chain restart "$count" --set protocol.name=$protocol
    code=$?
    [ "$(value one.json verdict)" = stopped ] && [ "$(value two.json verdict)" = stopped ] || continue
    held=$((held + $(payloads one) + $(payloads two))) done=$((done + 1))
    [ "$code-$(value three.json audit.violations)" = 0-0 ] && cmp -s found restart.lines &&
      "$tool" replay three/trace.txt >/dev/null 2>>three.err || wrong_at="$wrong_at $count"
  done
  is "$wrong_at$((held > 0)) $((done > 0))" '1 1' \
    "$protocol: two restarts with messages from before, in another byte order each" three.err found
done
cp two.json twice.json
cp three.json last.json
simulate one restart --set checkpoint.every=0 --set checkpoint.calls=taken \
  --set checkpoint.then=stop
is "$(value one.json verdict) $(value one.json restart.left)" 'stopped 1' \
  'a run stops where its program asks for a checkpoint' one.err
simulate three restart --restart one --no-trace
sort one/program.out three/program.out >found
same found restart.lines 'and goes on, without a trace' three.err
is "$(value last.json restart.from)" "$(value twice.json restart.left)" \
  'the last goes on from what the second has left' last.json
for protocol in c3 blocking bookmark; do
  rm -f written
  outputs=
  [ $protocol != bookmark ] || outputs='--set output_files=[written]'
  chain application 2 --set protocol.name=$protocol $outputs
  seq 0 23 >lines
  same written lines "$protocol: a file has each line once${outputs:+, as output}" three.err
  same found application.lines "$protocol: and so has the output" three.err
done

# In the checkpoint one member has passed a broadcast that the others have not reached. A restart must
# not wait for that member, nor must a recovery that goes back to the beginning of the second run.
"$build/bin/recline-cc" -O1 -g restart-early.c -o early 2>log || not_ok early log
simulate right early --set checkpoint.every=0 --set protocol.control=separate
sort right/program.out >early.lines
behind='--set protocol.control=separate --set checkpoint.every=0'
simulate one early $behind --set 'checkpoint.at=[25ms]' --set checkpoint.then=stop
is "$(awk '$2 > 1 && / capture checkpoint/ { printf "%s captured ", $2 }
  $2 > 1 && / collected .*call=3 / { printf "%s told ", $2 }' one/trace.txt)" \
  '3 captured 2 told 2 captured 3 told ' 'one rank is captured behind a broadcast' one.err
for failure in none '[{rank: 1, at: 30ms, repair: 1ms}]'; do
  simulate two early $behind --restart one --set "failures=$failure"
  sort one/program.out two/program.out >found
  same found early.lines "a broadcast that one has behind it, failures: $failure" two.err
done

# ---- what does not fit ----

refused 'checkpoint.level: system, expected application, as moved/checkpoint/manifest says' \
  --restart moved --set checkpoint.level=system
refused 'protocol.name: bookmark, expected c3, as moved/checkpoint/manifest says' \
  --restart moved --set protocol.name=bookmark
refused 'protocol.capacity: 9, expected 65536, as moved/checkpoint/manifest says' \
  --restart moved --set protocol.capacity=9
refused 'checkpoint.storage: local, expected nfs, as moved/checkpoint/manifest says' \
  --restart moved --set checkpoint.storage=local
refused 'check.hazards: control-overtakes, expected none, as moved/checkpoint/manifest says' \
  --restart moved --set 'check.hazards=[control-overtakes]'
refused 'failures.1.returns: empty, expected other, as moved/checkpoint/manifest says' --restart moved \
  --set 'failures=[{rank: 3, at: 1s}, {kills: server, at: 1s, returns: empty}]'
refused 'recline run: --restart moved: is --out, too, expected another folder' --restart moved --out moved
refused 'recline run: --restart moved: beside --record or --replay, expected it alone' \
  --restart moved --record out
refused 'nowhere/checkpoint/manifest: cannot be read, expected the folder of a run that has stopped' \
  --restart nowhere
# The scenario must also fit where the first run allowed that the server loses images.
stops lost --set 'failures=[{kills: server, at: 9s, returns: empty}]'
refused 'failures.N.returns: other, expected empty, as lost/checkpoint/manifest says' --restart lost
harmed() { # LINE COMMAND: refuses a copy in which COMMAND has changed something
  rm -rf copy
  cp -r moved copy
  (cd copy && eval "$2")
  refused "$1" --restart copy
}
harmed 'copy/checkpoint/rank-3.image: other bytes, expected those of which copy/checkpoint/manifest has the SHA-256' \
  'printf x | dd of=checkpoint/rank-3.image bs=1 seek=100 conv=notrunc 2>/dev/null'
bytes=$(wc -c <moved/checkpoint/rank-3.image)
harmed "copy/checkpoint/rank-3.image: $((bytes - 1)) bytes, expected $bytes, as copy/checkpoint/manifest says" \
  'truncate -s -1 checkpoint/rank-3.image'
harmed 'copy/checkpoint/rank-7.image: cannot be read, expected the file of which copy/checkpoint/manifest speaks' \
  'rm checkpoint/rank-7.image'
harmed 'copy/trace.txt: other bytes, expected those of which copy/checkpoint/manifest has the SHA-256' \
  'sed -i "20s|^.|X|" trace.txt'
harmed 'copy/checkpoint/manifest: not as it was written, expected its SHA-256 at its end' \
  'sed -i "s/^checkpoint 2/checkpoint 1/" checkpoint/manifest'
harmed 'copy/checkpoint/manifest: not as it was written, expected its SHA-256 at its end' \
  'truncate -s -30 checkpoint/manifest'
seal() { # gives the changed manifest a right checksum
  sed -i '/^end /d' checkpoint/manifest
  echo "end $(sha256sum checkpoint/manifest | cut -d ' ' -f 1)" >>checkpoint/manifest
}
harmed 'copy/checkpoint/manifest: line 1 is "recline-checkpoint 3", expected recline-checkpoint 2' \
  'sed -i "1s/2/3/" checkpoint/manifest; seal'
number=$(sed -n '/^byte_order/=' moved/checkpoint/manifest)
harmed "copy/checkpoint/manifest: line $number is \"byte_order middle\", expected one of a checkpoint that can be read here" \
  'sed -i "s/^byte_order.*/byte_order middle/" checkpoint/manifest; seal'

finish
