#!/bin/sh
# Tests that under `none` every call takes the simulated time that it takes under plain SMPI, for
# several sizes, platforms, and algorithms that a platform selects for collectives. The numbers are
# compared as printed, except the last bits: the order in which two transfers begin at one instant
# decides how numbers are rounded. RECLINE_LONG: every algorithm of SimGrid that plain SMPI
# survives.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

smpicc -O2 -o plain "$here/programs/times-program.c" >log 2>&1 &&
  "$build/bin/recline-cc" -O2 -o layer "$here/programs/times-program.c" >>log 2>&1
is "$?" 0 'the program is built with and without the layer' log

calls='ping_pong halo synchronous sendrecv persistent barrier bcast bcast_from_last reduce allreduce
  gather scatter allgather gatherv scatterv allgatherv alltoall alltoallv reduce_scatter scan exscan'

# Prints clan.xml without algorithms of its own, and with PROP... in its configuration.
select_by() { # PROP...
  sed -E '/<prop id="smpi\/(bcast|gather|allgather|barrier|reduce|allreduce|scatter|alltoall)"/d' \
    "$root/platforms/clan.xml" | sed "s|<config>|&$*|"
}

prop() { # NAME VALUE
  echo "<prop id=\"smpi/$1\" value=\"$2\"/>"
}

# Runs one call of all sizes both ways, on 8 nodes, and says what differs by more than 1e-11.
# Returns 2 if plain SMPI does not end with a time for each size.
differs() { # PLATFORM CALL LARGEST
  for i in 0 1 2 3 4 5 6 7; do echo "node-$i"; done >hosts
  timeout 60 smpirun -np 8 -platform "$1" -hostfile hosts --cfg=smpi/simulate-computation:no \
    --log=root.thres:critical ./plain "$3" "$2" >plain.out 2>plain.err || return 2
  [ "$(wc -l <plain.out)" -eq $sizes ] || return 2
  cat >scenario.yaml <<EOF
program: {binary: ./layer, args: ["$3", $2], ranks: 8}
platform: {file: $1, spares: 0}
protocol: {name: none}
EOF
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --out out >stdout 2>stderr || echo "$2: recline run exits $?"
  paste -d ' ' plain.out out/program.out 2>&1 >both
  awk 'NF != 20 || $1 != $11 || $2 != $12 { print "not the same call:", $0; next }
    { for (i = 3; i <= 10; i++) {
        error = $i - $(i + 10)
        if (error < 0) error = -error
        if (error > 1e-11 * $i) { print $1, $2, $i, $(i + 10); next }
      } }
    END { if (NR != '$sizes') print NR, "sizes" }' both
}

# Compares all calls on a platform, as one test. With RECLINE_LONG, a call that SimGrid's own
# algorithm cannot do does not count.
compares() { # PLATFORM DESCRIPTION CALL...
  platform=$1 what=$2
  shift 2
  : >different
  for call; do
    differs "$platform" "$call" "$largest" >one
    case $?:${spared-} in
      0:*) cases=$((cases + sizes)) ;;
      2:yes) echo "# $what: plain SMPI ends without a result in $call" ;;
      *) echo "$call: plain SMPI ends without a result" >>one ;;
    esac
    cat one >>different
  done
  [ ! -s different ]
  is $? 0 "$what" different
}

cases=0 largest=65536 sizes=9
# shellcheck disable=SC2086 # lists
compares "$root/platforms/flat.xml" flat.xml $calls
unlike=0
case $(ldd plain) in # docs/warts-smpi.md
  *libsimgrid.so.4*) unlike=2 calls=${calls%scan exscan} ;;
esac
compares "$root/platforms/clan.xml" clan.xml $calls
for selector in ompi mpich mvapich2; do
  select_by "$(prop coll-selector $selector)" >$selector.xml
  # shellcheck disable=SC2086 # a list
  compares "$dir/$selector.xml" "SimGrid's choice as $selector" ${calls%scan exscan}
