#!/bin/sh
# Checkpoint and terminate: a run that ends when its last checkpoint has committed leaves it in a
# folder; what cannot be left is refused.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cp "$here"/application-program.c "$dir"
cd "$dir" || exit 1

# ---- stopping ----

stops() { # NAME WORD...: cg
  name=$1
  shift
  "$recline" run "$root/scenarios/application-level.yaml" --json --out "$name" \
    --set failures=none --set checkpoint.then=stop --set expect.verdict=stopped "$@" \
    >"$name.json" 2>"$name.err"
}
told() { # EXPECTED DESCRIPTION: of "exit verdict committed left"
  is "$code $(value "$name.json" verdict) $(value "$name.json" checkpoints.committed) $(value \
    "$name.json" restart.left)" "$1" "$2" "$name.err"
}
stops first
code=$?
told '0 stopped 1 1' 'a run stops behind its first checkpoint'
stops second --set checkpoint.count=2
code=$?
told '0 stopped 2 2' 'or behind as many as it may ask for'
stops instants --set checkpoint.every=0 --set 'checkpoint.at=[20ms, 120ms]'
code=$?
told '0 stopped 2 2' 'or behind the last that is named'
is "$(ls second/checkpoint | tr '\n' ' ')" \
  "manifest $(seq -f 'rank-%g.image' 0 7 | tr '\n' ' ')" 'it leaves images and a manifest'
"$tool" replay second/trace.txt >/dev/null 2>log
report $? 'its trace replays' log
(cd second && sed -n 's/^file [0-9]* \([0-9a-f]*\) \(.*\)/\1  \2/p' checkpoint/manifest |
  sha256sum --quiet -c) >log 2>&1
report $? 'the manifest has the sums of the files' log
stops second --set checkpoint.every=0 --set 'checkpoint.at=[10s]' --set expect.verdict=completed
code=$?
told '0 completed 0 0' 'a run that ends before is not stopped'
note=$(grep -c 'checkpoint.then: not stopped' second.json)
is "$note-$(ls second | tr '\n' ' ')" \
  '1-activity.txt program.out result.json scenario.yaml trace.txt ' \
  'which is noted, and what was left there before is gone' second.json

refused() { # LINE WORD...
  line=$1
  shift
  "$recline" run "$root/scenarios/application-level.yaml" --set checkpoint.then=stop "$@" \
    >log 2>&1
  code=$?
  is "$code $(sed 's/^[^:]*:[0-9]*: //; s/ (from --set)$//' log)" "64 checkpoint.then: $line" \
    "refused: $line" log
}
refused 'stop, expected continue or checkpoint.level: application: images of all memory are of one process' \
  --out out --set checkpoint.level=system
refused 'stop, expected continue: pessimistic commits no checkpoint of all ranks' --out out \
  --set protocol.name=pessimistic
refused 'stop, expected continue or checkpoint.storage: nfs: what is on nodes stays there' --out out \
  --set checkpoint.storage=local
refused 'stop, and no checkpoint is asked for, expected checkpoint.every, at or calls' --out out \
  --set checkpoint.every=0
refused 'stop leaves a checkpoint, expected --out DIR, where it is left'
refused 'stop leaves a checkpoint, expected no --no-trace: it has a part in it' --out out --no-trace
is "$(ls -d out 2>/dev/null)" '' 'which leaves nothing'

finish
