#!/bin/sh
# Checkpoints at the application level hold what the program protects; a restart begins main again.
# Programs in C, C++ and Fortran, cg among them, end as without a crash: under every protocol that
# captures where programs allow it, whenever the crash comes, also on a spare of another byte order.
# A program that misuses the level ends with one line. RECLINE_LONG: more crashes.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cp "$here"/programs/application-*.[cf]* "$dir"
cd "$dir" || exit 1

# ---- cg ----

demo() { # NAME WORD...
  name=$1
  shift
  "$recline" run "$root/scenarios/application-level.yaml" --json --out "$name" --no-trace \
    --set checkpoint.bytes=0 "$@" >"$name.json" 2>"$name.err"
}
demo undisturbed --set failures=none --set expect.verdict=completed
demo system --set checkpoint.level=system --set checkpoint.places=program
demo application
code=$?
numbers() { grep -E '^(iteration|residual|zeta|verification)' "$1/program.out" | sort -u; }
numbers undisturbed >digits
numbers application >found
is "$code-$(value application.json verdict)" 0-recovered 'cg under c3 recovers' application.err
same found digits 'with the digits of the undisturbed run'
ratio=$(awk -v all="$(value system.json image_bytes)" -v some="$(value application.json image_bytes)" \
  'BEGIN { print (some > 0 && all >= 10 * some) }')
is "$ratio" 1 'from less than a tenth of the bytes of the system level' application.json
demo steps --set 'program.args=["-s", S]' --set checkpoint.every=20ms
numbers steps >found
same found digits 'and so it does from within a solution' steps.err

# On InfiniBand ranks notice a request up to 10 ms apart. If one rank were held at a place that
# another rank has passed, the rank ahead could wait for the held one.
wrong_at=
for time in 1ms 5ms ${RECLINE_LONG:+$(seq -f '%gms' 2 0.5 15)}; do
  demo agreed --set failures=none --set expect.verdict=completed --set protocol.name=bookmark \
    --set 'checkpoint={every: 0, level: application, at: ['$time']}' \
    --set 'platform={file: sif.xml, interconnect: infiniband, placement: block, per_node: 4}'
  numbers agreed >found
  [ "$(value agreed.json verdict) $(value agreed.json checkpoints.committed)" = 'completed 1' ] &&
    cmp -s found digits || wrong_at="$wrong_at $time"
done
is "$wrong_at" '' 'bookmark: ranks agree on the iteration at which they are captured' agreed.err found

# ---- other programs ----

for program in program misuse; do
  "$build/bin/recline-cc" -O1 -g application-$program.c -o "$program" 2>log || not_ok "$program" log
done
"$build/bin/recline-c++" -O1 -g application-program.cc -o cxx 2>log || not_ok cxx log

ranks=4
simulate() { # NAME PROGRAM ARGUMENTS WORD...
  cat >"$1.yaml" <<END
program:    {binary: ./$2, args: [$3], ranks: $ranks}
platform:   {file: clan.xml, spares: 1}
protocol:   {name: c3, capacity: 4000}
checkpoint: {every: 6ms, storage: nfs, level: application}
detection:  1ms
limits:     {simulated: 2s}
END
  name=$1
  shift 3
  timeout 120 "$recline" run "$name.yaml" --json --out "$name" --no-trace "$@" >"$name.json" \
    2>"$name.err"
}

results() { # NAME
  grep -v '^time' "$1/program.out" | sort -u
}

# The program ends as without a crash, after commits and rollbacks. A program that announces
# iterations must not repeat more than a third of them. Its result alone does not show that: a
# program that began anew would end right, too.
stands() { # NAME PROGRAM ARGUMENTS TIMES WORD...
  what=$1 program=$2 arguments=$3 times=$4
  shift 4
  simulate right "$program" "$arguments" --set checkpoint.every=0
  wrong_at=
  for time in $times; do
    simulate crashed "$program" "$arguments" --set "failures.0={rank: 2, at: $time, repair: 1ms}" \
      "$@"
    results crashed >found
    results right >wanted
    iterations=$(value right.json iterations)
    [ "$(value crashed.json verdict)-$(value crashed.json audit.violations)" = recovered-0 ] &&
      [ $((3 * ($(value crashed.json iterations) - iterations))) -le "$iterations" ] &&
      [ "$(value crashed.json checkpoints.committed)" -gt 0 ] && cmp -s found wanted ||
      wrong_at="$wrong_at $time"
  done
  is "$wrong_at" '' "$what" crashed.err found
}
some='21ms 47ms 83ms 128ms 177ms'
[ -z "$RECLINE_LONG" ] || some=$(seq -f '%gms' 3 7 180)
for protocol in c3 bookmark blocking event-logging message-tagging causal pessimistic uncoordinated; do
  case $protocol in
    c3) times=$some ;;
    *) times=${RECLINE_LONG:+47ms }128ms ;;
  esac
  stands "$protocol: a restart at any time" program '' "$times" --set "protocol.name=$protocol"
done
seq 0 23 >lines
rm -f written
stands 'another one, which writes a file' program '' 83ms
same written lines 'the file has each line once'
stands 'by a position stack' program stack "$some"
stands 'by a position stack, in barriers' program stack '47ms 128ms' --set protocol.name=blocking
stands 'in C++, with vectors that grow' cxx '' '40ms 90ms'
stands 'a second crash, while main runs again' program '' '47ms' \
  --set 'failures.1={rank: 1, at: 50ms, repair: 1ms}' --set 'failures.2={rank: 2, at: 51ms, repair: 1ms}'
