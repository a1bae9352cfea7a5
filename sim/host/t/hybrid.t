#!/bin/sh
# Repeats the verification of the hybrid protocol's paper (section 8.1). For each CP_INT a fixed
# process is crashed in each iteration of an interval, in consecutive runs, and results are compared
# with the run without failures: zeta and residual of cg; origin energy and a digest of all bits of
# lulesh-like. With LOG_SIZE = CP_INT recovery must be local and repeat only iterations of the
# victim. With LOG_SIZE = 0 it must be global, and with CP_INT / 2 it changes from local to global.
#
# The interval is the one after the first checkpoint, so that the victim begins at a stored checkpoint.
# Where checkpoints are written in the background, that is not certain, and the test demands less.
# RECLINE_LONG=1: more CP_INTs; cg classes S, W and A, with outer iterations and with steps;
# lulesh-like on 8, 27 and 64 ranks; other points of the iterations; and without a fault-tolerant
# runtime, too.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
long=${RECLINE_LONG:-0}
crashes=0

cat >scenario.yaml <<EOF
program:    {binary: cg, args: [S], ranks: 8}
platform:   {file: $root/platforms/cirrus.xml, per_node: 4, spares: 1}
protocol:   {name: hybrid, capacity: 4096}
checkpoint: {places: program, bytes: 4KiB}
detection:  100us
recovery:   {runtime: ulfm, spawn: 1ms}
EOF

# Leaves the result in $1.json and the output of the program in $1.printed.
simulate() { # NAME WORD...
  name=$1
  shift
  rm -rf "$dir/out"
  mkdir "$dir/out"
  TMPDIR=$dir/out "$recline" run scenario.yaml --json --keep --set "program.binary=$program" \
    --set "program.args=$arguments" --set "program.ranks=$ranks" \
    --set "checkpoint.writes=$writes" "$@" >"$name.json" 2>"$name.err"
  code=$?
  # output is not rolled back: what was printed before a crash is there again
  sort -u "$dir"/out/.recline-*/program.out | grep -v '^time: ' >"$name.printed"
  return $code
}

# Prints local, global or either. Iteration 0 is the one of the checkpoint. Survivors are in the
# iteration of the victim or in the next one, from which the victim needs nothing.
expected() { # ITERATION LOG
  if [ "$1" -lt "$2" ]; then
    echo local
  elif [ "$1" -gt "$2" ]; then
    echo global
  else
    echo either
  fi
}

# Prints what is wrong with a run with a crash.
judge() { # ITERATION LOG
  [ "$(value crash.json verdict)-$(value crash.json audit.violations)" = recovered-0 ] ||
    echo "verdict $(value crash.json verdict), $(value crash.json audit.violations) violations"
  cmp -s reference.printed crash.printed || echo 'another result'
  kind=$(value crash.json rollbacks.local)-$(value crash.json rollbacks.global)
  repeated=$(($(value crash.json iterations) - $(value reference.json iterations)))
  case $(expected "$1" "$2")-$kind-$writes in
    local-1-0-* | either-1-0-*)
      [ $repeated -eq "$1" ] ||
        [ "$writes-$repeated" = "background-$(($1 + interval))" ] ||
        echo "the victim repeated $repeated iterations"
      ;;
    global-0-1-* | either-0-1-*)
      [ $repeated -ge $(($1 * ranks)) ] || echo "all repeated $repeated iterations"
      ;;
    # while the checkpoint is not durable, recovery is from the one before, whose interval the log does
    # not hold to its end
    local-0-1-background)
      [ "$2" -lt "$interval" ] && [ $repeated -ge $((interval * ranks)) ] ||
        echo "global, but all repeated $repeated iterations"
      ;;
    *) echo "rollbacks $kind, expected $(expected "$1" "$2")" ;;
  esac
}

# Crashes a run in each iteration of the interval. All these runs are one test.
verify() { # PROGRAM ARGUMENTS RANKS CP_INT LOG_SIZE EVENT COUNT
  program=$1 arguments=$2 ranks=$3 interval=$4 log=$5
  what="$1 $2 on $3 ranks, CP_INT $4, LOG_SIZE $5, after $6 $7, in the $writes"
  shift 5
  problems=problems
  : >problems
  simulate reference --set "protocol.interval=$interval" --set "protocol.log=$log" ||
    echo 'the failure-free run fails' >>problems
  grep -q '^verification: \(PASS\|SKIP\)' reference.printed || echo 'not verified' >>problems
  i=0
  while [ $i -lt "$interval" ]; do
    at="rank: 3, after: {event: $1, iteration: $((interval + 1 + i)), count: $2}"
    simulate crash --set "protocol.interval=$interval" --set "protocol.log=$log" \
      --set "failures=[{$at, kills: rank, repair: 0}]" $extra
    judge $i "$log" | sed "s/^/in iteration $((interval + 1 + i)): /" >>problems
    i=$((i + 1))
    crashes=$((crashes + 1))
  done
  is "$(wc -l <problems)" 0 "$what: $interval crashes" problems crash.err
}

