#!/bin/sh
# Tests the parser of scripts.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/script-test"
