#!/bin/sh
# Tests checkpoints by clocks, in real programs, with bounds that hold and with each bound exceeded.
#
# Where all bounds hold, programs recover and the audit finds nothing. Where a bound is exceeded, the
# audit says so, whether or not that did any harm; an orphan ends the run.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

cat >"$dir/scenario.yaml" <<EOF
program:    {binary: ring, args: ["4096", "100"], ranks: 8}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: time-based}
checkpoint: {every: 20ms, storage: local, bytes: 64KiB}
failures:   [{rank: 3, at: 50ms, repair: 2ms}]
detection:  1ms
EOF
cd "$dir" || exit 1

run() { # WORD...
  rm -rf out
  "$recline" run scenario.yaml --out out "$@" >stdout 2>stderr
  code=$?
  verdict=$(value out/result.json verdict)
  first=$(value out/result.json audit.first)
}

holds() { # DESCRIPTION WORD...
  says=$1
  shift
  run "$@"
  is "$code-$verdict-$(grep -c PASS out/program.out)-$(value out/result.json audit.violations)" \
    0-recovered-1-0 "$says: recovers, the audit finds nothing" stderr
  is "$([ "$(value out/result.json messages.replayed)" -gt 0 ] && echo some)" some \
    "$says: cached messages are sent again"
}

exceeded() { # VERDICT WHAT DESCRIPTION WORD...
  ends=$1 bound=$2 says=$3
  shift 3
  run "$@"
  is "$code-$verdict" "1-$ends" "$says: $ends" stderr
  case $first in
    "bounds: "*"$bound"*) ok "$says: $first" ;;
    *) not_ok "$says: the audit reports ${first:-nothing}" stderr ;;
  esac
}

holds ring
cp out/trace.txt first.txt
is "$("$build/t/layer-replay" first.txt >replayed 2>&1 && echo replays)" replays \
  'the trace replays' replayed
holds 'ring, again'
same out/trace.txt first.txt 'the same seed gives the same trace'
holds 'ring, other clocks' --set seed=7
holds 'ring, clocks without deviation' --set clocks.deviation=20us --set clocks.skew=0

exceeded gave-up 'too late to be here' 'clocks deviate more' --set clocks.deviation=1us \
  --set clocks.skew=2ms
exceeded lost 'must have come before' 'messages are slower' --set clocks.deviation=5us \
  --set clocks.skew=1us --set clocks.longest=20us
exceeded gave-up 'too late to be here' 'messages are faster' --set clocks.skew=500us \
  --set clocks.shortest=1ms

"$recline" run scenario.yaml --set clocks.longest=10ms >stdout 2>stderr
is "$?" 64 'an interval that is too short is refused' stderr
is "$(grep -c 'clocks.longest: four deviations and two longest latencies are 0.022s, expected' stderr)" \
  1 'in one line' stderr
finish 18
