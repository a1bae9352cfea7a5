#!/bin/sh
# Each protocol names the memory of its state that it uses.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/in-use-test"
