#!/bin/sh
# Calls of MPI 4, which SMPI does not have (layer-mpi4.c, layer-mpi4.f90): each that is handled, in C,
# C++ and Fortran, under every protocol that recovers, crashed or not.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-mpi4
for program in $programs; do
  calls_of_mpi_4 >handled
  [ "$program" != in-fortran ] ||
    { calls_of_mpi_4 in_fortran | tr A-Z a-z >lower && mv lower handled; }
  all_are_made 1 "$program: makes every call of MPI 4 that is handled" "$program"
done

cat >scenario.yaml <<EOF
program:    {binary: ./in-c, args: ["6"], ranks: 5}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF

rounds=6 every=3ms
for run in $programs; do
  attempt_alone "$run"
  for protocol in c3 bookmark pessimistic uncoordinated; do
    recovers "$run" $protocol '{rank: 1, at: 3ms, repair: 1ms}, {rank: 0, at: 6ms, repair: 1ms}'
  done
done
instants='3'
[ -z "${RECLINE_LONG-}" ] || instants='1 2 3 4 5 6 7 8 9'
for at in $instants; do
  recovers_everywhere in-c "{rank: $((at % 5)), at: ${at}ms, repair: 1ms}" 200us
done

# ---- outside of a run ----
seq -f 'node-%g' 0 4 >hosts
smpirun -np 5 -platform "$root/platforms/clan.xml" -hostfile hosts ./in-c 1 >stdout 2>stderr
is "$?:$(grep -c 'MPI_Isendrecv is recline.s alone, expected recline run' stderr)" 64:1 \
  'plain smpirun has none of them' stderr
finish
