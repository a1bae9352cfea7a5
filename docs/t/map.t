#!/bin/sh
# Tests that docs/map.md and its picture show what protocols declare, and that these declarations
# are what claims show and what a run does.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer

# ---- the page ----

section() { # NAME: the table between <!-- NAME --> and <!-- end -->
  sed -n "/^<!-- $1 -->\$/,/^<!-- end -->\$/p" "$root/docs/map.md" | sed '1d;$d'
}
section map >"$dir/page"
"$recline" list protocols --map >"$dir/map"
same "$dir/map" "$dir/page" 'the page has the map of the build'
texts() { grep -o '>[^<]*</text>' "$1"; }
"$recline" list protocols --map -o "$dir/map.svg"
texts "$dir/map.svg" >"$dir/drawn"
texts "$root/docs/pictures/map.svg" >"$dir/texts"
same "$dir/drawn" "$dir/texts" 'the picture has the texts of the build'
refuses() { # EXPECTED DESCRIPTION WORD...
  said_there=$1 what=$2
  shift 2
  exits 64 "$what: exit code" "$recline" list "$@"
  is "$(cat "$dir/err")" "$said_there" "$what"
}
usage='expected list protocols --map [-o FILE.svg]'
refuses "recline list: a map of something else, $usage" 'claims have no map' claims --map
refuses "recline list: --map with --json, $usage" 'nor has JSON' protocols --map --json
refuses "recline list: -o without --map, $usage" 'a list is no picture' protocols -o a.svg
refuses 'a.gif: unknown kind of picture, expected .svg, .pdf or .png' 'an unknown kind' \
  protocols --map -o "a.gif"

# ---- declared, and shown by claims ----

"$recline" list protocols --json >"$dir/json"
verdict() { sed -n 's/^expect: .*verdict: \([a-z]*\).*/\1/p' "$1"; }
refuted() { # GLOB...: whether one of these claims is violated
  for claim; do
    [ ! -e "$claim" ] || [ "$(verdict "$claim")" != violated ] || return 0
  done
  return 1
}

# Prints the names of the claims that are violated because an assumption does not hold.
shown_by() { # PROTOCOL ASSUMPTION
  claims=$root/verify/claims/$1
  case $2 in
    control-order | fifo | barriers | whole-writes) echo "$claims/needs-$2.yaml" ;;
    anywhere) echo "$claims/needs-anywhere.yaml" ;;
    mpi-order) echo "$claims/needs-order.yaml" ;;
    iterations) echo "$claims/crossing.yaml" ;;
    received) echo "$claims/unreceived.yaml" ;;
    same-again) echo "$claims/orphan-choice.yaml" "$claims/needs-determinism.yaml" ;;
    clocks) echo "$claims/needs-deviation.yaml" "$claims/needs-longest.yaml" ;;
    logger) echo "$claims/memory-lost.yaml" ;;
    connected) echo "$claims/needs-$2.yaml" ;;
    failures) echo "$claims/f1-two-crashes.yaml" ;;
  esac
}
assumptions='control-order mpi-order fifo anywhere barriers iterations received same-again clocks
  whole-writes logger failures connected'
wrong_there=
for protocol in $(sed -n 's/^static const struct rcl_protocol \*const own.*&protocol_\([a-z0-9_]*\),.*/\1/p;
  s/^ *&protocol_\([a-z0-9_]*\),.*/\1/p' "$root/protocols/registry.c" | tr _ -); do
  for assumption in $assumptions; do
    declared=$(jq -r --arg name "$protocol" --arg what "$assumption" '.protocols[] |
      select(.name == $name) | .assumes | any(. == $what)' "$dir/json")
    shown=false
    # shellcheck disable=SC2046 # names without spaces
    refuted $(shown_by "$protocol" "$assumption") && shown=true
    # Below the matching no capture waits for a safe point, so scenarios with safe points only are
    # refused (matrix.md).
    [ "$assumption" != anywhere ] || ! grep -q "^| \`$protocol\` .*refused: checkpoints at any" \
      "$root/docs/protocols/matrix.md" || shown=true
    [ "$declared" = "$shown" ] || wrong_there="$wrong_there $protocol:$assumption:$declared"
  done
done
is "$wrong_there" '' 'a protocol assumes what a claim refutes without, and nothing else'

# Compares the ranks that go back with the claims of `local-rollback`.
wrong_there=
jq -r '.protocols[] | select(.back) | "\(.name) \(.back)"' "$dir/json" >"$dir/backs"
while read -r protocol back; do
  files=$(grep -l "name: $protocol[,}]" "$root"/verify/claims/*/*.yaml | xargs grep -l 'local-rollback\]*}*$\|local-rollback[],]')
  holds=0 violated=0
  for file in $files; do
    case $(verdict "$file") in
      holds) holds=1 ;;
      violated) case $file in */local.yaml) violated=1 ;; esac ;;
    esac
  done
  case $back in
    failed) [ $holds$violated = 10 ] ;;
    dependent) [ $holds$violated = 01 ] ;;
    failed-or-all | all | none) [ $holds$violated = 00 ] ;;
  esac || wrong_there="$wrong_there $protocol:$back:$holds$violated"
