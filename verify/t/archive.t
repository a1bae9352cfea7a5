#!/bin/sh
# States on disk.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/archive-test"
