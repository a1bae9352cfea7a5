#!/bin/sh
# Tests confined code in several threads.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/confine-test"
