#!/bin/sh
# Tests that scenarios are loaded, refused, overridden and saved.
exec "${RECLINE_BUILD:-build}/t/scenario-test"
