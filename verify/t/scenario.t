#!/bin/sh
# Loading, refusing, overriding and saving scenarios.
exec "${RECLINE_BUILD:-build}/bin/scenario-test"
