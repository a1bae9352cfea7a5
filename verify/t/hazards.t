#!/bin/sh
# Hazards: the world lets them happen, as these traces say, and only where they were asked for.
# Torn writes and control messages that overtake each other are shown by claims: X-needs-....
. "$(dirname "$0")/../../protocols/t/tap.sh"

# happens NAME PROTOCOL HAZARD SCRIPT: the moves of standard input.
happens()
{
  {
    printf 'recline-trace 3\nprotocol %s\nranks 2\ncapacity 4\norder any\nplaces program\n' "$2"
    printf 'host explorer\ncrashes 2\ntimers 1\nhazards %s\n' "$3"
    printf 'script rank 0: %s\nscript rank 1: recv 0, recv 0\n---\n' "$4"
    cat
  } >"$dir/trace"
  check "$1" "$tool" replay "$dir/trace"
  grep -v '^hazards' "$dir/trace" >"$dir/without"
  exits 1 "not without the hazard: $1" "$tool" replay "$dir/without"
}

happens 'a crash behind the first of two actions that others see' uncoordinated 1 'send 1' <<'END'
0 0 start | set-timer
1 1 start | set-timer
2 0 crash
3 - detected rank=0 incarnation=1 checkpoint=0
4 1 down peer=0 incarnation=1 cut=1 | hold | control peer=0 table words=3,0,1 @1
5 - detected rank=1 incarnation=2 checkpoint=0
END

happens 'a write under way is found whole' pessimistic 2 'checkpoint, send 1' <<'END'
0 0 start | set-timer
1 0 timer
2 0 safe-point | capture checkpoint=1
3 0 captured checkpoint=1 | store part=image checkpoint=1
4 0 crash writes=1
5 - detected rank=0 incarnation=1 checkpoint=1
6 0 start checkpoint=1 incarnation=1 | set-timer | control peer=1 report words=2,0,0 @1
END

happens 'a rank that is declared dead sends to one that has not noticed, no more to one that has' \
  uncoordinated 8 'send 1, send 1' <<'END'
0 0 start | set-timer
1 1 start | set-timer
2 - detected rank=0 incarnation=1 checkpoint=0 falsely
3 0 send peer=1 tag=0 comm=0 bytes=16 @1 | keep slot=1 | transmit words=1,0,0
4 1 receive request=1 peer=0 tag=0 comm=0 | match request=1 peer=0 tag=0
5 1 down peer=0 incarnation=1 | hold | control peer=0 table words=3,0,1 @2 | control peer=0 end words=5,1,65535 @3
6 0 send peer=1 tag=0 comm=0 bytes=16 | keep slot=2 | transmit words=2,0,0
7 0 ended
8 0 start incarnation=1 | set-timer | hold
END

sed 's/^3 0 send.*/3 0 crash/' "$dir/trace" >"$dir/other"
exits 1 'it does not crash as well' "$tool" replay "$dir/other"
finish
