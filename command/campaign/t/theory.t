#!/bin/sh
# Compares campaigns with the exact mean time of a program. The program takes a checkpoint, which
# costs DELTA, after every TAU of work. Its machine fails after exponential times of mean M, is down
# for D, and then reads a checkpoint for R. It may fail again while it reads (Daly, FGCS 2006, with
# a downtime):
#
#     E = (M + D) exp(R / M) (exp((TAU + DELTA) / M) - 1)      for each piece of work
#
# Nothing is read before the first checkpoint: R is 0 in the first piece. Means must be within three
# standard errors. RECLINE_LONG=1: more cases, and standard errors below 0.5 per cent.
#
# Weibull laws begin anew at each repair. S(t) is the chance that the next failure is later than t,
# and W = TAU + DELTA. Let V(l) be the mean time from a repair with l pieces left to the end; it
# begins with the reading, R:
#
#     V(l) = integral of S from 0 to R + l W, + D (1 - S(R + l W))
#            + sum over j < l of (S(R + j W) - S(R + (j + 1) W)) V(l - j)     (j = 0: from 0 on)
#
# With two levels, failures of the process (rate L1) go back to the last checkpoint, and failures of
# the node (rate L2) to the last checkpoint on the file server. Every N-th checkpoint is stored
# there. This is a Markov chain. V(i) is the mean time from the start of piece i of N to the end of
# the last piece, A(i) from a failure after which piece i is next. W is TAU and the cost of the
# piece's checkpoint, R(i) the time to read, L = L1 + L2, P = L1 / L:
#
#     V(i) = (1 - exp(-L W)) / L + exp(-L W) V(i + 1) + (1 - exp(-L W)) (P A(i) + (1 - P) A(0))
#     A(i) = (1 - exp(-L R(i))) / L + exp(-L R(i)) V(i)
#            + (1 - exp(-L R(i))) (P A(i) + (1 - P) A(0)),        V(N) = 0
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

pieces=200

# Each line has, in minutes, work, checkpoint, downtime and mtbf; then the number of runs, and the
# number of runs with RECLINE_LONG. A recovery takes twice as long as a checkpoint.
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

# A piece of work has four parts. The timer goes off in the last part, which ends with a safe point.
scenario() { # TAU DELTA D M
  awk -v tau="$1" -v delta="$2" -v d="$3" -v m="$4" -v pieces=$pieces \
    -v platform="$root/sim/host/t/programs/one-node.xml" 'BEGIN { printf "\
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

# Makes RUNS runs of FILE. The mean must be EXACT (in minutes) within three standard errors. A standard
# error must be below two per cent of the mean, with RECLINE_LONG below half a per cent.
mean_agrees() { # FILE RUNS EXACT WHAT
  rm -rf out
  timeout 600 "$recline" campaign "$1" --runs "$2" --out out >stdout 2>stderr
  awk -F, '$2 == "simulated_s" {
    unit = 60 * pieces; mean = $6 / unit; error = $8 / sqrt($3) / unit
    printf "# %.3f +- %.3f min (%.2f %%), exact %.3f, %.2f standard errors\n", mean, error,
      100 * error / mean, e, (mean - e) / error
    good = mean - e < 3 * error && e - mean < 3 * error && error < limit * mean
  } END { exit !good }' pieces=$pieces e="$3" \
    limit="$([ -z "${RECLINE_LONG-}" ] && echo 0.02 || echo 0.005)" out/table.csv >said
  report $? "$4: the mean agrees" said stderr
  cat said
}

IFS='
'
for line in $cases; do
  IFS=' ' read -r tau delta d m runs long <<EOF
$line
EOF
  scenario "$tau" "$delta" "$d" "$m"
  [ -z "${RECLINE_LONG-}" ] || runs=$long
  mean_agrees scenario.yaml "$runs" \
    "$(awk -v n=$pieces -v tau="$tau" -v delta="$delta" -v d="$d" -v m="$m" "$exact"' BEGIN {
      first = exact(tau, delta, 0, d, m)
      printf "%.6f", (first + (n - 1) * exact(tau, delta, 2 * delta, d, m)) / n }')" \
    "work of $tau min, checkpoint $delta, downtime $d, mtbf $m"
done

# ---- Weibull laws ----

cat >renewal.pl <<'EOF'
use POSIX 'tgamma';
my ($n, $tau, $delta, $r, $d, $m, $k) = @ARGV;
my ($w, $scale) = ($tau + $delta, ($m / tgamma(1 + 1 / $k))**$k);
sub S { exp(-$_[0]**$k / $scale) }
sub integral {    # of S, taken over age**k, in which S is smooth
  my ($from, $to, $sum) = ($_[0]**$k, $_[1]**$k, 0);
  my $step = ($to - $from) / 400;
  for (my $x = $from + $step / 2; $x < $to; $x += $step) { $sum += exp(-$x / $scale) * $x**(1 / $k - 1) / $k * $step }
  return $sum;
}
my @v;
sub from_renewal {    # with $l pieces left and $r to be read
  my ($l, $r) = @_;
  my $time = integral(0, $r) + $d * (1 - S($r + $l * $w));
  $time += integral($r + $_ * $w, $r + ($_ + 1) * $w) for 0 .. $l - 1;
  $time += (S($r + $_ * $w) - S($r + ($_ + 1) * $w)) * $v[$l - $_] for 1 .. $l - 1;
  return $time / S($r + $w);
}
$v[$_] = from_renewal($_, $r) for 1 .. $n - 1;
printf "%.4f\n", from_renewal($n, 0) / $n;
EOF
is "$(perl renewal.pl 1 30 5 0 7 60 1)" "$(awk "$exact"' BEGIN { printf "%.4f", exact(30, 5, 0, 7, 60) }')" \
  'the renewals of shape 1 agree with the formula'

