#!/bin/sh
# Verdicts on runs that go round for ever are compared with those of a search without components.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/liveness-test"