done <"$dir/backs"
is "$wrong_there" '' 'who goes back is what claims of local rollbacks show'

# ---- declared, and done in a run ----

ring='repeat 24 (iteration, send'
cat >"$dir/facts.yaml" <<END
program:
  ranks: 4
  script: |
    rank 0: $ring 1, compute 1ms, recv 3, compute 1ms, barrier)
    rank 1: $ring 2, compute 1ms, recv 0, compute 1ms, barrier)
    rank 2: $ring 3, compute 1ms, recv 1, compute 1ms, barrier)
    rank 3: $ring 0, compute 1ms, recv 2, compute 1ms, barrier)
platform:   {file: clan.xml, spares: 1}
protocol:   {name: none}
checkpoint: {every: 13ms, storage: local, bytes: 4KiB}
detection:  1ms
END
sed 's/recv [0-9]/recv any/' "$dir/facts.yaml" >"$dir/wildcards.yaml" # events to be logged
run() { # PROTOCOL KIND WORD...
  name=$1 kind=$2
  shift 2
  [ "$name" != hybrid ] || set -- --set checkpoint.places=program --set protocol.interval=3 "$@"
  file=$dir/facts.yaml
  case $(declared_of "$name") in *-) ;; *) file=$dir/wildcards.yaml ;; esac
  "$recline" run "$file" --set protocol.name="$name" --out "$dir/$name-$kind" --json \
    "$@" >"$dir/$name-$kind.json" 2>"$dir/$name-$kind.err"
}

# Prints what the trace of a run without failures shows of messages and events, in the words of
# declared_of().
done_by() { # PROTOCOL
  awk '$3 == "send" && / transmit / {
      sent++; kept += / keep slot/; riding += / control .*transmit| transmit .*control / }
    $3 == "arrived" && / deliver / && / keep slot/ { logged++ }
    $1 ~ /^[0-9]/ && $3 != "captured" && / store part=log/ && !captured[$2] { events++ }
    $3 == "captured" { captured[$2] = 1 }
    END {
      messages = kept == 0 ? logged ? "receiver" : "nothing" : kept == sent ? "sender-always" : "sender"
      print messages, events ? "logger" : riding ? "riding" : "-" }' "$dir/$1-quiet/trace.txt"
}
declared_of() { # PROTOCOL
  jq -r --arg name "$1" '.protocols[] | select(.name == $name) | .logs |
    ([.[] | select(.what == "messages")][0] // {where: "nothing", when: ""}) as $m |
    ([.[] | select(.what == "determinants")][0] // {where: "", when: ""}) as $d |
    ($m.where + (if $m.when == "always" then "-always" else "" end)) + " " +
    (if $d.where == "logger" then "logger" elif $d.when == "with-messages" then "riding" else "-" end)' \
    "$dir/json"
}
network() { jq -r ".network.$2" "$dir/$1-quiet.json"; }
while read -r protocol back; do
  run "$protocol" quiet
  run "$protocol" crash --set 'failures=[{rank: 3, at: 40ms, repair: 2ms}]'
  is "$(done_by "$protocol")" "$(declared_of "$protocol")" \
    "$protocol logs what it declares, and there" "$dir/$protocol-quiet.err"
  ranks=$(awk '$3 == "crash" { crashed = 1 } crashed && $3 == "start" { back[$2] }
    END { print length(back) }' "$dir/$protocol-crash/trace.txt")
  case $back in
    none) [ "$ranks" -eq 0 ] ;;
    failed) [ "$ranks" -eq 1 ] ;;
    all) [ "$ranks" -eq 4 ] ;;
    *) [ "$ranks" -ge 1 ] ;;
  esac
  report $? "$protocol: $ranks ranks go back, $back" "$dir/$protocol-crash.err"
  # Compares the bytes on the network, if only messages of the program and separate control messages
  # are sent.
  adds=$(jq -r --arg name "$protocol" --argjson messages "$(network "$protocol" messages)" \
    --argjson control "$(network "$protocol" control)" '.protocols[] | select(.name == $name) |
    if .collectives or .piggybacks then "" else
      .piggyback_bytes * $messages + .control_bytes * $control end' "$dir/json")
  [ -z "$adds" ] || is "$(($(network "$protocol" bytes) - $(network none bytes)))" "$adds" \
    "$protocol: the bytes that it declares are on the network"
done <"$dir/backs"

finish
