#!/bin/sh
# Times between failures follow their laws.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/law-test"
