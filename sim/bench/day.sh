#!/bin/sh
# Runs a day of 256 ranks RUNS (50) times by replay. Every 10 simulated minutes there is a halo
# exchange of 64 KiB with four neighbours and an allreduce. A checkpoint is taken every 30 minutes:
# three of four go to the memory of a partner node, the fourth to the file server. Failures come by a
# law, then from a trace that begins at a time drawn by the seed. Prints seconds of wall time, CPU
# seconds, and the MiB of one process. PROTOCOL (bookmark) and JOBS (all cores) are settings. Needs
# GNU time.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ln -s "$build/programs/halo" halo

cat >law.yaml <<END
program:    {binary: ./halo, args: ["65536", "144", "6e11"], ranks: 256}
platform:   {file: flat.xml, spares: 4}
protocol:   {name: ${PROTOCOL:-bookmark}}
checkpoint:
  every: 30min
  bytes: 256MiB
  levels: [{storage: memory, redundancy: partner}, {storage: nfs, every: 4}]
detection:  10s
failures:   [{law: exponential, mtbf: 12h, of: platform, repair: 5min}]
END
sed 's/^failures:.*/failures: [{trace: machine.csv, begins: drawn}]/' law.yaml >trace.yaml

# The trace of a week has 16 failures: of one node at a time, and once of two within a minute.
cat >machine.csv <<END
node,start,end
node-17,3h,4h
node-203,11h,11.5h
node-64,26h,26.5h
node-65,26.01h,26.5h
node-9,39h,42h
node-118,44h,44.2h
node-250,58h,59h
node-31,70h,72h
node-77,83h,83.5h
node-140,91h,92h
node-201,104h,104.5h
node-5,115h,116h
node-66,126h,126.5h
node-180,138h,139h
node-92,150h,150.5h
node-239,165h,168h
END

for kind in law trace; do
  begun=$(date +%s)
  /usr/bin/time -q -o time -f '%U %S %M' "$build/bin/recline" campaign $kind.yaml --replay \
    --runs "${RUNS:-50}" ${JOBS:+--jobs "$JOBS"} --out $kind >out 2>&1 || { cat out >&2 && exit 1; }
  awk -v kind=$kind -v runs="${RUNS:-50}" -v wall=$(($(date +%s) - begun)) '{
    printf "%-6s %3d runs  %5d s  %7.1f CPU s, %5.1f a run  %5.0f MiB\n", kind, runs, wall, $1 + $2,
      ($1 + $2) / runs, $3 / 1024 }' time
  jq -s 'map(.crashes) | "crashes a run: \(add / length)"' -r $kind/runs.jsonl
done
