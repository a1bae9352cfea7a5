#!/bin/sh
# Tests parts in place: lists that lose items at their front.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/in-place-test"
