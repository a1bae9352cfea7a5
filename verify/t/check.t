#!/bin/sh
# The check command: what it prints, its exit codes, what it refuses.
. "$(dirname "$0")/../../protocols/t/tap.sh"

claim()
{
  cat >"$dir/$1.yaml" <<END
id: $1
statement: a test & a "claim"
program:
  ranks: 2
  script: |
    rank 0: send 1
    rank 1: recv 0
protocol: {name: $2, capacity: 2}
check: {crashes: 1, checkpoints: 1}
expect: {verdict: $3}
END
}
claim fine bookmark holds
claim wrong none holds
claim lost none violated

says()
{
  check "$1" grep -q -F -- "$2" "$dir/out"
}

exits 0 'holds, as expected' "$tool" check "$dir/fine.yaml"
says 'says so' 'fine                         holds        as expected'
exits 1 'tells a service for CI' "$tool" check "$dir/fine.yaml" "$dir/wrong.yaml" --tap --annotate
is "$(sed 's,file=[^,]*/,file=,; s/: .*//' "$dir/err")" \
  '::error file=wrong.yaml,line=10,title=wrong::violated, expected holds' 'at the line of the claim' "$dir/err"
exits 0 'keeps a counterexample where -o says' "$tool" check "$dir/lost.yaml" -o "$dir/kept-there"
check 'which is there' test -s "$dir/kept-there/lost.trace"
exits 0 'violated, as expected' "$tool" check "$dir/lost.yaml" --out "$dir/dir"
says 'why' 'recovers, rank'
check 'the trace is written' test -s "$dir/dir/lost.trace"
cp "$dir/dir/lost.trace" "$dir/trace.txt"
exits 0 'it replays under any name' "$tool" check "$dir/trace.txt" "$dir/dir/lost.trace"
is "$(grep -c 'moves, the same in a replay' "$dir/out")" 2 'each says so' "$dir/out"
check 'nothing temporary is left' sh -c '! ls "$1" | grep -q tmp' - "$dir/dir"
exits 1 'violated, expected to hold' "$tool" check "$dir/wrong.yaml"
exits 2 'a bound' "$tool" check "$dir/fine.yaml" --max-states 10
says 'which one' 'bound reached: max-states'
exits 1 'the worst of several counts' \
  "$tool" check "$dir/fine.yaml" "$dir/wrong.yaml" --jobs 3
says 'how many' '1 of 2 claims as expected'

exits 2 'a time limit' timeout 60 "$tool" check "$root/verify/scaling/reach-c3.yaml" --timeout 0.5
says 'which one, too' 'bound reached: timeout'
check 'and what was found until then' grep -q '^ *[1-9][0-9]* states, [1-9][0-9]* transitions' "$dir/out"
sed 's/^check:/limits: {time: 0.5s, memory: 1GB}\n&/' "$root/verify/scaling/reach-c3.yaml" >"$dir/limits.yaml"
exits 2 'a time limit of the claim' timeout 60 "$tool" check "$dir/limits.yaml" --timeout 50
says 'which is reached first' 'bound reached: timeout'
sed 's/^protocol:.*/protocol: {name: pessimistic, capacity: 60000}\nlimits: {memory: 100MB}/' \
  "$root/verify/claims/pessimistic/recovers.yaml" >"$dir/limits.yaml"
exits 2 'a limit of memory' timeout 60 "$tool" check "$dir/limits.yaml"
says 'which is memory' 'bound reached: memory'
exits 0 'a time limit that is not reached' "$tool" check "$dir/fine.yaml" --timeout 50
exits 2 'one with a unit' timeout 60 "$tool" check "$root/verify/scaling/reach-c3.yaml" --timeout 1ms
exits 0 'a larger one' "$tool" check "$dir/fine.yaml" --timeout 1y --save-every 2min
for limit in soon -1 1w; do
  exits 64 "--timeout $limit" "$tool" check "$dir/fine.yaml" --timeout=$limit
  is "$(wc -l <"$dir/err"):$(grep -c '^recline check: --timeout: .*, expected' "$dir/err")" 1:1 "$limit: one line" "$dir/err"
done

exits 0 'JSON' "$tool" check "$dir/fine.yaml" "$dir/lost.yaml" --json --out "$dir/dir"
for key in id verdict expected states transitions seconds bytes_per_state peak_rss_mb reduction \
  trace depth statement bounds; do
  says "JSON has $key" "\"$key\" :"
done
check 'JSON is in the order of the arguments' \
  sh -c 'grep "\"id\"" "$1" | tr -d "\n" | grep -q "fine.*lost"' - "$dir/out"
