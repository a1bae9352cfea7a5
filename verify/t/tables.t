#!/bin/sh
# The tables on which searches and reductions rest.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/tables-test"
