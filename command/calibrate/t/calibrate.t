#!/bin/sh
# recline calibrate finds known amounts again in samples that were made from them, and the machine
# predicts these samples. The same samples give the same bytes. Bad input is refused. Where there is an
# MPI library, a measurement gives all values, and leaves nothing on the disk.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
calibrate() { "$recline" calibrate "$@" >stdout 2>stderr </dev/null; }
near() { awk -v a="$1" -v b="$2" -v e="${3-0.006}" 'BEGIN { d = a / b - 1; exit !(a != "" && d * d <= e * e) }'; }

# Makes samples of a machine with 1.2 us latency, 6 GB/s, 0.3 us overhead, 8000 bytes eager, 3
# Gflop/s, captures at 1 GB/s, and a disk that writes 400 MB/s with 4 ms per write and reads 800
# MB/s. Each value is the median of three.
awk 'function three(head, x) { printf "sample %s : %.9g %.9g %.9g\n", head, 1.1 * x, 0.95 * x, x }
  BEGIN {
    print "recline-samples 1\nranks 2\nnodes 1\nper_node 2\ncores 2\nlibrary An MPI 1"
    three("copy bytes=1048576", 1048576 / 8e9)
    three("relaxation flops=1000000", 1e6 / 3e9)
    for (b = 1; b <= 1048576; b *= b < 64 ? 64 : 4)
      three("ping-pong.within bytes=" b, (b < 8000 ? 6e-7 + 1.2e-6 : 3.6e-6) + b / 6e9)
    three("overhead.within", 3e-7)
    print "sample eager.within : 8000 8000 8000"
    print "disk 0 shared /scratch disk"
    three("record disk=0", 4e-3)
    three("metadata disk=0", 1e-3)
    for (w = 1; w <= 2; w++)
      for (b = 65536; b <= 1048576; b *= 16) {
        key = " disk=0 bytes=" b " writers=" w
        three("write" key, b / 1e9)
        three("sync" key, 4e-3 + w * b / 4e8)
        three("read-warm" key, w * b / 5e9)
        three("read-cold" key, w * b / 8e8)
      }
  }' >known.samples

calibrate --samples known.samples -o known.yaml
is "$?:$(cat stderr)" 0: 'samples are described' stderr
"$recline" platform known.yaml -o known.xml 2>told
is "$?" 0 'what is written is a machine' told
number() { # KEY UNIT: prints the number of the key in the file `part`
  sed -n "s/^ *$1: *\([0-9.e+-]*\)$2 .*/\1/p" part
}
part() { sed -n "/^$1:/,/^[a-z]/p" known.yaml >part; }
cp known.yaml part
near "$(number speed Gf)" 3 && near "$(number memory GBps)" 1 && grep -q 'a copy in memory: 8GBps$' part
report $? 'speed, captures, copies' known.yaml
part within_node
near "$(number latency us)" 1.2 && near "$(number bandwidth GBps)" 6
report $? 'latency and bandwidth' known.yaml
part network
near "$(number overhead ns)" 300 && near "$(number eager kB)" 8 && grep -q 'between nodes: not measured' part
report $? 'overhead and eager limit; one node has no network' known.yaml
part local
near "$(number bandwidth MBps)" 400 && near "$(number read_bandwidth MBps)" 800 && near "$(number write_latency ms)" 4
report $? 'a disk' known.yaml
is "$(grep -c '# 3 values, 10 to 90 % are 0.96 to 1.08 of the median$' known.yaml)" 11 'how far values lie apart' known.yaml
is "$(grep -c UNSTABLE: known.yaml):$(grep -c '; UNSTABLE' known.yaml)" 1:0 'none was unstable' known.yaml

# The simulation of that machine repeats the messages that were measured.
is "$(grep -c '^one way within a node, ' stdout)" 3 'messages of several sizes are predicted' stdout
is "$(awk -F'  +' '/^one way/ { bad += $NF < 0.98 || $NF > 1.02 } END { print bad + 0 }' stdout)" 0 \
  'and are as measured' stdout
