#!/bin/sh
# The crash reduction of programs with outputs: what has left is part of what a crash leaves. Each
# claim and mutant is explored again in full (--audit), with the crash in every state: verdict and
# states at rest must be the same, and equal remains must lead to the same states. This is done with
# one crash; for blocking and bookmark, and with RECLINE_LONG=1 for all, also with two.
. "$(dirname "$0")/../../protocols/t/tap.sh"

# Tests that a file has the verdict that it expects, reduced by NAME.
agrees() { # NAME WHAT FILE
  "$recline" check "$3" --reduce por --audit --json >found 2>log
  is "$? $(jq -r '.claims[0] | "\(.verdict == .expected) \(.reduction)"' found)" "0 true $1" "$2" log found
}

cd "$dir" || exit 1
for claim in blocking bookmark c3 event-logging message-tagging; do
  whole=$root/verify/claims/$claim/output.yaml
  agrees recovery "$claim-output" "$whole"
  case ${RECLINE_LONG:-}$claim in
    c3 | event-logging | message-tagging) continue ;;
  esac
  sed 's/crashes: 1/crashes: 2/' "$whole" >"$claim-output.yaml"
  agrees recovery "$claim-output, two crashes" "$claim-output.yaml"
done
for mutant in bookmark-output-uncommitted c3-output-early; do
  agrees recovery "$mutant" "$(claim_file "$mutant")"
done

# Where ranks go back one by one, nothing is reduced.
agrees none pessimistic-output "$root/verify/claims/pessimistic/output.yaml"
is "$(jq -r '.claims[0].unreduced' found)" 'there are crashes, and ranks go back one by one' \
  'and it is said why' found
tests=11
[ -z "${RECLINE_LONG:-}" ] || tests=14
finish $tests
