#!/bin/sh
# A step that the grammar refuses ends a program on real MPI, in the words of checks and runs.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_mpi t/grammar-mpi

run() { # NUMBER: of a case
  # shellcheck disable=SC2086 # a list of words
  timeout 60 mpirun ${open-} -n 1 "$build/t/grammar-mpi" "$1" "$dir/kept" >"$dir/out" 2>"$dir/err" </dev/null
  code=$?
  rm -rf "$dir/kept"
}

"$build/t/grammar-test" --list >"$dir/cases"
refused() { # NAME: of a case
  IFS='|' read -r number protocol name expected <<END
$(grep -F "|$1|" "$dir/cases")
END
  run "$number"
  is "$code:$(grep -c "^breach: protocol $protocol, rank 0, .*: $expected\$" "$dir/err")" 3:1 "$name" "$dir/err"
}

run 0
is "$code" 0 'without one the program comes to its end' "$dir/err"
refused 'two commits'
refused 'two images'
refused 'two answers to a send'
refused 'no answer to a send'
refused 'kept and dropped'
refused 'a capture of no checkpoint'
refused 'two timers'
refused 'back without a crash'
finish