is "$(sed -n '$p' stdout | grep -c '^The machine misses what was measured by a factor of 1\.[0-9]* at most: ')" 1 \
  'the largest miss is told' stdout
sed 's/^\(sample ping-pong.within bytes=1 :\).*/\1 9e-3 9e-3 9e-3/' known.samples >slow.samples
echo 'sample barrier : 1e-3 1e-3 5e-3' >>slow.samples
calibrate --samples slow.samples -o slow.yaml
is "$(grep -c '^barrier .* unstable$' stdout):$(grep -c 'by a factor of [0-9.]* at most: ' stdout)" 1:1 'unstable checks are marked' stdout

# The same samples give the same bytes; other samples give other machines.
calibrate --samples known.samples -o again.yaml
same known.yaml again.yaml 'the same samples, the same bytes'
sed -e 's/^nodes 1/nodes 2/' -e 's/^per_node 2/per_node 1/' -e 's/\.within/.between/' known.samples >two.samples
calibrate --samples two.samples -o two.yaml
cp two.yaml known.yaml && part network
near "$(number latency us)" 1.2 && near "$(number bandwidth GBps)" 6
report $? 'between two nodes' two.yaml
is "$(grep -c '^one way between nodes, ' stdout):$(grep -c '^# local: not measured' two.yaml)" 3:1 \
  'what all see is no disk of a node' stdout two.yaml
is "$(awk -F'  +' '/^one way/ { bad += $NF < 0.98 || $NF > 1.02 } END { print bad + 0 }' stdout)" 0 \
  'messages between nodes are predicted' stdout
sed 's/^\(sample copy [^:]*:\).*/\1 1 2 9/' known.samples | sed '/^sample write/d' >wide.samples
calibrate --samples wide.samples -o wide.yaml
is "$(grep -c '^memory: .*; UNSTABLE$' wide.yaml)" 1 'what is unstable is marked' wide.yaml

# ---- bad input ----

refused() { # NAME LINE WORD...
  name=$1 line=$2
  shift 2
  calibrate "$@"
  is "$?:$(cat stdout):$(cat stderr)" "64::$line" "$name" stderr
}
printf 'recline-samples 1\nranks 2\nnodes 1\nper_node 2\ncores 2\nlibrary An MPI\n' >bare.samples
calibrate --samples bare.samples -o bare.yaml
is "$?:$(sed -n '$p' stdout)" '0:Nothing was measured that can be simulated.' 'nothing was measured' stdout stderr
"$recline" platform bare.yaml >bare.xml 2>told
is "$?:$(grep -c 'not measured' bare.yaml)" 0:11 'which is a machine of defaults' told bare.yaml
refused 'samples that are not there' 'none:1: cannot be read, expected what recline calibrate has measured' --samples none
echo 'recline-samples 2' >other.samples
refused 'samples that are none' 'other.samples:1: no samples, expected what recline calibrate has measured' \
  --samples other.samples
wrong() { # NAME LINE MESSAGE: puts that line in place of line 7
  sed "7s/.*/$2/" known.samples >wrong.samples
  refused "$1" "wrong.samples:7: $3" --samples wrong.samples
}
wrong 'a line of no kind' 'smaple copy : 1' 'expected ranks, nodes, per_node, cores, library, disk or sample'
wrong 'a sample without values' 'sample copy bytes=1 :' 'no values, expected numbers above 0 behind the colon'
wrong 'a value that is none' 'sample copy bytes=1 : 1 x' 'no values, expected numbers above 0 behind the colon'
wrong 'a value of 0' 'sample copy bytes=1 : 0' 'no values, expected numbers above 0 behind the colon'
wrong 'a sample without a colon' 'sample copy 1' 'no colon, expected sample NAME [KEY=NUMBER]... : VALUE...'
wrong 'a key that is none' 'sample copy byts=1 : 1' 'expected bytes=, flops=, writers= or disk= of a disk above'
wrong 'a disk that is none' 'sample write disk=3 : 1' 'expected bytes=, flops=, writers= or disk= of a disk above'
wrong 'a key without a number' 'sample copy bytes= : 1' 'expected bytes=, flops=, writers= or disk= with a number'
wrong 'disks in no order' 'disk 1 shared x' 'expected disk NUMBER shared|own FOLDER'
wrong 'no processes' 'ranks 0' 'expected a number from 1'
sed '/^cores/d' known.samples >less.samples
calibrate --samples less.samples
is "$?:$(cat stdout):$(grep -c '^less.samples:[0-9]*: the end, expected ranks, nodes, per_node, cores and library, too$' stderr)" \
  64::1 'samples without a head' stderr
