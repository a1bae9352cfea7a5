#!/bin/sh
# Tests large static arrays that a program hardly uses.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/image-zeros"
