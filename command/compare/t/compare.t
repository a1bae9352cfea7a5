#!/bin/sh
# Tests recline compare: another program computes the same ratios and intervals. Traces of real
# processes with known times give their phases, lost work and restarts. A run on real MPI and bad
# input are tested, too.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<'EOF2'
program:
  ranks: 2
  script: |
    rank *: repeat 60 (compute 1s, barrier, checkpoint)
platform:   {nodes: 3, speed: 1Gf}
protocol:   {name: bookmark}
checkpoint: {every: 10s, storage: local, bytes: 100MB}
detection:  100ms
failures:   [{law: exponential, mtbf: 60s, repair: 2s}]
EOF2
for seed in 1 2 3 4; do
  "$recline" run scenario.yaml --set seed=$seed --out a/$seed >/dev/null 2>&1
  "$recline" run scenario.yaml --set seed=$seed --set checkpoint.every=20s --out b/$seed >/dev/null 2>&1
done
compare() { "$recline" compare "$@" >stdout 2>stderr </dev/null; }
row() { jq --arg name "$1" ".rows[] | select(.name == \$name) | .$2 | $shortest" stdout; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && d * d <= 1e-12 * b * b) }'; }

compare a/1 b/1 --json
near "$(row simulated_s ratio)" "$(jq -s '.[1].simulated_s / .[0].simulated_s' a/1/result.json b/1/result.json)"
report $? 'the ratio of two runs' stdout
is "$(row simulated_s ratio_half_width_95)" null 'has no interval' stdout
near "$(row 'phase checkpoint' a)" \
  "$(jq '[.phases[] | select(.phase == "checkpoint") | .mean_s] | add / length' a/1/result.json)"
