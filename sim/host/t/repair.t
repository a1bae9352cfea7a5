#!/bin/sh
# Tests programs that repair themselves by User-Level Failure Mitigation, under `none`.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

"$build/bin/recline-cc" -std=gnu11 -O1 -Wall -Wextra "$here/programs/repair-program.c" -o program >log 2>&1
is $? 0 'recline-cc has mpi-ext.h' log

cat >scenario.yaml <<EOF
program:    {binary: ./program, ranks: 3}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
failures:   [{rank: 1, at: 5ms}]
detection:  1ms
recovery:   {runtime: ulfm}
EOF

# Tests that the run has the verdict, and that the lines of the program, sorted, are PRINTED, joined by
# "; ".
case_ends() { # VERDICT ARGUMENTS PRINTED DESCRIPTION WORD...
  arguments=$2 prints=$3 case=$4 ends=$1
  shift 4
  run_ends "$ends" "$case" --set "program.args=[$arguments]" --set "expect.verdict=$ends" "$@"
  is "$(sort out/program.out | paste -sd';' | sed 's/;/; /g')" "$prints" \
    "$case: what it prints" out/program.out
}

# ---- revoking ----
all=
for me in 0 1 2; do
  all="$all$me: agreement success; $me: barrier of these success; $me: barrier revoked; "
  all="$all$me: flag 6, 3 left; $me: is revoked 1; "
  [ $me = 0 ] || all="$all$me: pending receive revoked; "
  all="$all$me: send revoked; $me: shrink success; $me: the other is revoked 0; "
  all="$all$me: the other's barrier success; "
done
case_ends completed revoke "${all%; }" 'revoked during receives' --set failures=none
case_ends completed revoke-send '1: pending send revoked; 2: collective revoked' \
  'revoked during a send and a collective' --set failures=none

# ---- messages ----
case_ends recovered messages "0: all in-status; 0: both failed; 0: from 2 42; 0: large send failed; \
0: of all failed not-yet; 0: probe failed; 0: receive failed; 0: receive of before failed; \
0: send failed; 0: the rest of all success; 2: other messages success" 'messages to one that fails'
is "$(value out/result.json repair_s.detect)" 0.001 'detected as the scenario says'
case_ends recovered any "0: acknowledged 0, the first -1; 0: acknowledged 1, the first 1; \
0: acknowledges 0; 0: failed 1, the first 1; 0: got 77; 0: receive failed; \
0: receive from who has failed failed; 0: test pending 0; 0: the request stays; 0: then 1; \
0: wait again success; 0: wait pending" 'receives from any rank'
case_ends lost fatal '' 'errors are fatal by default'
is "$(value out/result.json gave_up)" 'MPIX_ERR_PROC_FAILED: a process has failed' 'and named'

# ---- agreement ----
all=
for me in 0 2; do
  all="$all$me: acknowledged by all success; $me: acknowledged by some failed; "
  all="$all$me: agreement failed; $me: flag 8; $me: flag fa; $me: flag fa; $me: later success; "
done
case_ends recovered agree "${all%; }" 'agreement with a failure'

# In each round all ranks agree on the same, the dead are gone, and no rank waits for them. Any rank may
# die, also the root, at any time, before or after other deaths are known.
bad='' seen=0
agrees() { # FAILURE...
  "$recline" run scenario.yaml --set program.ranks=9 --set 'program.args=[die]' --set detection=30us \
    --set "failures=[$*]" --json --out out >/dev/null 2>err || bad="$bad $*:exit"
  # the dead may have printed some rounds, too
  rounds=$(sort -u out/program.out | wc -l)
  [ "$rounds:$(grep -c '^round 5: ' out/program.out)" = 6:6 ] || bad="$bad $*"
  grep -q '^round 5: success .* 6 6$' out/program.out || bad="$bad $*:left"
  [ "$(grep -c failed out/program.out)" = 0 ] || seen=$((seen + 1))
}
for at in 5 20 35 50 65 80 95 110 125 140 155 170; do
  agrees "{rank: 0, at: ${at}us}, {rank: 4, at: 90us}, {rank: 1, at: 130us}"
done
# The first living rank becomes the root when some ranks already have the decision of the dead root.
for at in 45 60 75 90; do
  agrees "{rank: 1, at: 1us}, {rank: 2, at: $((at - 8))us}, {rank: 0, at: ${at}us}"
done
is "$bad" '' 'all agree on the same, whenever ranks die' err out/program.out
is $((seen > 2)) 1 'and on failures that are not acknowledged' out/program.out

# The cost of an agreement grows with the rounds of a tree.
took() { # RANKS
  "$recline" run scenario.yaml --set failures=none --set "program.ranks=$1" \
    --set 'program.args=[die]' --json 2>err | jq .simulated_s
}
is "$(echo "$(took 2) $(took 16)" | awk '{ print ($2 > 2.5 * $1 && $2 < 8 * $1) }')" 1 \
  'an agreement of 16 takes some rounds of that of 2' err

