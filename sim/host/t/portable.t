#!/bin/sh
# Tests images at the application level as bytes, in both byte orders.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/portable-test"
