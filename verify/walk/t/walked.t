#!/bin/sh
# Walks through drawn worlds of the protocols: RECLINE_WALKS of each (60) from RECLINE_SEED (1), no
# violation. The number of walks bounds the test, not a time.
#
# `none` is left out, as it recovers from nothing.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
cd "$dir" || exit 1
walks=${RECLINE_WALKS:-60} seed=${RECLINE_SEED:-1} count=0

for protocol in $("$recline" list protocols | cut -d' ' -f1); do
  [ "$protocol" != none ] || continue
  count=$((count + 1))
  exits 0 "$protocol: $walks walks of seed $seed" \
    "$recline" walk "$protocol" --until "$walks" --seed "$seed" --workers 1
  is "$(grep -c '^  all .* commits [1-9]' out)" 1 'checkpoints commit in some' out
done
check 'there are protocols' test "$count" -gt 10
finish
