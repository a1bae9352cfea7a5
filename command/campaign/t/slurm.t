#!/bin/sh
# Tests recline campaign --engine slurm, with a Slurm of one node that the test starts and stops.
# This Slurm is no system service, and all its sockets are on 127.0.0.1. The bytes are the same as
# without Slurm, also if the campaign is killed or stopped by a signal and then continued, or if an
# element is cancelled.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$root/protocols/t/slurm.sh"

# ---- campaigns ----

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
# This sbatch notes what is submitted.
printf '#!/bin/sh\necho "$*" >>%s/asked\nexec %s "$@"\n' "$dir" "$(command -v sbatch)" >bin/sbatch
chmod +x bin/sbatch
PATH=$dir/bad:$dir/bin:$PATH

sweep='--sweep checkpoint.every=5s,20s --runs 8'
# shellcheck disable=SC2086 # a list of words
campaign() { timeout 120 "$recline" campaign scenario.yaml $sweep "$@" >stdout 2>stderr </dev/null; }
slurm() { campaign --engine slurm "$@"; }

campaign --out local
sed 's/ in local$/ in whole/' stdout >expected
slurm --out whole
is "$?:$(cat stderr)" 0: 'a campaign on Slurm' stderr
same expected stdout 'prints the same'
check 'and leaves the same bytes' diff -r local whole
is "$(wc -l <asked):$(grep -c -- '--array=0-15 ' asked)" 1:1 'in one array' asked

# Only one element runs at a time, so that the campaign can be killed in the middle.
rm asked
# shellcheck disable=SC2086
"$recline" campaign scenario.yaml $sweep --engine slurm --chunk 2 --jobs 1 --out killed >stdout 2>stderr &
campaign=$!
wait_for test -s killed/slurm/array
array=$(cat killed/slurm/array)
scancel "${array}_7"
wait_for test -s killed/runs.jsonl
kill -9 $campaign
wait $campaign 2>/dev/null
check 'it was killed in the middle' test "$(grep -c . killed/runs.jsonl)" -lt 16
check 'and the array goes on' test -n "$(squeue -h -j "$array")"
slurm --out killed
is "$?:$(cat stderr)" 0: 'continued, it waits for that array' stderr
is "$(wc -l <asked):$(grep -c -- '--array=0-7%1 ' asked):$(grep -c -- '--array=0-1 ' asked)" 2:1:1 \
  'and submits again only what an element that was cancelled has left' asked
check 'the bytes are the same' diff -r local killed

# Runs that replay a recording are stopped by a signal, and continued without Slurm.
campaign --replay --out replayed
# shellcheck disable=SC2086
"$recline" campaign scenario.yaml $sweep --replay --engine slurm --jobs 1 --out stopped >stdout 2>stderr &
campaign=$!
wait_for test -s stopped/runs.jsonl
kill $campaign
wait $campaign 2>/dev/null
is "$?:$(grep -c "array $(cat stopped/slurm/array) goes on" stderr)" 143:1 'a signal ends the watching' stderr
scancel "$(cat stopped/slurm/array)"
wait_for is_quiet
campaign --replay --out stopped
check 'continued as children, the bytes are the same' diff -r replayed stopped

# A campaign that cannot succeed ends.
slurm --out refused --set 'program.script="rank 0: sing"'
is "$?:$(grep -c 'program.script' stderr):$(test -e refused && echo left)" 64:2: 'runs that are refused are told, of each cell' stderr
printf '#!/bin/sh\necho "sbatch: error: no such partition" >&2\nexit 1\n' >bad/sbatch
chmod +x bad/sbatch
slurm --out refused
is "$?:$(cat stderr):$(test -e refused && echo left)" \
  '64:recline campaign: sbatch: error: no such partition:' 'so is what sbatch refuses'
printf '#!/bin/sh\nexec %s/bin/sbatch --parsable --output=/dev/null --wrap=false\n' "$dir" >bad/sbatch
slurm --out lost
is "$?:$(grep -c 'log: 3 arrays left no result of 16 runs' stderr)" 64:1 'and that there are no results' stderr
refuses() { # NAME PATTERN WORD...
  name=$1 pattern=$2
  shift 2
  campaign "$@"
  is "$?:$(grep -c -e "$pattern" stderr)" 64:1 "$name" stderr
}
refuses 'no folder' 'without --out' --engine slurm
refuses 'another engine' 'expected local or slurm' --engine pbs --out refused
refuses 'chunks without Slurm' 'with --engine slurm' --chunk 3 --out refused
stop_slurm
finish
