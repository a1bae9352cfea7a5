#!/bin/sh
# Tests Fortran programs. If recline-f90 builds the programs, they do the same as if smpif90 builds
# them; under a protocol they end with the same result, with crashes and without. And
# docs/mpi-coverage.md says what the layer does.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"

if ! command -v gfortran >/dev/null; then
  echo '1..0 # SKIP gfortran is not installed'
  exit 0
fi

source=$here/programs/layer-fortran.f90
cp "$source" "$here/programs/layer-fortran-misc.f90" "$dir" # the compiler leaves files beside it
cd "$dir" || exit 1
flags='-O2 -g -fallow-argument-mismatch -w'
# shellcheck disable=SC2086 # a list
smpif90 $flags layer-fortran.f90 -o plain >"$dir/log" 2>&1
# shellcheck disable=SC2086
"$build/bin/recline-f90" $flags layer-fortran.f90 -o program >>"$dir/log" 2>&1
is "$?" 0 'recline-f90 builds a program' "$dir/log"
# shellcheck disable=SC2086
"$build/bin/recline-f90" $flags layer-fortran-misc.f90 -o rest >"$dir/log" 2>&1
is "$?" 0 'and another' "$dir/log"

# ---- under plain smpirun ----
for i in 0 1 2 3 4; do echo "node-$i"; done >hosts
plain() { # PROGRAM ARGUMENT...
  timeout 60 smpirun -np 5 -platform "$root/platforms/clan.xml" -hostfile hosts \
    --cfg=smpi/simulate-computation:no --log=root.thres:critical "$@"
}
plain ./plain 4 time >timed 2>err
plain ./plain 4 >expected 2>err
survives=$?
if [ $survives -ge 128 ]; then # SimGrid 4.0: docs/warts-smpi.md
  echo "# no comparison with plain SMPI, which crashes: exit code $survives"
else
  plain ./program 4 time >plain-out 2>err
  same timed plain-out 'recline-f90 under plain smpirun: the same output, the same simulated time'
fi

# ---- under a protocol ----
cat >scenario.yaml <<EOF
program:    {binary: ./program, args: ["4", all], ranks: 5}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF

run() { # VERDICT DESCRIPTION WORD...
  run_ends "$@"
  is "$(grep '^layer-fortran' out/program.out)" "$(tail -n 1 expected)" "$what: the same result" \
    out/program.out
}

run_ends completed 'no protocol'
[ $survives -lt 128 ] || cp out/program.out expected
is "$(tail -n 1 expected)" 'layer-fortran: 5 ranks, history 6440, 0 failures' \
  'what the program should do' "$dir/expected" "$dir/err"
same expected out/program.out 'no protocol: the same output'
RECLINE_HEAP_WATCH=1
export RECLINE_HEAP_WATCH
run completed 'every entry point leaves the heap of the rank'
unset RECLINE_HEAP_WATCH

every='checkpoint={every: 4ms, storage: local, bytes: 10kB}'
for protocol in bookmark c3; do
  run completed "$protocol, no crash" --set protocol.name=$protocol --set "$every"
  for at in 3ms 7ms 9ms 13ms 16ms; do
    for rank in 0 3; do
      run recovered "$protocol, rank $rank crashes at $at" --set protocol.name=$protocol \
        --set "$every" --set "failures=[{rank: $rank, at: $at, repair: 1ms}]"
    done
  done
  for point in 'event: captured, checkpoint: 2' 'event: committed, checkpoint: 1, rank: 0' \
    'event: send, count: 9'; do
    run recovered "$protocol, a crash after $point" --set protocol.name=$protocol \
      --set "$every" --set "failures=[{rank: 3, after: {$point}}]"
  done
  run recovered "$protocol, a crash while it recovers" --set protocol.name=$protocol \
    --set "$every" --set 'failures=[{rank: 0, at: 9ms}, {rank: 3, after: {event: start, recovery: 1}}]'
done

