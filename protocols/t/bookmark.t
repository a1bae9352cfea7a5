#!/bin/sh
# The story of a bookmark exchange, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/bookmark.steps"
