#!/bin/sh
# Campaigns against the exact mean time of a program that checkpoints after every TAU of work, takes
# DELTA for it, and whose machine fails after exponential times of mean M, is down for D and reads a
# checkpoint for R, which may fail itself (Daly, FGCS 2006, with a downtime):
#
#     E = (M + D) exp(R / M) (exp((TAU + DELTA) / M) - 1)      for each piece of work
#
# Nothing is read before the first checkpoint: R is 0 in the first piece. Means must be within three
# standard errors. RECLINE_LONG=1: more cases, and standard errors below 0.5 per cent.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

pieces=200

# Minutes: work, checkpoint, recovery (twice the checkpoint), downtime, mtbf; runs, and with
# RECLINE_LONG.
cases='117 5 0 1440 12 100
57 5 0 360 12 100
9.14 5 0 15 24 200
30 5 7 60 12 120'
[ -z "${RECLINE_LONG-}" ] || cases="$cases
60 5 0 720 0 100
30 1 0 120 0 100
12 1 0 30 0 100
20 1 0 10 0 250
60 5 15 240 0 100
12 1 5 60 0 100
117 5 30 1440 0 100
10 1 3 12 0 150"

exact='function exact(tau, delta, r, d, m) { return (m + d) * exp(r / m) * (exp((tau + delta) / m) - 1) }'
is "$(awk "$exact"' BEGIN { printf "%.3f %.3f %.3f %.3f", exact(117, 5, 10, 0, 1440),
    exact(57, 5, 10, 0, 360), exact(9.14, 5, 10, 0, 15), exact(30, 5, 10, 7, 60) }')" \
  '128.204 69.565 45.776 62.688' 'the formula has the means of an independent Monte Carlo'

# Four parts of a piece; the timer goes off in the last one, at whose end is a safe point.
scenario() { # TAU DELTA D M
  awk -v tau="$1" -v delta="$2" -v d="$3" -v m="$4" -v pieces=$pieces \
    -v platform="$here/one-node.xml" 'BEGIN { printf "\
program:\n\
  ranks: 1\n\
  script: |\n\
    rank 0: repeat %d (repeat 4 (compute %.9gs, checkpoint))\n\
platform:   {file: %s}\n\
protocol:   {name: bookmark}\n\
checkpoint: {every: %.9gs, storage: local, writes: foreground, places: program, bytes: %.0fMB}\n\
detection:  0\n\
failures:   [{law: exponential, mtbf: %gmin, of: platform, repair: %gmin}]\n", \
      pieces, 15 * tau, platform, 52.5 * tau, 60 * delta, m, d }' >scenario.yaml
}

IFS='
'
for line in $cases; do
  IFS=' ' read -r tau delta d m runs long <<EOF
$line
EOF
  scenario "$tau" "$delta" "$d" "$m"
  [ -z "${RECLINE_LONG-}" ] || runs=$long
  rm -rf out
  timeout 600 "$recline" campaign scenario.yaml --runs "$runs" --out out >stdout 2>stderr
  awk -F, "$exact"' $2 == "simulated_s" {
    unit = 60 * pieces; mean = $6 / unit; error = $8 / sqrt($3) / unit
    e = (exact(tau, delta, 0, d, m) + (pieces - 1) * exact(tau, delta, 2 * delta, d, m)) / pieces
    printf "# %.3f +- %.3f min (%.2f %%), exact %.3f, %.2f standard errors\n", mean, error,
      100 * error / mean, e, (mean - e) / error
    good = mean - e < 3 * error && e - mean < 3 * error && error < limit * mean
  } END { exit !good }' pieces=$pieces tau="$tau" delta="$delta" d="$d" m="$m" \
    limit="$([ -z "${RECLINE_LONG-}" ] && echo 0.02 || echo 0.005)" out/table.csv >said
  report $? "work of $tau min, checkpoint $delta, downtime $d, mtbf $m: the mean agrees" said stderr
  cat said
done
finish
