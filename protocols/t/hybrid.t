#!/bin/sh
# The story of hybrid.steps, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/hybrid.steps"
