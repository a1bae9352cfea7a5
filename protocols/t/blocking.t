#!/bin/sh
# The story of a run of blocking at a barrier, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/blocking.steps"
