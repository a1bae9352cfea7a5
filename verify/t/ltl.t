#!/bin/sh
# Temporal formulas of claims (property `ltl`): verdicts, lassos that replay, vacuity, refusals.
. "$(dirname "$0")/../../protocols/t/tap.sh"
cd "$dir" || exit 1

claim() { # FORMULA [PROTOCOL] [CRASHES] [VERDICT]: claim.yaml
  cat >claim.yaml <<END
id: claim
program:
  ranks: 2
  script: |
    rank 0: send 1, recv 1
    rank 1: send 0, recv 0
protocol: {name: ${2:-bookmark}, capacity: 8}
checkpoint: {places: anywhere}
check:
  checkpoints: 1
  crashes: ${3:-1}
  reach: [commits 0, recoveries 0, commits-after-recovery 0]
  ltl: "$1"
expect: {verdict: ${4:-holds}}
END
}

judged() { # VERDICT FORMULA [PROTOCOL] [CRASHES]
  claim "$2" "$3" "$4"
  "$tool" check claim.yaml --json >json 2>err
  is "$(jq -r '.claims[0].verdict' json)" "$1" "$1: $2${3:+, $3}${4:+, $4 crashes}" json err
}

refused() { # FORMULA WORDS [PROTOCOL]
  claim "$1" "$3"
  "$tool" check claim.yaml >out.txt 2>&1
  is "$? $(grep -cF -- "claim.yaml:13: check.ltl: $2" out.txt)" '64 1' "refused: $1" out.txt
}

# ---- verdicts ----

judged holds '[] (crashed -> <> finished)'
judged holds '<> [] finished'
judged holds '[] (requested -> <> (committed || crashed))'
judged holds '!capturing W held'
judged holds '[] (message 0 1 -> <> !message 0 1)'
judged holds '(!detected U crashed) || [] !crashed'
judged violated '[] !held'
judged violated '<> crashed'
judged violated '[] (requested -> <> committed)'
judged violated '[] <> crashed'
judged violated '[] (receiving 0 -> !receiving 1)'

# ---- formulas that say nothing ----

judged vacuous '[] (crashed -> <> finished)' bookmark 0
is "$(jq -r '.claims[0].why' json)" \
  "'[] (crashed -> <> finished)' also holds with 'false' in place of what follows '->'" 'says why' json
judged vacuous '[] (detected 2 -> <> held)'
judged vacuous '<> (finished || held)'
judged vacuous '[] !(capturing && detected 2)'

# ---- a run that goes round ----

"$recline" check bookmark-temporal-missed --out kept >kept.txt 2>&1
trace=kept/bookmark-temporal-missed.trace
is "$(grep -c '^again from=' $trace) $(tail -n 1 $trace)" \
  '1 violation ltl rank=0: [] (requested -> <> committed) is violated by a run that repeats its last steps for ever' \
  'a lasso' kept.txt $trace
exits 0 'it replays' "$recline" check $trace
sed 's/<> committed/<> held/' $trace >other.trace
exits 64 'with a formula that the run does not violate, it does not' "$recline" check other.trace
grep -v '^again' $trace >ends.trace
exits 64 'nor with another end' "$recline" check ends.trace
check 'the narration says that it goes round' \
  grep -q 'And again from' kept/bookmark-temporal-missed.narration.txt
check 'the picture is drawn' test -s kept/bookmark-temporal-missed.svg
for workers in 2 3; do
  "$recline" check bookmark-temporal-missed --workers $workers --out "kept$workers" >kept.txt 2>&1
  same $trace "kept$workers/bookmark-temporal-missed.trace" "the same with $workers workers"
done

# ---- a run that ends ----

"$recline" check c3-temporal-busy --out kept >kept.txt 2>&1
trace=kept/c3-temporal-busy.trace
exits 0 'a run that ends replays' "$recline" check $trace
sed '/ commit checkpoint=/,$d' $trace >cut.trace
tail -n 1 $trace >>cut.trace
exits 64 'cut short, it does not' "$recline" check cut.trace
check 'there is no schedule for a formula' test ! -e kept/c3-temporal-busy.scenario.yaml

# ---- bounds and reductions ----

claim '[] (crashed -> <> finished)'
"$tool" check claim.yaml --reduce all --json >json 2>err
is "$(jq -r '.claims[0] | .verdict + ", " + .unreduced' json)" \
  'holds, reductions are not known to keep temporal properties' 'no reduction' json err
"$tool" check claim.yaml --compact --json >json 2>err
is "$(jq -r '.claims[0] | .verdict, .omission_probability' json | tr '\n' ' ')" 'holds 0 ' 'no fingerprints' json err
exits 0 'an audit finds the same' "$tool" check claim.yaml --audit

# ---- what is refused ----

refused 'X crashed' 'X, the next step, expected no X'
refused '[] (crashed -> <> comitted)' "found 'comitted)', expected a fact (crashed,"
refused '[] crashed 2' 'fact crashed with these numbers, expected the number of a rank, or none'
refused '<> committed' 'fact committed, and the ranks of uncoordinated recover independently' uncoordinated
claim '[] !held'
sed -i '/ltl:/d; s/  reach:.*/  properties: [ltl]/' claim.yaml
exits 64 'the property without a formula is refused' "$tool" check claim.yaml
finish