# ---- collectives ----
bad=
for first in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do
  "$recline" run scenario.yaml --set program.ranks=6 --set "program.args=[collectives,$first]" \
    --json --out out >/dev/null 2>err || bad="$bad $first:exit"
  [ "$(grep -c ': ended, 14 failed, then 14 right$' out/program.out)" = 5 ] || bad="$bad $first"
done
is "$bad" '' 'collectives end with a failure, and work in what is left' err out/program.out

# This algorithm sends numbers of ranks as data, and waits for ranks by polling.
sed 's|<config>|&<prop id="smpi/bcast" value="arrival_pattern_aware"/>|' \
  "$root/platforms/clan.xml" >polls.xml
for at in 40us 5ms; do
  "$recline" run scenario.yaml --set program.ranks=6 --set 'program.args=[collectives,1]' \
    --set platform.file=polls.xml --set failures.0.at=$at --json --out out >/dev/null 2>err
  is "$?:$(grep -c ': ended, 14 failed, then 14 right$' out/program.out)" 0:5 \
    "a failure at $at ends an algorithm" err out/program.out
done

# ---- error handlers ----
case_ends recovered handler "0: handled 1, sum 2; 0: handler failed on its own; 2: handled 1, sum 2; \
2: handler failed on its own" 'a handler repairs, and jumps back'

# ---- a rank that ends itself ----
for how in kill raise; do
  case_ends recovered "itself,$how" "0: 2 left, 2 of them, repairs 1; 0: barrier failed; \
0: shrinking success; 0: sum failed; 1: last words; 2: 2 left, 2 of them, repairs 1; \
2: barrier failed; 2: shrinking success; 2: sum failed" "a rank ends itself by $how" \
    --set failures=none
done
is "$(value out/result.json crashes)" 1 'that is a crash' out/result.json

case_ends recovered library "0: barrier success; 0: handled 2, 2 left; 0: request revoked; \
0: watch pending; 2: barrier success; 2: handled 2, 2 left; 2: request revoked; 2: watch pending" \
  'what libraries do' --set failures=none

# ---- a solver ----
solve() { # VERDICT DESCRIPTION WORD...
  ends=$1 case=$2
  shift 2
  case_ends "$ends" solver,4 'solved: 566.26263922769147 after 120 steps' "$case" \
    --set program.ranks=7 "$@"
}
solve completed 'a solver with spares' --set failures=none
for at in 100us 7ms 11ms 69400us 70ms 71100us 72ms 101ms; do
  solve recovered "rank 2 dies at $at, and two others" --set \
    "failures=[{rank: 2, at: $at}, {rank: 0, at: 70ms}, {rank: 4, at: 101ms}]"
done
solve recovered 'a copy dies with its neighbour' \
  --set 'failures=[{rank: 1, at: 60ms}, {rank: 2, at: 60100us}]'
check 'its trace replays' "$build/t/layer-replay" out/trace.txt
solve recovered 'and within a step' --set \
  'failures=[{rank: 3, after: {event: send, count: 40, actions: 0}}]'

# ---- where programs cannot repair themselves ----
refused() { # DESCRIPTION WORD...
  what=$1
  shift
  "$recline" run scenario.yaml --set failures=none --set 'program.args=[revoke]' "$@" >stdout 2>err
  is "$?:$(grep -c 'MPIX_Comm_revoke is not handled here, expected protocol.name: none' err)" 64:1 \
    "$what" err
}
refused 'refused under another protocol' --set protocol.name=c3
refused 'and without the runtime' --set recovery.runtime=none

