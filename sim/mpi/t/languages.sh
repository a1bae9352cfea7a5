# Builds and runs programs that call a part of MPI from C, C++ and Fortran. Tests source this file
# after tap.sh.

# These calls have a name in FORTRAN 77 only in recline; layer-f08.f90 makes them.
# shellcheck disable=SC2034 # used by tests that source this file
only_in_f08='comm_idup\|dist_graph\|neighbor_\|mprobe\|mrecv\|_x$\|\(win\|file\)_\(create\|call\)_errhandler\|win_[gs]et_errhandler\|win_\(test\|sync\|shared_query\|allocate_shared\)$'

# Prints the calls that are handled although SMPI does not have them, which mpi4.t makes; with
# `in_fortran`, only calls that are handled in Fortran, too.
calls_of_mpi_4() { # [in_fortran]; large.t tests calls with large counts
  sed -n "s/^| \`\(MPI_[A-Za-z0-9_]*\)\` | \*\*handled\*\* | ${1:+\*\*handled}.*| MPI [34] |\$/\1/p" \
    "$root/docs/mpi-coverage.md" | grep -v '_c$'
}

# Builds $programs from NAME.c and NAME.f90: in-c, in-c++ and, if there is a compiler, in-fortran.
build_in_all() { # NAME
  cp "$here/programs/$1.c" "$here/programs/$1.f90" "$here"/programs/layer-rounds.* .
  echo "#include \"$1.c\"" >"$1.cc"
  warnings='-O2 -g -Wall -Wextra -Werror'
  # shellcheck disable=SC2086 # a list
  "$build/bin/recline-cc" -std=gnu11 $warnings "$1.c" -o in-c >log 2>&1 &&
    "$build/bin/recline-c++" $warnings "$1.cc" -o in-c++ >>log 2>&1
  is "$?" 0 'the program is built in C and in C++' log
  programs='in-c in-c++'
  if command -v gfortran >/dev/null; then
    "$build/bin/recline-f90" -O2 -g "$1.f90" -o in-fortran >log 2>&1
    is "$?" 0 'and in Fortran' log
    programs="$programs in-fortran"
  else
    ok 'and in Fortran # SKIP no gfortran'
  fi
}

# Tests that these programs together make all calls of file `handled`, and that there are more than
# LEAST.
all_are_made() { # LEAST DESCRIPTION PROGRAM...
  least=$1 description=$2
  shift 2
  nm -D --undefined-only "$@" | sed -n -e 's/.* [Uw] \(MPI_[A-Za-z0-9_]*\)$/\1/p' \
    -e 's/.* U \(mpi_[a-z0-9_]*\)_$/\1/p' | sed 's/_f08$//' | sort -u >made
  sort handled | comm -23 - made >missing
  [ "$(wc -l <handled)" -gt "$least" ] && [ ! -s missing ]
  is $? 0 "$description" missing
}

# Tests that each of $programs makes every handled call of that pattern; in Fortran, calls of the
# pattern UNLESS are left out. If $beside is set ("other-"), the program of that name in the same
# language counts, too.
each_makes() { # PATTERN LEAST DESCRIPTION [UNLESS]
  for program in $programs; do
    both=
    [ "$program" != in-fortran ] || both='\*\*handled\*\* | '
    sed -n -e '/MPI [34] |$/d' -e "s/^| \`\($1\)\` | $both\*\*handled.*/\1/p" "$root/docs/mpi-coverage.md" >handled
    [ "$program" != in-fortran ] ||
      { tr A-Z a-z <handled | grep -v "${4:-nothing}" >lower && mv lower handled; }
    all_are_made "$2" "$program: makes every call$3 that is handled" "$program" \
      ${beside:+"$beside${program#in-}"}
  done
}

# ---- programs that run in $rounds rounds and say how many failures they have found ----

# Writes scenario.yaml: the program in C on the nodes of cLAN, without a protocol or failures.
write_scenario() { # RANKS ARGUMENTS
  cat >scenario.yaml <<EOF
program:    {binary: ./in-c, args: $2, ranks: $1}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF
}

# Tests that PROGRAM ends with VERDICT and has found no failures.
attempt() { # PROGRAM VERDICT DESCRIPTION WORD...
  program=$1 ends=$2 description=$3
  output="$rounds rounds, 0 failures, PASS"
  [ "${program#*-}" != fortran ] || output="$rounds rounds, 0 failures"
  shift 3
  run_ends "$ends" "$program, $description" --set "program.binary=./$program" "$@"
  is "$(cat out/program.out)" "$output" "$what: all values are right" out/program.out stderr
}

# Tests the same with crashes (FAILURES), and a checkpoint every $every.
recovers() { # PROGRAM PROTOCOL FAILURES WORD...
  run=$1 protocol=$2 failures=$3
  shift 3
  attempt "$run" recovered "$protocol, $failures" --set "protocol.name=$protocol" \
    --set "checkpoint={every: $every, storage: local, bytes: 10kB}" --set "failures=[$failures]" "$@"
}

# Tests the same without a protocol, with the heap watched.
attempt_alone() { # PROGRAM
  RECLINE_HEAP_WATCH=1
  export RECLINE_HEAP_WATCH
  attempt "$1" completed 'no protocol'
  unset RECLINE_HEAP_WATCH
}

# Tests the same under all protocols that recover, except PROTOCOL...; LONGEST is the bound on
# messages for `time-based`.
recovers_everywhere() { # PROGRAM FAILURE LONGEST [PROTOCOL...]
  of=$1 failure=$2 longest=$3
  shift 3
  for each in blocking bookmark c3 chandy-lamport event-logging hybrid index-based lai-yang mattern \
    message-tagging optimistic pessimistic pessimistic-wildcards uncoordinated; do
    case " $* " in
    *" $each "*) ;;
    *) recovers "$of" "$each" "$failure" ;;
    esac
  done
  recovers "$of" causal "$failure" --set protocol.failures=2
  recovers "$of" time-based "$failure" --set "clocks.longest=$longest"
}
