#!/bin/sh
# Tests recline interval: the costs that it measures, Daly's own figures (FGCS 2006: 117, 57 and 9.1
# min for an mtbf of 24 h, 6 h and 15 min), a simulated optimum beside one of them, laws without a
# formula, and bad input.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 1
  script: |
    rank 0: repeat 500 (compute 60s, checkpoint)
platform:   {file: $root/sim/host/t/programs/one-node.xml}
protocol:   {name: bookmark}
checkpoint: {storage: local, writes: foreground, places: program, bytes: 300MB}
detection:  0
failures:   [{law: exponential, mtbf: 6h, of: platform, repair: 60s}]
EOF

interval() { timeout 300 "$recline" interval scenario.yaml "$@" >stdout 2>stderr </dev/null; }
by() { awk -v name="$1" '$1 == name { print $2 + 0 }' stdout; }

interval --runs 10 --out out
is "$?:$(sed -n 2p stdout)" \
  '0:checkpoint 300 s, recovery 600 s, downtime 60 s, mtbf 21600 s, work 30000 s' 'the costs' stdout stderr
is "$(by Young):$(by Daly):$(by exact)" 3600:3402.8:3402.8 'mtbf 6 h: the formulas' stdout
is "$(grep -a '^  simulated' stdout | grep -aco 'between [0-9.]*s and [0-9.]*s$')" 1 \
  'a simulated optimum with its neighbours' stdout
is "$(sed -n 1p stdout | sed 's/[0-9][0-9.]*/N/g; s/N h/N min/g')" \
  'Every N min; anything from N min to N min is not measurably worse; it costs N ± N % of the job. About N further runs of each would tell it from N min.' \
  'the answer comes first' stdout
interval --runs 10 --out out --json
is "$(jq -r '[.every_s, .from_s, .to_s] | map(. > 0) | all' stdout):$(value stdout measured.work_s):$(value stdout theory.daly_s | cut -c1-6)" \
  true:30000:3402.7 'the same for programs' stdout
is "$(awk '{ root = (1 - $1 / m) * exp(($1 + 300) / m); print (root - 1 < 1e-6 && 1 - root < 1e-6) }' m=21600 <<EOF
$(value stdout theory.exact_s)
EOF
)" 1 'the exact optimum is the root of its equation' stdout
is "$(jq '.cost as $cost | .every_s as $every | .cells | map(select(.sweep["checkpoint.every"] == "\($every | floor)s")) | .[0].mean / 30000 - 1 - $cost | fabs < 1e-9' stdout)" \
  true 'the cost is that of the least mean, over the failure-free time' stdout
interval --runs 10 --out out
for mark in "set title 'When to take checkpoints: scenario, bookmark on 1 rank'" "set ylabel 'time of the job (h)'" \
  'set logscale x' 'set label 1' 'set object 1 rectangle' 'over the failure-free program'; do
  check "the figure has: $mark" grep -qF "$mark" out/figure.gp
done
check 'a figure with both curves' grep -q "title 'exact'" out/figure.gp
check 'and drawn' test -s out/figure.svg
is "$(sed -n 's/^set object 1 rectangle from first \([0-9.]*\), graph 0 to first \([0-9.]*\),.*/\1 \2/p' out/figure.gp)" \
  "$(sed -n 's/.*between \([0-9.]*\)s and \([0-9.]*\)s$/\1 \2/p' stdout)" 'text and figure have one range' stdout
check 'its band is in the legend' grep -q "title 'not measurably worse than the least'" out/figure.gp
is "$(sed -n "s/^set label [12] ' \([a-z ]*\):.*/\1/p" out/figure.gp | tr '\n' ,)" 'least simulated,theory,' \
  'the figure has the optimum of both'
