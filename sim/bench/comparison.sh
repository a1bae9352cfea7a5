#!/bin/sh
# comparison.sh FOLDER: runs scenarios/comparison.yaml under every protocol of the map, without a
# failure (FOLDER/NAME-quiet) and with one (FOLDER/NAME-crash), and prints the table of docs/map.md.
# Times are simulated: the same build prints the same table everywhere.
set -u
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
root=${here%/sim/bench}
recline=${RECLINE_BUILD:-$root/build}/bin/recline
folder=${1:?usage: comparison.sh FOLDER}
mkdir -p "$folder"

settings() { # PROTOCOL: what it needs besides
  [ "$1" != hybrid ] || echo --set checkpoint.places=program --set protocol.interval=3
}

run() { # PROTOCOL KIND WORD...
  protocol=$1 out=$folder/$1-$2
  shift 2
  # shellcheck disable=SC2046 # words
  "$recline" run "$root/scenarios/comparison.yaml" --set protocol.name="$protocol" --set expect={} \
    $(settings "$protocol") --out "$out" --json "$@" >"$out.json" 2>"$out.err"
}

number() { # KIND KEY
  jq -r "$2" "$folder/$protocol-$1.json"
}

share() { # NUMBER OF: how much more, in per cent
  echo "$1 $2" | awk '{ printf "%.1f", 100 * ($1 / $2 - 1) }'
}

echo '| protocol | time | over `none` | a failure costs | ranks back | checkpoints | stored | control messages | on the network |'
echo '|---|---|---|---|---|---|---|---|---|'
for protocol in $("$recline" list protocols --json | jq -r '.protocols[] | select(.back) | .name'); do
  run "$protocol" quiet
  run "$protocol" crash --set 'failures=[{rank: 3, at: 190ms, repair: 20ms}]'
  time=$(number quiet .simulated_s)
  [ "$protocol" != none ] || base=$time base_bytes=$(number quiet .network.bytes)
  cost=$(number crash ".simulated_s - $time | . * 1e4 | round / 10 | tostring + \" ms\"")
  [ "$(number crash .verdict)" != lost ] || cost=lost
  back=$(awk '$3 == "crash" { crashed = 1 } crashed && $3 == "start" { back[$2] } END { print length(back) }' \
    "$folder/$protocol-crash/trace.txt")
  taken=$(grep -c '^[0-9.]* [0-9]* captured ' "$folder/$protocol-quiet/trace.txt")
  echo "| \`$protocol\` | $(number quiet '.simulated_s * 1e4 | round / 10') ms | $(share "$time" "$base") % |" \
    "$cost | $back | $taken | $(number quiet '.stored_bytes / 1024 | round') KiB |" \
    "$(number quiet .network.control) | +$(share "$(number quiet .network.bytes)" "$base_bytes") % |"
done
