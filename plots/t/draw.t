#!/bin/sh
# Tests `recline draw` as a user sees it: pictures have their parts, and have the same bytes each
# time; error messages are exact.
cd "$(dirname "$0")" || exit 1
here=$(pwd)
build=$(cd "${RECLINE_BUILD:-../../build}" && pwd) || exit 1
draw=$build/bin/draw-test
xml=$build/bin/xml-test
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
count=0

# ok TEXT COMMAND...: passes if the command does.
ok() {
  text=$1
  shift
  count=$((count + 1))
  if "$@" >"$work/said" 2>&1; then
    echo "ok $count - $text"
  else
    echo "not ok $count - $text"
    sed 's/^/# /' "$work/said"
  fi
}

# has FILE NUMBER CLASS: the file has NUMBER elements of exactly this class, whose first word is the kind
# of element: "edge message late".
has() {
  seen=$(grep -c "class=\"$3\"" "$1")
  [ "$seen" = "$2" ] || { echo "$seen elements of class $3, expected $2"; return 1; }
}
# says FILE TEXT, hints FILE TEXT: Graphviz writes hyphens in its own way.
says() { sed 's/&#45;/-/g' "$1" | grep -qF ">$2<" || { echo "no text \"$2\""; return 1; }; }
hints() { sed 's/&#45;/-/g' "$1" | grep -qF "xlink:title=\"$2\"" || { echo "no tooltip \"$2\""; return 1; }; }