is "$(sed -n 's/^set y2tics (\(.*\))$/\1/p' out/figure.gp | tr ',' '\n' | awk -F"'" '
  { percent = $2 + 0; at = $3 / (30000 / 3600); if ((at - 1) * 100 - percent > 1e-5 || percent - (at - 1) * 100 > 1e-5) bad = 1
    if (NR > 1 && (percent - last - step > 1e-6 || step - percent + last > 1e-6) && NR > 2) bad = 1
    step = percent - last; last = percent }
  END { print (NR > 5 && !bad && step > 0) }')" 1 'the right axis has round overheads' out/figure.gp
cp stdout before
interval --runs 10 --out out
same before stdout 'again, with what has been run'
interval --runs 2 --set failures.0.mtbf=1y
is "$(sed -n 1p stdout | grep -c '^Every 1.6 d, by theory: only 0 failures struck in its 2 runs, too few to tell')" 1 \
  'where nothing fails the formula answers' stdout
is "$(grep simulated stdout)" '  simulated  too few failures to compare intervals' 'and no interval is called the best' stdout
interval --theory
is "$?:$(sed -n 1p stdout | sed 's/[0-9][0-9.]*/N/g'):$(by exact):$(grep -c simulated stdout)" \
  '0:Every N min to the local disk with bookmark, by theory: costs N % of the job; anything from N min to N min costs at most N % more.:3402.8:0' \
  'theory answers without a campaign' stdout stderr
is "$(sed -n 1p stderr)" 'measuring costs: 0 of 4 runs done' 'the runs that measure are announced' stderr
interval --theory --json
is "$(jq -c '[.every_s == .theory.exact_s, (.cells | length), .cost > 0, (.ranking | length)]' stdout):$(wc -c <stderr)" \
  '[true,0,true,1]:0' 'also for programs' stdout stderr
# The share of Daly's mean time at both ends of the range is 1 % above that of the optimum.
is "$(jq '.measured as $m | def share: ($m.mtbf_s + $m.downtime_s) * (($m.recovery_s / $m.mtbf_s) | exp) *
    ((((. + $m.checkpoint_s) / $m.mtbf_s) | exp) - 1) / . - 1;
  (.every_s | share) as $best | [.cost - $best, (.from_s | share) - $best - 0.01, (.to_s | share) - $best - 0.01]
  | map(fabs < 1e-6) | all' stdout)" true 'the ends of the range cost 1 % of the job more' stdout
interval --theory --set failures.0.law=weibull --set failures.0.shape=0.7
is "$?:$(grep -c 'there is no formula' stderr):$(wc -c <stdout)" 64:1:0 'nor without a formula' stderr

# ---- storages and protocols by theory ----

cat >cluster.yaml <<EOF
program:    {binary: halo, args: ["1000", "40", "100000000000"], ranks: 4}
platform:   {nodes: 5, spares: 1, speed: 10Gf, memory: 10GBps, network: {bandwidth: 1GBps, latency: 2us},
             storage: {bandwidth: 1GBps}, local: {bandwidth: 1GBps, write_latency: 5ms}, mtbf: 10d}
protocol:   {name: bookmark}
checkpoint: {every: 100s, storage: nfs, writes: foreground, bytes: 1GB}
failures:   [{law: exponential, repair: 1min}]
EOF
places() { awk '/^ +[0-9]+  / { print $1, $2, $3 }' stdout; }
theory() { timeout 300 "$recline" interval cluster.yaml --theory "$@" >stdout 2>stderr </dev/null; }
theory --sweep checkpoint.storage=local,nfs --sweep protocol.name=bookmark,c3,pessimistic --json
is "$?:$(jq -c '[.ranking[] | select(.every_s) | .cost] | . == sort and length == 3' stdout):$(jq -c '
  .ranking[0] as $r | [.every_s == $r.every_s, .cost == $r.cost, .from_s == $r.from_s, .to_s == $r.to_s]' stdout)" \
  '0:true:[true,true,true,true]' 'cells are ranked by their costs, and the first is the answer' stdout stderr
