#!/bin/sh
# Tests ranks that recover on their own: the domino effect, the hybrid's choice for a crash in every
# iteration, and random programs under the protocols with sender-based logs. RECLINE_ALONE: random
# seeds (3).
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

count=0

# ---- dominoes ----
RECLINE_PLATFORMS=$root/platforms "$recline" run "$root/scenarios/domino.yaml" --json \
  --out "$dir/domino" >"$dir/domino.json" 2>"$dir/domino.err"
is "$?-$(value "$dir/domino.json" verdict)-$(value "$dir/domino.json" audit.violations)" \
  0-recovered-0 'the dominoes recover' "$dir/domino.err"
trace=$dir/domino/trace.txt
is "$(grep -c ' 1 durable part=image' "$trace" | awk '{ print ($1 > 2) }')" 1 \
  'rank 1 had checkpoints' "$trace"
is "$(grep -c ' 1 start incarnation=1' "$trace")" 1 'and goes back to its beginning' "$trace"
# In the rollback-dependency graph an edge leads from each undone interval to one that is undone
# with it.
"$recline" draw "$trace" --dependencies -o "$dir/domino.svg" >/dev/null 2>"$dir/domino.err"
sed -n 's/^<title>interval&#45;\([01]\)&#45;.*&gt;interval&#45;\([01]\)&#45;.*/\1>\2/p' "$dir/domino.svg" |
  sort | uniq -c | awk '{ print $1 "x" $2 }' | tr '\n' ' ' >"$dir/edges"
is "$(cat "$dir/edges")" '4x0>0 4x0>1 3x1>0 4x1>1 ' 'the drawing has an edge for each step back' \
  "$dir/edges" "$dir/domino.err"
count=$((count + 4))

# Under index-based the same run loses only what it has done since the last checkpoint.
RECLINE_PLATFORMS=$root/platforms "$recline" run "$root/scenarios/domino.yaml" \
  --set protocol.name=index-based --json --out "$dir/forced" >"$dir/domino.json" 2>"$dir/domino.err"
is "$(value "$dir/domino.json" verdict) $(sed -n 's/.* \([01] start checkpoint=.\) incarnation=1.*/\1/p' \
  "$dir/forced/trace.txt" | tr '\n' ' ')" 'recovered 0 start checkpoint=3 1 start checkpoint=3 ' \
  'with forced checkpoints none falls' "$dir/domino.err" "$dir/forced/trace.txt"
count=$((count + 1))

# ---- a write that is just beginning when its rank crashes ----
cat >"$dir/halo.yaml" <<END
program:    {binary: halo, args: ["8192", "60"], ranks: 8}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: index-based, capacity: 2048}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
detection:  10ms
failures:
  - {rank: 7, after: {rank: 2, event: captured, checkpoint: 3}, repair: 20ms}
END
"$recline" run "$dir/halo.yaml" --json >"$dir/halo.json" 2>"$dir/halo.err"
is "$(value "$dir/halo.json" verdict)" recovered 'it ends once' "$dir/halo.err"
count=$((count + 1))

# ---- a daemon beside the program ----
# A message that waits until the event before it is stored leaves while its sender computes. Ranks that
# compute also send what a rank that goes back needs from them.
cat >"$dir/daemon.yaml" <<END
program:
  ranks: 2
  script: |
    rank 0: recv 1, send 1, compute 100s, recv 1
    rank 1: send 0, recv 0, compute 1s, send 0
platform:   {file: $root/platforms/flat.xml}
protocol:   {name: pessimistic}
checkpoint: {every: 1h, bytes: 64KiB}
detection:  1s
END
for protocol in pessimistic pessimistic-wildcards; do
  "$recline" run "$dir/daemon.yaml" --set protocol.name=$protocol --out "$dir/daemon" >"$dir/daemon.err" 2>&1
  is "$?-$(awk '$2 == 1 && $3 == "arrived" { print $1 < 1; exit }' "$dir/daemon/trace.txt")" 0-1 \
    "$protocol: a message leaves while its sender computes" "$dir/daemon.err"
done
"$recline" run "$dir/daemon.yaml" --set 'failures=[{rank: 1, at: 0.9s, repair: 3s}]' --out "$dir/daemon" \
  >"$dir/daemon.err" 2>&1
is "$?-$(awk '$2 == 1 && $3 == "arrived" { at = $1 } END { print at < 10 }' "$dir/daemon/trace.txt")" 0-1 \
  'and is sent again to a rank that has gone back' "$dir/daemon.err"
count=$((count + 3))

# ---- a rendezvous with a rank that goes back ----
# Rank 0 waits in a send until rank 1 takes it. Rank 1 depends on what rank 2, which dies, had sent,
# and goes back without having taken it; rank 0 lives, stays where it is, and must get on.
cat >"$dir/waits.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int get(int from)
{
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return value;
}