check 'and nothing else is printed' sh -c 'head -c 1 "$1" | grep -q "{"' - "$dir/out"
exits 1 'TAP' "$tool" check "$dir/wrong.yaml" --tap
says 'TAP says not ok' 'not ok 1 - wrong violated'
exits 1 'JUnit' "$tool" check "$dir/wrong.yaml" --junit
says 'JUnit says failure' '<failure message="violated, expected holds">'
sed 's/^check: .*/check: {crashes: 0, checkpoints: 0, reach: [commits]}/' "$dir/fine.yaml" >"$dir/empty.yaml"
exits 1 'a claim that holds, and no run shows what it is about' "$tool" check "$dir/empty.yaml" --tap
says 'TAP says so' 'not ok 1 - fine vacuous'
says 'and what is missing' '# no run shows commits 1'
exits 1 'the same in JUnit' "$tool" check "$dir/empty.yaml" --junit
says 'as a failure with the reason' \
  '<failure message="vacuous, expected holds">no run shows commits 1</failure>'
sed -i 's/reach: .*]/reach: [commits 0]/' "$dir/empty.yaml"
exits 0 'a claim that asks for none' "$tool" check "$dir/empty.yaml"
sed 's/crashes: 1/crashes: 2, reach: [commits 2]/' "$dir/fine.yaml" >"$dir/twice.yaml"
exits 1 'a second checkpoint, where there is one' "$tool" check "$dir/twice.yaml" --json
says 'JSON says what is missing' '"why" : "no run shows commits 2"'
says 'and what runs show' '"recoveries" : 2'
exits 2 'with a reduction it is inconclusive' "$tool" check "$dir/twice.yaml" --reduce por
says 'as it leaves out runs' 'no run shows commits 2, but --reduce leaves out runs'
exits 0 'an audit of what the explorer remembers' "$tool" check "$dir/fine.yaml" --audit
sed 's/send 1/choose 2/; s/recv 0/checkpoint/; s/s: 1/s: 0/g' "$dir/fine.yaml" >"$dir/silent.yaml"
exits 0 'reductions of a world in which nothing is sent' \
  "$tool" check "$dir/silent.yaml" --reduce all --audit
exits 0 'a claim by its id' "$tool" check none-lost
mkdir -p "$dir/data/verify/claims"
cp "$dir/fine.yaml" "$dir/data/verify/claims/mine.yaml"
exits 0 'a claim below RECLINE_DATA' env RECLINE_DATA="$dir/data" "$tool" check mine
exits 0 'all of them' env RECLINE_DATA="$dir/data" "$tool" check --all
mkdir "$dir/data/verify/claims/long"
sed 's/^expect: .*/expect: {verdict: violated}/' "$dir/fine.yaml" \
  >"$dir/data/verify/claims/long/wrong.yaml"
exits 0 'all but the long ones' env RECLINE_DATA="$dir/data" "$tool" check --all
exits 1 'the long ones, too' env RECLINE_DATA="$dir/data" "$tool" check --all --long

# refuses NAME TEXT ARG...: exit 64 and one line with the text, nothing on standard output.
refuses()
{
  refused=$1
  text=$2
  shift 2
  exits 64 "$refused" "$tool" check "$@"
  check "$refused: says why" grep -q -F -- "$text" "$dir/err"
  check "$refused: starts nothing" test ! -s "$dir/out"
}
# Reductions: what was used and why not; the audit compares with the full search.
exits 0 'a reduced check' "$tool" check --reduce por --audit --json reference-cl-t
check 'says that it is reduced' grep -q '"reduction" : "por"' "$dir/out"
check 'says how many states there are' grep -q '"audited_states" : 16543' "$dir/out"
exits 0 'a check that cannot be reduced' "$tool" check --reduce por --json none-lost
check 'says that it is not reduced' grep -q '"reduction" : "none"' "$dir/out"
check 'and why' grep -q '"unreduced" : "a rank that is told of a crash does more than go back"' "$dir/out"
for claim in bookmark-reconnects bookmark-connect-blind; do
  exits 0 'recoveries in which connections are opened' "$tool" check --reduce por --audit $claim
done
"$tool" check bookmark-until-equal --reduce por >"$dir/out" 2>&1
check 'nor is where ways round are judged' grep -q 'not reduced: property progress' "$dir/out"

# Hash compaction: the same number of states, and how likely it is that there are more.
exits 0 'a check with fingerprints' "$tool" check --compact --json reference-cl-t
check 'finds as many states' grep -q '"states" : 16543' "$dir/out"
check 'says how likely one was left out' grep -q '"omission_probability" : 4.7[0-9]*e-10' "$dir/out"
check 'and a violation missed' grep -q '"miss_probability" : [0-9.]*e-1[0-9]' "$dir/out"
exits 0 'one with states' "$tool" check --json reference-cl-t
check 'leaves none out' grep -q '"omission_probability" : 0.0' "$dir/out"
check 'nor has it contents' grep -q '"collision_probability" : 0.0' "$dir/out"
exits 0 'one with contents' "$tool" check --json bookmark-recovers
check 'says how likely two were alike' grep -q '"collision_probability" : [0-9.]*e-2[0-9]' "$dir/out"
exits 0 'also as text' "$tool" check bookmark-recovers
check 'does' grep -q 'contents in 128 bits: .* a probability of [0-9.]*e-2[0-9] at most' "$dir/out"