is "$(jq -r '.ranking[] | select(.lost) | "\(.sweep["checkpoint.storage"]) \(.every_s) \(.cost > 0)"' stdout | sort -u)" \
  'local null false
local null true' 'a disk that a spare takes away has no interval' stdout
is "$(jq -r '.ranking[-1] | "\(.sweep["protocol.name"]) \(.problem)"' stdout | cut -c1-48)" \
  'pessimistic a failed rank has lost the image fro' 'independent recovery cannot do without the images' stdout
# All four ranks write 1 GB each to 1 GB/s. Young's formula is near the exact optimum there.
is "$(jq '.ranking[] | select(.sweep["checkpoint.storage"] == "nfs" and .sweep["protocol.name"] == "bookmark") |
  (.checkpoint_s - 4 | fabs < 0.2) and (.every_s / ((2 * .checkpoint_s * 216000) | sqrt) - 1 | fabs < 0.01)' stdout)" true \
  'a cell has the optimum of its costs' stdout
theory --sweep checkpoint.storage=local,nfs --sweep protocol.name=bookmark,c3 --out kept
is "$?:$(places | wc -l):$(tail -n 1 stdout | grep -c '^Every .* to the shared file system with .*, by theory: costs .* of the job; anything from .* to .* costs at most .* more\.')" \
  0:4:1 'the table ends with the sentence' stdout stderr
is "$(tail -n 1 stdout | grep -c 'Not to the local disk alone: a spare takes over the ranks of a node that fails')" 1 \
  'which says beside the answer that the disk is lost' stdout
is "$(jq -r .answer kept/answer.json)" "$(tail -n 1 stdout)" 'and is kept in the folder' stdout
is "$(grep -c '^bookmark assumes control messages in order' stdout):$(grep -c '^the shared file system outlives all failures' stdout)" 1:1 \
  'what the answer assumes stands behind the table' stdout
theory --sweep checkpoint.storage=local,nfs --set platform.spares=0
is "$(places | head -n 1 | cut -d' ' -f2):$(grep -c 'lost with the node' stdout):$(grep -c '^the local disk: a node that fails comes back with it' stdout)" \
  local:0:1 'without a spare the node comes back with its disk' stdout
theory --set 'checkpoint={every: 100s, writes: foreground, bytes: 1GB}' \
  --sweep 'checkpoint.levels=[{storage: local, redundancy: partner}],[{storage: nfs}],[{storage: local},{storage: nfs, every: 4}]'
is "$?:$(grep -c 'no answer: .*there is no formula' stdout):$(tail -n 1 stdout | grep -c "^Every .* to the local disk and a partner's copy with bookmark")" \
  0:1:1 'levels have places, too, if there is a formula' stdout stderr
# ---- what the formula does not fit ----

theory --set checkpoint.writes=background
is "$?:$(sed -n 1p stdout | grep -c 'Warning: its checkpoints are written in the background, which the formula does not fit'):$(
  grep -c '^warning: checkpoint.writes: background: the formula' stdout)" 0:1:1 'writes in the background are a warning' stdout stderr
theory --sweep checkpoint.writes=background,foreground
is "$(places | wc -l):$(tail -n 1 stdout | grep -c '^Every .* with bookmark in the \(back\|fore\)ground')" 2:1 'also in a sweep' stdout
# Three steps have places for three checkpoints, and six are due.
theory --set program.args='["1000", "3", "1000000000000"]' --sweep checkpoint.storage=nfs
is "$(grep -c '^   1 .* [23] of 6 (!)$' stdout):$(grep -c '^(!) nfs: only [23] of 6 checkpoints that were due committed' stdout):$(
  tail -n 1 stdout | grep -c 'But only [23] of 6 checkpoints committed that were due\.')" 1:1:1 \
  'too few checkpoints are marked, and told in the answer' stdout stderr

