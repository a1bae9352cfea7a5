#!/bin/sh
# Tests recline replicate: verdicts, expressions, what is run again and what is not, and bad plans.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >published.csv <<'EOF'
id,source,where,quantity,condition,value,unit
a.base,"One, and ""two""",Table 1,"time, in all",1 kB,1.0,s
a.one,"One, and ""two""",Table 1,"time, in all",1 kB,2.0,s
a.two,"One, and ""two""",Table 1,time,1 kB,0.04,s
a.far,"One, and ""two""",Table 2,time,1 kB,3,s
a.zero,"One, and ""two""",Table 2,time,1 kB,0,s
b.size,Three,Table 1,size,1 kB,1.50 KB,size
b.claim,Three,Table 1,longer,1 kB,shape,claim
b.false,Three,Table 1,shorter,1 kB,shape,claim
b.absent,Three,Table 1,unknown,1 kB,7,s
b.broken,Three,Table 1,time,1 kB,7,s
EOF
cat >one.yaml <<EOF
program:
  ranks: 2
  script: |
    rank 0: compute 1s, send 1
    rank 1: recv 0
platform: {file: $root/platforms/flat.xml}
protocol: {name: none}
EOF
sed 's/compute 1s/compute 2s/' one.yaml >two.yaml
cat >plan.ini <<'EOF'
[run {one,two}s]
scenario = $1.yaml

[run bad]
scenario = one.yaml
set = program.ranks=0

[row a.base]
value = [ones simulated_s]


[row a.{one=1,two=0.02}]
value = min(@(9 $1 8: % * [twos simulated_s]))

[row a.far]
value = -([ones simulated_s] - abs(-2) * 2) / 2

[row a.zero]
value = 0.49

[row b.size]
value = 1495.01

[row b.{claim=>,false=<}]
value = [twos simulated_s] $1 [ones time_s.compute]

[row b.broken]
value = [bad simulated_s]

[input a.base]

[derived a.two]

[shared b.size]

[why {a.far,b.false,b.absent}]
text = known

[figure time-{a}]
title = $1
x = runs
y = s
at = 1 2
line simulated = % * [ones simulated_s]
line published = [published $1.one]
line none = [nowhere simulated_s]
EOF
replicate() { timeout 300 "$recline" replicate --plan plan.ini --published published.csv "$@" >stdout 2>stderr </dev/null; }
verdicts() { jq -r '[.values[] | "\(.id)=\(.verdict)"] | join(" ")' stdout; }

replicate --json --out out --jobs 2
is "$?" 1 'a run that fails is not as expected' stderr stdout
is "$(verdicts)" 'a.base=input a.one=within a.two=within a.far=missed a.zero=within b.size=within b.claim=true b.false=false b.absent=absent b.broken=failed' \
  'the verdict of each value' stdout
is "$(jq -r '.values[] | select(.id == "b.broken").why' stdout | grep -c 'run bad ended with exit code 64: .*program.ranks')" \
  1 'why a run has failed' stdout
is "$(jq '.values[] | select(.id == "a.far").simulated | . * 1000 | round' stdout)" 1500 'an expression' stdout
is "$(jq -c '[.within, .missed, .true, .false, .input, .failed, .absent]' stdout)" '[4,1,1,1,1,1,1]' 'the counts'
is "$(jq -r '[.values[] | select(.kind) | "\(.id)=\(.kind)"] | join(" ")' stdout):$(jq -c '[.informative, .informative_within]' stdout)" \
  'a.one=informative a.two=derived a.far=informative a.zero=zero b.size=shared:[2,1]' 'how much each result says' stdout
is "$(grep -ch '^| `b.size` | 1.50 KB | 1.495 KB | 0.997 | within, shared |$\|^- `b.false`, `b.absent`: known$\|^# One, and "two"$' out/replication/*.md | paste -sd:)" \
  1:2 'the pages of papers' out/replication/one-and-two.md out/replication/three.md
