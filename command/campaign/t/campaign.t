#!/bin/sh
# recline campaign gives the same bytes however many runs are made at once, and when it is killed and
# continued. Cells have the same seeds. Also tested: means, confidence intervals, when these end a
# campaign, and bad input.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 2
  script: |
    rank *: repeat 60 (compute 1s, barrier, checkpoint)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 10s, storage: local, bytes: 1kB}
detection:  100ms
failures:   [{law: exponential, mtbf: 60s, repair: 2s}]
EOF

campaign() { timeout 300 "$recline" campaign scenario.yaml "$@" >stdout 2>stderr </dev/null; }

sweep='--sweep checkpoint.every=5s,20s --sweep protocol.name=bookmark,c3'
# shellcheck disable=SC2086 # a list of words
campaign $sweep --runs 8 --jobs 1 --out one
is "$?" 0 'a campaign with two sweeps' stderr
is "$(wc -l <one/runs.jsonl):$(wc -l <one/runs.csv)" 32:33 'a line for each run'
is "$(jq -r '"\(.version) \(.scenario) \(.program) \(.platform) \(.protocol) \(.seed)"' one/runs.jsonl |
  sed -n '1p;2p;32p')" "$("$recline" --version | cut -d' ' -f2) scenario script clan.xml bookmark 1
$("$recline" --version | cut -d' ' -f2) scenario script clan.xml c3 1
$("$recline" --version | cut -d' ' -f2) scenario script clan.xml c3 8" 'each names what ran'
"$recline" run one/cells/3.yaml --set seed=8 --json >again.json
is "$(jq -c 'del(.cell, .run, .sweep, .exit)' one/runs.jsonl | tail -n 1)" "$(jq -c 'del(.phases)' again.json)" \
  'a run can be run again by itself'

# shellcheck disable=SC2086
campaign $sweep --runs 8 --jobs 3 --out three
check 'three at once give the same bytes' diff -r one three

# The campaign is killed when at least one run is done and one is not.
# shellcheck disable=SC2086
"$recline" campaign scenario.yaml $sweep --runs 8 --jobs 2 --out killed >stdout 2>stderr &
campaign=$!
while [ ! -s killed/runs.jsonl ]; do sleep 0.01; done
kill -9 $campaign
wait $campaign 2>/dev/null
before=$(grep -c . killed/runs.jsonl)
check 'it was killed in the middle' test "$before" -lt 32
printf '{"cell": 1, "run": 7, "swe' >>killed/runs.jsonl # a line that was cut off
touch killed/.recline-tmp-1 killed/cells/.recline-tmp-2 # and files that were not finished
# shellcheck disable=SC2086
campaign $sweep --runs 8 --out killed
check 'continued, it ends with the same bytes' diff -r one killed
# shellcheck disable=SC2086
"$recline" campaign scenario.yaml $sweep --runs 8 --jobs 2 --out stopped >stdout 2>stderr &
campaign=$!
while [ ! -s stopped/runs.jsonl ]; do sleep 0.01; done
kill -TERM $campaign
wait $campaign
is "$?:$(tail -n 1 stderr)" \
  '143:stopped: the runs that have ended are in stopped; the same command goes on' \
  'stopped by a signal, it says how to go on' stderr
# Stopped after some runs of all cells, it tells what it knows.
# shellcheck disable=SC2086
"$recline" campaign scenario.yaml $sweep --runs 5000 --jobs 2 --out part >stdout 2>stderr &
campaign=$!
while [ "$(grep -c . part/runs.jsonl 2>/dev/null)" -lt 40 ] 2>/dev/null || [ ! -s part/runs.jsonl ]; do sleep 0.01; done
kill -TERM $campaign
wait $campaign
runs=$(jq -rs 'group_by(.cell) | map(map(.run) | sort | to_entries | map(select(.key == .value)) | length) | min' part/runs.jsonl)
is "$?:$(sed -n '1s/: .*/:/p' stdout):$(grep -c '^simulated_s, mean of' stdout):$(grep -c '^  .* ± ' stdout):$(grep -c '^ranked' stdout)" \
  "0:After $runs of 5000 runs of each::1:4:1" 'stopped, it gives the answer of the runs that ended' stdout stderr
