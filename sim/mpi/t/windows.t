#!/bin/sh
# Tests one-sided communication, where both sides make calls (layer-windows.c, layer-windows.f90)
# and where the target makes none (layer-locks.c, layer-locks.f90): every call that is handled, in
# C, C++ and Fortran, under every protocol that recovers, with crashes and without.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
. "$here/languages.sh"
cd "$dir" || exit 1

build_in_all layer-locks
for program in $programs; do mv "$program" "locks-${program#in-}"; done
build_in_all layer-windows
beside=locks-
each_makes 'MPI_Win_[a-zA-Z0-9_]*\|MPI_\(R*Get\|R*Put\|R*Accumulate\|R*Get_accumulate\|Rget\|Rput\|Raccumulate\|Rget_accumulate\|Fetch_and_op\|Compare_and_swap\)' \
  30 '' "$only_in_f08"

write_scenario 4 '["6"]'

rounds=6 every=3ms
for run in $programs $(echo "$programs" | sed 's/in-/locks-/g'); do
  attempt_alone "$run"
  for protocol in c3 pessimistic; do
    recovers "$run" $protocol '{rank: 1, at: 5ms, repair: 1ms}, {rank: 0, at: 9ms, repair: 1ms}'
  done
done

# ---- crashes under all protocols that recover ----
instants='4 11'
[ -z "$RECLINE_LONG" ] || instants='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18'
for at in $instants; do
  crash="{rank: $((at % 4)), at: ${at}ms, repair: 1ms}"
  recovers_everywhere in-c "$crash" 200us
  recovers_everywhere locks-c "$crash" 200us hybrid event-logging message-tagging
done

# ---- what cannot be right is refused ----
cat >wrong.c <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
  int memory = 0;
  MPI_Info info;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", argv[1][0] == 'n' ? "true" : "false");
  MPI_Win_create(&memory, sizeof memory, 1, info, MPI_COMM_WORLD, &window);
  if (argv[1][0] == 'b')
    MPI_Put(&argc, 1, MPI_INT, 0, 1, 1, MPI_INT, window), MPI_Win_fence(0, window);
  else if (argv[1][0] == 'm') {
    static int much[1 << 20];
    for (int i = 0; i < 600; i++)
      MPI_Get(much, 1 << 20, MPI_INT, 0, 0, 1 << 20, MPI_INT, window);
    MPI_Win_fence(0, window);
  } else
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window), MPI_Win_unlock(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
EOF
"$build/bin/recline-cc" -O2 -Wall wrong.c -o wrong >log 2>&1
refused() { # ARGUMENT PROTOCOL PATTERN DESCRIPTION
  "$recline" run scenario.yaml --set program.binary=./wrong --set "program.args=[$1]" \
    --set "protocol.name=$2" >stdout 2>stderr
  is "$?:$(grep -c "$3" stderr)" 64:1 "$4" stderr
}
refused beyond none 'an access beyond its window of 4 bytes' 'an access beyond a window'
refused much none 'an epoch of a window has [0-9]* bytes for one rank' 'more than fits into a message'
for protocol in event-logging hybrid message-tagging; do
  refused lock $protocol "locks a window under $protocol, which relies on messages that say the same" \
    "locks, by $protocol, as a reply depends on who came first"
done
refused no-locks none 'locks a window that was made with "no_locks"' \
  'a lock of a window that forbids them'
finish