is "$(grep -c '^| \[One, and "two"\](replication/one-and-two.md) | 1 of 2 informative results within (50 %), besides 1 of 1 published as zero, 1 of 1 that an input decides; 0 of 0 claims true, 1 inputs |$' out/replication.md)" \
  1 'the index' out/replication.md

is "$(grep -c '<svg' out/time-a.svg):$(sed -n '/EOD/,/EOD/p' out/time-a.gp | awk '/^[12] / { printf "%d %.2f ", $1, $2 }')" \
  '1:1 1.00 2 2.00 1 2.00 2 2.00 ' 'a figure, of what has a value' out/time-a.gp

# A run that was made is not made again, unless its scenario has changed.
stamp() { stat -c %y.%i out/runs/ones/result.json; }
before=$(stamp)
replicate a b.size b.claim b.false b.absent --out out
is "$?:$(stamp)" "0:$before" 'known misses are as expected, and nothing is run again' stdout
sed -i 's/^protocol: .*/protocol: {name: none, capacity: 8}/' one.yaml
replicate a.base --out out
check 'another scenario is run' test "$(stamp)" != "$before"
replicate a.base
is "$(grep -c '^a.base .* 1.0 s .*input$' stdout):$(wc -l <stdout)" 1:3 'the value that is asked for, and no other' stdout

sed -i 's/^text = known/text =/; s/a.far,/a.one,a.far,/' plan.ini
replicate a.one a.far b.false b.absent
is "$?:$(grep -c '^not as expected: a.one is within, and the plan says why it is not$' stdout)" 1:1 \
  'a reason for what is not missed is not as expected' stdout

# Killed in the middle, the command goes on when it is called again, and makes the missing runs.
cat >>plan.ini <<'EOF'
[run {a,b,c,d,e,f}]
scenario = one.yaml
set = id=$1
[row all]
value = 0 * max(@(a b c d e f: [% simulated_s]))
EOF
echo 'all,S,T,q,c,0,s' >>published.csv
"$recline" replicate --plan plan.ini --published published.csv all --out stopped --jobs 1 >stdout 2>stderr &
tries=0
until ls stopped/runs/*/run.txt >listed 2>/dev/null || [ $tries -eq 600 ]; do
  tries=$((tries + 1))
  sleep 0.05
done
kill -9 $!
wait $! 2>/dev/null
done=$(ls stopped/runs/*/run.txt | wc -l)
replicate all --out stopped
is "$?:$(ls stopped/runs/*/run.txt | wc -l)" 0:6 "killed after $done runs, it goes on" stderr

# Bad input.
refused() { # DESCRIPTION PATTERN WORD...
  what=$1 pattern=$2
  shift 2
  replicate "$@"
  is "$?:$(grep -c "$pattern" stderr)" 64:1 "$what" stderr
}
refused 'no such value' 'nowhere is no published value' nowhere
echo 'a,b' >>published.csv
refused 'a line that is cut off' 'published.csv:13: ' a
sed -i '$d' published.csv
echo '[what]' >>plan.ini
refused 'a group of another kind' '\[what\], expected' a
sed -i '$d' plan.ini
printf '[run x]\n' >>plan.ini
refused 'a run without a scenario' 'expected scenario = FILE' a
# Constants of a platform are changed: where a reason tries it and, with --sensitivity, each estimate in
# turn. The plan is not in the folder in which the runs are kept.
mkdir plans
cat >plans/constants.csv <<'EOF'
id,source,where,quantity,condition,value,unit
c.far,Four,Table 1,time,1 kB,40,us
c.near,Four,Table 1,time,1 kB,1.0,s
EOF
cat >plans/far.yaml <<'EOF'
program:
  ranks: 2
  script: |
    rank 0: send 1
    rank 1: recv 0
