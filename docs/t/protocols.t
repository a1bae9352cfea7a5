#!/bin/sh
# Tests that the pages of docs/protocols/ say what the code does: each protocol is named on a page,
# with the state diagram of its source, its control messages and its mutants; the claims that pages
# name exist.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer

# The diagram in the comment that opens a source: from the first line that draws to the last before
# the transitions, without indentation, so that pages may indent it as they like.
drawn() { # FILE
  sed -n 's/^ \* *//p; /\*\//q' "$1" | sed '/^Transitions:/q' | grep -e '--[->]' -e '<--' -e '^[|^ v]*$' |
    grep -v '^ *$' | sed 's/^ *//; s/ *$//'
}

for page in "$root"/docs/protocols/*.md; do
  name=$(basename "$page" .md)
  [ "$name" != matrix ] || continue
  source=$root/protocols/$name.c
  drawn "$source" >"$dir/drawn"
  sed 's/^ *//; s/ *$//' "$page" >"$dir/page"
  missing=$(while IFS= read -r line; do
    grep -qxF -e "$line" "$dir/page" || printf '%s\n' "$line"
  done <"$dir/drawn")
  is "$missing" '' "$name: the page has the source's state diagram"
  lacking=
  # shellcheck disable=SC2013 # names are words
  for control in $(cat "$source" "${source%.c}"_*.h 2>/dev/null | sed -n '/controls\[\] = {/,/}/p' | grep -o '"[a-z-]*"' | tr -d '"'); do
    [ "$control" = none ] || grep -q "\`$control[\` ]" "$page" || lacking="$lacking $control"
  done
  is "$lacking" '' "$name: the page has every control message"
  lacking=
  for patch in "$root"/verify/mutants/"$name"/*.patch; do
    mutant=$(echo "$patch" | claim_names)
    grep -q -e "\`$mutant\`" -e "\`${mutant#"$name-"}\`" "$page" || lacking="$lacking $mutant"
  done
  is "$lacking" '' "$name: the page has every mutant"
done
"$recline" list protocols | sed 's/ .*//' >"$dir/names"
lacking=
while read -r name; do
  [ "$name" = none ] || cat "$root"/docs/protocols/*.md | grep -q "\`$name\`\|^# .*\b$name\b" || lacking="$lacking $name"
done <"$dir/names"
is "$lacking" '' 'every protocol is on a page'

# Tests that its page has what a protocol promises beyond the default properties.
"$recline" list protocols --json |
  jq -r '.protocols[] | .name as $name | .promises[] | "\($name) \(.)"' >"$dir/promises"
lacking=
while read -r name property; do
  files=$(grep -l "name: $name[,}]" "$root"/verify/claims/*/*.yaml | xargs grep -l 'verdict: holds')
  case $property in # judged where a claim names no properties, too
    bounded | frees* | once-per-failure) echo "$files" | xargs grep -L properties: | grep -q . && continue ;;
  esac
  echo "$files" | xargs grep -q "[[ ]$property[],]" || lacking="$lacking $name:$property"
done <"$dir/promises"
is "$(wc -l <"$dir/promises"):$lacking" 55: 'claims show what protocols promise'

# Prints CLAIM VERDICT for the textbook facts; the verdict is the next word of that kind in the
# cell.
perl -ne '$in = /^## Textbook/ if /^## /;
  next unless $in && s/^\|.*?\| //;
  print "$1 ", $2 =~ /^hold/ ? "holds" : "violated", "\n"
    while /`([a-z]\w*(?:-\w+)+)`(?=.*?\b(violated?|holds?)\b)/g' "$root"/docs/protocols.md |
  grep -e "$(sed 's/$/-/; s/^/^/' "$dir/names")" | sort -u >"$dir/facts"
otherwise=
while read -r claim verdict; do
  grep -qs "verdict: $verdict" "$(claim_file "$claim")" "$root/verify/claims/long/$claim.yaml" ||
    otherwise="$otherwise $claim"
done <"$dir/facts"
is "$(wc -l <"$dir/facts"):$otherwise" 25: 'claims show the textbook facts'
finish $(($(ls "$root"/docs/protocols/*.md | wc -l) * 3))
