#!/bin/sh
# What each protocol says of the memory that it uses.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/in-use-test"
