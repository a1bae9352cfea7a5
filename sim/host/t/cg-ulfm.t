#!/bin/sh
# cg-ulfm is the kernel of cg with hybrid rollback of its own, by ULFM's calls. It ends with the digits
# of cg, whoever fails and when. It rolls back locally where logs have what is needed, otherwise
# globally, and begins anew where a checkpoint has died with both processes that had it.
# RECLINE_LONG=1: many more moments.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# A failure is detected so late that all others already wait for the dead process. So it follows from
# the program, and not from times, where they wait.
cat >scenario.yaml <<EOF
program:    {binary: cg-ulfm, args: [4, 10, 10, S], ranks: 6}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  10ms
recovery:   {runtime: ulfm}
EOF
zeta='zeta: 8.5971775078648065 0x1.131c140145f4cp+3'

# The next functions print what place 0 has counted: recoveries "LOCAL GLOBAL ANEW", and of its log
# "LOGGED BYTES REPLAYED LEFT-OUT".
recoveries() {
  sed -n 's/^recoveries: \([0-9]*\) local, \([0-9]*\) global, \([0-9]*\) .*/\1 \2 \3/p' out/program.out
}
log() {
  sed -n 's/^log: \([0-9]*\) m[a-z]*, \([0-9]*\) bytes; \([0-9]*\) [a-z]*, \([0-9]*\) .*/\1 \2 \3 \4/p' \
    out/program.out
}

# ends RECOVERIES DESCRIPTION FAILURES WORD...: the run ends with the digits of cg.
ends() {
  kinds=$1 case=$2 failures=$3 verdict=recovered
  shift 3
  [ "$failures" != none ] || verdict=completed
  run_ends "$verdict" "$case" --set "failures=$failures" "$@"
  is "$(grep -c "^$zeta\$" out/program.out):$(recoveries)" "1:$kinds" "$case: how, and what it prints" \
    out/program.out
}

# fails PROCESS ITERATION [OF]: a failure of PROCESS when that iteration begins at it, or at process OF.
fails() {
  echo "{rank: $1, after: {rank: ${3:-$1}, event: safe-point, iteration: $2}}"
}

ends '0 0 0' 'without failures' none
is "$(log)" '1576 4374488 0 0' 'place 0 logs what it sends in 15 times 26 steps'
quiet=$(value out/result.json messages.sent)

# In a step place 0 sends 700 numbers to itself, and 700 numbers and two terms of sums to the other
# place of its row. Checkpoints are at 1, 11, 21, ..., so at 215 four steps may be replayed.
ends '1 0 0' 'a process fails' "[$(fails 1 215)]"
is "$(log)" "$((1576 + 1)) $((4374488 + 700 * 8)) $((4 * 3)) 0" \
  'place 0 replays four steps, and logs twice only what it could not send' out/program.out
more=$(value out/result.json messages.sent)
ends '1 0 0' 'another one' "[$(fails 0 215)]"
is "$(log | cut -d ' ' -f 3,4)" "0 $((4 * 3))" 'whose place leaves out what others have' out/program.out
ends '0 1 0' 'beyond what is logged' "[$(fails 1 295)]" --set 'program.args=[4,100,10,S]'
all=$(value out/result.json messages.sent)
is "$((quiet < more && more < all))" 1 'all roll back, and send more'
ends '0 1 0' 'nothing is logged' "[$(fails 1 215)]" --set 'program.args=[4,10,0,S]'
is "$(log)" '0 0 0 0' 'nothing at all'
ends '0 0 1' 'before the first checkpoint' "[$(fails 1 1)]"
ends '0 0 1' 'a checkpoint dies with both who have it' "[$(fails 1 215), $(fails 2 215 1)]"
ends '1 0 0' 'two that have nothing in common' "[$(fails 0 215), $(fails 2 215 0)]"
ends '2 0 0' 'a second one later' "[$(fails 1 215), $(fails 2 218)]"
ends '2 0 0' 'the new one' "[$(fails 1 215), $(fails 4 218)]"
ends '0 0 0' 'a spare process' "[$(fails 4 100 0)]"

"$recline" run "$root/scenarios/cg-ulfm.yaml" --out out >/dev/null 2>err
is "$?:$(recoveries)" '0:2 0 0' 'the scenario' err

# Failures come anywhere: at a checkpoint, in a recovery, when some processes have ended and others not.
bad='' kinds=''
sweep() { # FAILURES WORD...
  failures=$1
  shift
  "$recline" run scenario.yaml --out out --set "failures=[$failures]" --set detection=1ms "$@" >/dev/null 2>err &&
    grep -q "^$zeta\$" out/program.out || bad="$bad [$failures]"
  kinds="$kinds;$(recoveries)"
}
step=10 many=${RECLINE_LONG:+1}
i=0
while [ $i -lt 60 ]; do
  at=$((79000 + 5417 * i)) # us
  sweep "{rank: $((i % 4)), at: ${at}us}" --set 'program.args=[4,10,6,S]'
  sweep "{rank: $((i % 4)), at: ${at}us}, {rank: $(((i / 4 + 1) % 6)), at: $((at + 100 + 97 * i))us}"
  i=$((i + ${many:-$step}))
done
is "$bad" '' "$(echo "$kinds" | tr ';' '\n' | grep -c .) times it ends right" err out/program.out
for kind in '1 0 0' '0 1 0' '2 0 0'; do
  check "in all ways: $kind" grep -q "$kind" <<EOF
$(echo "$kinds" | tr ';' '\n')
EOF
done
finish