: >stderr # or grep may find what the command before it said
"$recline" interval cluster.yaml --theory --set program.args='["1000", "1000000"]' --out stopped >stdout 2>stderr &
interval=$!
while ! grep -q '^measuring' stderr; do sleep 0.01; done
kill -TERM $interval
wait $interval
is "$?:$(tail -n 1 stderr):$(ls -d stopped 2>&1 | grep -c '^stopped$')" \
  '143:stopped: --theory keeps no runs; fewer cells, or --scale, take less time:0' 'stopped, it keeps nothing' stdout stderr

# A smaller job keeps what decides the answer.
theory --json --set program.ranks=8 --set platform.nodes=9 --set platform.storage.bandwidth=2GBps --set platform.mtbf=20d
jq -c '.measured | [.checkpoint_s, .recovery_s, .mtbf_s]' stdout >whole
theory --json --set program.ranks=8 --set platform.nodes=9 --set platform.storage.bandwidth=2GBps --set platform.mtbf=20d --scale 4
is "$(jq -c '.measured | [.checkpoint_s, .recovery_s, .mtbf_s]' stdout | jq -cs --slurpfile whole whole \
  '[.[0], $whole[0]] | transpose | map(.[0] / .[1] - 1 | fabs < 0.02)'):$(wc -c <stderr)" '[true,true,true]:0' \
  'a smaller job writes and fails as the whole one does' stdout whole
theory --set program.ranks=8 --set platform.nodes=9 --set 'failures=[{law: exponential, of: platform, mtbf: 3h}]' --scale 4
is "$(sed -n 1p stderr):$(sed -n 's/.*mtbf \([0-9]*\) s.*/\1/p' stdout)" \
  'scaled from 8 to 4 ranks: a checkpoint takes as long to write, and the machine fails as often, once in 3 h:10800' \
  'and says what it keeps' stdout stderr
theory --scale 3 --set platform.per_node=2
is "$?:$(grep -c 'program.ranks: --scale 3, expected at most 4 ranks, and a multiple of the 2 on a node' stderr)" 64:1 \
  'a node has all its ranks' stderr
interval --theory --scale 1
is "$?:$(grep -c -e '--scale: a SimGrid platform, expected a machine described by its amounts' stderr)" 64:1 'a platform of SimGrid' stderr
for key in platform.mtbf platform.storage.bandwidth platform.storage platform failures.0.mtbf program.ranks; do
  theory --scale 4 --set program.ranks=8 --set platform.nodes=9 --sweep "$key=1y,2y"
  is "$?:$(cat stderr)" "64:--sweep $key with --scale, which scales that key, expected one of them, or --set in place of --sweep" \
    "a sweep of $key would not be scaled" stderr
done
timeout 300 "$recline" interval cluster.yaml --theory --set program.ranks=64 --set platform.nodes=65 --set program.args='["1000", "8", "100000000000"]' \
  >stdout 2>stderr
is "$(sed -n 1p stderr)" 'hint: runs of 64 ranks take long; --scale 16 keeps the write time of a checkpoint and the MTBF of the machine' \
  'a big job gets a hint' stderr
theory --sweep checkpoint.every=1min,2min
is "$?:$(cat stderr)" '64:--sweep checkpoint.every: theory finds the interval, expected other keys' 'no sweep of intervals' stderr
interval --sweep checkpoint.storage=local,nfs
is "$?:$(cat stderr)" '64:recline interval: --sweep without --theory, expected --theory, or recline campaign' 'nor a sweep without theory' stderr
theory --sweep checkpoint.storage=local,tape
is "$?:$(grep -c 'no answer: cluster.yaml:.*checkpoint.storage: "tape"' stdout)" 0:1 'a cell that is refused says why' stdout stderr
theory --out /proc/none
is "$?:$(grep -c '^/proc/none/answer.json: cannot be written: .*, expected a folder with room' stderr)" 64:1 'a folder that cannot be made' stderr

