#!/bin/sh
# Tests failures at the beginning of a run, under every protocol: at time 0, before and in MPI_Init,
# and between the start of a rank and its first event. With RECLINE_LONG=1 every failure meets every
# protocol.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >ring.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  int rank, ranks, sum = 0, token = 0;
  usleep((useconds_t)atoi(argv[1]));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  usleep(1000);
  for (int i = 0; i < 5; i++) {
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % ranks, 0, &token, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += token;
  }
  MPI_Finalize();
  return sum != 10;
}
EOF
"$build/bin/recline-cc" -o ring ring.c
cat >run.yaml <<EOF
program: {binary: ./ring, args: [2000], ranks: 4}
platform: {file: clan.xml, per_node: 2}
protocol: {name: c3}
checkpoint: {every: 500us, storage: local, bytes: 1kB}
detection: 1ms
failures: [{rank: 1, at: 0s, repair: 1ms}]
EOF
all=$("$recline" list protocols --json | jq -r '.protocols[].name' | grep -v '^none$')

# Each place of a failure is one test, with all protocols or some.
places='at=0s at=0.001us at=1ms at=2ms at=2.0001ms at=2.5ms after={rank:%1,event:%start} after={rank:%3,event:%start}'
for place in $places; do
  for kills in rank node; do
    protocols=$all
    [ -n "${RECLINE_LONG-}" ] || [ "$place" = at=0s ] || [ "$place $kills" = 'at=1ms rank' ] ||
      protocols='c3 bookmark optimistic'
    for protocol in $protocols; do
      clocks=
      [ "$protocol" != time-based ] || clocks='clocks={deviation: 1us, longest: 100us}'
      failure=$(echo "{rank: 1, $place, repair: 1ms, kills: $kills}" | sed 's/=/: /; s/%/ /g')
      "$recline" run run.yaml --out out --set "protocol.name=$protocol" --set "failures=[$failure]" \
        ${clocks:+--set "$clocks"} >stdout 2>stderr
      got=$?:$(jq -r '"\(.verdict) \(.crashes) \(.audit.violations)"' out/result.json)
      rm -rf out
      [ "$got" = '0:recovered 1 0' ] || [ "$got" = '0:recovered 2 0' ] ||
        { echo "# $protocol $failure: $got"; sed 's/^/# /' stderr; wrong="$wrong $protocol"; }
    done
    is "$wrong" '' "$place, a $kills fails: $(echo "$protocols" | wc -w) protocols"
    wrong=
  done
done

# An archive whose first failure is at its beginning.
cat >archive.csv <<EOF
System,nodenumz,Prob Started,Prob Fixed
2,5,6/21/2005 10:54,6/21/2005 10:55
2,6,6/21/2005 10:56,6/21/2005 10:57
EOF
for protocol in bookmark c3 pessimistic; do
  "$recline" run run.yaml --json --set "protocol.name=$protocol" --set checkpoint.every=10s \
    --set 'failures=[{trace: archive.csv}]' >result 2>stderr
  is "$?:$(jq -r '"\(.verdict) \(.crashes)"' result)" '0:recovered 1' \
    "$protocol: an archive begins with a failure" stderr
done
finish 19
