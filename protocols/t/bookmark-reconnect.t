#!/bin/sh
# Bookmarks where connections are closed for a capture, step by step.
here=$(dirname "$0")
exec "${RECLINE_BUILD:-$here/../../build}/t/steps-test" "$here/bookmark-reconnect.steps"
