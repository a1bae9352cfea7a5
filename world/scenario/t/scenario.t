#!/bin/sh
# Loading, refusing, overriding and saving scenarios.
exec "${RECLINE_BUILD:-build}/t/scenario-test"
