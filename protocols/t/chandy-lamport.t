#!/bin/sh
# The story of a Chandy-Lamport checkpoint, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/chandy-lamport.steps"
