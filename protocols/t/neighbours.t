#!/bin/sh
# Topologies: what they mean, and what is refused.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/neighbours-test"
