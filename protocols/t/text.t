#!/bin/sh
# Tests events, actions and the registry as text.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/text-test"
