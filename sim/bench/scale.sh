#!/bin/sh
# Measures what a large run takes: the halo exchange on RANKS ranks (1024) for STEPS steps (10),
# under PROTOCOL (c3), with one checkpoint and one crash after its commit. TOPOLOGY sets
# program.topology (torus-AxB for halo). Prints real time and peak memory; the limits for 1,024
# ranks are 60 s on two cores and 4 GiB, but nothing is judged here. Needs GNU time.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${RECLINE_BUILD:-$root/build}
ranks=${RANKS:-1024} steps=${STEPS:-10} protocol=${PROTOCOL:-c3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/scenario.yaml" <<END
program: {binary: halo, args: ["4096", "$steps"], ranks: $ranks${TOPOLOGY:+, topology: $TOPOLOGY}}
platform: {file: flat.xml}
protocol: {name: $protocol, capacity: 64}
checkpoint: {every: 1.2ms, storage: local, bytes: 64KiB}
detection: 100us
failures: [{rank: $((ranks / 2 + 1)), after: {event: committed, rank: 0, count: 1}, repair: 100us}]
END
/usr/bin/time -f '%e s, %U + %S s of CPU, %M KiB at most' -o "$scratch/time" \
  "$build/bin/recline" run "$scratch/scenario.yaml" --json >"$scratch/result.json" || cat "$scratch/result.json"
grep -E '^  "(verdict|ranks|simulated_s|checkpoints)"' "$scratch/result.json"
cat "$scratch/time"
