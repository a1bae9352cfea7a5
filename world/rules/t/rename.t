#!/bin/sh
# Which parts of a world can be renamed.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/rename-test"
