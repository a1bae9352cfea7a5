#!/bin/sh
# Tests the allocator of the arenas against a model.
here=$(cd "$(dirname "$0")" && pwd)
bin=${RECLINE_BUILD:-$here/../../../build}/t

"$bin/heap-unit" "$@"