stands 'images on several levels of storage' program '' '83ms' --set checkpoint.storage=memory \
  --set 'checkpoint={every: 6ms, level: application, levels: [{storage: memory, redundancy: partner}]}'
# The spares have another byte order, so images are written and read in both orders.
turned() { # PLATFORM FIRST: nodes from that one on
  sed 's,\(<host id="node-\(['"$2"'-9]\|[1-9][0-9]\)" [^>]*>\),\1<prop id="byte_order" value="big"/>,' \
    "$root/platforms/clan.xml" >"$1"
}
turned turned.xml 4
for order in '' stack; do
  stands "on a spare of another byte order, and back${order:+, by a stack}" program "$order" '47ms 83ms' \
    --set platform.file=turned.xml --set 'failures.1={rank: 2, at: 128ms, repair: 1ms}'
done
if command -v gfortran >/dev/null; then
  "$build/bin/recline-f90" -O1 -g -w application-program.f90 -o fortran 2>log || not_ok fortran log
  stands 'in Fortran' fortran '' '40ms 90ms'
  stands 'in Fortran, by iterations under hybrid' fortran '' '40ms 90ms' \
    --set protocol.name=hybrid --set protocol.interval=3
fi

# ---- the other programs of recline ----

# Half of the nodes, and the spares, have another byte order. That works, because the programs give
# types to what they protect.
cp "$build/programs/halo" "$build/programs/lulesh-like" "$build/programs/cg" .
stands halo halo '"10000", "20"' '60ms 110ms' --set checkpoint.every=10ms \
  --set platform.file=turned.xml
ranks=8
stands lulesh-like lulesh-like '"4", "40"' '15ms 27ms' --set platform.file=turned.xml
stands cg cg '"-s", S' 128ms --set checkpoint.every=20ms --set platform.file=turned.xml \
  --set protocol.capacity=8000
ranks=4

# ---- misuse ----

refused() { # ARGUMENT LINE WORD...
  misuse=$1 expected=$2
  shift 2
  simulate bad misuse "$misuse" --set platform.spares=0 --set program.ranks=2 \
    --set 'failures.0={rank: 1, at: 80ms, repair: 1ms}' "$@"
  code=$?
  line=$(grep -h '^recline run: ' bad.err | sed 's/^recline run: rank [01]/rank R/; s/^recline run: //;
    s/; the program.s last lines:$//;
    s/checkpoint [0-9][0-9]*/checkpoint N/g; s/of rank [01]/of rank R/')
  is "$code $line" "64 $expected" "misuse: ${misuse:-$*}" bad.err
}
refused twice 'rank R protects memory 1 twice, expected recline_unprotect(1) in between'
refused unknown 'rank R does not protect memory 9, expected recline_protect(9) before'
refused pop 'rank R has no position to pop, expected recline_push() before'
refused pending 'rank R has 1 requests pending at a checkpoint at the application level, expected them completed before'
refused small 'rank R protects memory 2 of 792 bytes, expected the 800 of checkpoint N or more'
refused type 'rank R protects memory 2 of items of type 3, expected type 5 as in checkpoint N'
refused missing 'checkpoint N of rank R has memory 2 of 800 bytes, expected recline_protect(2) before it is put back'
refused other 'rank R protects memory 3, which checkpoint N does not have'
turned turned.xml 2
refused '' 'checkpoint N of rank R has memory 1 of no type in another byte order than that of node-2, expected recline_protect_items()' \
  --set platform.spares=1 --set platform.file=turned.xml
turned turned.xml 0
sed -i 's/value="big"/value="middle"/' turned.xml
refused '' 'property byte_order "middle" of node-0, expected little or big' --set platform.file=turned.xml
refused talk 'rank R calls MPI_Sendrecv before its data are put back, expected recline_restore(), or the place where checkpoint N was taken, first'
refused split 'rank R makes a communicator by MPI_Comm_dup before its data are put back, which it had not made when checkpoint N was taken, expected recline_restore() first'
refused barrier 'rank R comes to the MPI_Barrier, expected the place where a checkpoint is allowed, where checkpoint N was taken'
refused end 'rank R comes to MPI_Finalize, expected the place where a checkpoint is allowed, where checkpoint N was taken'
refused position 'rank R comes to the place where a checkpoint is allowed at position (3), expected () of checkpoint N'

simulate right program '' --set protocol.name=chandy-lamport
is "$?-$(sed 's/^[^:]*:[0-9]*: //' right.err)" \
  '64-checkpoint.level: application, expected system: chandy-lamport checkpoints at any moment' \
  'a protocol below the matching is refused'
demo forced --set protocol.name=index-based --set 'program.args=["-s", S]'
is "$?-$(grep -c 'index-based checkpoints rank . in MPI_[A-Za-z]*, where its program has not allowed it, expected checkpoint.level: system' forced.err)" \
  64-1 'and one that forces checkpoints elsewhere'
simulate right program '' --set checkpoint.places=anywhere
is "$?-$(sed 's/^[^:]*:[0-9]*: //; s/ (from.*//' right.err)" \
  '64-checkpoint.places: anywhere, expected program with level: application' 'so are other places'
finish