sizes() { # PROGRAM ARGUMENTS RANKS CP_INT EVENT COUNT: LOG_SIZE is CP_INT, CP_INT / 2 and 0
  for log in $4 $(($4 / 2)) 0; do
    verify "$1" "$2" "$3" "$4" "$log" "$5" "$6"
  done
}

extra=
writes=foreground
sizes lulesh-like '["4", "13"]' 8 5 send 1
verify cg '[-s, S, "1"]' 8 8 4 send 5
if [ "$long" = 1 ]; then
  for class in S W A; do
    for interval in 3 7; do
      sizes cg "[$class]" 16 $interval send 40
    done
    verify cg "[-s, $class]" 8 25 25 arrived 2
    verify cg "[-s, $class]" 8 25 12 send 3
  done
  for ranks in 8 27 64; do
    sizes lulesh-like '["4", "16"]' $ranks 5 arrived 5
    verify lulesh-like '["4", "43"]' $ranks 20 20 send 5
    verify lulesh-like '["4", "43"]' $ranks 20 10 arrived 9
  done
fi
writes=background
verify cg '[S]' 8 4 2 arrived 20
count=5
if [ "$long" = 1 ]; then
  sizes cg '[S]' 8 4 arrived 20
  extra='--set recovery.runtime=none'
  sizes lulesh-like '["5", "13"]' 27 5 captured 1
  sizes cg '[S]' 8 5 send 100
  count=$((count + 48))
fi
echo "# $crashes crashes"

# Logged payloads stay in memory (sections 5 and 6), so an image is larger by the entries of the log
# only. With `log_in: storage` it has the payloads, too, and recovery works as well.
program=cg arguments='[S]' ranks=8 writes=foreground interval=3
stored() { # LOG PLACE: bytes on storage
  simulate stored --set protocol.interval=3 --set "protocol.log=$1" --set "protocol.log_in=$2"
  value stored.json stored_bytes
}
none=$(stored 0 memory) memory=$(stored 3 memory) storage=$(stored 3 storage)
check 'a log in memory is not stored' test "$none" -gt 0 -a "$memory" -lt $((4 * none))
check 'one in storage is' test "$storage" -gt $((10 * memory))
cp stored.printed reference.printed
simulate crash --set protocol.interval=3 --set protocol.log_in=storage \
  --set 'failures=[{rank: 3, after: {event: send, iteration: 5, count: 40}, kills: rank, repair: 0}]'
is "$?:$(value crash.json verdict):$(value crash.json audit.violations)" 0:recovered:0 'and is read again' crash.err
check 'with the same digits' cmp reference.printed crash.printed
count=$((count + 4))

# The paper says that errors in the replay give wrong results. Here the audit reports them.
flawed() { # MUTANT PROPERTY
  cp "$root/protocols/hybrid.c" flawed.c
  patch -s flawed.c "$root/verify/mutants/hybrid/$1.patch" &&
    sed -i 's/\.name = "hybrid"/.name = "flawed"/' flawed.c &&
    echo 'RECLINE_PROTOCOLS(&protocol_hybrid);' >>flawed.c &&
    cc -O2 -shared -fPIC -I"$root" flawed.c -o "$dir/$1.so" 2>compiler
  "$recline" run scenario.yaml --set "protocol.file=$dir/$1.so" --set protocol.name=flawed \
    --set protocol.interval=4 --set 'failures=[{rank: 3, after: {event: send, iteration: 7,
    count: 40}, kills: rank, repair: 0}]' >said 2>&1
  is "$(grep -c "violated: $2" said)" 1 "$1: the audit says $2" said compiler
}
flawed no-filter no-duplicate
flawed no-replay no-loss

# The tables and figures of the paper are rows of scenarios/replication/plan.ini.
if [ "$long" = 1 ]; then
  "$recline" replicate hybrid.t3.cg.B hybrid.t3.lulesh hybrid.f6 hybrid.f7 hybrid.f8 --json >said 2>&1
  is "$(jq -c '[.values[] | select(.id | test("payload")) | .simulated / 1000 | round]' said)" '[413,377]' \
    'Table 3' said
  is "$(jq .true said)" 3 'Figures 6 to 8' said
  count=$((count + 2))
fi
finish $((count + 2))
