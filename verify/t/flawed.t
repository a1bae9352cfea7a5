#!/bin/sh
# Tests protocols about which a judge could be mistaken (flawed.c). A claim about a flawed protocol
# is violated, or at least does not hold; a claim about a right one holds, in every kind of search.
. "$(dirname "$0")/../../protocols/t/tap.sh"
cd "$dir" || exit 1

compile() { # FLAW
  mkdir -p "$1" && ${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror -shared -fPIC "-DFLAW=$1" \
    -I "$build/include" -o "$1/flawed.so" "$root/verify/t/flawed.c"
}

claim() { # FLAW CHECK [PROGRAM]: writes FLAW/claim.yaml
  {
    echo "id: flawed
statement: It recovers, and takes every checkpoint that it is asked for
program:
  ranks: 2
  script: |
${3:-    rank 0: send 1, recv 1
    rank 1: recv 0, send 0}
protocol: {name: flawed, file: flawed.so, capacity: 4}
checkpoint: {places: anywhere}
check: {$2}
expect: {verdict: holds}"
  } >"$1/claim.yaml"
}

verdict() { # FLAW [OPTION]...: the verdict, and the property or what was not judged
  flaw=$1
  shift
  "$tool" check "$flaw/claim.yaml" --json "$@" >"$flaw/json" 2>"$flaw/err" || true
  awk -F'"' '$2 == "verdict" { printf "%s", $4 } $2 == "property" && $4 { printf " %s", $4 }
    $2 == "why" && $4 ~ /judge/ { printf " %s", $4 }' "$flaw/json"
}

judged() { # FLAW CHECK EXPECTED DESCRIPTION [OPTION]...
  flaw=$1 expected=$3 what=$4
  compile "$1"
  claim "$1" "$2"
  shift 4
  is "$(verdict "$flaw" "$@")" "$expected" "$flaw: $what" "$flaw/err" "$flaw/json"
}

# ---- which TIMER asks for a checkpoint ----

one='checkpoints: 1, crashes: 0'
judged NONE "$one" holds 'the protocol without a flaw'
judged NONE 'checkpoints: 2, crashes: 1' holds 'the same with a crash'
judged AGAIN "$one" holds 'a timer that is always set again, at the beginning of a checkpoint, too'
judged AGAIN 'checkpoints: 2, crashes: 1' holds 'the same with a crash'
judged EVERY_2ND 'checkpoints: 2, crashes: 0, reach: [commits 1]' holds \
  'every second timer begins a checkpoint, the others send a message'
judged OTHER_ASKS "$one" holds 'another rank than the coordinator asks'
judged NO_DONE "$one" 'violated commits' 'the timer is set again, and the checkpoint never commits'
judged WANTS "$one" 'violated commits' 'the timer is set again, and nothing begins'
judged TELLS "$one" 'violated commits' 'the same, with a message that begins nothing'
judged PUTS_OFF "$one" 'violated requests' 'checkpoints are put off for ever'
judged OTHER_ASKS_ONCE "$one" 'violated requests' 'another rank asks, once'

judged OLD_COMMIT 'checkpoints: 2, crashes: 0, reach: [commits 1]' 'violated legal' \
  'a checkpoint is committed once more'
judged ALONE 'checkpoints: 2, crashes: 0, reach: [commits 1]' holds 'ranks are captured alone'
judged ALONE_ONCE 'checkpoints: 2, crashes: 0, reach: [commits 1]' 'violated requests' \
  'no rank sets its timer again'
judged ALONE_PUTS_OFF 'checkpoints: 2, crashes: 0' 'violated requests' \
  'one rank asks in vain, whatever the timers of others lead to'

# ---- states that are stored as one ----

outputs='    rank 0: output, send 1, recv 1
    rank 1: recv 0, send 0'
judged OUTPUTS 'checkpoints: 1, crashes: 1' holds 'without outputs there is no flaw'
claim OUTPUTS 'checkpoints: 1, crashes: 1' "$outputs"
is "$(verdict OUTPUTS)" 'violated deadlock' 'OUTPUTS: a start from an image with outputs is another one'
is "$(verdict OUTPUTS --audit)" 'violated deadlock' 'OUTPUTS: so it is in an audit'
claim NONE 'checkpoints: 1, crashes: 1' "$outputs"
is "$(verdict NONE --audit)" holds 'NONE: an audit finds that states are rightly stored as one'
closed='checkpoints: 1, crashes: 1, connections: close'
judged RECONNECTS "$closed" holds 'connections are closed for captures and starts'
is "$(verdict RECONNECTS --audit)" holds 'RECONNECTS: the same in an audit'
judged STAYS_CLOSED "$closed" 'violated deadlock' 'a start with closed connections is another one'
is "$(verdict STAYS_CLOSED --audit)" 'violated deadlock' 'STAYS_CLOSED: so it is in an audit'
claim STAYS_CLOSED 'checkpoints: 1, crashes: 1'
is "$(verdict STAYS_CLOSED)" holds 'STAYS_CLOSED: with open ones there is no flaw'

# ---- what was never judged ----

unjudged='vacuous no occasion to judge deadlock, commits, requests, bounded'
three='checkpoints: 3, crashes: 0'
judged TOKEN "$three" "$unjudged" 'no state is at rest'
judged TOKEN_KEEPS "$three" "$unjudged" 'no state is at rest in which checkpoints could be counted'
judged TOKEN_STAYS "$three" 'violated progress' 'no state is at rest, and programs never end'
is "$(verdict TOKEN_STAYS --compact)" "$unjudged" 'TOKEN_STAYS: without a look at cycles'
for property in bounded deadlock commits requests; do
  claim TOKEN_KEEPS "$three, properties: [$property]"
  is "$(verdict TOKEN_KEEPS)" "vacuous no occasion to judge $property" \
    "TOKEN_KEEPS: of $property alone"
done
claim NONE "$one, properties: [no-loss, useful, output-at-rest, tokens, restorable]"
is "$(verdict NONE)" 'vacuous no occasion to judge restorable, tokens, output-at-rest' \
  'NONE: nothing restarts, no state is recorded, nothing is told the outside'
# A survivor can go back behind its last capture only if it has captured, past two checkpoints only
# if it has two, and a second time only if it has gone back before.
back='own-iteration, no-domino, once-per-failure'
claim NONE "checkpoints: 0, crashes: 1, properties: [$back, local-rollback]"
is "$(verdict NONE)" 'violated local-rollback' 'NONE: all go back, the survivors among them'
claim NONE "checkpoints: 1, crashes: 0, properties: [$back, local-rollback]"
is "$(verdict NONE)" 'vacuous no occasion to judge local-rollback, no-domino, own-iteration, once-per-failure' \
  'NONE: nobody fails'
claim NONE "checkpoints: 0, crashes: 1, properties: [$back]"
is "$(verdict NONE)" 'vacuous no occasion to judge no-domino, own-iteration' \
  'NONE: nothing is captured before a rank fails'
claim NONE "checkpoints: 1, crashes: 1, properties: [no-domino]"
is "$(verdict NONE)" 'vacuous no occasion to judge no-domino' 'NONE: there is one checkpoint to go back to'
claim NONE "checkpoints: 2, crashes: 1, properties: [no-domino]"
is "$(verdict NONE)" holds 'NONE: with two checkpoints none goes back past both'
tagged='    rank 0: choose 2, if 1 (send 0 tag 7), send 1, recv 1
    rank 1: recv 0, send 0'
compile TAGS_TOKEN
claim TAGS_TOKEN "$one" "$tagged"
is "$(verdict TAGS_TOKEN)" holds 'TAGS_TOKEN: some runs go round for ever, and programs end in them'
is "$(verdict TAGS_TOKEN --compact)" \
  'inconclusive runs may go on for ever, and property progress was not judged' \
  'TAGS_TOKEN: which a search without states cannot tell'
verdict TOKEN >/dev/null
is "$(tr -d ' \n' <TOKEN/json | sed 's/.*"not_judged":\[\([^]]*\)\].*/\1/')" \
  '"restorable","deadlock","commits","invariant","requests","bounded","output"' 'JSON lists them'
for form in '' --tap --junit; do
  "$tool" check TOKEN/claim.yaml $form >said 2>err
  check "so does check $form" grep -q 'no occasion to judge.*bounded' said
done

# ---- how many checkpoints may be stored ----

levels() { # FLAW CHECKPOINTS EXPECTED DESCRIPTION
  compile "$1"
  claim "$1" "checkpoints: $2, crashes: 0, properties: [bounded]"
  sed -i 's/places: anywhere/&, levels: [{storage: memory}, {storage: nfs, every: 2}]/' "$1/claim.yaml"
  is "$(verdict "$1")" "$3" "$1: $4" "$1/err" "$1/json"
}
levels KEEPS 3 holds 'on two levels three checkpoints may be stored'
levels KEEPS 4 'violated bounded' 'four are one too many'

# ---- sizes of messages ----

own='    rank 0: send 0 SIZE, send 1 bytes 0, recv 1, recv 0
    rank 1: recv 0, send 0 bytes 16'
sized() { # FLAW SIZE: a message of a rank to itself has that size
  claim "$1" 'checkpoints: 1, crashes: 1' "$(echo "$own" | sed "s/SIZE/$2/")"
}
compile LARGE
sized LARGE ''
is "$(verdict LARGE)" holds 'LARGE: messages are small'
sized LARGE 'bytes 1024'
is "$(verdict LARGE)" holds 'LARGE: as large as it may be'
sized LARGE 'bytes 65537'
case $(verdict LARGE) in
  violated*) ok 'LARGE: a larger message is lost' ;;
  *) not_ok 'LARGE: a larger message is lost' LARGE/json ;;
