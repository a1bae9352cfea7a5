#!/bin/sh
# Tests the stand-ins for applications. Without a protocol each prints what it prints under plain
# smpirun, to the last digit; after a crash it has the same checksum. Each runs under c3 or bookmark
# (RECLINE_LONG=1: both).
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

for kernel in lu bt sp ep gromacs matmul gauss neuron disks; do
  ranks=9
  size=
  [ $kernel != disks ] || size=64
  [ $kernel != gauss ] || size=5
  cat >scenario.yaml <<EOF
program:    {binary: patterns, args: [$kernel, "2", "4e8"${size:+, "$size"}], ranks: $ranks}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
checkpoint: {every: 200ms, storage: local, bytes: 1MB}
EOF
  run_ends completed "$kernel"
  cp out/program.out told
  for i in $(seq 0 $((ranks - 1))); do echo "node-$i"; done >hosts
  smpirun -np $ranks -platform "$root/platforms/clan.xml" -hostfile hosts \
    --cfg=smpi/simulate-computation:no --cfg=smpi/tmpdir:"$dir" --log=root.thres:critical \
    "$build/programs/patterns-plain" $kernel 2 4e8 $size >plain 2>stderr
  same told plain "$kernel: as under plain smpirun"
  case $kernel-${RECLINE_LONG:-0} in
    lu-0 | sp-0 | gromacs-0 | gauss-0) set -- c3 ;;
    *-0) set -- bookmark ;;
    *) set -- c3 bookmark ;;
  esac
  for protocol; do
    run_ends recovered "$kernel, $protocol" --set protocol.name=$protocol \
      --set "failures=[{rank: 4, at: 0.6s, repair: 1ms}]"
    is "$(grep -c "$(head -n 1 told)" out/program.out)" 1 "$kernel, $protocol: the same checksum" out/program.out
  done
done
is "$("$build/bin/recline" run scenario.yaml --set program.ranks=8 --set 'program.args=[bt,"1","0"]' 2>&1 |
  grep -c 'bt and sp on a square')" 1 'bt on 8 ranks is refused'

# The next programs are the timer of collectives, and the skeleton of cg.
for operation in bcast gather allgather barrier; do
  run_ends recovered "$operation" --set 'program.binary=collectives' --set protocol.name=c3 \
    --set "program.args=[$operation, \"4\", \"65536\", \"40\"]" --set checkpoint.every=5ms \
    --set 'failures=[{rank: 4, after: {rank: 0, event: committed, checkpoint: 1}, repair: 1ms}]'
  is "$(grep -c '^verification: PASS$' out/program.out)" 1 "$operation: all data right" out/program.out
done
traffic() { # WORDS: messages and bytes that 8 ranks of cg log
  "$recline" run scenario.yaml --set program.ranks=8 --set program.binary=cg --json \
    --set "program.args=[-s, $*S, \"1\"]" --set protocol.name=hybrid --set protocol.interval=50 \
    --set checkpoint.places=program | jq -c '[.messages.sent, .copies.payload_bytes]'
}
is "$(traffic '-k, ')" "$(traffic '')" 'a skeleton of cg sends what cg sends'
finish $((${RECLINE_LONG:-0} > 0 ? 64 : 46))