refuses 'nothing' 'nothing to check, expected claims'
refuses 'an unknown claim' "there is no claim 'nix'" nix
refuses 'an unknown option' 'expected an option' --fast none-lost
refuses 'a reduction' '--reduce some, expected none, por, sym or all' --reduce some none-lost
refuses 'no workers' 'expected at least one job and worker' --workers 0 none-lost
refuses 'no jobs' 'expected at least one job and worker' --jobs 0 none-lost
refuses 'two formats' 'more than one of --json' --json --tap none-lost
refuses 'all and more' 'more than one of these' --all none-lost
refuses 'a file that is not there' "$dir/no.yaml" "$dir/no.yaml"
sed 's/send 1/send 7/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'a script' "bad.yaml:6: found '7', expected a rank from 0 to 1" "$dir/bad.yaml"
sed -e 's/rank 0:.*/rank *: free 1/' -e '/rank 1:/d' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'free programs' 'expected a protocol at the level of the channels' "$dir/bad.yaml"
sed 's/crashes: 1/properties: [luck]/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'a property' "'luck', expected one of" "$dir/bad.yaml"
sed 's/crashes: 1/reach: [commits many]/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'what runs show' "'commits many', expected one of ends, commits" "$dir/bad.yaml"
sed 's/crashes: 1/lies: [white]/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'a lie' 'white' "$dir/bad.yaml"
sed 's/rank 0: send 1/rank 0: recv 1/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'a program that deadlocks by itself' 'even without failures' "$dir/bad.yaml"
sed 's/name: bookmark/name: nothing/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'a protocol' "nothing" "$dir/bad.yaml"
claim full pessimistic violated
sed 's/rank 0: send 1/rank 0: send 1, send 1/; s/rank 1: recv 0/rank 1: recv 0, recv 0/; s/capacity: 2/capacity: 1/' \
  "$dir/full.yaml" >"$dir/one.yaml"
exits 0 'a list that is full' "$tool" check "$dir/one.yaml"
says 'is named, with the key and a value' \
  'one of its lists is full (sent-messages): protocol.capacity is 1, try 2'
sed 's/capacity: 1/capacity: 2/; s/violated/holds/' "$dir/one.yaml" >"$dir/two.yaml"
exits 0 'which does' "$tool" check "$dir/two.yaml" --max-states 200000
exits 0 'a step that the door does not allow' "$tool" check time-based-cache-kept
says 'names action, event and rule' \
  'legal, rank 0, by step 19: keep at send: slot 1, expected one that is empty'

for verdict in completed recovered gave-up lost; do
  sed "s/verdict: .*}/verdict: $verdict}/" "$dir/fine.yaml" >"$dir/bad.yaml"
  refuses "a verdict of runs: $verdict" 'bad.yaml:10: expect.verdict: that of a run, expected holds' \
    "$dir/bad.yaml"
done
sed 's/verdict: .*}/verdict: holds, program_exit: 3}/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'an exit code' 'expect.program_exit: nothing exits in a check' "$dir/bad.yaml"

# Ids become names of files and of tests.
# shellcheck disable=SC2016
for id in ../../../evil /tmp/evil .hidden 'x # TODO y' 'x\ny' 'x\u0001y' 'a b' ''; do
  { printf 'id: "%s"\n' "$id"; sed '/^id:/d' "$dir/fine.yaml"; } >"$dir/bad.yaml"
  refuses "an id: ${id%% *}" 'is no name, expected letters, digits' "$dir/bad.yaml" --tap --out "$dir/new/dir"
done
check 'nothing was written for them' test ! -e "$dir/new"
sed '/^id:/d' "$dir/wrong.yaml" >"$dir/x # TODO y.yaml"
exits 1 'a file with such a name' "$tool" check --tap "$dir/x # TODO y.yaml"
says 'has an id made of it' 'not ok 1 - x---TODO-y violated'

refuses 'too many workers' 'expected at most 1024 of each' --workers 9999999 none-lost
refuses 'too many jobs' 'expected at most 1024 of each' --jobs 9999999 none-lost
sed 's/capacity: 2/capacity: 1048577/' "$dir/fine.yaml" >"$dir/bad.yaml"
refuses 'a large capacity' 'expected 1 to 1048576' "$dir/bad.yaml"
refuses 'a file that never ends' '/dev/zero: File too large, expected a scenario file of at most 1 MiB' \
  /dev/zero
awk 'BEGIN { printf "id: "; for (i = 0; i < 32000; i++) printf "["; print "" }' >"$dir/bad.yaml"
refuses 'a file that is too deep' 'bad.yaml:1: nested too deep, expected one scenario' "$dir/bad.yaml"
awk 'BEGIN { printf "id:\n"; for (i = 1; i < 900; i++) { printf "%*s- \n", i, "" } }' >"$dir/bad.yaml"
refuses 'and in lines' 'nested too deep, expected one scenario' "$dir/bad.yaml"
finish