refused 'a word' 'recline calibrate: word, expected no words but options' word
refused 'a file of another kind' 'recline calibrate: -o machine.xml, expected FILE.yaml' -o machine.xml
refused 'a disk without a measurement' 'recline calibrate: --samples, expected no --disk: nothing is measured' \
  --samples known.samples --disk .
refused 'no repetition' 'recline calibrate: --repetitions, expected a number from 1' --repetitions 0
refused 'no size' 'recline calibrate: --largest 3 apples, expected a size from 1B to 1GiB' --largest '3 apples'
refused 'a folder that is not there' \
  'nowhere/m.yaml: cannot be written: No such file or directory, expected a folder with room' \
  --samples known.samples -o nowhere/m.yaml

# ---- a measurement ----

if [ -x "$build/bin/recline-calibrate" ] && command -v mpirun >/dev/null; then
  needs_mpi bin/recline-calibrate
  mkdir disk
  # shellcheck disable=SC2086 # a list of words
  measure() { timeout 300 mpirun $open -n "$@" >stdout 2>stderr </dev/null; }
  measure 2 "$recline" calibrate --repetitions 3 --largest 64KiB --disk disk -o here.yaml
  is "$?:$(ls disk)" 0: 'this machine is measured, nothing stays on its disk' stderr
  # One process measures messages, metadata, barriers and the eager limit; both measure all else.
  is "$(sed -n 's/^sample \([^ ]*\).* : \(.*\)/\1 \2/p' here.samples | awk '{ n[$1] = NF - 1 } END {
    for (i in n) printf "%s:%d ", i, n[i] }' | tr ' ' '\n' | sort | tr '\n' ' ')" \
    'allreduce:3 barrier:3 copy:6 eager.within:3 metadata:3 overhead.within:6 ping-pong.within:3 read-cold:6 read-warm:6 record:3 relaxation:6 sync:6 write:6 ' \
    'with so many values' here.samples
  is "$(grep -c '^sample write disk=0 bytes=65536 writers=[12] :' here.samples)" 2 'by 1 to n writers' here.samples
  is "$(grep -cE '^(nodes|per_node|cores|speed|memory|within_node|network|local|storage):' here.yaml)" 9 'all is described' here.yaml
  is "$(grep -c ' us  *[0-9.e+]* us ' stdout):$(sed -n '$p' stdout | grep -c 'by a factor of')" 6:1 \
    'and predicts what was measured' stdout
  "$recline" platform here.yaml >here.xml 2>told
  is $? 0 'it is a machine' told
  cp here.yaml kept.yaml
  calibrate --samples here.samples -o here.yaml
  same here.yaml kept.yaml 'its samples describe it again'
  measure 1 "$recline" calibrate
  is "$?:$(grep -c '^recline calibrate: one process, expected several: mpirun -n 2 recline calibrate$' stderr)" 64:1 \
    'one process is refused' stderr
  measure 2 "$recline" calibrate --repetitions 1 --largest 1KiB --disk nowhere
  is "$?:$(grep -c 'nowhere/recline-calibrate.0: cannot be written: ' stderr)" 64:1 'a disk that is not there' stderr
fi
finish
