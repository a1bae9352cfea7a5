#!/bin/sh
# Tests topologies as text: what they mean, and which are refused.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/neighbours-test"
