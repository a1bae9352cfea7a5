#!/bin/sh
# Replay refuses traces that are damaged, and says where.
. "$(dirname "$0")/../../../protocols/t/tap.sh"

"$tool" check c3-no-suppress --out "$dir" >/dev/null 2>&1
trace=$dir/c3-no-suppress.trace
check 'the whole trace replays' "$tool" replay "$trace"

# refuses NAME SED TEXT: the trace, edited, is refused with a line that contains the text.
refuses()
{
  sed "$2" "$trace" >"$dir/damaged.trace"
  if cmp -s "$trace" "$dir/damaged.trace"; then
    report 1 "$1 (the edit changes nothing)"
    return
  fi
  if "$tool" replay "$dir/damaged.trace" >"$dir/out" 2>&1; then
    report 1 "$1 (accepted)"
  elif grep -q -F -- "$3" "$dir/out"; then
    report 0 "$1"
  else
    report 1 "$1"
    sed 's/^/# /' "$dir/out"
  fi
}

refuses 'another format' '1s/3/1/' "damaged.trace:1: found 'recline-trace 1', expected"
refuses 'an unknown protocol' 's/^protocol .*/protocol c4/' "there is no protocol 'c4'"
refuses 'no ranks' '/^ranks/d' "expected lines 'protocol NAME' and 'ranks N'"
refuses 'a bad number' 's/^ranks 2/ranks two/' "ranks is 'two', expected a number from 1 to 32767"
refuses 'a bad order' 's/^order any/order some/' "order is 'some', expected fifo or any"
refuses 'a wrong script' 's/^script rank 0: /&fly, /' "line 1 of the script: found 'fly', expected"
refuses 'an event of no rank' '1,/^0 /s/^\(0\) [01] start.*/\1 - start/' "expected a rank"
refuses 'no body' '/^---/,$d' 'the file ends in the header, expected ---'
refuses 'a rank that is none' 's/^\([0-9]*\) 1 start/\1 7 start/' "rank is '7', expected a number"
refuses 'no event' 's/^0 [01] start/0 1 begin/' "found 'begin"
refuses 'a message that is not under way' 's/^\(.*arrived.*\)@\([0-9]*\)/\1@9\2/' 'is not on its way'
refuses 'an impossible event' '/ crash$/,$d; s/^\([0-9]*\) 0 send .*/\1 0 captured checkpoint=9/' \
  'the world refuses this'
refuses 'another action' 's/transmit words=\([0-9]*\),/transmit words=9\1,/' 'the replay gives'
refuses 'another digest' '0,/ # [0-9a-f]*$/s/ # [0-9a-f]*$/ # 0123456789abcdef/' 'the replay gives'
refuses 'a violation that is none' 's/^violation \(.*\) rank=[0-9]*: .*/violation \1 rank=0: no/' \
  'the replay finds no such violation'
"$tool" check bookmark-until-equal --out "$dir" >/dev/null 2>&1
trace=$dir/bookmark-until-equal.trace
check 'a run that goes round for ever replays' "$tool" replay "$trace"
refuses 'the wrong way round' 's/^again from=12/again from=11/' 'is not as it was before step 11'
refuses 'no way round' '/^again/d' 'the replay finds no such violation'
refuses 'a way round from nowhere' 's/^again from=12/again from=99/' "again from is '99', expected"

sed 's/ # [0-9a-f]*$//; s/^capacity/nonsense 1\n&/' "$dir/c3-no-suppress.trace" >"$dir/fewer.trace"
check 'keys of other readers are passed over, digests may be left out' \
  "$tool" replay "$dir/fewer.trace"

trace=$dir/ends.trace
printf '%s\n' 'recline-trace 3' 'protocol none' 'ranks 2' 'capacity 4' 'host smpi' --- '0 0 start' \
  '1 1 start' '2 0 finished' '3 1 finished' >"$trace"
check 'programs that end replay' "$tool" replay "$trace"
refuses 'a program that ends twice' '$s/1 finished/0 finished/' 'the program cannot end here'

exits 1 'a file that is not there' "$tool" replay "$dir/nothing.trace"
finish