cp one/runs.jsonl all.jsonl
sed 1d all.jsonl >one/runs.jsonl
# shellcheck disable=SC2086
campaign $sweep --runs 8 --out one
same all.jsonl one/runs.jsonl 'only what is missing is run'
sed -i 's/"crashes": [0-9]*/"crashes": 77/' one/runs.jsonl
# shellcheck disable=SC2086
campaign $sweep --runs 8 --out one
is "$(grep -c '"crashes": 77' one/runs.jsonl)" 32 'and nothing else'

# Cells have common random numbers: they meet the same failures, whatever protocol and interval.
for cell in 0 3; do
  "$recline" run three/cells/$cell.yaml --set seed=5 --set "failures.0.mtbf=20s" --out cell$cell >/dev/null
  awk '$3 == "crash" && $1 < 60 { print $1, $2 }' cell$cell/trace.txt >crashes$cell
done
same crashes0 crashes3 'cells have the same failures'

# Compares means and intervals with the ones that another program computes.
jq -r 'select(.cell == 2) | .simulated_s' three/runs.jsonl >values
mean=$(awk '{ s += $1 } END { printf "%.6g", s / NR }' values)
half=$(awk -v t=2.3646243 '{ s += $1; q += $1 * $1 } END { m = s / NR
  printf "%.4g", t * sqrt((q - NR * m * m) / (NR - 1) / NR) }' values) # t: 7 degrees of freedom
is "$(awk -F, '$1 == 2 && $4 == "simulated_s" { printf "%.6g %.4g", $8, $9 }' three/table.csv)" \
  "$mean $half" 'mean and half width of the 95 % interval' three/table.csv
difference=$(jq -r 'select(.cell == 0 or .cell == 2) | "\(.run) \(.cell) \(.simulated_s)"' \
  three/runs.jsonl | sort -n | awk '$2 == 0 { a = $3 } $2 == 2 { s += $3 - a } END { printf "%.6g", s / 8 }')
is "$(awk -F, '$1 == 2 && $4 == "simulated_s" { printf "%.6g", $13 }' three/table.csv)" "$difference" \
  'difference from the first cell, run by run'
check 'a figure with both curves' grep -q '<title>.*curve\|gnuplot_plot_4' three/figure.svg

# ---- the answer ----

# shellcheck disable=SC2086
campaign $sweep --runs 8 --out three
best=$(awk -F, '$4 == "simulated_s" { print $8, $2, $3 }' three/table.csv | sort -n | sed -n '1s/^[^ ]* //p')
is "$(sed -n '1s/ has the least.*//p' stdout)" "$best" 'the first line names the cell with the least mean' stdout
is "$(awk '/^ranked/ { on = 1; next } on && /^  +[0-9]/ { print $2, $3 }' stdout)" \
  "$(awk -F, '$4 == "simulated_s" { print $8, $2, $3 }' three/table.csv | sort -n | cut -d' ' -f2-)" \
  'cells are ranked by their means' stdout
check 'what a protocol assumes stands behind' grep -q '^bookmark assumes control messages in order' stdout
# shellcheck disable=SC2086
campaign $sweep --runs 8 --out three --json
free=$(value three/failure-free.json simulated_s)
is "$(value stdout failure_free_s):$(jq --argjson free "$free" \
  '[.cells as $cells | .ranking[] | .cost - ($cells[.cell].mean / $free - 1) | fabs < 1e-9] | all' stdout)" \
  "$free:true" 'costs are over the program without failures' stdout
is "$(jq '. as $all | [.ranking[1:][] | .tied == (.further_runs > 0)] | all' stdout)" true \
  'further runs are told of cells that are tied, and of no others' stdout
# The two cells are the same, so no number of runs tells them apart.
campaign --sweep checkpoint.every=10s,10000ms --runs 4
is "$(sed -n 1p stdout | sed 's/; it costs .* job//')" \
  '10s has the least simulated_s; 10000ms is not measurably worse. More than 10000 further runs of each would tell it from 10000ms: either will do.' \
  'what does not differ is said' stdout
