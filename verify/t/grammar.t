#!/bin/sh
# The grammar of a step (protocols/grammar.c): what the table refuses, the world refuses, too, and
# so do checks and runs of a protocol in a file of its own, with the same words.
. "$(dirname "$0")/../../protocols/t/tap.sh"
cd "$dir" || exit 1

"$build/t/grammar-test" >said
report $? 'the table, the world and protocol.h agree on every list of up to three actions' said

${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC -I"$root" -o grammar.so \
  "$here/grammar-plugin.c" 2>cc.log
report $? 'a protocol of its own file that takes a step of each kind' cc.log

write() { # PROTOCOL CASE VERDICT PROGRAM-LINE...: a claim, as PROTOCOL-CASE.yaml
  collectives='' places=program
  [ "$1" != above ] || collectives=', bcast 0'
  [ "$1" != below ] || places=anywhere
  cat >"$1-$2.yaml" <<END
id: $1-$2
statement: step $2 of grammar-cases.h
program:
  ranks: 2
  script: |
    rank 0: output, send 1, choose 2$collectives, checkpoint
    rank 1: output, recv 0, choose 2$collectives, checkpoint
protocol: {name: $1, file: grammar.so, interval: $2}
checkpoint: {places: $places}
check: {checkpoints: 1, crashes: 0, properties: [outcome]}
expect: {verdict: $3}
END
}

write above 1000 holds
"$recline" check above-1000.yaml >out 2>err
report $? 'without one it holds' out err

"$build/t/grammar-test" --list >cases
while IFS='|' read -r number protocol name expected; do
  write "$protocol" "$number" violated
  echo "$protocol-$number.yaml" >>claims
done <cases
# shellcheck disable=SC2046 # words
"$recline" check $(cat claims) >out 2>err
report $? 'each is refused, whatever properties a claim names' out err
while IFS='|' read -r number protocol name expected; do
  awk -v id="$protocol-$number" '$1 == id { on = 1; next } /^[^ ]/ { on = 0 } on' out >one
  check "check: $name" grep -q "^ *legal, rank [01], by step [0-9]*: $expected\$" one
done <cases

# Tests runs of the same files, which must end at the step.
refused() { # NAME: of a case, of a protocol above the matching
  IFS='|' read -r number protocol name expected <<END
$(grep -F "|$1|" cases)
END
  { sed -e '/^check:/d' -e '/^expect:/d' -e '/rank 0:/s/$/, send 1, recv 1, checkpoint/' \
    -e '/rank 1:/s/$/, recv 0, send 0, checkpoint/' "$protocol-$number.yaml"
    echo "platform: {file: $root/platforms/clan.xml}"; } >run.yaml
  "$recline" run run.yaml --set checkpoint.every=1us --out run >out 2>err
  is "$?:$(grep -c "breach: protocol $protocol, rank [01], .*: $expected\$" err)" 3:1 "run: $name" err
  rm -rf run
}
if [ -x "$recline" ] && ! is_sanitized; then
  refused 'two commits'
  refused 'two images'
  refused 'two answers to a send'
  refused 'no answer to a send'
  refused 'kept and dropped'
  refused 'a capture between data'
  refused 'two timers'
  refused 'a commit by another rank'
  refused 'an output without a number'
  # Tests lists that only the state of the world shows to be wrong: before a run ends with a breach,
  # its trace must say that `legal` is violated.
  cat >random.yaml <<END
program:
  ranks: 2
  script: |
    rank 0: output, send 1, choose 2, bcast 0, checkpoint, recv 1, allreduce, send 1 tag 1, barrier, checkpoint, output
    rank 1: output, recv 0, choose 2, bcast 0, checkpoint, send 0, allreduce, recv 0 tag 1, barrier, checkpoint, output
platform: {file: $root/platforms/clan.xml}
protocol: {name: random, file: grammar.so}
checkpoint: {places: program, every: 1us, storage: local, bytes: 4KiB}
detection: 1ms
failures: [{rank: 1, at: 100us, repair: 1ms}]
END
  untold='' broke=0
  for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    timeout 60 "$recline" run random.yaml --set protocol.interval=$seed --out run >out 2>err
    code=$?
    [ $code -ne 3 ] || broke=$((broke + 1))
    [ $code -lt 3 ] || grep -qs '^violation legal' run/trace.txt ||
      grep -q -e 'violated: legal: ' -e 'breach: protocol random, .*: expected' err ||
      untold="$untold $seed"
    rm -rf run
  done
  is "$untold" '' "of 16 runs with actions at random $broke break, each of them told why"
  check 'some do' test $broke -gt 3
fi
finish