static void put(int to, int value)
{
  usleep(1000);
  MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  static int large[300000];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    large[299999] = 7;
    MPI_Send(large, 300000, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Ssend(large, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    printf("answer: %d\n", get(1));
  } else if (rank == 1) {
    int first = get(2), second;
    usleep(40000);
    second = get(2);
    MPI_Recv(large, 300000, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    second += large[299999];
    usleep(40000);
    MPI_Recv(large, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    put(0, first + second);
  } else {
    put(1, 10);
    usleep(60000);
    put(1, 100);
  }
  return MPI_Finalize();
}
END
"$build/bin/recline-cc" -O1 "$dir/waits.c" -o "$dir/waits" 2>"$dir/waits.err"
cat >"$dir/waits.yaml" <<END
program:    {binary: $dir/waits, ranks: 3}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: uncoordinated}
checkpoint: {every: 10s, storage: local, bytes: 1kB}
detection:  1ms
END
for at in 20 70 90; do
  rm -rf "$dir/waits.d"
  timeout 60 "$recline" run "$dir/waits.yaml" --json --out "$dir/waits.d" \
    --set "failures=[{rank: 2, at: ${at}ms, repair: 1ms}]" >"$dir/waits.json" 2>"$dir/waits.err"
  is "$?-$(value "$dir/waits.json" verdict)-$(tail -n 1 "$dir/waits.d/program.out")" \
    '0-recovered-answer: 117' "rank 0 waits in a send to one that goes back at $at ms" \
    "$dir/waits.err"
  count=$((count + 1))
done

# ---- the hybrid ----
cat >"$dir/hybrid.yaml" <<END
program:
  ranks: 4
  script: |
    rank 0: repeat 9 (iteration, compute 5ms, send 1, recv 3)
    rank 1: repeat 9 (iteration, compute 5ms, send 2, recv 0)
    rank 2: repeat 9 (iteration, compute 5ms, send 3, recv 1)
    rank 3: repeat 9 (iteration, compute 5ms, send 0, recv 2)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: hybrid, interval: 4, log: 4}
checkpoint: {storage: local, bytes: 64KiB, places: program}
detection:  5ms
END

histories() { # JSON run's folder
  grep '^history: ' "$1/program.out" | sort -u
}

hybrid() { # NAME WORD...
  name=$1
  shift
  rm -rf "$dir/$name"
  "$recline" run "$dir/hybrid.yaml" --json --out "$dir/$name" "$@" >"$dir/$name.json" \
    2>"$dir/$name.err"
}

# Prints global if a living rank goes back behind its last capture, which is at the beginning of its
# present iteration; else local.
rollback() { # FOLDER: local or global
  awk '
    / captured checkpoint=/ { split($4, part, "="); last[$2] = part[2] }
    / roll-back/ {
      to = 0
      if (match($0, /roll-back checkpoint=[0-9]+/)) to = substr($0, RSTART + 21, RLENGTH - 21)
      if (to != last[$2]) far = 1
    }
    END { print far ? "global" : "local" }' "$1/trace.txt"
}

hybrid reference
reference=$(histories "$dir/reference")
for iteration in 1 2 3 4 5 6 7 8; do
  for log in 4 2; do
    at=$((iteration * 5 - 2))
    hybrid crash --set "protocol.log=$log" --set "failures=[{rank: 2, at: ${at}ms, repair: 5ms}]"
    is "$?-$(value "$dir/crash.json" verdict)-$(value "$dir/crash.json" audit.violations)" \
      0-recovered-0 "hybrid: a crash in iteration $iteration, LOG_SIZE $log" "$dir/crash.err"
    is "$(histories "$dir/crash")" "$reference" 'with the same result' "$dir/crash.err"
    count=$((count + 2))
    # in the other cases a rank may be an iteration ahead of the victim, or a checkpoint not durable yet
    case $log-$iteration in
      4-[1-48] | 2-[126]) wanted=local ;;
      2-[48]) wanted=global ;;
      *) continue ;;
    esac
    is "$(rollback "$dir/crash")" $wanted "by $wanted rollback" "$dir/crash/trace.txt"
    count=$((count + 1))
  done
done

# ---- random programs ----
seed=1
while [ $seed -le "${RECLINE_ALONE:-3}" ]; do
  "$root/sim/host/t/random-programs.t" $seed pessimistic pessimistic-wildcards uncoordinated causal optimistic index-based >"$dir/random" 2>&1
  is "$(grep -c '^ok' "$dir/random")" 6 "random program $seed recovers under six protocols" \
    "$dir/random"
  count=$((count + 1))
  seed=$((seed + 1))
done
finish $count
