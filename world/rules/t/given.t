#!/bin/sh
# Tests what the world does with what it is given.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/given-test"
