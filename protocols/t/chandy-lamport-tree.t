#!/bin/sh
# The story of reports over the spanning tree, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/chandy-lamport-tree.steps"
