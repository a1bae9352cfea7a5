#!/bin/sh
# What the world is given, and what it gives back.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/given-test"
