#!/bin/sh
# Tests what `recline run` promises to scripts: exit codes, the keys of --json, the files of --out,
# and what it does when a simulation dies or is interrupted.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer

scenario=$dir/scenario.yaml
cat >"$scenario" <<EOF
program:    {binary: cg, args: [S], ranks: 8}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
failures:
  - {rank: 3, after: {event: committed, checkpoint: 2, rank: 0}, repair: 20ms}
detection:  10ms
EOF
TMPDIR=$dir/tmp
export TMPDIR
mkdir "$TMPDIR"

run() { # WORD...: leaves $code
  "$recline" run "$scenario" "$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null
  code=$?
}

check() { # EXPECTED-CODE DESCRIPTION
  is "$code" "$1" "$2" "$dir/stderr"
}

# A run with a crash.
run --out "$dir/out"
check 0 'a crash that is recovered: exit code 0'
is "$(grep -c '^verification: PASS$' "$dir/stdout")" 1 'what the program printed is printed'
is "$(grep -c '^recovered ' "$dir/stdout")" 1 'so is the verdict' "$dir/stdout"
is "$(ls -A "$dir/out" | tr '\n' ' ')" 'activity.txt program.out result.json scenario.yaml trace.txt ' \
  'files of --out'
is "$(grep -c '^verification: PASS$' "$dir/out/program.out")" 1 'program.out'
is "$(head -n 1 "$dir/out/trace.txt")" 'recline-trace 3' 'trace.txt'
is "$(value "$dir/out/result.json" crashes)" 1 'result.json: the crash'
is "$(value "$dir/out/result.json" rollbacks.global)" 1 'result.json: the rollback'
is "$(value "$dir/out/result.json" audit.violations)" 0 'result.json: no violation'
committed=$(value "$dir/out/result.json" checkpoints.committed)
is "$([ "${committed:-0}" -ge 2 ] && echo yes)" yes 'result.json: at least two checkpoints'

# The saved scenario gives the same run again.
cp "$dir/out/result.json" "$dir/first.json"
"$recline" run "$dir/out/scenario.yaml" --out "$dir/again" >"$dir/stdout" 2>"$dir/stderr"
same "$dir/first.json" "$dir/again/result.json" 'scenario.yaml of --out gives the same result'

# --json.
run --json
check 0 '--json: exit code 0'
is "$(wc -c <"$dir/stderr")" 0 '--json: nothing on standard error' "$dir/stderr"
same "$dir/first.json" "$dir/stdout" '--json prints result.json and nothing else'
keys='verdict program_exit ranks crashes rollbacks global local checkpoints committed aborted abandoned restart from before_s left
messages sent late early suppressed replayed discarded control separate combined
network messages control bytes stored_bytes simulated_s time_s
compute mpi protocol checkpoint lost restart output count bytes delay_mean_s delay_max_s copies payload_bytes payload_s state_bytes state_s repair_s
detect revoke notice agree spawn rebuild phases iterations rank_iterations image_bytes rank_image_bytes audit
violations first gave_up notes warnings
version scenario program platform protocol seed'
is "$(sed "s|\"phases\": .*|\"phases\": [],|" "$dir/stdout" | grep -o '"[a-z_]*":' | tr -d '":' | tr '\n' ' ')" \
  "$(echo "$keys" | tr '\n' ' ')" '--json has exactly the keys of the contract, in order'
total=$(for part in compute mpi protocol checkpoint lost restart; do
  value "$dir/stdout" time_s.$part
done | awk -v all="$(value "$dir/stdout" simulated_s)" \
  '{ sum += $1 } END { d = sum - all; print (NR == 6 && all > 0 && d * d < 1e-12 * all * all) }')
is "$total" 1 'the parts of time_s add up to simulated_s' "$dir/stdout"

