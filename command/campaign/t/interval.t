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
interval --theory
is "$?:$(sed -n 1p stdout | sed 's/[0-9][0-9.]*/N/g'):$(by exact):$(grep -c simulated stdout)" \
  '0:Every N min, by theory: it costs N % of the job.:3402.8:0' 'theory answers without a campaign' stdout stderr
is "$(grep -c 'run [123] of 3' stderr)" 3 'the runs that measure are announced' stderr
interval --theory --json
is "$(jq -c '[.every_s == .theory.exact_s, .from_s, .to_s, (.cells | length), .cost > 0]' stdout):$(wc -c <stderr)" \
  '[true,null,null,0,true]:0' 'also for programs' stdout stderr
interval --theory --set failures.0.law=weibull --set failures.0.shape=0.7
is "$?:$(grep -c 'there is no formula' stderr):$(wc -c <stdout)" 64:1:0 'nor without a formula' stderr
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
