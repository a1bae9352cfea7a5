#!/bin/sh
# Measures what protocol.capacity costs: CPU seconds and MiB of runs with a crash and a trace, for
# each protocol with lists. The programs are CG on 8 ranks and a halo exchange on 64. BUILDS names
# the build folders to compare side by side (RECLINE_BUILD). Each number comes from one run. Nothing
# is judged here; the numbers are for reading. Needs GNU time.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
builds=${BUILDS:-${RECLINE_BUILD:-$root/build}}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

cat >cg.yaml <<END
program: {binary: cg, args: [S], ranks: 8}
platform: {file: clan.xml, spares: 1}
protocol: {name: c3}
checkpoint: {every: 50ms, bytes: 64KiB}
detection: 10ms
failures: [{rank: 3, at: 150ms, repair: 20ms}]
END
cat >halo.yaml <<END
program: {binary: halo, args: ["512", "40"], ranks: 64}
platform: {file: flat.xml}
protocol: {name: c3}
checkpoint: {every: 1ms, storage: local, bytes: 64KiB}
detection: 100us
failures: [{rank: 33, at: 3ms, repair: 100us}]
END
printf '%-5s %-16s %8s  %s\n' '' '' capacity 'CPU s, MiB, exit code of each build'
for program in cg halo; do
  for protocol in ${PROTOCOLS:-c3 event-logging hybrid pessimistic uncoordinated}; do
    for capacity in ${CAPACITIES:-1024 4096 65536}; do
      printf '%-5s %-16s %8d ' "$program" "$protocol" "$capacity"
      for build in $builds; do
        rm -rf out
        code=0
        /usr/bin/time -q -o time -f '%U %S %M' timeout 300 "$build/bin/recline" run "$program.yaml" \
          --set "protocol.name=$protocol" --set "protocol.capacity=$capacity" --out out \
          >/dev/null 2>&1 || code=$?
        awk -v code=$code '{ printf "  %6.2f %5.0f %d", $1 + $2, $3 / 1024, code }' time
      done
      echo
    done
  done
done
