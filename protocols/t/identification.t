#!/bin/sh
# Tests, by random histories, which messages each form of a protocol takes for in transit and for orphans.
# RECLINE_SEED: first seed (1).
here=$(dirname "$0")
test=${RECLINE_BUILD:-$here/../../build}/t/identification-test
answer=$(mktemp) || exit 1
trap 'rm -f "$answer"' EXIT
tests=0
failed=0
for protocol in event-logging event-logging-sorted event-logging-posted event-logging-paired \
  message-tagging; do
  tests=$((tests + 1))
  "$test" $protocol "${RECLINE_SEED:-1}" 20000 >"$answer" || failed=1
  sed -n "s/^\(ok\|not ok\) 1/\1 $tests/p; /^#/p" "$answer"
done
echo "1..$tests"
exit $failed
