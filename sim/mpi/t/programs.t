#!/bin/sh
# Tests programs that make every MPI call which the layer handles (t/layer-*.c), in C and in C++.
# They are right under plain SMPI, and under a protocol, with crashes (RECLINE_LONG=1: at more
# instants) and without. What MPI forbids is tested here, too.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"

replay=$build/t/layer-replay
cp "$here"/programs/layer-rounds.h "$here"/programs/layer-mpi.c "$here"/programs/layer-comms.c "$here"/programs/layer-nonblocking.c "$here"/programs/layer-mpi-misc.c "$dir"
cd "$dir" || exit 1
for i in 0 1 2 3 4; do echo "node-$i"; done >hosts
warnings='-O2 -g -Wall -Wextra -Werror'
: >log
for name in mpi comms nonblocking mpi-misc; do
  echo "#include \"layer-$name.c\"" >layer-$name.cc
  # shellcheck disable=SC2086 # a list
  smpicc -std=gnu11 $warnings layer-$name.c -o plain-$name >>log 2>&1 &&
    "$build/bin/recline-cc" -std=gnu11 $warnings layer-$name.c -o c-$name >>log 2>&1 &&
    "$build/bin/recline-c++" $warnings layer-$name.cc -o cc-$name >>log 2>&1
  is "$?" 0 "layer-$name is built in C and in C++" log
done

# The programs of types and operations (types.t) are only built here, because plain SMPI does not
# have their right values.
for name in named derived other collectives; do
  "$build/bin/recline-cc" -I"$here/programs" "$here/programs/types-$name.c" -o types-$name >>log 2>&1
done
is "$(ls types-* | wc -l)" 4 'the programs of types.t are built' log

# ---- every handled call is made; repair.t, files-mpi.t, windows.t and intercomm.t make the calls
# that they test, and unsupported.t makes one that plain SMPI does not have ----
sed -n -e '/MPI [34] |$/d' -e 's/^| `\(MPI_[A-Za-z0-9_]*\)` | \*\*handled\*\* .*/\1/p' "$root/docs/mpi-coverage.md" |
  grep -v 'MPI_\(Comm_get_parent\|Comm_remote_\|Intercomm_\|File_\|Win_\|Put\|Get$\|Get_acc\|Accum\|Fetch\|Compare_and\|Rput\|Rget\|Racc\|Type_create_sub\|Type_get_[ce]\)' | sort >handled
for language in c cc; do
  all_are_made 100 "$language-*: they make every call that is handled" $language-* types-*
done

# ---- under plain SMPI, under none, and under protocols ----
cat >scenario.yaml <<EOF
program:    {binary: ./program, args: ["6", all], ranks: 5}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: none}
detection:  1ms
EOF

run() { # PROGRAM VERDICT DESCRIPTION WORD...
  binary=$1 verdict=$2 what=$3
  shift 3
  run_ends "$verdict" "$binary, $what" --set "program.binary=./$binary" "$@"
  same expected out/program.out "$what: the same result"
}

crash() { # PROGRAM PROTOCOL FAILURES
  run "$1" recovered "$2, $3" --set "protocol.name=$2" --set "failures=[$3]" \
    --set 'checkpoint={every: 8ms, storage: local, bytes: 10kB}'
  "$replay" out/trace.txt >log 2>&1
  is $? 0 "$what: its trace replays" log
}

echo '6 rounds, 0 failures, PASS' >expected
for name in comms nonblocking mpi-misc; do
  timeout 60 smpirun -np 5 -platform "$root/platforms/clan.xml" -hostfile hosts \
    --cfg=smpi/simulate-computation:no --log=root.thres:critical ./plain-$name 6 >plain.out 2>err
  same expected plain.out "plain SMPI does what layer-$name expects" err
  RECLINE_HEAP_WATCH=1
  export RECLINE_HEAP_WATCH
  run c-$name completed 'no protocol'
  unset RECLINE_HEAP_WATCH
  for protocol in bookmark c3; do
    set -- '3, at: 27ms' '0, at: 52ms'
    [ -z "${RECLINE_LONG:-}" ] || set -- "$@" '0, at: 10ms' '3, at: 81ms' '1, at: 104ms'
    for failure; do
      crash c-$name $protocol "{rank: $failure, repair: 1ms}"
    done
    crash c-$name $protocol '{rank: 3, after: {event: captured, checkpoint: 2}}'
    crash cc-$name $protocol '{rank: 0, at: 47ms}, {rank: 2, at: 71ms}'
  done