report $? 'a phase is the mean over the checkpoints' stdout
near "$(row time_s.checkpoint b)" "$(jq .time_s.checkpoint b/1/result.json)"
report $? 'the account of time' stdout
compare a b --json
# The number is Student's t for 3 degrees of freedom. The error of the quotient is to first order.
wanted=$(jq -s '[.[].simulated_s]' a/*/result.json >va; jq -s '[.[].simulated_s]' b/*/result.json >vb
jq -n --slurpfile a va --slurpfile b vb 'def mean: add / length;
  def half: . as $v | ($v | mean) as $m | 3.18244630528 * ([$v[] | (. - $m) * (. - $m)] | add / 3 / 4 | sqrt);
  ($a[0] | mean) as $ma | ($b[0] | mean) as $mb | (($a[0] | half) / $ma) as $ha | (($b[0] | half) / $mb) as $hb |
  ($mb / $ma) * ($ha * $ha + $hb * $hb | sqrt)')
near "$(row simulated_s ratio_half_width_95)" "$wanted"
report $? 'the interval of a ratio over repetitions' stdout
is "$(value stdout a.runs):$(value stdout b.runs)" 4:4 'four runs each'
"$recline" campaign scenario.yaml --runs 4 --out campaign >/dev/null 2>&1
compare a campaign --json
is "$(jq '[.rows[] | select(.name | startswith("phase") | not) | .ratio | . == null or . == 1] | all' stdout)" true \
  'a campaign is so many repetitions' stdout
"$recline" run scenario.yaml --set protocol.name=c3 --out c >/dev/null 2>&1
compare a c
is "$(sed -n 1p stdout | grep -c '^B takes [0-9.]* ± [0-9.]* of the time of A'):$(grep -c 'A ran under bookmark, B under c3' stdout)" \
  1:1 'the answer comes first, and what differs is told' stdout
cp stdout told
compare a c --json
far=$(jq -r '[.rows[] | select(.name | startswith("time_s."))] | max_by((.b - .a) | fabs) | .name | ltrimstr("time_s.")' stdout)
check 'it names what differs most in the account of time' grep -q "of the account of time $far is furthest apart: " told
compare a a
check 'and nothing where nothing differs' awk 'NR == 1 { exit /furthest apart/ }' stdout
"$recline" compare a/1 c >told
is "$(awk '/stored_bytes/ { print $2 }' told)" "$(jq .stored_bytes a/1/result.json | sed ':again; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; t again')" \
  'counts are whole numbers' told

# ---- real processes, by traces whose times are known ----

life() { # LIFE RANK BEGAN: lines of the standard input
  { printf 'recline-part-trace 2\nprotocol blocking\nranks 2\ncapacity 16\n' &&
    printf 'program jacobi 8\nlibrary An MPI 1\nbegan %s\n---\n' "$3" && cat; } >real/trace.$1.$2
}
mkdir real
life 0 0 100.0 <<'EOF2'
100.0 0 start | set-timer # 0
101.0 0 timer # 0
102.0 0 collective flow=barrier | capture checkpoint=1 # 0
102.5 0 account checkpoint=1 spent=1,0.75,0.25,0.5,0 stored=0 image=0 iterations=3
102.5 0 captured checkpoint=1 | store checkpoint=1 part=image # 0
103.5 0 durable checkpoint=1 part=image # 0
104.0 0 control peer=1 | commit checkpoint=1 | release # 0
108.0 0 safe-point # 0
EOF2
life 0 1 100.0 <<'EOF2'
100.0 1 start # 0
102.0 1 collective flow=barrier | capture checkpoint=1 # 0
102.3 1 account checkpoint=1 spent=1.5,0.5,0,0.3,0 stored=0 image=0 iterations=3
102.3 1 captured checkpoint=1 | store checkpoint=1 part=image # 0
103.3 1 durable checkpoint=1 part=image # 0
105.0 1 control peer=0 | release # 0
109.5 1 safe-point # 0
EOF2
life 1 0 111.5 <<'EOF2'
112.0 0 start checkpoint=1 # 0
118.0 0 send peer=1 tag=1 comm=0 bytes=8 | transmit words=0,0,0 # 0
120.0 0 finished
120.0 0 account spent=4,3.5,0.5,0,0.5 stored=700 image=0 iterations=4
EOF2
life 1 1 112.0 <<'EOF2'
112.5 1 start checkpoint=1 # 0
119.0 1 finished
120.0 1 account spent=6,1,0,0.5,0.5 stored=900 image=800 iterations=4
EOF2
compare real real --json
is "$(row simulated_s a)" 20 'from the start of the first life to the end of the last' stdout
near "$(row 'phase capture' a)" 0.4 && near "$(row 'phase write' a)" 1 && near "$(row 'phase commit' a)" 1.1
report $? 'phases as in a simulated run' stdout
near "$(row time_s.lost a)" 7.1
report $? 'lost: from the capture to the end of that life, of a process' stdout
near "$(row time_s.restart a)" 2.75
report $? 'restart: until the next life begins, and reading' stdout
near "$(row time_s.compute a)" 6.25 && near "$(row time_s.protocol a)" 0.375 && near "$(row time_s.checkpoint a)" 0.65
report $? 'the account of what was not lost' stdout
near "$(jq '[.rows[] | select(.name | startswith("time_s.")) | .a] | add' stdout)" 20
report $? 'adds up to the run' stdout
is "$(row checkpoints.committed a):$(row crashes a):$(row iterations a):$(row stored_bytes a)" 1:1:14:1600 \
  'commits, crashes, iterations, bytes' stdout
is "$(value stdout a.title)" 'blocking, jacobi 8 on 2 ranks of An MPI 1' 'program and library are told'
cp -r real torn
printf '120.0 1 account spe' >>torn/trace.1.1
compare real torn --json
is "$?:$(row simulated_s ratio)" 0:1 'a line that was cut off is none' stdout stderr

# ---- bad input ----

refused() { # NAME LINE WORD...
  name=$1 line=$2
  shift 2
  compare "$@"
  is "$?:$(cat stdout):$(cat stderr)" "64::$line" "$name" stderr
}
refused 'one result' 'recline compare: 1 words, expected two results: folders or result.json' a
refused 'a result that is not there' 'nowhere: not there, expected result.json, or a folder with results' a nowhere
refused 'a file that is no result' 'scenario.yaml: no result, expected result.json of recline run' a scenario.yaml
mkdir empty
refused 'an empty folder' \
  'empty: no run whose program ended, expected result.json, runs.jsonl or traces of real MPI' empty a
"$recline" campaign scenario.yaml --sweep checkpoint.every=5s,9s --runs 1 --out cells >/dev/null 2>&1
refused 'several cells' 'cells/runs.jsonl: a campaign of several cells, expected one without --sweep' a cells
mkdir broken wrong
printf 'recline-part-trace 1\n---\n' >broken/trace.0.0
sed 's/^101.0 0 timer/101.0 0 tamer/' real/trace.0.0 >wrong/trace.0.0
refused 'a trace without a head' \
  "broken/trace.0.0:1: found 'recline-part-trace 1', expected 'recline-part-trace 2' of a run with RECLINE_TRACE=1" a broken
refused 'a line that is none' \
  "wrong/trace.0.0:10: neither step nor account, expected docs/mpi-host.md's lines" a wrong

# ---- a run on real MPI ----

jacobi=$build/t/jacobi-mpi
if command -v mpirun >/dev/null && [ -x "$jacobi" ]; then
  needs_mpi t/jacobi-mpi
  # shellcheck disable=SC2086 # a list of words
  RECLINE_CHECKPOINTS=measured RECLINE_PROTOCOL=blocking RECLINE_EVERY=0.01 RECLINE_TRACE=1 \
    timeout 120 mpirun $open -n 2 "$jacobi" 20 400 >/dev/null 2>&1
  compare c measured
  is "$?:$(grep -c '^B: blocking, jacobi-mpi 20 400 on 2 ranks of .*; 1 run$' stdout)" 0:1 'simulated and measured' stdout stderr
  compare measured measured --json
  is "$(jq '[.rows[] | select(.name | startswith("phase")) | .a > 0 and .ratio == 1] | all' stdout):$(
    row 'phase write' 'a > 0')" true:true 'its phases took time' stdout
  is "$(row iterations a)" 800 'its iterations are counted' stdout
  exits 0 'a result can be kept' "$recline" join measured --out kept
  compare kept measured --json
  is "$(jq '[.rows[] | .ratio | . == null or . == 1] | all' stdout):$(value kept/result.json audit.violations)" true:0 \
    'with the same numbers, judged by the world' stdout
fi
finish