# ---- other names and languages ----
cat >tool.cc <<'EOF'
#include <iostream>
#include <mpi-ext.h>
#include <mpi.h>
struct noisy {
  ~noisy() { std::cout << "destroyed" << std::endl; }
};
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  {
    noisy object;
    int flag = 3, me;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    try {
      smpi_execute_benched(0.01);
      if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS)
        throw 1;
    } catch (...) {
      PMPIX_Comm_failure_ack(MPI_COMM_WORLD);
      int error = PMPIX_Comm_agree(MPI_COMM_WORLD, &flag);
      std::cout << me << ": " << error << " " << flag << std::endl;
    }
  }
  MPI_Finalize();
  return 0;
}
EOF
cat >throws.cc <<'EOF'
#include <iostream>
#include <mpi-ext.h>
#include <mpi.h>
static int destroyed;
struct counted {
  ~counted() { destroyed++; }
};
static void handle(MPI_Comm *comm, int *error, ...)
{
  MPIX_Comm_revoke(*comm);
  throw *error;
}
int main(int argc, char **argv)
{
  int me, sum = 0, steps = 0;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(world, handler);
  MPI_Comm_rank(world, &me);
  while (steps < 20)
    try {
      counted object;
      for (; steps < 20; steps++) {
        smpi_execute_benched(1e-3);
        MPI_Allreduce(&steps, &sum, 1, MPI_INT, MPI_MAX, world);
      }
    } catch (int error) {
      MPI_Comm old = world;
      MPIX_Comm_shrink(old, &world);
      MPI_Allreduce(MPI_IN_PLACE, &steps, 1, MPI_INT, MPI_MIN, world);
    }
  if (me == 0)
    std::cout << sum << " " << destroyed << std::endl;
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-c++" -O1 throws.cc -o program >log 2>&1
case_ends recovered '' '19 3' 'a handler throws' --set program.ranks=5 --set \
  'failures=[{rank: 3, at: 5ms}, {rank: 1, at: 9ms}]'
"$build/bin/recline-c++" -O1 tool.cc -o program >log 2>&1
case_ends recovered '' '0: 0 3; 2: 0 3; destroyed; destroyed' 'a program in C++, by the second names'

if ! command -v gfortran >/dev/null; then
  echo '# no gfortran: a program in Fortran is left out'
  finish 59
fi
cat >repair.f90 <<'EOF'
program repair
  use mpi
  implicit none
  include 'mpif-ext.h'
  integer :: me, size, error, small, smaller, request, length, flag, all
  character(len=MPI_MAX_ERROR_STRING) :: text
  call mpi_init(error)
  call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
  call mpi_comm_rank(MPI_COMM_WORLD, me, error)
  call smpi_execute_benched(1d-2)
  call mpi_allreduce(me, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (error == MPIX_ERR_PROC_FAILED) then
    call mpi_error_string(error, text, length, error)
    call mpix_comm_revoke(MPI_COMM_WORLD, error)
    call mpix_comm_shrink(MPI_COMM_WORLD, small, error)
    call mpix_comm_ishrink(small, smaller, request, error)
    call mpi_wait(request, MPI_STATUS_IGNORE, error)
    call mpix_comm_failure_ack(MPI_COMM_WORLD, error)
    flag = 5
    call mpix_comm_agree(MPI_COMM_WORLD, flag, error)
    call mpi_comm_size(small, size, error)
    call mpi_allreduce(me, all, 1, MPI_INTEGER, MPI_SUM, smaller, error)
    print '(i0,3(a,i0),2a)', me, ': ', size, ' left, sum ', all, ' flag ', flag, ' ', text(1:length)
  end if
  call mpi_finalize(error)
end program repair
EOF
"$build/bin/recline-f90" -O1 repair.f90 -o program >log 2>&1
line='2 left, sum 2 flag 5 MPIX_ERR_PROC_FAILED: a process has failed'
case_ends recovered '' "0: $line; 2: $line" 'a program in Fortran'

# ---- communicators of the same members ----
"$build/bin/recline-cc" -std=gnu11 -O1 -Wall -Wextra "$here/programs/repair-twins.c" -o twins >log 2>&1
is $? 0 'the program of twins is built' log
line='0 messages astray, 0 wrongly revoked'
case_ends completed '' "0: $line; 1: $line; 2: $line" 'duplicates, groups and shrunk communicators' \
  --set failures=none --set program.binary=./twins

# ---- intercommunicators ----
"$build/bin/recline-cc" -std=gnu11 -O1 -Wall -Wextra "$here/programs/repair-merge.c" -o merge >log 2>&1
is $? 0 'the program of intercommunicators is built' log
between() { # ARGUMENTS PRINTED DESCRIPTION
  case_ends recovered "$1" "$2" "$3" --set failures=none --set program.binary=./merge \
    --set program.ranks=6
}
all=
for round in '0: high|5|14' '1: high|4|14' '2: high|3|9'; do
  right=${round#*|}
  for half in high low; do
    all="$all; round ${round%%:*}: $half half, ${right%|*} merged, sum ${right#*|}"
  done
done
between merge "${all#; }" 'two groups are merged after each of three failures'
between leader "$(for me in 0 1 2 4 5; do printf '%s: create failed; ' $me; done | sed 's/; $//')" \
  'an intercommunicator whose other leader has died'
all='0: exchange with another success'
for me in 0 1 2 3 5; do
  [ $me != 1 ] || all="$all; 1: receive from the dead failed"
  [ $me != 3 ] || all="$all; 3: exchange with another success"
  all="$all; $me: receive revoked; $me: sum failed"
done
between broken "$(printf %s "$all" | sed 's/; /;/g' | tr ';' '\n' | sort | paste -sd';' | sed 's/;/; /g')" \
  'an intercommunicator of which a rank dies, and then revoked'

finish 71
