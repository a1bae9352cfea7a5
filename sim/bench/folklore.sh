#!/bin/sh
# Draws the folklore of checkpointing as figures, and prints their numbers, by campaigns:
#
#     interval   mean completion time over the checkpoint interval, for three MTBFs
#     weibull    the same time for an exponential law and for Weibull laws with the same mean
#     ranks      hybrid and message logging against global rollback, as the number of ranks grows
#
# Usage: folklore.sh FOLDER
# FOLDER gets folklore-NAME.svg; the tables go to standard output. RUNS is the number of runs of each
# cell (60). Needs gnuplot, and four CPU minutes.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
recline=${RECLINE_BUILD:-$root/build}/bin/recline
[ $# = 1 ] || { echo 'usage: folklore.sh FOLDER' >&2; exit 64; }
folder=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# A day of work; a checkpoint takes 5 minutes, a recovery 10.
cat >day.yaml <<END
program:
  ranks: 1
  script: |
    rank 0: repeat 288 (compute 5min, checkpoint)
platform:   {file: $root/sim/host/t/programs/one-node.xml}
protocol:   {name: bookmark}
checkpoint: {every: 1h, storage: local, writes: foreground, bytes: 300MB}
detection:  0
failures:   [{law: exponential, mtbf: 6h, of: platform, repair: 1min}]
limits:     {simulated: 1000h}
END
campaign() { "$recline" campaign "$@" --jobs 1 >/dev/null; }
# Prints the values of a campaign's two sweeps, then the mean and its half width, in simulated
# hours.
means() { awk -F, -v OFS='\t' '$4 == "simulated_s" { print $2, $3, $8 / 3600, $9 / 3600 }' "$1/table.csv"; }
draw() { # NAME TITLE < gnuplot's plot
  {
    printf "set terminal svg size 560,360\nset output '%s/folklore-%s.svg'\nset title \"%s\"\n" "$folder" "$1" "$2"
    printf "set logscale x 2\nset grid\nset key top left\nset bars small\n"
    cat
  } | gnuplot
}

every='checkpoint.every=10min,15min,20min,30min,45min,60min,90min,120min,180min,240min'
campaign day.yaml --sweep "$every" --sweep failures.0.mtbf=3h,8h,24h --runs "${RUNS:-60}" --out interval
means interval | sed 's/min//' >interval.tsv
echo 'interval (min), MTBF, mean hours, half width of 95 %'
cat interval.tsv
draw interval 'A day of work, checkpoints of 5 min' <<'END'
set xlabel "checkpoint interval (min)"
set ylabel "completion time (h)"
plot for [m in "3h 8h 24h"] "< awk '$2 == \"".m."\"' interval.tsv" using 1:3:4 with yerrorlines title "MTBF ".m
END

laws='failures.0={law: exponential, mtbf: 3h, of: platform, repair: 1min},{law: weibull, shape: 0.7, mtbf: 3h, of: platform, repair: 1min},{law: weibull, shape: 0.5, mtbf: 3h, of: platform, repair: 1min}'
campaign day.yaml --sweep "$every" --sweep "$laws" --runs "${RUNS:-60}" --out weibull
awk -F'"' -v OFS='\t' '/simulated_s/ { law = $2 ~ /exponential/ ? "exponential" : $2 ~ /0.7/ ? "0.7" : "0.5"
  split($1, a, ","); split($3, b, ","); sub("min", "", a[2]); print a[2], law, b[6] / 3600, b[7] / 3600 }' weibull/table.csv >weibull.tsv
echo 'interval (min), shape, mean hours, half width of 95 %'
cat weibull.tsv
draw weibull 'The same, MTBF 3 h, by three laws' <<'END'
set xlabel "checkpoint interval (min)"
set ylabel "completion time (h)"
plot for [m in "exponential 0.7 0.5"] "< awk '$2 == \"".m."\"' weibull.tsv" using 1:3:4 with yerrorlines title (m eq "exponential" ? m : "Weibull, shape ".m)
END

# Four hours of work in iterations of 2 minutes, a ring; a process of each node fails every 16 h.
ring() { # RANKS
  printf 'program:\n  ranks: %d\n  script: |\n' "$1"
  awk -v n="$1" 'BEGIN { for (r = 0; r < n; r++)
    printf "    rank %d: repeat 120 (iteration, compute 2min, irecv a %d, send %d, wait a)\n", r, (r + n - 1) % n, (r + 1) % n }'
  cat <<END
platform:   {file: $root/platforms/flat.xml}
protocol:   {name: bookmark, interval: 10}
checkpoint: {every: 20min, bytes: 64KiB}
detection:  1s
failures:   [{law: exponential, mtbf: 16h, kills: rank, repair: 1min}]
limits:     {simulated: 96h}
END
}
for ranks in 4 8 16 32 64; do
  ring $ranks >ring.yaml
  campaign ring.yaml --sweep protocol.name=bookmark,hybrid,pessimistic --runs "$((${RUNS:-60} / 3))" --out ranks-$ranks
  awk -F, -v OFS='\t' -v ranks=$ranks '$3 == "simulated_s" { time[$2] = $7 / 3600; half[$2] = $8 / 3600 }
    $3 == "time_s.lost" { print ranks, $2, time[$2], half[$2], $7 / 3600 }' ranks-$ranks/table.csv
done >ranks.tsv
echo 'ranks, protocol, mean hours, half width of 95 %, hours that a rank lost'
cat ranks.tsv
draw ranks 'Four hours of work, a failure of each rank every 16 h' <<'END'
set xlabel "ranks"
set ylabel "completion time (h)"
plot for [m in "bookmark hybrid pessimistic"] "< awk '$2 == \"".m."\"' ranks.tsv" using 1:3:4 with yerrorlines title m
END
