#!/bin/sh
# A run goes on from a checkpoint with another number of ranks: cg, lulesh-like, a Jacobi iteration
# and a program in Fortran go from 8 ranks to 4, 6 and 12. A chain of three runs goes through two
# byte orders. The values are the same as in a single run, except for the order of sums. Crashes in
# the second run, also while it reads, do not change them. What other ranks cannot read is refused.
# RECLINE_LONG: more crashes.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cp "$here"/programs/redistribute-* "$dir"
cd "$dir" || exit 1
"$build/bin/recline-cc" -O1 -g redistribute-jacobi.c -o relax 2>log || not_ok jacobi log
"$build/bin/recline-f90" -O1 -g redistribute-program.f90 -o columns 2>log || not_ok fortran log

simulate() { # NAME PROGRAM ARGUMENTS RANKS WORD...
  cat >scenario.yaml <<END
program:    {binary: $2, args: [$3], ranks: $4}
platform:   {file: clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 0, storage: nfs, level: application}
detection:  1ms
limits:     {simulated: 5s}
END
  name=$1
  shift 4
  timeout 120 "$recline" run scenario.yaml --json --out "$name" "$@" >"$name.json" 2>"$name.err"
}
stops() { # NAME PROGRAM ARGUMENTS RANKS TIME WORD...
  at=$5 stopped=$1 what=$2 words=$3 number=$4
  shift 5
  simulate "$stopped" "$what" "$words" "$number" --set "checkpoint.at=[$at]" \
    --set checkpoint.then=stop "$@"
}

distance() { perl "$root/sim/host/t/distance.pl" "$@"; } # FILE FILE PATTERN

# ---- three programs from 8 ranks on others ----

others() { # NAME PROGRAM ARGUMENTS TIME LINES MOST
  simulate "$1" "$2" "$3" 8
  stops "$1.left" "$2" "$3" 8 "$4"
  is "$(value "$1.left.json" verdict)" stopped "$1: 8 ranks stop" "$1.left.err"
  for ranks in 4 6 12; do
    simulate next "$2" "$3" $ranks --restart "$1.left"
    is "$? $(value next.json verdict) $(value next.json restart.from) $(value next.json \
      audit.violations)" '0 completed 1 0' "$1 goes on on $ranks ranks" next.err
    found=$(distance "$1/program.out" next/program.out "$5" 2>>next.err)
    [ "${found:-other}" != other ] && [ "$found" -le "$6" ]
    report $? "$1 on $ranks ranks: $found units in the last place, at most $6" next.err
    "$tool" replay next/trace.txt >/dev/null 2>log
    report $? "$1 on $ranks ranks: the trace replays" log
  done
}
others cg cg '-d, S' 100ms '^zeta:' 1
is "$(grep -c 'verification: PASS' next/program.out)" 1 'cg verifies its result' next/program.out
others lulesh lulesh-like '-p, -w, 12, 60' 80ms '^element' 2
is "$(grep -c 'verification: PASS' next/program.out)" 1 'lulesh-like conserves energy'
others jacobi ./relax '' 100ms '^60 steps:' 0
others jacobi ./relax '' 100ms '^change:' 2
is "$(grep -c begins next/program.out)" 0 'what main says before its data are back is not repeated'
later=$(value next.json time_s.restart | awk '{ print ($1 > 0.0001) }')
is "$later" 1 'the images are read at the speed of the platform' next.json
others fortran ./columns '' 20ms '^sum' 0

# ---- in barriers, at the end, in three runs and two byte orders ----

sed 's,\(<host id="node-[0-9]*" [^>]*>\),\1<prop id="byte_order" value="big"/>,' \
  "$root/platforms/clan.xml" >big.xml
for protocol in blocking c3; do
  stops left ./relax '' 8 100ms --set protocol.name=$protocol --set platform.file=big.xml
  simulate next ./relax '' 5 --restart left
  is "$(value left.json verdict) $(distance jacobi/program.out next/program.out '^60 steps:')" \
    'stopped 0' "$protocol, in the other byte order" next.err