esac
# Tests calls whose large data a protocol leaves out. In a broadcast only the root tells the size.
mkdir calls
echo '#define AT_COLLECTIVE rcl_act(actions, event->bytes > 1024 ? RCL_ACTION_SUPPRESS : RCL_ACTION_JOIN)' \
  >calls/flaw.h
${CC:-cc} -std=c11 -O1 -shared -fPIC -I"$root" -Icalls -DNAME='"flawed"' -o calls/flawed.so \
  "$root/verify/t/impure.c"
calls() { # CALL EXPECTED
  claim calls 'checkpoints: 0, crashes: 0' "    rank 0: $1, send 1
    rank 1: $1, recv 0"
  is "$(verdict calls)" "$2" "CALLS: $1 is $2"
}
for call in allreduce 'reduce 1' 'bcast 0'; do
  calls "$call bytes 1024" holds
done
calls 'allreduce bytes 1025' 'violated outcome'
calls 'reduce 1 bytes 1025' 'violated outcome'
calls 'bcast 0 bytes 1025' 'violated deadlock'
sized NONE 'bytes 65537'
is "$(verdict NONE)" holds 'NONE: none is'
"$tool" check NONE/claim.yaml >said
check 'the report says which sizes there were' grep -q '^    sizes: 0, 16, 65,537 bytes$' said
is "$(tr -d ' \n' <NONE/json | sed 's/.*"sizes":\[\([^]]*\)\].*/\1/')" 0,16,65537 'so does JSON'
finish