# Rare checkpoints lose more work, so these cells can be told apart.
campaign --sweep checkpoint.every=2s,50s --runs 20
check 'what differs is said, too' grep -q '^2s has the least simulated_s; all others are measurably worse' stdout
campaign --sweep checkpoint.bytes=1kB,2kB --runs 2 --set failures=none
is "$(sed -n 's/.*; it \(costs .* job\).*/\1/p' stdout)" 'costs less than 0.1 % of the job' \
  'a cost that its digits do not show is below them' stdout stderr

# ---- what the answer must not hide ----

# Steps take 10 s, so a checkpoint every 2 s is one every 10 s.
coarse='rank *: repeat 20 (compute 10s, barrier, checkpoint)'
campaign --set "program.script=\"$coarse\"" --sweep checkpoint.every=2s,20s --runs 8 --json
is "$(jq -c '[.cells[] | [.due > 90, .committed <= 30, .committed * 2 <= .due]]' stdout):$(jq -c '[.ranking[].cell]' stdout)" \
  '[[true,true,true],[false,true,false]]:[1,0]' 'a cell without the checkpoints that were due is ranked behind' stdout
campaign --set "program.script=\"$coarse\"" --sweep checkpoint.every=2s,20s --runs 8
is "$(grep -c '^  2s .* of [0-9]* checkpoints (!)' stdout):$(grep -c '^  20s .* of [0-9]* checkpoints  ' stdout):$(
  sed -n 1p stdout | grep -c '^20s has the least simulated_s of those with the checkpoints that were due; it costs .* 2s committed [0-9.]* of the [0-9]* checkpoints that were due: the program has too few places')" \
  1:1:1 'and is marked, and told in the answer' stdout
campaign --sweep checkpoint.every=2s,50s --runs 4 --set failures.0.mtbf=4h
is "$(sed -n 1p stdout | sed 's/(.* expected)/(N expected)/; s/about [0-9]* further/about N further/; s/So far.*/So far/'):$(
  grep -c 'measurably worse' stdout)" \
  'Only 0 failures struck in its 4 runs, too few to tell what failures cost (N expected); about N further runs of each would meet 10. So far:0' \
  'a winner that met no failure is none' stdout
# Both nodes fail every four hours.
is "$(awk '$1 == "2s" { mean = $2 } /^Only/ { sub(/.*cost \(/, ""); expected = $1; sub(/.*about /, ""); runs = $1 }
  END { wanted = 4 * mean / 7200; print (expected / wanted > 0.95 && expected / wanted < 1.05),
    (runs / (40 / wanted - 4) > 0.95 && runs / (40 / wanted - 4) < 1.05) }' stdout)" '1 1' \
  'with the failures that were to be expected, and the runs that would meet ten' stdout
campaign --sweep checkpoint.bytes=1001,1000 --runs 3 --set failures=none
is "$(grep -c -e '-0\.00' -e '[0-9]e-[0-9]' stdout)" 0 'nothing is told below its digits' stdout