done
stops one ./relax '' 8 60ms --set platform.file=big.xml
stops two ./relax '' 3 100ms --restart one
simulate three ./relax '' 11 --restart two --set protocol.name=c3
is "$(value one.json verdict) $(value two.json verdict) $(distance jacobi/program.out \
  three/program.out '^60 steps:')" 'stopped stopped 0' 'three runs of 8, 3 and 11 ranks' three.err

# ---- crashes in the second run ----

for protocol in bookmark blocking c3 event-logging message-tagging causal pessimistic \
  uncoordinated hybrid optimistic; do
  wrong_at=
  for at in 10us 200us 80ms ${RECLINE_LONG:+100us 1ms 10ms 30ms 50ms 120ms 200ms}; do
    simulate next ./relax '' 6 --restart jacobi.left --set checkpoint.every=40ms \
      --set protocol.name=$protocol --set "failures=[{rank: 2, at: $at, repair: 1ms}]"
    [ "$? $(value next.json verdict)" = '0 recovered' ] &&
      [ "$(distance jacobi/program.out next/program.out '^60 steps:')" = 0 ] ||
      wrong_at="$wrong_at $at"
  done
  is "$wrong_at" '' "$protocol: a rank crashes while it reads, and later" next.err
done

# ---- what is refused ----

refused() { # LINE ARGUMENTS WORD...: 6 ranks go on from `left`
  line=$1 words=$2
  shift 2
  simulate next ./relax "$words" 6 --restart left "$@"
  is "$? $(sed -n '1s/^[a-z ]*: //; 1s/^scenario.yaml:[0-9]*: //; 1s/ (from --set)$//
    1s,^[^ ]*/left: ,,; 1s/iteration [0-9]* and rank [0-9]* in [0-9]*/iteration N and rank N in N/
    1s/^rank [0-9] comes/a rank comes/; 1p' next.err)" "64 $line" \
    "refused: $line" next.err
}
stops left ./relax own 8 100ms
refused 'rank 0 protects memory 4, in which the ranks of checkpoint 1 differ, expected recline_protect_distributed() in both runs, or recline_protect(4) after its data are put back' own
simulate next ./relax later 6 --restart left
is "$? $(distance jacobi/program.out next/program.out '^60 steps:')" '0 0' \
  'or it is protected after that' next.err
stops left ./relax stale 8 100ms
refused 'rank 1 of checkpoint 1 has memory 2 with another value of an item than a lower rank, expected the same value from all that have an item' stale
stops left ./relax gap 8 100ms
simulate next ./relax '' 6 --restart left
is "$? $(distance jacobi/program.out next/program.out '^60 steps:')" '0 0' \
  'what one rank does not protect another one may have' next.err
stops left ./relax '' 8 100ms
refused 'rank 0 protects memory 2 as part of another array than rank 0 of checkpoint 1 has, expected the same type and extents of the whole' extents
refused 'rank 0 protects memory 1 of 4 bytes of type -1, expected 4 of type 2 as in checkpoint 1' untyped
refused 'a rank comes to MPI_Finalize, expected the place where a checkpoint is allowed, where checkpoint 1 was taken' unrestored
simulate next ./relax ahead 6 --restart left
is "$? $(distance jacobi/program.out next/program.out '^60 steps:')" '0 0' \
  'a communicator may be made before the data are back' next.err
refused 'checkpoint.storage: local, expected nfs, as left/checkpoint/manifest says' '' \
  --set checkpoint.storage=local
stops left ./relax apart 8 100ms --set protocol.name=c3
refused 'rank 0 was captured in iteration N and rank N in N, expected the same one for another number of ranks' apart
stops left ./relax broadcasts 8 100ms --set protocol.name=c3
refused 'a collective call crosses checkpoint 1, expected none for another number of ranks' broadcasts
stops left ./relax '' 8 100ms --set protocol.name=event-logging
refused 'program.ranks: 6, expected 8, as left/checkpoint/manifest says: messages cross the checkpoint (4 late, 4 early, 4 held)' ''

finish