done
crash c-comms c3 '{rank: 3, at: 27ms, repair: 1ms}'
awk '/^[0-9]/ { made += $3 == "member"; if (makes[$2] && $3 !~ /^(member|crash|down)$/) late++
       makes[$2] = $3 == "collected" && / makes / }
     END { exit !(made > 20 && !late) }' out/trace.txt
is $? 0 'c3: a rank is a member as soon as the call that makes it one is over' out/trace.txt
for protocol in bookmark c3; do
  crash cc-mpi $protocol '{rank: 1, at: 41ms}'
done
# The polls of this program come faster than the event logger writes: events after a send must not
# hold the send up.
for protocol in pessimistic pessimistic-wildcards; do
  crash c-nonblocking $protocol '{rank: 1, at: 7.370ms, repair: 1ms}'
done

# ---- names of libc that SMPI replaces are replaced in functions only ----
cat >names.c <<EOF
#include <mpi.h>
#include <stdlib.h>
int getopt(int argc, char *const argv[], const char *options); /* as programs older than unistd.h */
struct door { int (*sleep)(int); void (*exit)(int); int clock_gettime; };
static int nap(int n) { return n + 1; }
static void leave(int n) { exit(n); }
int main(int argc, char **argv)
{
  struct door door = {nap, leave, 3};
  int rank, right = getopt(argc, argv, "a") == 'a' && door.sleep(door.clock_gettime) == 4;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&rank, 1, MPI_INT, 4, MPI_COMM_WORLD);
  MPI_Finalize();
  door.exit(right && rank == 4 ? 0 : 3);
}
EOF
"$build/bin/recline-cc" -Wall names.c -o names >log 2>&1
is "$?" 0 'a program with members called sleep and exit, and a prototype of getopt of its own' log
run_ends completed 'it runs' --set program.binary=./names --set 'program.args=["-a"]'

# ---- libraries end themselves in MPI_Finalize, by an attribute of MPI_COMM_SELF, and may call MPI ----
cat >ends.c <<EOF
#include <mpi.h>
#include <stdio.h>
static int end(MPI_Comm comm, int key, void *value, void *state)
{
  int rank, ranks = 0, one = 1;
  (void)comm, (void)key, (void)state;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d end %s\\n", ranks, (char *)value);
  return MPI_SUCCESS;
}
int main(int argc, char **argv)
{
  int first, second;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &first, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &second, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, first, "first");
  MPI_Comm_set_attr(MPI_COMM_SELF, second, "second");
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" -Wall ends.c -o ends >log 2>&1
"$recline" run scenario.yaml --set program.binary=./ends --set 'program.args=[]' --out out \
  >log 2>&1
ranks=$(jq .ranks out/result.json)
is "$(cat out/program.out)" "$ranks end second
$ranks end first" 'functions of attributes of MPI_COMM_SELF are called in MPI_Finalize, the last first' log

# ---- what MPI forbids is said, and not carried out ----
cat >forbidden.c <<EOF
#include <mpi.h>
int main(int argc, char **argv)
{
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  argc > 1 ? MPI_Cancel(&request) : MPI_Request_free(&request);
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" forbidden.c -o forbidden >log 2>&1
for args in '' cancel; do
  "$recline" run scenario.yaml --set program.binary=./forbidden --set "program.args=[$args]" \
    >stdout 2>stderr
  is "$?:$(grep -c 'which MPI forbids' stderr)" 64:1 \
    "a nonblocking collective cannot be ended by ${args:-free}" stderr
done
finish $((${RECLINE_LONG:-0} > 0 ? 163 : 109))
