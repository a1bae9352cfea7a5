#!/bin/sh
# Compares contributions to collectives in groups and in parts, in worlds that take the same moves.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/grouped-test"
