#!/bin/sh
# Tests that result.json is written and read.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/result-test"