platform: {file: flat.xml}
protocol: {name: none}
EOF
cat >plans/constants.ini <<'EOF'
[run far]
scenario = far.yaml
[row c.far]
value = 1e6 * [far simulated_s]
[row c.near]
value = [far simulated_s] / [far simulated_s]
[why c.far]
text = the wire
tried five times as long = @flat.latency:5
tried nowhere = [far@nothing:2 simulated_s]
[constant flat.latency]
platform = flat.xml
find = lat="([0-9]+)
kind = estimate
text = round figures
[constant flat.speed]
platform = flat.xml
find = speed="([0-9]+)
kind = chosen
text = a round figure
EOF
replicate() { timeout 300 "$recline" replicate "$@" >stdout 2>stderr </dev/null; }
replicate --plan plans/constants.ini --published plans/constants.csv --out changed --sensitivity
is "$?" 0 'constants change' stdout stderr
long=$(jq .simulated_s 'changed/runs/far@flat.latency:2/result.json')
is "$(jq "$long / .simulated_s | . > 1.5 and . < 2.5" changed/runs/far/result.json)" true \
  'a latency twice as long'
cat changed/replication/*.md >changed/pages
is "$(grep -c 'five times as long: 1 of 1 within (\|nowhere: 0 of 1 within (run far@nothing:2 ' changed/pages)" \
  2 'what was tried' changed/pages
is "$(sed -n 's/^| `flat/&/p' changed/pages | LC_ALL=C sort | tr '\n' '#')" \
  '| `flat.latency` | 1 | +0 −0 | +0 −0 |#| `flat.latency` | 1 | estimate | round figures |#| `flat.speed` | 1 | chosen | a round figure |#' \
  'what an estimate decides, and where constants come from' changed/pages

# What any model can reach: the plan gives rows as forms of the same unknowns.
cat >bounds.csv <<'EOF'
id,source,where,quantity,condition,value,unit
d.one,Five,Table 1,time,a,1.00,s
d.two,Five,Table 1,time,b,1.40,s
d.three,Five,Table 1,time,c,2.00,s
d.share,Five,Table 1,share,c,50,%
d.part,Five,Table 1,share,a,20,%
d.alone,Five,Table 1,time,d,9,s
EOF
cat >bounds.ini <<'EOF'
[row d.{one,two,three,share,part,alone}]
value = [published d.$1]
[input d.two]
[bound time]
text = the same thrice
row d.one = x
row d.two = x
row d.three = x
[bound share]
text = a share of what is not there twice
row d.share = 100 * y / y + z
row d.part = 100 * y / y + z
EOF
bounds() { replicate --plan bounds.ini --published bounds.csv "$@"; }
bounds --out bounds
is "$?:$(grep -c '^| the same thrice | 2 | 1 | 3 | 1 |$\|^| a share of what is not there twice | 2 | 1 | 2 | 1 |$' \
  bounds/replication.md):$(grep -o 'at most .* can' bounds/replication.md)" \
  '0:2:at most 3 of the 5 results (60 %) can be within their bounds; with the inputs, at most 3 of the 6 numbers can' \
  'what any model can reach' bounds/replication.md stderr
sed -i 's/^row d.three = x/row d.three = 2 * x/; s/^row d.part.*/row d.part = 100 * z + -60 * y \/ y + z/' bounds.ini
bounds --json
is "$(jq -c '[.within, .reachable]' stdout)" '[5,5]' 'where forms agree, all of them' stdout
sed -i 's/^row d.share.*/row d.one = x/' bounds.ini
bounds
is "$?:$(grep -c 'bound share\]: row d.one is in another bound, too, expected each row in one bound$' stderr)" 64:1 \
  'a row in two bounds' stderr
sed -i 's/^row d.one = x/row d.one = x * 2/' bounds.ini
bounds
is "$?:$(grep -c 'bound time\]: row d.one = x \* 2, expected FORM' stderr)" 64:1 'no form' stderr
finish 26