campaign --sweep platform.file=clan,flat --runs 2 --json
is "$(value stdout failure_free_s)" null 'machines that differ have no common failure-free time' stdout
campaign --sweep protocol.name=bookmark,c3 --runs 2 --out bars
is "$(sed -n "s/^set y2tics ('0 %%' [^']*'\([0-9]*\) %%'.*/\1/p" bars/figure.gp | awk '{ print ($1 >= 10) }')" 1 \
  'beside bars the overheads are so far apart that each can be read' bars/figure.gp

campaign --until 5% --jobs 2 --json
runs=$(value stdout 'cells[0].runs')
is "$(jq '.cells[0].half_width_95 / .cells[0].mean <= 0.05' stdout)" true 'until the interval is narrow' stdout
check 'in rounds of 20' test "$((runs % 20)):$((runs > 20))" = 0:1
campaign --until 5% --runs "$((runs - 20))" --json
is "$(jq '.cells[0].half_width_95 / .cells[0].mean > 0.05' stdout)" true 'one round earlier it was not' stdout
campaign --runs 2 --set protocol.name=none
is "$?:$(grep -c 'of 2 runs ended' stdout)" 1:1 'runs that are lost are told, exit code 1' stdout stderr

# Bad input gives one line and exit code 64, and leaves nothing.
refused() { # NAME PATTERN WORD...
  name=$1 pattern=$2
  shift 2
  campaign --out refused "$@"
  is "$?:$(wc -l <stderr):$(grep -c -e "$pattern" stderr):$(ls -A . | grep -c '^refused$')" 64:1:1:0 \
    "$name" stderr
}
refused 'a sweep without key' 'expected KEY=VALUE' --sweep 30s
refused 'a sweep with an empty value' 'an empty value' --sweep protocol.name=,c3
refused 'a sweep of seeds' 'expected --runs N' --sweep seed=1,2
refused 'a key swept twice' 'swept twice' --sweep protocol.name=c3 --sweep protocol.name=none
refused 'a value twice' 'a value is there twice' --sweep protocol.name=c3,c3
refused 'a wrong value in a sweep' 'scenario.yaml:7: checkpoint.every: "4 parsecs" is no time' \
  --sweep 'checkpoint.every=3s,4 parsecs'
refused 'runs that stop at a checkpoint' 'checkpoint.then: stop, expected continue: the runs of a' \
  --sweep protocol.name=c3,blocking --set 'program={binary: cg, args: [S], ranks: 2}' \
  --set 'checkpoint={every: 10ms, storage: nfs, level: application, then: stop}'
refused 'no percentage' 'expected a percentage' --until 5
refused 'no runs' 'expected 1 to' --runs 0
refused 'an unknown option' 'Unknown option' --rnus 3
campaign --field nothing
is "$?:$(grep -c 'is no number of a result' stderr)" 64:1 'an unknown field' stderr
campaign --runs 1 --sweep protocol.name=c3 --out one
is "$?:$(grep -c "campaign.txt: not as this campaign, as line [0-9]* is '.*', and 'sweep protocol.name=c3' of this campaign" stderr)" 64:1 \
  'the folder of another campaign, and what differs' stderr
campaign --runs 1 --set 'program.script="rank 0: sing"' --out refused
is "$?:$(grep -c 'cells/0.yaml:[0-9]*: program.script' stderr):$(ls -A . | grep -c '^refused$')" 64:1:0 \
  'what only the run can refuse' stderr

# A run that fails becomes a row, and the tables are still made.
cat >kills.c <<'EOF'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  if (atoi(argv[1]))
    kill(getpid(), SIGKILL);
  MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -o kills kills.c
kills() { # WORD...
  campaign --set "program={binary: ./kills, ranks: 2}" --set 'failures=[]' --runs 2 "$@"
}
kills --sweep 'program.args=[0],[1],[ 0]' --out failed
is "$?:$(grep -c 'of which 2 failed' stdout):$(grep -c 'a run failed' stderr)" 64:1:1 \
  'a run that fails is told, once for its cell, with the others' stdout stderr
is "$(grep -c '"verdict": "completed"' failed/runs.jsonl):$(grep -c ',failed,.*SIGKILL' failed/runs.csv)" \
  4:2 'and is a row that says why' failed/runs.csv
is "$(awk -F, '$3 == "simulated_s" { print $4 ":" $5 ":" $6 }' failed/table.csv | tr '\n' ' ')" \
  '2:2:0 2:0:2 2:2:0 ' 'and counts as not as expected' failed/table.csv
kills --sweep 'program.args=[0],[1],[ 0]' --out failed
is "$?:$(grep -c 'a run failed' stderr)" 64:1 'the campaign tries it again' stderr
campaign --set 'program={binary: ring, args: [20], ranks: 2}' --set 'failures=[]' --runs 2 \
  --sweep protocol.name=c3,bookmark
is "$?:$(head -n 1 stdout):$(grep -c nan stdout)" \
  '1:No run ended as expected, so simulated_s says nothing.:0' \
  'runs that do not end as expected are not the best' stdout stderr
is "$(sed -n 2p stdout):$(grep -c '^ranked' stdout)" 'Why? recline run scenario.yaml:0' \
  'nor ranked, and a command says why' stdout
kills --sweep 'program.args=[1],[ 1]' --runs 50 --out hopeless
is "$?:$(grep -c 'a run failed' stderr):$(ls -A . | grep -c '^hopeless$')" 64:2:0 \
  'where runs of all cells fail it ends' stderr
finish
