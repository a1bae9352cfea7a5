#!/bin/sh
# Tests contributions to collectives in groups.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/shares-test"