# Exit codes.
run --set failures=none
check 0 'no crash: exit code 0'
is "$(grep -c '^completed ' "$dir/stdout")" 1 'no crash: completed'
run --set expect.verdict=recovered
check 0 'expected and seen: exit code 0'
run --set expect.verdict=lost
check 1 'recovered, but lost was expected: exit code 1'
is "$(grep -c 'expected lost, seen recovered' "$dir/stdout")" 1 'and says so' "$dir/stdout"
run --set failures=none --set expect.verdict=recovered --json
check 1 'completed, but recovered was expected: exit code 1'
is "$(grep -c 'expected recovered, seen completed' "$dir/stderr")" 1 'and says so on standard error'
run --set expect.program_exit=3
check 1 'another exit code of the program than expected: exit code 1'
at_60ms='failures=[{rank: 3, at: 60ms}]' # without a protocol there are no points of the protocol
run --set protocol.name=none --set "$at_60ms"
check 1 'lost, and nothing was expected: exit code 1'
is "$(grep -c '^verification' "$dir/stdout")" 0 'lost: the program did not end'
run --set protocol.name=none --set "$at_60ms" --set expect.verdict=lost
check 0 'lost, as expected: exit code 0'
run --set failures=none --set 'program.args=[Q]'
check 1 'a program that ends badly, and nothing was expected: exit code 1'
is "$(grep -c 'expected exit code 0 of the program, seen 64' "$dir/stdout")" 1 'and says so' \
  "$dir/stdout"
is "$(grep -c 'CLASS one of' "$dir/stderr")" 1 'and what the program said is passed on'
run --set failures=none --set 'program.args=[Q]' --set expect.program_exit=64
check 0 'unless that was expected: exit code 0'

# Scripts. A rank sends a digest of what it has seen so far, so any wrong replay shows at the end.
cat >"$dir/script.yaml" <<EOF
program:
  ranks: 3
  script: |
    rank 0: repeat 40 (compute 1ms, send 1 tag 7, recv 2)
    rank 1: repeat 40 (irecv a 0 tag 7, compute 1ms, wait a, send 2)
    rank 2: repeat 40 (recv any tag any, send 0)
platform: {file: $root/platforms/clan.xml}
protocol: {name: c3}
checkpoint: {every: 10ms, storage: nfs, bytes: 4KiB}
detection: 1ms
EOF
for failures in none '[{rank: 1, at: 30ms, repair: 1ms}]' '[{rank: 0, at: 35ms, repair: 1ms}]'; do
  "$recline" run "$dir/script.yaml" --set "failures=$failures" >"$dir/stdout" 2>"$dir/stderr"
  code=$?
  check 0 "a script, failures $failures: exit code 0"
  grep '^history: ' "$dir/stdout" >>"$dir/histories"
  grep -o '^recovered' "$dir/stdout" >>"$dir/recovered"
done
is "$(grep -c '^history: [0-9a-f]\{16\} [0-9a-f]\{16\} [0-9a-f]\{16\}$' "$dir/histories")" 3 \
  'scripts print what their ranks have seen' "$dir/histories"
is "$(sort -u "$dir/histories" | wc -l)" 1 'the same with and without crashes' "$dir/histories"
is "$(wc -l <"$dir/recovered")" 2 'which did strike' "$dir/stdout"

# Choices, and cancelled receives, may come out differently after a crash. If something that is kept
# depends on them, the protocol must force them. Otherwise ranks would disagree on what was sent, which
# the audit would find.
cat >"$dir/choices.yaml" <<EOF
program:
  ranks: 3
  script: |
    rank 0: repeat 40 (compute 1ms, choose 4, send 1 tag 7, choose 4, send 1, recv 2)
    rank 1: repeat 20 (irecv a 0 tag 7, choose 9, compute 800us, cancel a, recv 0, send 2, irecv a 0 tag 7, compute 3ms, cancel a, recv 0, send 2)
    rank 2: repeat 40 (recv any tag any, choose 4, send 0)
platform: {file: $root/platforms/clan.xml}
protocol: {name: c3}
checkpoint: {every: 10ms, storage: nfs, bytes: 4KiB}
detection: 1ms
EOF
for protocol in c3 bookmark; do
  for at in 13.1ms 23.6ms 31.2ms 42.4ms; do
    rm -rf "$dir/out"
    "$recline" run "$dir/choices.yaml" --set protocol.name=$protocol --out "$dir/out" \
      --set "failures=[{rank: 1, at: $at, repair: 1ms}]" >"$dir/stdout" 2>"$dir/stderr"
    is "$?:$(value "$dir/out/result.json" verdict):$(value "$dir/out/result.json" audit.violations)" \
      0:recovered:0 "$protocol: choices and cancelled receives, a crash at $at" "$dir/stderr"
    "$build/t/layer-replay" "$dir/out/trace.txt" >"$dir/stdout" 2>&1
    check 0 'and its trace replays'
    cat "$dir/out/trace.txt" >>"$dir/choices.$protocol"
  done
  for outcome in 0 1; do
    is "$(grep -q "choice request=[0-9]* outcome=$outcome" "$dir/choices.$protocol" && echo yes)" \
      yes "$protocol: cancelling came out as $outcome"
  done
