#!/bin/sh
# The story of a run of Event Logging, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/event-logging.steps"
