#!/bin/sh
# Rolls back every rank of real MPI programs under smpirun at a barrier. The result must be that of an
# undisturbed run, and the layer must say that it did roll back.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${RECLINE_BUILD:-$here/../../../build}" && pwd) || exit 1
heap=$build/lib/librecline_heap.so
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0

result() { # TEXT, after a command whose status says whether it is true
  good=$? n=$((n + 1))
  [ $good = 0 ] && echo "ok $n - $1" && return
  echo "not ok $n - $1"
  sed 's/^/# /' "$tmp/out" "$tmp/err"
}

simulate() { # RANKS PRELOAD PROGRAM [ARGUMENT...]
  ranks=$1 preload=$2
  shift 2
  smpirun -np "$ranks" -platform "$here/image-platform.xml" ${preload:+-wrapper "env LD_PRELOAD=$preload"} \
    --cfg=smpi/simulate-computation:no --log=root.thres:error "$@" >"$tmp/out" 2>"$tmp/err"
}

rolled_back() { # RANKS RESTORES
  [ "$(grep -c ", $2 restores" "$tmp/err")" = "$1" ] && grep -q ^digest "$tmp/out" &&
    cmp -s "$tmp/out" "$tmp/expected"
}

same_when_rolled_back() { # RANKS PROGRAM [ARGUMENT...]
  ranks=$1
  shift
  unset IMAGE_TEST
  simulate "$ranks" "" "$@" && grep -q ^digest "$tmp/out" && cp "$tmp/out" "$tmp/expected"
  result "$*, $ranks ranks: runs undisturbed"
  # each plan: the barrier of the capture, the barrier of the restore, and the number of restores
  for plan in "12 30 2" "12 30 2" "1 40 1" "39 40 5"; do
    export IMAGE_TEST="$plan"
    simulate "$ranks" "$heap" "$@" && rolled_back "$ranks" "${plan##* }"
    result "$*, $ranks ranks: same result when rolled back ($plan)"
  done
}

refused() { # ERRNO's text
  [ $? != 0 ] && grep -q "$1" "$tmp/err"
}

for program in c-O0 c-O2 c-direct cpp-O0 cpp-O2; do
  same_when_rolled_back 4 "$build/t/image-$program"
done
same_when_rolled_back 2 "$build/t/image-c-O2" 10485760
same_when_rolled_back 64 "$build/t/image-cpp-O2"

export IMAGE_TEST="12 30 2"
simulate 2 "$heap" "$build/t/image-c-unserved"
refused "image_source_new: Operation not supported"
result "a program that does not find malloc in the heap library is refused"
simulate 2 "" "$build/t/image-c-O2"
refused "heap_arena: Operation not supported"
result "without the preload there is no arena"

export RECLINE_HEAP_WATCH=1
simulate 2 "$heap" "$build/t/image-cpp-O2"
result "the watch on the heap finds nothing where nothing is"
IMAGE_TEST_TRAP=1 simulate 2 "$heap" "$build/t/image-c-O2"
refused "SimGrid allocates or frees in program mode" && grep -q "image-layer.so(MPI_Comm_size" "$tmp/err"
result "and finds an entry point that is not wrapped"
echo "1..$n"
