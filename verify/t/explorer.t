#!/bin/sh
# The explorer against a search without its ideas, and against counts made by hand.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/explorer-test"
