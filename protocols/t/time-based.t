#!/bin/sh
# The story of a checkpoint by clocks, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/time-based.steps"
