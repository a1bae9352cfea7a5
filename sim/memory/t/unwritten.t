#!/bin/sh
# Programs send memory that they have not written, from every call that gives memory and from the
# stack. This memory must not hold data of MPI, which would differ after a crash and break
# agreement.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
gfortran -O1 -c "$here/unwritten-program.f90" -o fortran.o >log 2>&1 &&
  "$build/bin/recline-c++" -O1 -g -Wall -Wextra -Werror "$here/unwritten-program.cc" fortran.o \
    -lgfortran -o program >>log 2>&1
is $? 0 'the program is built' log
cat >scenario.yaml <<EOF
program:    {binary: ./program, ranks: 6}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
checkpoint: {every: 700us, storage: local, bytes: 10kB}
detection:  1ms
EOF
for kind in malloc new realloc calloc aligned_alloc posix_memalign alloc_mem fortran locals alloca; do
  for run in optimistic:500 optimistic:900 pessimistic:1300 causal:900; do
    rm -rf out
    "$recline" run scenario.yaml --no-trace --out out --set "program.args=[$kind]" \
      --set "protocol.name=${run%:*}" --set "failures=[{rank: 3, at: ${run#*:}us, repair: 1ms}]" \
      >stdout 2>stderr
    echo "$? $(sed -n 's/^\([a-z-]*\)  .*/\1/p' stdout | sed 1q)"
    grep violated stderr
  done >found
  is "$(sort -u found)" '0 recovered' "$kind" found
done
finish 11
