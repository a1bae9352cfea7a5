#!/bin/sh
# Runs that go round for ever, against a search that knows nothing of components.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/liveness-test"
