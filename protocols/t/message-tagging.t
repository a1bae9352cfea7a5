#!/bin/sh
# The story of a run of Message Tagging, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/message-tagging.steps"