# ---- the calls that this program does not make ----
rest() { # VERDICT DESCRIPTION WORD...
  run_ends "$@" --set program.binary=./rest --set 'program.args=["4"]'
  is "$(cat out/program.out)" '4 rounds, 0 failures' "$what: the other calls, too" out/program.out
}
RECLINE_HEAP_WATCH=1
export RECLINE_HEAP_WATCH
rest completed 'no protocol'
unset RECLINE_HEAP_WATCH
for protocol in bookmark c3; do
  for at in 7ms 19ms 31ms; do
    rest recovered "$protocol, rank 2 crashes at $at" --set protocol.name=$protocol \
      --set "$every" --set "failures=[{rank: 2, at: $at, repair: 1ms}]"
  done
done

# A row of the table with `handled` twice is a call that is handled in Fortran, too. Other tests
# make some of these calls: repair.t MPIX_..., files-mpi.t MPI_File_..., windows.t MPI_Win_...,
# intercomm.t MPI_Intercomm_..., types.t MPI_Type_... and other values, f08.t the calls that SMPI
# does not have in Fortran.
sed -n -e '/MPI [34] |$/d' -e 's/^| `\(MPI_[A-Za-z0-9_]*\)` | \*\*handled\*\* | \*\*handled.*/\1_/p' \
  "$root/docs/mpi-coverage.md" | tr A-Z a-z | sed 's/_$//' | grep -v "$only_in_f08" | sed 's/$/_/' |
  grep -v 'mpi_\(comm_remote\|intercomm\|file_\|win_\|put\|get_$\|get_acc\|accum\|fetch\|compare_and\|rput\|rget\|racc\|type_\|dims_create\|group_excl\|group_inters\|reduce_local\|status_set\)' | sort >handled
nm -D --undefined-only program rest | sed -n 's/.* U \(mpi_[a-z0-9_]*_\)$/\1/p' | sort -u >made
comm -23 handled made >missing
[ "$(wc -l <handled)" -gt 100 ] && [ ! -s missing ]
is $? 0 'the programs make every call that is handled in Fortran' missing

# ---- FORTRAN 77 ----
cat >old.f <<'EOF'
      program old
      include 'mpif.h'
      integer me, all, error
      call mpi_init(error)
      call mpi_comm_rank(MPI_COMM_WORLD, me, error)
      do 10 i = 1, 40
        call smpi_execute(1d-3)
        call mpi_allreduce(me, all, 1, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, error)
   10 continue
      if (me .eq. 0) print *, 'sum', all
      call mpi_finalize(error)
      end
EOF
"$build/bin/recline-ff" old.f -o old >log 2>&1
"$recline" run scenario.yaml --set program.binary=./old --set 'program.args=[]' \
  --set protocol.name=c3 --set "$every" --set 'failures=[{rank: 1, at: 20ms}]' >stdout 2>stderr
is "$?:$(grep -c 'sum *10' stdout)" 0:1 'recline-ff: a program in fixed form recovers' log stderr

# ---- what a Fortran program may not do ----
cat >refused.f90 <<'EOF'
program refused
  use mpi
  integer :: error, other
  call mpi_init(error)
  call mpi_comm_join(0, other, error)
  call mpi_finalize(error)
end program refused
EOF
"$build/bin/recline-f90" refused.f90 -o refused >log 2>&1
"$recline" run scenario.yaml --set program.binary=./refused --set 'program.args=[]' >stdout 2>stderr
is "$?" 64 'what the layer does not handle is refused: exit code 64' log stderr
is "$(grep -c 'MPI_Comm_join is not handled under a recovery protocol' stderr)" 1 \
  'and the call is named' stderr

# ---- every Fortran name of SMPI has a wrapper ----
nm -D --defined-only "$build/lib/librecline_mpi.so" | sed 's/.* //' | sort >defined
sort "$build/sim/mpi/fortran_names" | grep -v '^mpi_win_\(dup\|null_copy\)_fn_$' |
  comm -23 - defined >missing
is "$(wc -l <missing)" 0 'every Fortran name of SMPI is defined by the layer' missing

# ---- what the documentation says ----
# shellcheck disable=SC2046 # names without spaces
awk -v output=coverage -f "$root/sim/mpi/wrappers.awk" $(cat "$build/sim/mpi/awk_input") >coverage.md
same coverage.md "$root/docs/mpi-coverage.md" \
  'docs/mpi-coverage.md is up to date (cmake --build build --target coverage writes it)'

finish $((survives < 128 ? 88 : 87))
