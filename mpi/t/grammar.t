#!/bin/sh
# A step that the grammar refuses ends a program on real MPI, in the words of checks and runs; so does
# one that this host alone lacks.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_mpi t/grammar-mpi

run() { # NUMBER of a case, processes
  rm -rf "$dir/kept"
  # shellcheck disable=SC2086 # a list of words
  timeout 60 mpirun ${open-} -n "$2" "$build/t/grammar-mpi" "$1" "$dir/kept" >"$dir/out" 2>"$dir/err" </dev/null
  code=$?
}

"$build/t/grammar-test" --list >"$dir/cases"
"$build/t/grammar-mpi" --list >"$dir/lacking"
cat "$dir/lacking" >>"$dir/cases"
refused() { # NAME: of a case
  IFS='|' read -r number protocol name expected <<END
$(grep -F "|$1|" "$dir/cases")
END
  run "$number" 1
  is "$code:$(grep -c "^breach: protocol $protocol, rank 0, .*: $expected\$" "$dir/err")" 3:1 "$name" "$dir/err"
}

run 0 1
is "$code" 0 'without one the program comes to its end' "$dir/err"
refused 'two commits'
refused 'two images'
refused 'two answers to a send'
refused 'no answer to a send'
refused 'kept and dropped'
refused 'a capture of no checkpoint'
refused 'two timers'
refused 'back without a crash'
while IFS='|' read -r _ _ name _; do
  refused "$name"
done <"$dir/lacking"
is "$(wc -l <"$dir/lacking")" 7 'all that this host lacks' "$dir/lacking"

# A step at TIMER puts the checkpoint off only if it does nothing but set the timer again. If it also
# begins a checkpoint, that checkpoint is committed before the processes leave.
run renews 4
is "$code:$(find "$dir/kept" -name committed | wc -l)" 0:1 'a checkpoint begun by a step that sets the timer is committed' "$dir/err"
finish
