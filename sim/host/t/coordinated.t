#!/bin/sh
# Shows in runs of real MPI programs how the coordinated protocols differ: when they commit, what
# becomes of an orphan that is sent with other data again, what a header costs, and how they take
# checkpoints in barriers.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
scenarios=$root/scenarios

# Leaves the output of the run in $name.json and $name.err, and its exit code in $code.
simulate() { # NAME SCENARIO WORD...
  name=$dir/$1
  scenario=$2
  shift 2
  "$recline" run "$scenario" --json --out "$name" "$@" >"$name.json" 2>"$name.err"
  code=$?
}

# ---- a deferred receive ----

# Tests whether checkpoint 1 was committed before 30 ms, after 60 ms, or in between.
commits() { # PROTOCOL WHEN
  simulate "$1" "$scenarios/deferred-receive.yaml" --set "protocol.name=$1"
  when=$(awk '$3 == "committed" && /checkpoint=1/ {
    print ($1 < 0.03 ? "early" : ($1 > 0.06 ? "late" : "between"))
    exit
  }' "$name/trace.txt")
  is "$code-$when" "0-$2" "$1: a deferred receive; the first commit is $2" "$name.err"
}
commits message-tagging late
commits event-logging late
commits event-logging-sorted late
commits event-logging-posted early
commits bookmark early

# ---- an orphan that is sent with other data again ----

simulate c3 "$scenarios/orphan.yaml"
is "$code-$(value "$name.json" verdict)-$(value "$name.json" messages.suppressed)" 0-recovered-1 \
  'c3: an orphan that depends on a wildcard is suppressed and right' "$name.err"
for protocol in event-logging event-logging-posted message-tagging; do
  simulate "$protocol" "$scenarios/orphan.yaml" --set "protocol.name=$protocol"
  first=$(value "$name.json" audit.first)
  is "$code-$(value "$name.json" messages.discarded)-${first%%:*}" 1-1-agreement \
    "$protocol: the same orphan is dropped, and the audit finds it" "$name.err"
done

# ---- what the program sees of a message ----

cat >"$dir/calls.yaml" <<END
program:    {binary: $build/t/layer-mpi, args: ["4"], ranks: 5}
platform:   {file: clan.xml, spares: 1}
protocol:   {name: message-tagging, capacity: 4000}
checkpoint: {every: 8ms, storage: local, bytes: 10kB}
failures:   [{rank: 3, at: 31ms, repair: 1ms}]
detection:  1ms
END
for protocol in message-tagging event-logging event-logging-posted blocking; do
  simulate "$protocol" "$dir/calls.yaml" --set "protocol.name=$protocol"
  is "$code-$(value "$name.json" verdict)-$(grep -c ' 0 failures, PASS' "$name/program.out")" \
    0-recovered-1 "$protocol: every MPI call, with a crash; lengths are those of the program" \
    "$name.err"
done

# ---- what a header costs ----

# A message is joined with its header, so both ends copy it. On a ring of two ranks a hop takes one
# to two copies longer, because the sender's copy can overlap with the transfer of the message
# before.
hop() { # PROTOCOL BYTES: in microseconds
  simulate "$1" "$dir/ring.yaml" --set "protocol.name=$1" --set "program.args.0='$2'"
  sed -n 's/^time: \(.*\) us per hop.*/\1/p' "$name/program.out"
}
cat >"$dir/ring.yaml" <<END
program:    {binary: ring, args: ["0", "4"], ranks: 2}
platform:   {file: clan.xml}
protocol:   {name: none}
END
for bytes in 1024 65536 1048576; do
  plain=$(hop none $bytes)
  is "$(hop event-logging $bytes | awk -v plain="$plain" '{ printf "%.1f", $1 - plain }')" 0.6 \
    "event-logging: two records of 0.3 us on a message of $bytes bytes"
  tagged=$(hop message-tagging $bytes)
  is "$(awk -v plain="$plain" -v tagged="$tagged" -v bytes=$bytes 'BEGIN {
      copy = (bytes + 8) / 350
      more = tagged - plain
      if (copy <= more && more <= 2 * copy + 1) print "one to two copies"
      else print more / copy, "copies"
    }')" 'one to two copies' "message-tagging: $bytes bytes take $tagged us a hop, not $plain us"
done

# Hybrid rollback adds nothing to a message, and copies it once into its log.
plain=$(hop none 8192)
is "$(hop hybrid 8192 | awk -v plain="$plain" '{ print ($1 - plain <= 8192 / 350 + 0.051) }')" 1 \
  "hybrid: a message of 8 KiB takes no more than one copy longer than $plain us"

# Hybrid rollback copies payloads into logs, and its state in each iteration. The first cache_bytes of
# the state stay in the cache, so they are copied faster.
cat >"$dir/cg.yaml" <<END
program:    {binary: cg, args: [-s, S, "1"], ranks: 4}
platform:   {file: $root/platforms/cirrus.xml}
protocol:   {name: hybrid, interval: 100, capacity: 4096}
checkpoint: {places: program}
END
copies() { # WORD...: in MB/s
  simulate copies "$dir/cg.yaml" "$@"
  jq -r '[.copies.payload_bytes / .copies.payload_s, .copies.state_bytes / .copies.state_s] |
    map(. / 4e6 | round | tostring) | join(" ")' "$name.json"
}
is "$(copies)" '2060 12200' 'hybrid: copies into a log, and what stays in the cache'
sed -e 's/"cache_bytes" value="[^"]*"/"cache_bytes" value="1e3"/' -e /log_copy_bw/d \
  "$root/platforms/cirrus.xml" >"$dir/plain.xml"
is "$(copies --set platform.file="$dir/plain.xml")" '1370 1370' 'as any other, without them'

# ---- barriers ----

simulate none "$scenarios/barriers.yaml" --set protocol.name=none --set failures=none \
  --set expect.verdict=completed
grep '^history: ' "$name/program.out" >"$dir/history"
is "$code-$(wc -l <"$dir/history")" 0-1 'the bulk-synchronous program completes' "$name.err"
wrong_runs=0
committed=0
at=1
while [ $at -lt 50 ]; do
  simulate blocking "$scenarios/barriers.yaml" \
    --set "failures=[{rank: $((at % 8)), at: ${at}ms, repair: 2ms},
                     {rank: $((at % 3)), at: $((at + 3))ms, repair: 1ms}]"
  grep '^history: ' "$name/program.out" | sort -u >"$dir/found"
  [ "$code" -eq 0 ] && cmp -s "$dir/history" "$dir/found" || {
    wrong_runs=$((wrong_runs + 1))
    echo "# a crash at $at ms: exit code $code, $(cat "$name.err")"
  }
  committed=$((committed + $(value "$name.json" checkpoints.committed)))
  at=$((at + 4))
done
is "$wrong_runs" 0 'blocking: two crashes, at 13 times: the same histories'
is "$([ "$committed" -ge 40 ] && echo many)" many "blocking: $committed checkpoints in them"

finish 25
