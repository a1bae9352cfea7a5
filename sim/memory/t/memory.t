#!/bin/sh
# Tests memory from before MPI_Init, static objects of C++, a deep stack and a large array
# (memory-program.cc). All these must be right after a rollback to a checkpoint and after a rollback
# to the start, and each object must be destroyed once. The size of images, and what they hold, are
# tested as well.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

cp "$here/memory-program.cc" "$dir"
cd "$dir" || exit 1
flags='-O2 -g -Wall -Wextra -Werror'
# shellcheck disable=SC2086 # a list
"$build/bin/recline-c++" $flags memory-program.cc -o program >log 2>&1
is "$?" 0 'the program is built' log

cat >scenario.yaml <<EOF
program:    {binary: ./program, args: ["20"], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
checkpoint: {storage: local}
detection:  1ms
EOF

# Expected are the lines of plain smpirun, and one of the dispatcher's rank, which ends before MPI_Init
# has done anything.
for i in 0 1 2 3; do echo "node-$i"; done >hosts
timeout 60 smpirun -np 4 -platform "$root/platforms/clan.xml" -hostfile hosts \
  --cfg=smpi/simulate-computation:no --log=root.thres:critical ./program 20 >plain 2>err
{ sort plain; echo 'rank -1: the table is destroyed: 200 200'; } | sort >expected
is "$(grep -c 'is destroyed' expected):$(grep -c ^digest expected)" 9:1 'plain SMPI' err

run() { # VERDICT DESCRIPTION WORD...
  run_ends "$@"
  sort out/program.out >sorted
  same expected sorted "$what: the same result, all is destroyed once"
}

RECLINE_HEAP_WATCH=1
export RECLINE_HEAP_WATCH
run completed 'no protocol'
unset RECLINE_HEAP_WATCH
every='checkpoint={every: 4ms, storage: local, bytes: 10kB}'
for protocol in bookmark c3; do
  for at in 1ms 9ms 15ms 21ms; do # before the first checkpoint, and after some
    run recovered "$protocol, rank 1 crashes at $at" --set protocol.name=$protocol \
      --set "$every" --set "failures=[{rank: 1, at: $at, repair: 1ms}]"
  done
done

# The size that counts for an image. The program changes the first character of its argument, and
# reads the size behind it.
size() { # WORD...: a run with checkpoints; prints the simulated time
  "$recline" run scenario.yaml --json --set protocol.name=bookmark "$@" >json 2>err && value json simulated_s
}
measured=$(size --set checkpoint.every=4ms)
is "$(value json 'rank_image_bytes | @csv' |
  awk -F, '{ print NF, ($1 < 1e6), ($2 > 4e6 && $2 < 6e6), ($3 < 1e6), ($4 > 4e6 && $4 < 6e6) }')" \
  '4 1 1 1 1' 'each rank has its size: that of its stack, not that of the array' json
mv json measured.json
long=a-folder-whose-name-is-so-long-that-it-is-seen-where-words-of-the-command-line-are-kept
mkdir $long && cp program $long
size --set checkpoint.every=4ms --set program.binary=./$long/program >/dev/null
same measured.json json 'where the program lies changes nothing'
program=$(size --set checkpoint.every=4ms --set 'program.args=["20", "x30000000"]')
scenario=$(size --set checkpoint.every=4ms --set checkpoint.bytes=30MB)
both=$(size --set checkpoint.every=4ms --set checkpoint.bytes=30MB --set 'program.args=["20", "x90000000"]')
is "$program" "$scenario" 'a size that the program gives is charged as one of the scenario' json
is "$both" "$scenario" 'that of the scenario comes first' json
is "$(echo "$measured $program" | awk '{ print $1 < $2 }')" 1 'both instead of what is measured' json
finish 25