done
is $((cases + unlike * sizes)) 891 '(21 calls on 2 platforms, 19 as 3 selectors choose) of 9 sizes are compared'
tests=7

# Under a protocol the messages of an algorithm are messages like all others: programs that crash in
# the middle of them end right.
for selector in ompi mpich mvapich2; do
  cat >scenario.yaml <<EOF
program: {binary: $build/programs/cg, args: [S], ranks: 8}
platform: {file: $dir/$selector.xml, spares: 0}
checkpoint: {every: 20ms, bytes: 10kB}
EOF
  for protocol in c3 bookmark pessimistic; do
    run_ends recovered "$selector, $protocol" --set protocol.name=$protocol \
      --set 'failures=[{rank: 3, at: 100ms}, {rank: 0, at: 190ms}]'
    is "$(grep -c '^verification: PASS$' out/program.out)" 1 'with the right result' out/program.out
    tests=$((tests + 2))
  done
done

select_by "$(prop alltoall pair_rma)" >window.xml
cat >scenario.yaml <<EOF
program: {binary: ./layer, args: ["4", alltoall], ranks: 8}
platform: {file: window.xml, spares: 0}
protocol: {name: none}
EOF
"$recline" run scenario.yaml >stdout 2>stderr
is "$?:$(grep -c 'the selected algorithm makes a window' stderr)" 64:1 \
  'an algorithm by one-sided communication is refused' stderr
tests=$((tests + 1))

# These algorithms poll, with any tag. Plain SMPI polls at other times, so only results are
# compared.
cat >polls.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 5000 };

int main(int argc, char **argv)
{
  int rank, ranks, wrong = 0, sent[COUNT], got[COUNT];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int root = 0; root < ranks; root++) {
    for (int i = 0; i < COUNT; i++)
      sent[i] = rank + i, got[i] = rank == root ? i : -1;
    MPI_Bcast(got, COUNT, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
      wrong += got[i] != i;
    MPI_Reduce(sent, got, COUNT, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT && rank == root; i++)
      wrong += got[i] != ranks * (ranks - 1) / 2 + ranks * i;
  }
  printf("%d wrong\n", wrong);
  MPI_Finalize();
  return wrong > 0;
}
EOF
"$build/bin/recline-cc" -O2 -o polls polls.c
for algorithm in 'bcast arrival_pattern_aware_wait' 'bcast arrival_scatter' 'reduce arrival_pattern_aware'; do
  # shellcheck disable=SC2086 # call and algorithm
  select_by "$(prop $algorithm)" >polled.xml
  cat >scenario.yaml <<EOF
program: {binary: ./polls, ranks: 8}
platform: {file: polled.xml, spares: 0}
protocol: {name: none}
EOF
  rm -rf out
  "$recline" run scenario.yaml --timeout 60 --out out >stdout 2>stderr
  is "$?:$(sort -u out/program.out)" '0:0 wrong' "$algorithm" stderr
  tests=$((tests + 1))
done

if [ -n "${RECLINE_LONG-}" ]; then
  spared=yes
  nm -DC "$(ldd plain | awk '/libsimgrid/ { print $3 }')" |
    sed -n 's/.* T simgrid::smpi::\([a-z_]*\)__\([A-Za-z0-9_]*\)(.*/\1 \2/p' | sort -u >algorithms
  grep -E '^(bcast|reduce|allreduce|alltoall|alltoallv|allgather|allgatherv|gather|scatter|barrier|reduce_scatter) ' algorithms |
    grep -vE ' (automatic|pair_rma)$|arrival|mvapich2_|two_procs' >wanted
  while read -r call algorithm; do
    select_by "$(prop "$call" "$algorithm")" >one.xml
    compares "$dir/one.xml" "$call by $algorithm" "$call" </dev/null
    tests=$((tests + 1))
  done <wanted
fi
echo "# $cases times compared"
finish $tests
