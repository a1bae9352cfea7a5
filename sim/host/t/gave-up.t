#!/bin/sh
# Runs every protocol with lists that are too small, once with a crash and once without
# (RECLINE_LONG=1: both with each size). Each run completes, recovers or gives up, and violates
# nothing.
. "$(dirname "$0")/../../../protocols/t/tap.sh"

cd "$dir" || exit 1
cat >scenario.yaml <<EOF
program:    {binary: cg, args: [S], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
checkpoint: {every: 50ms, storage: local, bytes: 64KiB}
EOF

# Any of the three verdicts is right here, also one that the scenario does not expect; a violation is
# not.
gave_up=0
"$recline" list protocols | cut -d ' ' -f 1 | grep -vx none >protocols
while read -r protocol; do
  bad=
  for capacity in 1 5; do
    crash='[{rank: 3, at: 60ms, repair: 5ms}]'
    case ${RECLINE_LONG:-0}-$capacity in
      0-1) set -- none ;;
      0-5) set -- "$crash" ;;
      *) set -- none "$crash" ;;
    esac
    for failures; do
      rm -rf out
      timeout 100 "$recline" run scenario.yaml --out out --set "protocol.name=$protocol" \
        --set "protocol.capacity=$capacity" --set "failures=$failures" >stdout 2>stderr </dev/null
      case $(value out/result.json verdict)-$(value out/result.json audit.violations) in
        gave-up-0) gave_up=$((gave_up + 1)) ;;
        completed-0 | recovered-0) ;;
        *) bad="$bad capacity $capacity, failures $failures: $(tail -1 stderr)" ;;
      esac
    done
  done
  is "$bad" '' "$protocol"
done <protocols
is "$([ "$gave_up" -gt 10 ] && echo many)" many 'many of these runs gave up'
finish $(($(wc -l <protocols) + 1))