# Each line has in minutes: work, checkpoint, downtime, mtbf; then shape, runs, runs with RECLINE_LONG.
cases='30 5 1 180 0.7 60 150'
[ -z "${RECLINE_LONG-}" ] || cases="$cases
45 5 1 180 0.7 60 150
60 5 1 180 0.5 60 300
57 5 0 360 2 60 100"
for line in $cases; do
  IFS=' ' read -r tau delta d m shape runs long <<EOF
$line
EOF
  scenario "$tau" "$delta" "$d" "$m"
  sed -i "s/law: exponential/law: weibull, shape: $shape/" scenario.yaml
  [ -z "${RECLINE_LONG-}" ] || runs=$long
  mean_agrees scenario.yaml "$runs" \
    "$(perl renewal.pl $pieces "$tau" "$delta" $((2 * delta)) "$d" "$m" "$shape")" \
    "work of $tau min, checkpoint $delta, downtime $d, mtbf $m, shape $shape"
done

# ---- two levels ----

# Computes V = va + vb A(0) and A = ca + cb A(0) from the last piece to the first. With one level the
# result is the first formula; a Monte Carlo of 200,000 periods gave 109.572 for two levels.
chain='function period(n, tau, d1, d2, r1, r2, l1, l2,    l, p, i, f, e, k, c, va, vb, ca, cb) {
  l = l1 + l2; p = l1 / l; va = vb = 0
  for (i = n - 1; i >= 0; i--) {
    f = exp(-l * (tau + (i == n - 1 ? d2 : d1))); e = exp(-l * (i ? r1 : r2)); k = 1 - (1 - e) * p
    c = 1 - (1 - f) * p * e / k
    va = ((1 - f) / l + f * va + (1 - f) * p * (1 - e) / l / k) / c
    vb = (f * vb + (1 - f) * (1 - p) * ((1 - e) * p / k + 1)) / c
    ca = ((1 - e) / l + e * va) / k; cb = (e * vb + (1 - e) * (1 - p)) / k
  }
  return va + vb * ca / (1 - cb)
}'
is "$(awk "$exact $chain"' BEGIN { printf "%.3f %.3f %.3f", exact(57, 5, 10, 0, 360),
    period(1, 57, 0, 5, 0, 10, .3 / 360, .7 / 360), period(4, 20, 1, 5, 1, 10, 1 / 120, 1 / 600) }')" \
  '69.565 69.565 109.595' 'the chain agrees with the formula, and with a Monte Carlo'

cat >two-levels.xml <<'EOF'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <prop id="memory_copy_bw" value="1e6"/>
    <host id="node-0" speed="1Gf"/>
    <host id="service-0" speed="1Gf"><disk id="disk" read_bw="250kBps" write_bw="250kBps"/></host>
    <link id="wire" bandwidth="10GBps" latency="1us"/>
    <route src="node-0" dst="service-0"><link_ctn id="wire"/></route>
  </zone>
</platform>
EOF

# Each line has work, a copy in memory, pieces from one checkpoint on the server to the next, mtbf of
# processes, mtbf of the node, runs; times are in minutes. A file on the server takes four times as long
# as a copy in memory, in both directions.
cases='10 0.5 4 60 240 60 400'
[ -z "${RECLINE_LONG-}" ] || cases="$cases
20 1 2 120 120 0 400
5 0.25 10 20 300 0 400
10 1 5 30 60 0 800"
for line in $cases; do
  IFS=' ' read -r tau copy n m1 m2 runs long <<EOF
$line
EOF
  scenario "$tau" 1 0 1
  sed -e "s|^platform:.*|platform: {file: two-levels.xml}|" -e "/^failures:/d" \
    -e "s|storage: local\(.*\), bytes:.*|levels: [{storage: memory}, {storage: nfs, every: $n}]\1, bytes: $(awk -v c="$copy" 'BEGIN { print 60 * c }')MB}|" scenario.yaml >levels.yaml
  cat >>levels.yaml <<EOF
failures:
  - {law: exponential, mtbf: ${m1}min, of: platform, kills: rank, repair: 0}
  - {law: exponential, mtbf: ${m2}min, of: platform, repair: 0}
EOF
  [ -z "${RECLINE_LONG-}" ] || runs=$long
  mean_agrees levels.yaml "$runs" \
    "$(awk -v all=$pieces -v tau="$tau" -v c="$copy" -v n="$n" -v l1="$m1" -v l2="$m2" \
      "$chain"' BEGIN { l1 = 1 / l1; l2 = 1 / l2
      first = period(n, tau, c, 4 * c, c, 0, l1, l2)
      printf "%.6f", (first + (all / n - 1) * period(n, tau, c, 4 * c, c, 4 * c, l1, l2)) / all }')" \
    "two levels, work of $tau min, every $n, mtbf $m1 and $m2"
done
finish
