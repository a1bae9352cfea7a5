#!/bin/sh
# Tests that a program built by recline-cc and started by plain smpirun does what the same program
# built by smpicc does: it prints the same, including its MPI_Wtime, and takes the same simulated
# time. Without a scenario the layer must not even know that it is there.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

i=0
while [ $i -lt 8 ]; do
  echo "node-$i"
  i=$((i + 1))
done >"$dir/hosts"

# Leaves what the program printed, and SimGrid's line on the simulated time, in $dir/NAME.
simulate() { # NAME ARGUMENT...: NAME is also the name of a program
  name=$1
  shift
  env -u LD_PRELOAD -u RECLINE_SCENARIO -u RECLINE_OUT -u RECLINE_RESULT -u RECLINE_TRACE \
    smpirun -np 8 -platform "$root/platforms/clan.xml" -hostfile "$dir/hosts" \
    --cfg=smpi/simulate-computation:no --cfg=smpi/display-timing:yes \
    --log=root.thres:critical --log=smpi_utils.thres:info \
    "$build/programs/$name" "$@" >"$dir/$name.out" 2>"$dir/$name.err"
  echo "exit code $?" >>"$dir/$name.out"
  grep -o 'Simulated time: [0-9.e+-]* seconds' "$dir/$name.err" >"$dir/$name.time"
}

compare() { # PROGRAM ARGUMENT...
  program=$1
  shift
  simulate "$program-plain" "$@"
  simulate "$program" "$@"
  is "$(grep -c -e '^verification: PASS$' -e '^exit code 0$' "$dir/$program-plain.out")" 2 \
    "$program: the plain program verifies its result" "$dir/$program-plain.out"
  same "$dir/$program-plain.out" "$dir/$program.out" "$program: same output and exit code"
  same "$dir/$program-plain.time" "$dir/$program.time" "$program: same simulated time"
}

uses_layer() { # PROGRAM
  readelf -d "$build/programs/$1" | grep -c 'NEEDED.*librecline_mpi'
}

for program in cg ring; do
  is "$(uses_layer $program)" 1 "$program was built with recline-cc"
  is "$(uses_layer $program-plain)" 0 "$program-plain was built without"
done
compare cg S
compare ring 4096 20
finish 10
