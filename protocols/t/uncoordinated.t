#!/bin/sh
# The story of uncoordinated.steps, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/uncoordinated.steps"
