#!/bin/sh
# Checkpoints pass the network and the disk of a file server at the same time. The slower of the two
# decides, and several writers share both. At a restart images are read in the same way.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# The server is behind 100 MB/s, and its disk writes 50 MB/s and reads 200 MB/s.
cat >platform.xml <<'EOF'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="node-0" speed="1Gf"/>
    <host id="node-1" speed="1Gf"/>
    <host id="service-0" speed="1Gf"><disk id="nfs" read_bw="200MBps" write_bw="50MBps"/></host>
    <link id="nodes" bandwidth="10GBps" latency="1us"/>
    <link id="server" bandwidth="100MBps" latency="1us"/>
    <route src="node-0" dst="node-1"><link_ctn id="nodes"/></route>
    <route src="node-0" dst="service-0"><link_ctn id="server"/></route>
    <route src="node-1" dst="service-0"><link_ctn id="server"/></route>
  </zone>
</platform>
EOF
cat >scenario.yaml <<'EOF'
program:
  ranks: 2
  script: |
    rank 0: repeat 800 (compute 10ms, send 1, recv 1)
    rank 1: repeat 800 (compute 10ms, send 0, recv 0)
platform:   {file: platform.xml, spares: 0}
protocol:   {name: uncoordinated, capacity: 4096}
checkpoint: {every: 4s, bytes: 50MB}
EOF

# Prints the tenths of a second from the first event of a rank that matches FROM to the next one that
# matches TO.
between() { # RANK FROM TO
  awk -v rank="$1" -v from="$2" -v to="$3" '$2 != rank { next }
    !began && $0 ~ from { began = $1 }
    began && $0 ~ to { printf "%.0f\n", 10 * ($1 - began); exit }' out/trace.txt
}

run_ends completed 'checkpoints of two ranks'
is "$(between 0 'store part=image' 'durable .*part=image')" 20 \
  'two images of 50 MB share a disk of 50 MB/s: 2 s, and no network ahead of it' out/trace.txt
run_ends recovered 'a crash' --set 'failures=[{rank: 1, at: 7s, repair: 1ms}]' --set detection=1ms
is "$(between 1 ' crash' ' start ')" 6 \
  'an image of 50 MB comes through 100 MB/s, of which SMPI uses 94 %, and reading is not added' out/trace.txt
finish 4
