#!/bin/sh
# The times of phases in result.json are those that the header and the lines of the trace give.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# Reads a trace as docs/trace.md says, and prints "checkpoint phase ranks min max", in microseconds.
# Leaves out phases whose both ends are the same step.
cat >phases.awk <<'EOF'
/^phase / {
  sub(/^phase /, "")
  split($0, part, ": | > ")
  if (part[2] != part[3]) { n++; name[n] = part[1]; from[n] = part[2]; to[n] = part[3] }
}
/^---$/ { body = 1; next }
!body { next }
# Returns whether an event or action of the line is that step, and sets `of` to the checkpoint named there.
function has(step,   word, i, k, words, good) {
  words = split(step, word, " ")
  for (k = 1; k <= items; k++) {
    good = index(item[k] " ", word[1] " ") == 1
    for (i = 2; i <= words; i++) good = good && index(item[k], " " word[i])
    if (!good) continue
    if (match(item[k], / checkpoint=[0-9]+/)) of = substr(item[k], RSTART + 12, RLENGTH - 12)
    return 1
  }
  return 0
}
{
  rank = $2
  line = $0
  sub(/^[0-9.]+ [0-9-]+ /, "", line)
  sub(/ # [0-9a-f]+$/, "", line)
  items = split(line, item, " [|] ")
  of = 0
  if (has("start") || has("capture")) now[rank] = of
  for (i = 1; i <= n; i++) {
    of = now[rank] + 0
    if ((rank, name[i]) in began && has(to[i])) {
      taken[of " " name[i], rank] = $1 - began[rank, name[i]]
      delete began[rank, name[i]]
    }
  }
  for (i = 1; i <= n; i++) {
    if ($3 == "start") delete began[rank, name[i]]
    if (has(from[i])) began[rank, name[i]] = $1
  }
}
END {
  for (key in taken) {
    split(key, part, SUBSEP)
    of = part[1]
    if (!(of in ranks) || taken[key] < least[of]) least[of] = taken[key]
    if (taken[key] > most[of]) most[of] = taken[key]
    ranks[of]++
  }
  for (of in ranks) printf "%s %d %.0f %.0f\n", of, ranks[of], 1e6 * least[of], 1e6 * most[of]
}
EOF

compare() { # PROTOCOL PHASES
  awk -f phases.awk out/trace.txt | sort >by-trace
  jq -r '.phases[] | "\(.checkpoint) \(.phase) \(.ranks) \(.min_s) \(.max_s)"' out/result.json |
    awk '$2 != "resend" { printf "%d %s %d %.0f %.0f\n", $1, $2, $3, 1e6 * $4, 1e6 * $5 }' |
    sort >by-result
  same by-trace by-result "$1: as the trace has them"
  is "$(cut -d' ' -f2 by-result | sort -u | tr '\n' ' ')" "$2 " "$1: all of them" by-result
}

cat >scenario.yaml <<EOF
program:    {binary: ring, args: ["8192", "200"], ranks: 8}
platform:   {file: $root/platforms/sif.xml, interconnect: infiniband, per_node: 4}
protocol:   {name: bookmark}
checkpoint: {every: 10ms, storage: nfs, bytes: 1MiB}
failures:
  - {rank: 5, after: {event: committed, checkpoint: 1, rank: 0}, repair: 20ms,
     restart_on: {interconnect: myrinet, per_node: 2}}
EOF
run_ends recovered bookmark
compare bookmark 'checkpoint continue coordination restart suspend'
is "$(awk '$2 == "suspend" && ($4 != ($1 == 1 ? 25000 : 30000) || $5 != 30000)' by-result)" '' \
  'InfiniBand closes one or two connections in 25 or 30 ms, Myrinet in 30; no copy is needed' by-result

cat >scenario.yaml <<EOF
program:    {binary: cg, args: [S], ranks: 8}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 50ms, storage: nfs, bytes: 256KiB}
failures:   [{rank: 3, after: {rank: 0, event: committed, checkpoint: 2}}]
EOF
run_ends recovered c3
compare c3 'capture commit logging restart stop-log'
is "$(grep -c '^[0-9]* commit 1 ' by-result)" "$(jq .checkpoints.committed out/result.json)" \
  'commit: at the coordinator, of each checkpoint'
run_ends recovered hybrid --set protocol.name=hybrid --set protocol.interval=3 \
  --set protocol.log=2 --set checkpoint.places=program \
  --set 'failures=[{rank: 3, after: {event: send, iteration: 8, count: 9}, kills: rank}]'
compare hybrid 'capture rollback switch write'
run_ends completed 'no protocol' --set protocol.name=none --set failures=none
is "$(jq -c .phases out/result.json)" '[]' 'no protocol, no phases'
finish 13
