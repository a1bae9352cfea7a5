#!/bin/sh
# The story of the C3 papers' figures, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/c3.steps"
