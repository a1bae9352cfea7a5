#!/bin/sh
# Tests `recline walk`: what it finds, that it finds the same again, and what it refuses.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
recline=$build/bin/recline
cd "$dir" || exit 1

exits 0 'c3: no violation in a hundred walks' "$recline" walk c3 --until 100 --workers 1
cp out one
exits 0 'the same by two processes' "$recline" walk c3 --until 100 --workers 2
check 'byte for byte' cmp one out
exits 0 'another seed' "$recline" walk c3 --until 100 --seed 2
check 'walks otherwise' sh -c '! cmp -s one out'
is "$(grep -c '^  wildcards  *[1-9][0-9]* walks' one)" 1 'families are counted' one

for workers in 1 2; do
  exits 1 "a mutant is found by $workers" "$recline" walk c3~no-suppress --ranks 2..8 --workers $workers --out by-$workers
  cp out said-$workers
done
sed 's/by-1/by-2/' said-1 >expected
check 'both say the same' cmp expected said-2
claim=$(ls by-1/*[0-9].yaml) trace=$(ls by-1/*.trace)
is "$(basename "$claim" .yaml)" "$(basename "$trace" .trace)" 'a claim and a trace'
check 'both have the same claim' cmp "$claim" "by-2/$(basename "$claim")"
check 'and the same trace' cmp "$trace" "by-2/$(basename "$trace")"
exits 0 'the trace replays' "$recline" check "$trace"
exits 0 'the claim is confirmed by the explorer' timeout 60 "$recline" check "$claim"
is "$(grep -c ': violated$' out || true)" 0 'as expected' out
exits 1 'as it was found' "$recline" walk c3~no-suppress --ranks 2..8 --whole --out whole
check 'it is longer' test "$(wc -l <"$trace")" -lt "$(cat whole/*.trace | wc -l)"
exits 0 'it can be drawn' "$recline" draw "$trace" -o picture.svg
check 'as a picture' test -s picture.svg

exits 0 'a claim that holds is walked through' "$recline" walk c3-recovers --until 50
exits 1 'one that does not is violated' "$recline" walk c3-no-suppress --until 200 --out claimed
exits 0 'its trace replays, too' "$recline" check claimed/*.trace
exits 0 'as JSON' "$recline" walk bookmark --until 20 --json
is "$(perl -MJSON::PP -0ne '$j = decode_json($_); print "$j->{walks} $j->{verdict} $j->{families}{tags}{walks}" =~ /^20 no violation [1-9]/ ? 1 : 0' out)" 1 'with counts' out

for words in '' 'c3 bookmark' 'c4' 'c3 --ranks 1' 'c3 --ranks 8..4' 'c3 --ranks 4..65' 'c3 --for soon' \
  'c3 --for 0' 'c3 --until 0' 'c3 --seed -1' 'c3 --workers 0' 'c3 --plugin none.so' \
  'c3-recovers --ranks 4'; do
  # shellcheck disable=SC2086 # words
  exits 64 "walk $words" "$recline" walk $words
  is "$(wc -l <err):$(grep -c ', expected' err)" 1:1 'in one line' err
done

"$recline" walk c3-recovers --for 600 --workers 2 >interrupted 2>&1 &
walk=$!
until [ "$(ps -o pid= --ppid $walk | wc -l)" = 2 ]; do :; done
kill -TERM $walk # INT is ignored in the background
wait $walk
is $? 2 'a signal ends it'
is "$(grep -c 'stopped by a signal' interrupted)" 1 'with its summary' interrupted
is "$(ls -d walk 2>/dev/null)" '' 'nothing is written where nothing is violated'
finish