# fails FILE LINE: LINE on standard error, nothing on standard output, exit 64, no picture.
fails() {
  "$draw" "$1" -o bad.svg >out 2>err
  code=$?
  printf '%s\n' "$2" | cmp - err || { cat err; return 1; }
  [ $code = 64 ] && [ ! -s out ] && [ ! -e bad.svg ] || { echo "exit $code"; return 1; }
}
usage() {
  line=$1
  shift
  "$draw" "$@" >out 2>err
  code=$?
  printf '%s\n' "$line" | cmp - err || { cat err; return 1; }
  [ $code = 64 ] && [ ! -s out ] || { echo "exit $code"; return 1; }
}
# after_header LINE...: writes t.trace with these lines, the first of which is line 5.
after_header() {
  printf 'recline-trace 3\nprotocol c3\nranks 2\n---\n' >t.trace
  [ $# = 0 ] || printf '%s\n' "$@" >>t.trace
}

# --- a trace of the explorer, with a crash and a violation ---
ok "-o FILE.txt tells it" [ "$("$draw" "$here/c3.trace" -o c3.txt)" = c3.txt ]
ok "a line for each event" [ "$(grep -c '^ *[0-9][0-9]*  ' c3.txt)" = \
  "$(sed '1,/^---/d' "$here/c3.trace" | grep -c '^[0-9]')" ]
ok "ranks have their numbers" grep -q '^ *[0-9]*  Rank 1 gets message .* from rank 0' c3.txt
ok "what crosses the line is told" grep -q 'It is early: sent after ' c3.txt
ok "the violation is told, and the rule" grep -q '^The rule: ' c3.txt
rm c3.txt
ok "the default name is the input's" [ "$("$draw" "$here/c3.trace")" = c3.svg ]
ok "it is well-formed" "$xml" c3.svg
ok "-o names the picture" [ "$("$draw" "$here/c3.trace" -o again.svg)" = again.svg ]
ok "a second run gives the same bytes" cmp c3.svg again.svg
ok "no temporary file stays" [ "$(ls)" = "again.svg
c3.svg
said" ]
ok "one late message" has c3.svg 1 "edge message late"
ok "its tooltip says whose" hints c3.svg "message late for recovery line 1: 1 to 0, tag 0"
ok "one early message" has c3.svg 1 "edge message early"
ok "its tooltip too" hints c3.svg "message early for recovery line 1: 0 to 2, tag 7"
ok "one other message" has c3.svg 1 "edge message"
ok "one that is never received" has c3.svg 1 "edge message flight"
ok "control messages" has c3.svg 6 "edge control"
ok "and those never received" has c3.svg 3 "edge control flight"
ok "control messages are named, with their numbers" says c3.svg "please-checkpoint 3"
ok "a suppressed send" has c3.svg 1 "edge suppressed"
ok "a delivery from the log" has c3.svg 1 "edge replay"
ok "the recovery line" has c3.svg 1 "edge cut"
ok "the recovery line is named" says c3.svg "recovery line 1"
ok "a crash is two strokes" has c3.svg 2 "edge crash"
ok "the crashed rank is down" has c3.svg 1 "edge down"
ok "two ranks are being restored" has c3.svg 2 "edge restoring"
ok "three rollbacks" has c3.svg 3 "edge rollback"
ok "all three undo work" has c3.svg 3 "edge undone"
ok "captures are events with an id" grep -q 'id="line&#45;15" class="node event captured"' c3.svg
ok "the text of the line is the tooltip" hints c3.svg "29 2 crash"
ok "restarts say from where" says c3.svg "start from 1"
ok "forced choices say so" says c3.svg "choose 1 forced to 2"
ok "the violation stands below" has c3.svg 1 "node violation"
ok "the legend knows what late means" says c3.svg "late: crosses the recovery line forwards"
ok "and each mark that is there" [ "$(grep -c -e '>captured for a recovery line<' -e '>durable<' -e '>other event<' c3.svg)" = 3 ]
ok "the step that violates has a ring" has c3.svg 1 "node violated"
ok "which is in the legend" says c3.svg "the violation"
sed 's/^violation .*/violation no-duplicate rank=2: it was given twice (@7; @8)/' "$here/c3.trace" >named.trace
number=$(sed -n 's/.* send [^|]*@\([0-9]*\) |.*/\1/p' "$here/c3.trace" | head -n 1)
sed -i "s/@7; @8/@$number; @99999/" named.trace
"$draw" named.trace >/dev/null
ok "a message that the violation names is marked" has named.svg 1 "edge offends"
ok "with its number" says named.svg "$number"
ok "which the violation tells in words" grep -q "message $number; message 99999" named.svg
ok "and the legend, too" says named.svg "named by the violation"
"$draw" named.trace -o named.txt >/dev/null
ok "text and picture have the same sentence" says named.svg "$(grep '^Violated: ' named.txt)"
ok "and the same rule" says named.svg "$(grep '^The rule: ' named.txt)"
rm named.*
# Texts of control messages: words and halves of words, choices, and what is not understood.
cat >carried.trace <<'END'
recline-trace 3
protocol causal
control all: {about}, {value}, {about.high}/{about.low}, {value.high}/{value.low}, {other}, {about.no}, {
control chosen: {value?0:none|7:seven|number % of all}{about?1:|, never}
ranks 2
---
0 0 start | control peer=1 all words=1,131077,4294967295 @0 | control peer=1 chosen words=2,1,0 @1 | control peer=1 mute words=3,1,0 @2
1 1 control peer=0 all words=1,131077,4294967295 @0
2 1 control peer=0 chosen words=2,1,0 @1 | control peer=0 chosen words=2,1,7 @3 | control peer=0 chosen words=2,2,8 @4
END
"$draw" carried.trace -o carried.txt >/dev/null
told='all (message 0) from rank 0: "131077, -1, 2/5, 65535/65535, {other}, {about.no}, {".'
ok "what a control message says is told" grep -qF "   1  Rank 1 receives $told" carried.txt
ok "for each of its words" grep -qF 'chosen (message 1) from rank 0: "none"; it sends chosen (message 3) to rank 0, which is not received in this run: "seven"; it sends chosen (message 4) to rank 0, which is not received in this run: "number 8 of all, never".' carried.txt
ok "a message without a text has its number" grep -qF 'it sends mute (message 2) to rank 1, which is not received in this run.' carried.txt
"$draw" carried.trace >/dev/null
ok "the picture says it, too" hints carried.svg 'control chosen, message 1: 0 to 1: none'
rm carried.*
# Collective calls, an output, and a message that is sent once more from its slot.
cat >called.trace <<'END'
recline-trace 3
protocol causal
ranks 2
---
0 0 start
1 1 start
2 0 collective call=1 flow=all comm=0 bytes=16 | join
3 1 collective call=1 flow=all comm=0 bytes=16 | join
4 0 send peer=1 tag=0 comm=0 bytes=16 @1 | keep slot=2
5 0 output output=1 bytes=16 | output output=1
6 1 crash
7 1 start | erase
8 0 down peer=1 | resend peer=1 slot=2 @2
9 1 arrived request=1 peer=0 tag=0 comm=0 bytes=16 @2 | deliver request=1
10 1 collective call=1 flow=all comm=0 bytes=16 | join
11 0 collective call=1 flow=all comm=0 bytes=16 | deliver request=0 slot=1
END
"$draw" called.trace >/dev/null && "$draw" called.trace -o called.txt >/dev/null
ok "a collective call has a mark" has called.svg 4 "node event collective"
ok "which joins ranks, but none after a restart, and none that has the result from a log" has called.svg 1 "edge call"
ok "a collective call says how its data flow" grep -q 'Rank 1 comes to collective call 1 (all to all); it takes part' called.txt
ok "a message that is sent once more has its first number" grep -q 'Rank 1 gets message 2 from rank 0, which is message 1 once more' called.txt
ok "an output is told" grep -q 'Rank 0 makes output 1; it lets output 1 leave' called.txt
ok "a field that the trace leaves out is 0" grep -q 'it erases checkpoint 0' called.txt
rm called.*
ok "the legend has nothing that is not there" [ "$(grep -c -e 'program held' -e '>gives up<' c3.svg)" = 0 ]

# --- a part of it ---
"$draw" "$here/c3.trace" --from 0 --to 44 --ranks 0-1,2 -o part.svg >/dev/null
ok "a part that has all is the same picture" cmp c3.svg part.svg
"$draw" "$here/c3.trace" --from 9 --to 18 --ranks 0,2 -o part.svg >/dev/null
ok "a part has its events" [ "$(sed -n 's/.*id="line&#45;\([0-9]*\)".*/\1/p' part.svg | tr '\n' ' ')" = \
  "16 17 18 19 23 24 25 " ]
ok "its ranks, by their numbers" says part.svg "rank 2"
ok "and no other" [ "$(grep -c '>rank 1<' part.svg)" = 0 ]
ok "a message with both ends in it, as in the whole" has part.svg 1 "edge message early"
ok "none with one end" has part.svg 0 "edge message late"
ok "which the legend counts" grep -q 'Left out: [1-9][0-9]* messages with one end outside' part.svg
ok "where the end is not drawn, nothing is violated" has part.svg 0 "node violation"
"$draw" "$here/c3.trace" --from 29 -o part.svg >/dev/null
ok "a rollback to before the part has no arc" has part.svg 0 "edge rollback"
ok "the crashed rank is down" has part.svg 1 "edge down"
ok "the end is violated" grep -q "node violation" part.svg

# --- a trace of a run, in seconds ---
"$draw" "$here/bookmark.trace" >/dev/null
ok "a timed trace is well-formed" "$xml" bookmark.svg
last=$(sed -n 's/^\([0-9.]*\) [0-9-]* .*/\1/p' "$here/bookmark.trace" | tail -n 1)
"$draw" "$here/bookmark.trace" --from 0ms --to "$last" -o part.svg >/dev/null
ok "times have units" cmp bookmark.svg part.svg
ok "it is labelled in seconds" says bookmark.svg seconds
ok "programs are held" has bookmark.svg 2 "edge held"
ok "a line that is not committed" has bookmark.svg 1 "edge cut open"
ok "a duplicate that is discarded" has bookmark.svg 1 "edge message discarded"
ok "a message into a log is no crossing" has bookmark.svg 1 "edge message"
ok "a crash for good" has bookmark.svg 1 "edge down"
ok "giving up says why" says bookmark.svg "give-up: no-checkpoint"

# --- a rollback to the beginning, with no checkpoint at all ---
after_header '0 0 start' '1 1 start' '2 0 crash' '3 1 down peer=0 | roll-back' '4 0 start' '5 1 start'
"$draw" t.trace >/dev/null
ok "ranks roll back to their first start" has t.svg 2 "edge rollback"

# --- rollback dependencies: one message each way, received before a checkpoint, and a crash ---
after_header '0 0 start' '1 1 start' '2 0 captured checkpoint=1' \
  '3 0 send peer=1 tag=0 @1 | transmit' '4 1 arrived peer=0 tag=0 @1 | deliver request=1' \
  '5 1 captured checkpoint=1' '6 1 send peer=0 tag=0 @2 | transmit' '7 0 crash' \
  '8 - detected rank=0 checkpoint=1' '9 1 down peer=0' '10 0 start checkpoint=1' \
  '11 1 roll-back-is-told-by-control peer=0 | roll-back checkpoint=0'
"$draw" t.trace --dependencies -o graph.svg >/dev/null
# node ID: prints "x y", the middle of a node, by its text.
node() { sed 's/&#45;/-/g' graph.svg | sed -n "/id=\"$1\"/,/<\/g>/s/.*<text [^>]*x=\"\([^\"]*\)\" y=\"\([^\"]*\)\".*/\1 \2/p"; }
ok "intervals of a rank are in a row, one behind the other" awk -v a="$(node interval-0-0)" -v b="$(node interval-0-1)" \
  'BEGIN { split(a, p); split(b, q); exit !(p[2] == q[2] && p[1] < q[1]) }'
ok "those of one number below each other" awk -v a="$(node interval-0-0)" -v b="$(node interval-1-0)" \
  'BEGIN { split(a, p); split(b, q); exit !(p[1] == q[1] && p[2] < q[2]) }'
ok "a rollback-dependency graph is well-formed" "$xml" graph.svg
ok "it has every interval" has graph.svg 1 "node interval stands"
ok "that of the crash" has graph.svg 1 "node interval crashed"
ok "those that are undone with it" has graph.svg 2 "node interval undone"
ok "the message that undoes them" has graph.svg 1 "edge depends undone"
ok "the one that was not received says nothing" has graph.svg 0 "edge depends"

# --- a checkpoint that is begun, given up with a crash, and taken again ---
after_header '0 0 start' '1 1 start' '2 0 captured checkpoint=1' '3 1 captured checkpoint=1' \
  '4 0 committed checkpoint=1' '5 0 send peer=1 tag=0 @1 | transmit' '6 0 captured checkpoint=2' \
  '7 1 captured checkpoint=2' '8 1 crash' '9 0 down peer=1 checkpoint=1 | roll-back checkpoint=1' \
  '10 0 start checkpoint=1' '11 1 start checkpoint=1' '12 0 captured checkpoint=2' \
  '13 1 captured checkpoint=2' '14 1 arrived peer=0 tag=0 @1 | deliver' \
  '15 0 committed checkpoint=2' '16 1 crash' '17 1 start checkpoint=2' '18 1 captured checkpoint=3' \
  '19 0 captured checkpoint=3' '20 1 crash' '21 1 start checkpoint=2' '22 1 captured checkpoint=3'
"$draw" t.trace >/dev/null
ok "every attempt has its line" has t.svg 3 "edge cut open"
ok "committed are only those that were" has t.svg 2 "edge cut"
ok "work is undone once" has t.svg 4 "edge undone"
ok "a message across lives crosses no line" has t.svg 0 "edge message late"
ok "a local rollback leaves the others' captures in the line" says t.svg \
  "recovery line 3 (not committed)"

# --- a long trace ---
awk 'BEGIN {
  print "recline-trace 3\nprotocol c3\nranks 2\n---\n0 0 start\n0 1 start"
  for (i = 1; i <= 300; i++) {
    print i " 0 send peer=1 tag=0 comm=0 bytes=1 @" i " | transmit words=0,0,0"
    print i " 1 receive request=" i " peer=0 tag=0 comm=0 | match request=" i " peer=0 tag=0"
    print i " 1 arrived peer=0 tag=0 comm=0 request=" i " bytes=1 words=0,0,0 @" i " | deliver request=" i
  }
  print "301 1 crash"
}' >long.trace
"$draw" long.trace >/dev/null
ok "a long trace is cut down" hints long.svg "301 1 crash"
ok "and says by what" grep -q '>Left out: 300 lines of posted receives and places without effect, 600 lines of' long.svg

# What a protocol logs of each message does not make a picture wider either.
awk 'BEGIN {
  print "recline-trace 3\nprotocol pessimistic\nranks 2\n---\n0 0 start\n0 1 start"
  for (i = 1; i <= 300; i++) {
    print i " 0 send peer=1 tag=0 comm=0 bytes=1 @" i " | keep slot=" i " | transmit words=0,0,0"
    print i " 1 arrived peer=0 tag=0 comm=0 request=" i " bytes=1 words=0,0,0 @" i " | deliver request=" i " | store part=log checkpoint=0"
    print i " 1 durable part=log checkpoint=0"
  }
  print "301 1 captured checkpoint=1\n302 1 crash"
}' >logged.trace
"$draw" logged.trace >/dev/null
ok "a trace of a protocol that logs, too" hints logged.svg "302 1 crash"
ok "to what checkpoints and failures are" [ "$(sed -n 's/.*<svg width="\([0-9]*\)pt".*/\1/p' logged.svg)" -lt 600 ]
ok "and says by what" grep -q '>Left out: 900 lines of what is logged and written' logged.svg

# --- platforms ---
"$draw" "$here/star.xml" >/dev/null
ok "a platform is well-formed" "$xml" star.svg
ok "hosts that are alike become a pile" has star.svg 1 "node pile"
ok "others are drawn" has star.svg 8 "node host"
ok "zones are switches" has star.svg 2 "node switch"
ok "what hosts are stands below" says star.svg "blue-0 to blue-15: 16 hosts, each 1Gf; link 125MBps, 50us"
"$draw" "$here/bus.xml" >/dev/null
ok "a link that many routes share is a node" has bus.svg 1 "node link"
ok "each host has one line to it" has bus.svg 3 "edge wire"

cp "$here/../../platforms/sif.xml" .
"$draw" sif.xml >/dev/null
ok "interconnects: nodes are counted once" says sif.svg "sif.xml: 9 hosts, 8 of them on each of 3 interconnects"
ok "the last of many hosts are a pile, by interconnect" has sif.svg 3 "node pile"
ok "hosts go to the router of their zone, and nothing else" has sif.svg 3 "node switch"
ok "each host has a line: 5 and a pile for each switch, 4 to each shared link but one" has sif.svg 25 "edge wire"
ok "and no line has a text" [ "$(sed 's/&#45;/-/g' sif.svg | grep -c '>[0-9.]*MBps, [0-9.]*us<')" = 2 ]

# --- the axis, and what is long ---
after_header '0.139100000 0 timer' '0.139120000 1 timer' '0.139120000 0 timer' '0.150800000 1 timer' '0.150800000 0 timer'
"$draw" t.trace >/dev/null
ok "the roundest number between two columns" says t.svg 0.15
ok "and of those that are near each other" says t.svg 0.13912
ok "none where no time passes" [ "$(grep -c '>0\.[0-9]*<' t.svg)" = 2 ]
ok "what the axis is not" says t.svg "in the order of time, not to scale"
{ printf 'recline-trace 3\nprotocol c3\nranks 4\n---\n'
  awk 'BEGIN { for (i = 0; i < 400; i++) printf "%.3f %d timer\n", i / 100, i % 4 }'; } >long.trace
"$draw" long.trace >/dev/null
width=$(sed -n 's/^<svg width="\([0-9]*\)pt".*/\1/p' long.svg)
ok "ranks that do not depend on each other share columns of a long trace" [ "$width" -gt 2000 -a "$width" -lt 3000 ]
{ sed 4q long.trace
  awk 'BEGIN { for (i = 0; i < 160; i++) printf "%.3f %d %s | control peer=%d go words=0,0,0 @%d\n", i / 100, i % 2,
    i ? "control peer=" 1 - i % 2 " go words=0,0,0 @" i - 1 : "timer", 1 - i % 2, i }'; } >chain.trace
"$draw" chain.trace >/dev/null
width=$(sed -n 's/^<svg width="\([0-9]*\)pt".*/\1/p' chain.svg)
ok "but none with what it receives from another" [ "$width" -gt 3200 ]

# --- protocols ---
"$draw" "$here/pingpong.c" >/dev/null
ok "a protocol is well-formed" "$xml" pingpong.svg
ok "its states" has pingpong.svg 2 "node state"
ok "its transitions" has pingpong.svg 3 "edge transition"
ok "an event over two lines" says pingpong.svg " timer, or a ball that comes too late "
mkdir -p data/protocols
cp "$here/pingpong.c" data/protocols/
RECLINE_DATA=data
export RECLINE_DATA
ok "a name alone is a protocol" [ "$("$draw" pingpong -o named.svg)" = named.svg ]

# --- errors ---
ok "no such name" fails pigpong "pigpong: cannot be read, \
expected a trace, a platform or a protocol; did you mean pingpong?"
ok "no such file" fails no.trace "no.trace: cannot be read, \
expected a trace, a platform or a protocol"
echo hello >t.txt
ok "no such kind" fails t.txt "t.txt: neither a trace, a platform nor a protocol, \
expected \"recline-trace 3\", <platform> or a .c file"
echo 'recline-trace 1' >t.trace
ok "another version" fails t.trace 't.trace:1: "recline-trace 1", expected "recline-trace 3"'
printf 'recline-trace 3\nranks none\n---\n' >t.trace
ok "bad ranks" fails t.trace 't.trace:2: ranks "none", expected 1 to 32767'
printf 'recline-trace 3\nprotocol c3\n---\n' >t.trace
ok "no ranks" fails t.trace 't.trace:3: the header ends without ranks, expected "ranks N"'
printf 'recline-trace 3\nranks 2\n' >t.trace
ok "no end of the header" fails t.trace 't.trace:3: the file ends in the header, expected ---'
after_header
ok "no steps" fails t.trace 't.trace:5: the file ends, expected at least one step'
after_header '0 2 start'
ok "no such rank" fails t.trace 't.trace:5: rank "2", expected 0 to 1 or -'
after_header 'now 0 start'
ok "no time" fails t.trace 't.trace:5: time "now", expected a step number or seconds'
after_header '0 0'
ok "no event" fails t.trace 't.trace:5: "0 0", expected: time rank event'
after_header '0 0 start' '1 0 Offer'
ok "no name" fails t.trace 't.trace:6: "Offer", expected the name of an event or action'
after_header '0 0 start | | set-timer'
ok "no action" fails t.trace 't.trace:5: "|", expected the name of an event or action'
after_header '0 0 send peer=1 @x'
ok "no message number" fails t.trace \
  't.trace:5: message number "@x", expected @ and a whole number'
after_header '0 0 send tag=1 @1'
ok "no peer" fails t.trace \
  't.trace:5: send with peer=(none), expected peer=0 to one less than the ranks'
after_header '0 0 captured checkpoint=one'
ok "no checkpoint" fails t.trace \
  't.trace:5: captured with checkpoint=one, expected checkpoint=0 to any number'
after_header '0 0 start' '1 0 arrived peer=1 @9'
ok "a message from nowhere" fails t.trace \
  't.trace:6: message @9 arrives, expected an earlier line that sends it'
after_header '0 0 start' '1 0 safe-point' 'again from=1'
ok "a round" "$draw" t.trace -o round.svg
ok "a round is a red arrow" has round.svg 1 "edge again"
after_header '0 0 start' 'again from=1'
ok "a way round from nowhere" fails t.trace \
  't.trace:6: "again from=1", expected: again from=STEP'
after_header '0 0 start' 'violation no-loss'
ok "half a violation" fails t.trace \
  't.trace:6: "violation no-loss", expected: violation PROPERTY rank=R: text'
printf '<?xml version="1.0"?>\n<platform>\n<host id="a"/>\n' >t.xml
ok "a host without speed" fails t.xml 't.xml:3: <host> without speed, expected speed="..."'
printf '<?xml version="1.0"?>\n<html/>\n' >t.xml
ok "other XML" fails t.xml 't.xml:2: <html>, expected <platform>'
printf '<platform>\n<host id="a" speed="1"/>\n<route src="a" dst="b"/>\n</platform>\n' >t.xml
ok "a route to nowhere" fails t.xml 't.xml:3: route to b, expected a host or router of this file'
printf '<platform>\n</platform>\n' >t.xml
ok "a platform without hosts" fails t.xml 't.xml: no host, expected at least one'
printf '<platform>\n<host id="a" speed="1">\n</platform>\n' >t.xml
ok "XML that is none" sh -c '"$1" t.xml 2>&1 | grep -q "^t.xml:3: not well-formed (.*), expected a SimGrid platform$"' - "$draw"
printf '/* Nothing to see. */\n' >t.c
ok "no transitions" fails t.c \
  't.c:1: the opening comment ends, expected "Transitions:" in it'
printf '/*\n * Transitions:\n *     A to B\n */\n' >t.c
ok "no arrow" fails t.c 't.c:3: "A to B", expected STATE -> STATE : function()  [event]'
printf 'int x;\n' >t.c
ok "no comment" fails t.c 't.c:1: no opening comment, expected one with "Transitions:"'
ok "no argument" usage 'draw: no file, expected TRACE|PLATFORM|PROTOCOL [-o FILE.svg] [--dependencies]'
ok "an unknown option" usage 'recline draw: Unknown option -x, expected an option of '\''recline draw --help'\' -x
ok "no time" usage '--from: "1x", expected a step' "$here/c3.trace" --from 1x
ok "no ranks" usage '--ranks: "1-7", expected ranks of 0 to 2 such as 0-3,7' "$here/c3.trace" --ranks 1-7
ok "ranks that go back" usage '--ranks: "2-1", expected ranks of 0 to 2 such as 0-3,7' "$here/c3.trace" --ranks 2-1
ok "nothing in the part" usage "$here/c3.trace: no event in that part, expected --from and --to within 0 and 44" \
  "$here/c3.trace" --from 50
ok "a part of a platform" usage "$here/star.xml: no trace, expected one with --from, --to and --ranks" "$here/star.xml" --to 1
ok "a part told in words" usage 'a.txt: with --from, --to or --ranks, expected .svg, .pdf or .png' a --to 1 -o a.txt
ok "two files" usage 'draw: a second file b, expected one' a b
ok "-o without a name" usage 'recline draw: Missing argument for -o, expected an option of '\''recline draw --help'\' a -o
ok "an unknown format" usage 'a.gif: unknown kind of picture, expected .svg, .pdf, .png or .txt' \
  a -o a.gif
printf 'recline-trace 3\nprotocol c3\nranks 2\n---\n0 0 \n' >t.trace
ok "a line without an event" fails t.trace 't.trace:5: "0 0 ", expected: time rank event'
"$draw" "$here/c3.trace" -o no/such/folder.svg >out 2>err
ok "a folder that is not there" grep -q '^no/such/folder.svg: cannot be written: No such file or directory, expected ' err
echo "1..$count"
