#!/bin/sh
# Tests the MPI layer. If it is inert, it changes nothing. Under a protocol the programs of
# t/layer-mpi.c and scenarios/programs end right, with crashes and without, and their traces replay.
# RECLINE_BUILD: build folder.
set -u
cd "$(dirname "$0")" || exit 1
build=$(cd "${RECLINE_BUILD:-../../../build}" && pwd) || exit 1
source=$(cd ../../.. && pwd)
platform=$source/platforms/clan.xml
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tests=0

result() { # STATUS NAME
  tests=$((tests + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $tests - $2"
  else
    echo "not ok $tests - $2"
    head -20 "$work"/err "$work"/out 2>/dev/null | sed 's/^/# /'
  fi
}

hosts() { # RANKS [DISPATCHER]
  i=0
  while [ "$i" -lt "$1" ]; do
    echo "node-$i"
    i=$((i + 1))
  done
  [ $# -lt 2 ] || echo "$2"
}

plain() { # RANKS PROGRAM ARGS...
  hosts "$1" >"$work/hosts"
  ranks=$1
  shift
  timeout 300 smpirun -np "$ranks" -platform "$platform" -hostfile "$work/hosts" \
    --cfg=smpi/simulate-computation:no --log=root.thres:critical "$@" >"$work/out" 2>"$work/err"
}

run() { # RANKS PROTOCOL SCENARIO PROGRAM ARGS...; SCENARIO: more lines of YAML
  ranks=$1 protocol=$2 more=$3
  shift 3
  hosts "$ranks" node-31 >"$work/hosts"
  rm -f "$work/result.json" "$work/trace.txt"
  {
    echo "program: {binary: $1, ranks: $ranks}"
    echo "platform: {file: $platform, dispatcher: node-31}"
    echo "protocol: {name: $protocol, capacity: 4000}"
    printf '%b\n' "$more"
  } >"$work/scenario.yaml"
  LD_LIBRARY_PATH=$build/lib LD_PRELOAD=librecline_heap.so:librecline_smpi.so RECLINE_TRACE=1 \
    RECLINE_SCENARIO=$work/scenario.yaml RECLINE_OUT=$work RECLINE_RESULT=$work/result.json \
    timeout 300 smpirun -np $((ranks + 1)) -platform "$platform" -hostfile "$work/hosts" \
    --cfg=smpi/simulate-computation:no --cfg=smpi/test:0 --cfg=smpi/iprobe:0 \
    --log=root.thres:critical "$@" >"$work/out" 2>"$work/err"
}

says() { # VERDICT: the run ended so, without violation, and its trace replays
  grep -q "\"verdict\": \"$1\"" "$work/result.json" &&
    grep -q '"audit": {"violations": 0,' "$work/result.json" &&
    "$build/t/layer-replay" "$work/trace.txt" >>"$work/err" 2>&1
}

mpi=$build/t/layer-mpi

# ---- every call has a wrapper ----
sed -n 's/^MPI_CALL([^,]*, *\(MPI_[A-Za-z0-9_]*\),.*/\1/p' /usr/include/smpi/smpi.h | sort -u >"$work/declared"
nm -D --defined-only "$build/lib/librecline_mpi.so" | sed 's/.* //' | sort -u >"$work/defined"
comm -23 "$work/declared" "$work/defined" >"$work/out"
: >"$work/err"
[ -s "$work/declared" ] && [ ! -s "$work/out" ]
result $? "every MPI call of smpi.h is wrapped"

# ---- inert ----
plain 4 "$build/programs/ring-plain" 100 3 && cp "$work/out" "$work/expected"
plain 4 "$build/programs/ring" 100 3 && cmp -s "$work/out" "$work/expected"
result $? "an inert layer changes neither result nor simulated time"

# ---- under a protocol ----
run 4 none "" "$build/programs/ring" 100 3 && says completed && cmp -s "$work/out" "$work/expected"
result $? "none: eager messages take the time of plain SMPI"

for n in 2 5 8; do
  run "$n" none "" "$mpi" 2 && says completed && grep -q ' 0 failures, PASS' "$work/out"
  result $? "none: every call on $n ranks"
done

run 4 none "failures: [{rank: 1, at: 20ms}]\ndetection: 1ms" "$mpi" 4 && says lost
result $? "none: a crash loses the program"

interval="checkpoint: {every: 8ms, storage: local, bytes: 10kB}\ndetection: 1ms"
for protocol in bookmark c3; do
  run 5 $protocol "$interval" "$mpi" 4 && says completed && grep -q ' 0 failures, PASS' "$work/out"
  result $? "$protocol: checkpoints do not disturb"
  for at in 9ms 31ms 55ms; do
    for rank in 0 3; do
      run 5 $protocol "$interval\nfailures: [{rank: $rank, at: $at, repair: 1ms}]" "$mpi" 4 &&
        says recovered && grep -q ' 0 failures, PASS' "$work/out"
      result $? "$protocol: rank $rank crashes at $at"
    done
  done
  two="[{rank: 1, at: 31ms, repair: 1ms}, {rank: 2, at: 31ms}, {rank: 1, at: 34ms}]"
  run 5 $protocol "$interval\nfailures: $two" "$mpi" 4 && says recovered &&
    grep -q ' 0 failures, PASS' "$work/out"
  result $? "$protocol: two ranks crash at once, and one again while it recovers"
  for point in "event: captured, checkpoint: 2" "event: start, recovery: 1" "event: send, count: 99"; do
    first="{rank: 0, at: 40ms}"
    run 5 $protocol "$interval\nfailures: [$first, {rank: 3, after: {$point}}]" "$mpi" 4 &&
      says recovered && grep -q ' 0 failures, PASS' "$work/out"
    result $? "$protocol: a crash after $point"
  done
  run 5 $protocol "$interval\nfailures: [{rank: 3, at: 31ms}]" "$mpi" 4
  cp "$work/trace.txt" "$work/trace.first"
  cp "$work/result.json" "$work/result.first"
  run 5 $protocol "$interval\nfailures: [{rank: 3, at: 31ms}]" "$mpi" 4
  cmp -s "$work/trace.txt" "$work/trace.first" && cmp -s "$work/result.json" "$work/result.first"
  result $? "$protocol: the same again, byte for byte"
  cg="checkpoint: {every: 40ms, storage: nfs}\ndetection: 10ms\nfailures: [{rank: 5, at: 200ms}]"
  run 8 $protocol "$cg" "$build/programs/cg" S && says recovered &&
    grep -q '^verification: PASS' "$work/out"
  result $? "$protocol: cg recovers"
done
echo "1..$tests"