done
is "$(grep -q 'choice outcome=[0-9] | force outcome=' "$dir/choices.c3" && echo yes)" yes \
  'c3: choices were forced'
is "$(grep -q 'choice request=.* | force outcome=' "$dir/choices.c3" && echo yes)" yes \
  'c3: outcomes of cancelling, too'

# Interruption by SIGTERM, because shells ignore SIGINT in background jobs.
cat >"$dir/endless.c" <<EOF
#include <mpi.h>
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (volatile int go = 1; go;)
    continue;
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" "$dir/endless.c" -o "$dir/endless" 2>"$dir/stderr" ||
  not_ok 'recline-cc compiles a program' "$dir/stderr"
"$recline" run "$scenario" --set program.binary=./endless --set program.args=[] \
  --out "$dir/stopped" >"$dir/stdout" 2>"$dir/stderr" &
job=$!
tries=0
until pgrep -f "$dir/endless" >/dev/null || [ $tries -eq 100 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
sleep 0.3
kill -TERM $job
wait $job 2>/dev/null
is $? 143 'interrupted: dies by the signal' "$dir/stderr"
sleep 0.2
is "$(pgrep -f "$dir/endless")" '' 'interrupted: the simulation is gone'
is "$(ls -d "$dir/stopped" 2>/dev/null)" '' 'interrupted: the folder of --out is gone'
is "$(ls -A "$TMPDIR")" '' 'nothing is left in TMPDIR'

# A program that never ends, with a limit of time.
timeout 60 "$recline" run "$scenario" --set program.binary=./endless --set program.args=[] \
  --timeout 0.7 --out "$dir/stopped" >"$dir/stdout" 2>"$dir/stderr"
is "$?:$(grep -c 'inconclusive: not at its end after the time' "$dir/stderr")" 2:1 \
  'out of time: inconclusive' "$dir/stderr"
is "$(pgrep -f "$dir/endless"; ls -A "$TMPDIR"; ls -d "$dir/stopped" 2>/dev/null)" '' \
  'out of time: nothing is left'
# The same limit in the scenario, and a limit of memory.
cat >"$dir/greedy.c" <<EOF
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (size_t i = 0; i < 40000; i++)
    memset(malloc(1 << 20), 1, 1 << 20);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" "$dir/greedy.c" -o "$dir/greedy" 2>"$dir/stderr"
limited() { # PROGRAM EXPECTED WORD...
  program=$1 expected=$2
  shift 2
  timeout 60 "$recline" run "$scenario" --set program.binary="./$program" --set program.args=[] \
    --out "$dir/stopped" "$@" >"$dir/stdout" 2>"$dir/stderr"
  is "$?:$(grep -c "$expected" "$dir/stderr"):$(ls -A "$TMPDIR"; ls -d "$dir/stopped" 2>/dev/null)" \
    2:1: "$program $*: inconclusive, nothing is left" "$dir/stderr"
}
limited endless 'not at its end' --set limits.time=700ms
limited endless 'not at its end' --set limits.time=700ms --timeout 50
limited greedy 'takes more memory' --set limits.memory=300MB
limited greedy 'takes more memory' --memory 300MB --timeout 50
timeout 60 "$recline" run "$scenario" --timeout 50 --memory 1GB >"$dir/stdout" 2>"$dir/stderr"
is $? 0 'in time: as without' "$dir/stderr"

# With RECLINE_LONG=1: a run that takes more than half a minute says that it goes on.
long_tests=0
if [ -n "$RECLINE_LONG" ]; then
  long_tests=2
  long() { run --set failures=none --set limits.time=40s --set 'program={binary: halo, args: ["1000", "1000000"], ranks: 8}' "$@"; }
  long
  is "$code:$(grep -c '^simulating, 3[0-9] s$' "$dir/stderr")" 2:1 'a long run says that it goes on' "$dir/stderr"
  long --json
  is "$code:$(grep -c '^simulating' "$dir/stderr")" 2:0 'but not to programs' "$dir/stderr"
fi

finish "$((70 + long_tests))"
