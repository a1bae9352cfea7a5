#!/bin/sh
# Worlds in which one rule of the judge decides.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../build}/t/judge-test"
