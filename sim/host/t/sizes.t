#!/bin/sh
# Tests messages of no bytes, of one packet and beyond the eager limit, in runs. The program of each
# claim PROTOCOL-sizes is crashed before, between and after these messages, and ends as without a
# crash.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

scenario() { # CLAIM: prints a scenario with its program, which here computes around its checkpoints
  sed -n '/^program:/,/^protocol:/p' "$1" |
    sed 's/\(checkpoint\|barrier\), /compute 60ms, \1, compute 60ms, /'
  echo "platform: {file: $root/platforms/clan.xml, spares: 1}
checkpoint: {every: 50ms, storage: nfs, bytes: 4KiB, places: $(sed -n 's/^checkpoint: {places: \([a-z]*\)}/\1/p' "$1" | grep . || echo anywhere)}
detection: 10ms"
}

claims=0
for claim in "$root"/verify/claims/*/*sizes.yaml; do
  name=$(echo "$claim" | claim_names)
  claims=$((claims + 1))
  scenario "$claim" >"$name.yaml"
  "$recline" run "$name.yaml" --out whole >said 2>err
  is "$?:$(value whole/result.json verdict)" 0:completed "$name: a run without a crash" err
  for bytes in 1448 65537; do
    check "$name: it sends $bytes bytes" grep -q " send .* bytes=$bytes " whole/trace.txt
  done
  for crash in '1, after: {rank: 0, event: send, count: 1}' \
    '0, after: {rank: 1, event: send, count: 1}' \
    '1, after: {rank: 0, event: send, count: 2}'; do
    "$recline" run "$name.yaml" --set "failures.0={rank: $crash, repair: 1ms}" --out crashed >said 2>err
    is "$?:$(value crashed/result.json verdict):$(value crashed/result.json audit.violations)" \
      0:recovered:0 "$name: rank $crash" err
    same whole/program.out crashed/program.out "$name: and ends in the same way"
  done
done
is "$claims" "$("$recline" list protocols | grep -vc '^none ')" 'each protocol has such a claim'
finish
