#!/bin/sh
# Event Logging's operations cost what the platform says: a probe and a record for each message sent
# and received, and comparisons of envelopes at a checkpoint by the formula of the paper's section 4.1 (lists), or by
# binary searches (sorted). Times are of two ranks.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# Prints the committed checkpoints, the seconds of the protocol as the mean of both ranks, and the seconds
# of the run. RECORD, MATCH and PROBE are in seconds.
spent() { # PROTOCOL RECORD MATCH [PROBE]
  sed "s|<zone id=\"flat\" routing=\"Full\">|&<prop id=\"envelope_record_s\" value=\"$2\"/>\
<prop id=\"envelope_match_s\" value=\"$3\"/>\
<prop id=\"request_probe_s\" value=\"${4-0}\"/>|" "$root/platforms/flat.xml" >platform.xml
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --out out --set "protocol.name=$1" >stdout 2>stderr ||
    cat stderr >&2
  echo "$(value out/result.json checkpoints.committed) $(value out/result.json time_s.protocol) \
$(value out/result.json simulated_s)"
}

# Tests by how many seconds the second of two lines of `spent` exceeds the first. The seconds of
# both ranks count together.
differs() { # MORE-OF-PROTOCOL MORE-OF-RUN DESCRIPTION
  awk -v protocol="$1" -v run="$2" '{ p[NR] = 2 * $2; s[NR] = $3; same = $1 == committed; committed = $1 }
    function near(x, y) { return x > y - 1e-7 && x < y + 1e-7 }
    END { exit !(same && near(p[2] - p[1], protocol) && (run == "" || near(s[2] - s[1], run))) }' two
  report $? "$3" two
}

cat >scenario.yaml <<'EOF'
program:
  ranks: 2
  script: |
    rank 0: repeat 20 (send 1 tag 5, recv 1 tag 6)
    rank 1: repeat 20 (recv 0 tag 5, send 0 tag 6)
platform: {file: platform.xml}
protocol: {name: event-logging, capacity: 256}
EOF
{ spent event-logging 0 0; spent event-logging 1e-3 1; } >two
# The script ends with one more message. Its sender records it while the receiver records the message
# before, so one record adds nothing to the run.
differs 0.082 0.081 '41 messages: 82 records, one behind the other'
{ spent event-logging 0 0; spent event-logging 0 0 1e-3; } >two
differs 0.082 0.041 'a probe in each of 41 sends and 41 receives'
{ spent event-logging-sorted 0 0; spent event-logging-sorted 0 1e-3; } >two
differs 0.078 0.077 'sorted: and a binary search in one envelope, but for the first of each log'

# 40 envelopes are sent before the checkpoint, and 10 are received. The formula gives
# 10 (2 x 40 - 2 x 10 + 3) / 4 comparisons.
cat >scenario.yaml <<'EOF'
program:
  ranks: 2
  script: |
    rank 0: repeat 40 (send 1), compute 5ms, checkpoint, repeat 5 (compute 100ms, send 1 tag 2, recv 1 tag 3)
    rank 1: repeat 10 (recv 0), compute 50ms, checkpoint, repeat 30 (recv 0), repeat 5 (compute 100ms, recv 0 tag 2, send 0 tag 3)
platform: {file: platform.xml}
checkpoint: {every: 1ms, places: program, storage: local, bytes: 1KiB}
protocol: {name: event-logging, capacity: 256}
EOF
for form in event-logging event-logging-posted; do
  { spent $form 0 0; spent $form 0 1e-3; } >two
  differs 0.1575 '' "$form: 157.5 comparisons"
  is "$(cut -d ' ' -f 1 two | sort -u)" 1 'for one checkpoint' two
done
{ spent event-logging-sorted 0 0; spent event-logging-sorted 0 1e-3; } >two
awk '{ more = 2 * $2 - more } END { exit !(more > 0.048 && more < 0.075) }' two
report $? 'sorted: 1 comparison, beside 39 and 9 of logging before the checkpoint and some behind it' two

# The log for a peer is one message: 40 envelopes and the end of the log cost rank 0 the overhead of
# sending once.
sed 's|<zone id="flat" routing="Full">|<config><prop id="smpi/ois" value="0:1e-3:0"/></config>&|' \
  "$root/platforms/flat.xml" >platform.xml
run_ends completed 'a message costs 1 ms to send'
is "$(value out/result.json time_s.protocol | awk '{ print (2 * $1 > 0.0039 && 2 * $1 < 0.0041) }')" 1 \
  'logs both ways and the end of a checkpoint, the first log of another: 4 ms' out/result.json
finish 10
