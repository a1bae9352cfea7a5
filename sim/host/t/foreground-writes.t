#!/bin/sh
# Tests checkpoints that are written in the foreground: a program sends nothing until the image of
# its rank is on storage. If they are written in the background, the program sends meanwhile. In
# both cases it computes the same, and recovers from a crash between the end of one write and the
# end of another.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 4
  script: |
    rank 0: repeat 8 (iteration, compute 10ms, send 1, recv 3)
    rank 1: repeat 8 (iteration, compute 10ms, send 2, recv 0)
    rank 2: repeat 8 (iteration, compute 10ms, send 3, recv 1)
    rank 3: repeat 8 (iteration, compute 10ms, send 0, recv 2)
platform:   {file: $root/platforms/cirrus.xml, spares: 1}
protocol:   {name: hybrid, interval: 3}
checkpoint: {every: 25ms, places: program, bytes: 40MB}
detection:  1ms
EOF

# Counts the sends of ranks whose image is being written.
sends_during_writes() {
  awk '/store part=image/ { writes[$2] = 1 }
    $3 == "durable" && /part=image/ { writes[$2] = 0 }
    $3 == "crash" || $3 == "start" { writes[$2] = 0 }
    $3 == "send" && writes[$2] { sends++ }
    END { print sends + 0 }' out/trace.txt
}

some() {
  sed 's/[1-9][0-9]*/some/'
}

# A rank of these protocols goes on as soon as it is captured.
for protocol in hybrid c3 pessimistic-wildcards uncoordinated; do
  set -- --set "protocol.name=$protocol"
  run_ends completed "$protocol, in the background" "$@" --set checkpoint.writes=background
  is "$(sends_during_writes | some)" some 'ranks send while they write' out/trace.txt
  reference=$(cat out/program.out)
  run_ends completed "$protocol, in the foreground" "$@" --set checkpoint.writes=foreground
  is "$(grep -c 'store part=image' out/trace.txt | some)" some 'ranks write'
  is "$(sends_during_writes)" 0 'and send nothing meanwhile' out/trace.txt
  is "$(cat out/program.out)" "$reference" 'with the same result'
  run_ends recovered "$protocol, a crash between two writes" "$@" --set checkpoint.writes=foreground \
    --set 'failures=[{rank: 2, after: {event: durable, rank: 1}, repair: 1ms}]'
  is "$(sort -u out/program.out)" "$reference" 'with the same result'
done
finish 32