interval --runs 4 --set limits.simulated=42000s --out short
is "$(sed -n 1p stdout | grep -c ' of 4 runs did not end, at [1-9] of 9 intervals: means are over the runs that did')" 1 \
  'the answer tells of runs that did not end' stdout stderr
interval --runs 2 --set failures.0.mtbf=24h
is "$(by Daly | awk '{ printf "%.0f", $1 / 60 }')" 117 'mtbf 24 h: Daly' stdout
interval --runs 2 --set failures.0.mtbf=15min --set failures.0.repair=0
is "$(by Daly | awk '{ printf "%.1f", $1 / 60 }')" 9.1 'mtbf 15 min: Daly' stdout
interval --runs 2 --set failures.0.law=weibull --set failures.0.shape=0.7
is "$?:$(grep -c '^  Young\|^  exact' stdout):$(grep -c '^  simulated' stdout)" 0:0:1 \
  'without a formula, by simulation alone' stdout stderr

interval --runs 2 --set checkpoint.storage=local \
  --set 'failures.0={law: exponential, mtbf: 6h, of: zone, repair: 60s}'
is "$(sed -n 's/.*mtbf \([0-9]*\) s.*/\1/p' stdout):$(by Daly)" 21600:3402.8 'one zone' stdout stderr
interval --runs 2 --set 'failures.0={law: exponential, mtbf: 6h, of: platform, burst: 2, within: 1s}'
is "$?:$(grep -c '^  Young\|^  exact' stdout)" 0:0 'bursts have no formula' stdout stderr
sed 's/{storage: local,/{levels: [{storage: memory}, {storage: local, every: 4}],/' scenario.yaml >levels.yaml
timeout 300 "$recline" interval levels.yaml --runs 2 >stdout 2>stderr
is "$?:$(grep -c '^  Young\|^  exact' stdout):$(grep -c '^  simulated' stdout)" 0:0:1 'nor have levels' stdout stderr

# Until a crash is detected, the other of two ranks computes. That time counts as lost, not as a
# cost of recovery.
cat >two.yaml <<EOF
program:
  ranks: 2
  script: |
    rank 0: repeat 100 (compute 60s, checkpoint)
    rank 1: repeat 100 (compute 60s, checkpoint)
platform:   {file: clan.xml}
protocol:   {name: bookmark}
checkpoint: {storage: local, writes: foreground, places: program, bytes: 300MB}
failures:   [{law: exponential, mtbf: 6h, of: platform, repair: 0}]
EOF
for detection in 0 20min; do
  "$recline" interval two.yaml --runs 2 --set detection=$detection 2>&1 |
    sed -n '/^checkpoint/s/, downtime.*//p' >"recovery-$detection"
done
is "$(cat recovery-0)" "$(cat recovery-20min)" 'detection is no part of recovery' recovery-0
check 'which takes its time' grep -q 'recovery [1-9]' recovery-0

interval --set failures=none
is "$?:$(cat stderr)" \
  '64:scenario.yaml:9: failures: none by law, expected a law with its mtbf (from --set)' 'no law' stderr
interval --set 'program={binary: cg, args: [S], ranks: 1}' --set protocol.name=c3 \
  --set 'checkpoint={every: 10ms, storage: nfs, level: application, then: stop}'
is "$?:$(cut -d: -f3- stderr)" '64: checkpoint.then: stop, expected continue: the runs of a campaign go to their ends (from --set)' \
  'runs that stop at a checkpoint' stderr
interval --runs 1
is "$?:$(wc -l <stderr)" 64:1 'one run' stderr
interval --set protocol.name=none
is "$?:$(grep -c 'protocol none takes none, expected a program that takes them' stderr)" 64:1 'no checkpoints' stderr
interval --set 'program={ranks: 1, script: "rank 0: compute 600s, checkpoint"}'
is "$?:$(grep -c 'the program makes too few MPI calls to be checkpointed' stderr)" 64:1 'too few places for them' stderr
finish
