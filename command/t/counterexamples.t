#!/bin/sh
# A counterexample of the explorer is also a scenario. With it real programs on the simulated machine do
# the same, with the same outcome. The audit finds the same property violated; for `outcome`, the programs
# print histories that no run without failures has; where the protocol gives up, the run does.
#
# The test tries some mutants of each protocol, and the claims that are refuted. RECLINE_LONG=1: all
# mutants, except for those whose messages overtake each other.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer

ids='blocking-release-early blocking-wants-alone blocking-not-quiet
bookmark-until-equal bookmark-asks-again bookmark-erase-early bookmark-connect-blind
c3-no-suppress c3-no-choice-log c3-early-forgotten c3-calls-not-awaited c3-barrier-crosses
c3-cancel-matched c3-deaf c3-stale-stop
chandy-lamport-no-record chandy-lamport-marker-late chandy-lamport-children-not-awaited
event-logging-no-drop event-logging-hash-not-perfect event-logging-older-forgotten
hybrid-no-filter hybrid-no-agreement message-tagging-no-orphans message-tagging-early-uncounted
pessimistic-gap pessimistic-no-decisions pessimistic-no-failed-tests
causal-told-has causal-first-answer
time-based-no-cache time-based-no-hold time-based-erase-early
uncoordinated-no-tracking uncoordinated-stale-taken uncoordinated-once
message-tagging-drains-in-turn'
if [ "${RECLINE_LONG:-0}" != 0 ]; then
  ids=$(grep -L 'order: none' "$root"/verify/mutants/*/*.yaml | claim_names)
fi
claims='none-lost event-logging-orphan-choice hybrid-leaves-iteration uncoordinated-no-domino
chandy-lamport-application-doubles event-logging-synchronous-order time-based-synchronous-order
pessimistic-synchronous-order bookmark-needs-control-order c3-needs-control-order
pessimistic-needs-control-order uncoordinated-needs-control-order event-logging-needs-control-order
pessimistic-needs-whole-writes causal-f1-node hybrid-needs-whole-writes
chandy-lamport-synchronous-matched none-synchronous-matched'
# In these cases ranks crash within steps.
within='cut-hybrid-undone-durable cut-blocking-done-early cut-bookmark-erase-early'
for id in $within; do
  sed "s/^id: .*/id: $id/; s/\(crashes: [12]\),/\1, hazards: [cut-steps],/
    s/^  crashes: .*/&\n  hazards: [cut-steps]/" "$(claim_file "${id#cut-}")" >"$dir/$id.yaml"
done
# In this case a living rank is declared dead.
within="$within declared-blocking-goes-back-once"
sed 's/^id: /id: declared-/; s/crashes: 2,/crashes: 2, hazards: [false-detection],/' \
  "$root/verify/mutants/blocking/goes-back-once.yaml" >"$dir/declared-blocking-goes-back-once.yaml"
# shellcheck disable=SC2086 # one word for each
"$recline" check $ids $claims $(printf "$dir/%s.yaml " $within) --out "$dir" >"$dir/check" 2>&1
is "$?" 0 'all are violated' "$dir/check"

# happens ID: prints what the run of its scenario shows, in the words of the trace's last line.
happens() {
  "$recline" run "$dir/$1.scenario.yaml" --out "$dir/$1" >"$dir/stdout" 2>"$dir/stderr"
  result=$dir/$1/result.json
  case $expected in
    outcome)
      # a rank that is rolled back prints its history again
      histories=$(tac "$dir/$1/program.out" | sort -s -u -k 4,4n | sed 's/.*: //' | tr '\n' ' ')
      tail -n 1 "$dir/$1.trace" | grep -q "(histories ${histories% })\$" && echo outcome
      ;;
    recovers) case $(value "$result" verdict) in gave-up | lost) echo recovers ;; esac ;;
    *) value "$result" audit.first | sed 's/:.*//' ;;
  esac
}

is "$(cd "$dir" && grep -lE ' cut=| falsely' $(printf '%s.trace ' $within) | wc -l)" 4 \
  'ranks crash within steps, or are declared dead'
for id in $ids $claims $within; do
  expected=$(tail -n 1 "$dir/$id.trace" | cut -d ' ' -f 2)
  is "$(happens "$id")" "$expected" "$id: $expected" "$dir/stderr"
done
is "$(ls "$dir"/*.narration.txt | wc -l)" "$(ls "$dir"/*.svg | wc -l)" 'each is told in words'

# Real programs cannot do everything that a trace may hold.
refuses() { # ID, KEY=VALUE, TEXT
  "$recline" run "$dir/$1.scenario.yaml" --set "$2" >"$dir/stdout" 2>"$dir/stderr"
  is "$?" 64 "refused: $3"
  is "$(grep -c -F -- "$3" "$dir/stderr")" 1 "it says: $3" "$dir/stderr"
}
"$recline" check lie-c3-drop chandy-lamport-needs-fifo --out "$dir" >"$dir/check" 2>&1
is "$(ls "$dir"/lie-*.scenario.yaml "$dir"/chandy-lamport-needs-fifo.scenario.yaml 2>/dev/null)" '' \
  'no scenario where a host lies or messages overtake each other'
sed -i 's/c3~no-suppress/c3/' "$dir/c3-no-suppress.scenario.yaml"
refuses c3-no-suppress "schedule=$dir/lie-c3-drop.trace" 'its host lies, expected one that does not'
refuses c3-no-suppress "schedule=$dir/c3-deaf.trace" 'of another protocol or number of ranks'
refuses c3-no-suppress 'failures.0={rank: 0, at: 1s}' 'beside failures, checkpoint.every or checkpoint.writes'
refuses c3-no-suppress 'schedule=nowhere.trace' 'is not there, expected a trace of recline check'

# A script that does something else than the trace says cannot follow it.
"$recline" run "$dir/c3-deaf.scenario.yaml" \
  --set 'program.script="rank *: allreduce"' >"$dir/stdout" 2>"$dir/stderr"
is "$?" 64 'another program cannot follow' "$dir/stderr"
is "$(grep -c 'expected .* that can follow' "$dir/stderr")" 1 'and it says at which step' "$dir/stderr"
finish
