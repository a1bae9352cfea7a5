#!/bin/sh
# Writing and reading result.json.
exec "${RECLINE_BUILD:-$(dirname "$0")/../../../build}/t/result-test"
