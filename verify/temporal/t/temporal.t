#!/bin/sh
# Automata of temporal formulas, and the search for fair runs that they accept.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/temporal-test"
