#!/bin/sh
# Tests failures by law in runs. Each node has failures of its own, which no addition to the
# scenario changes. Repaired nodes fail again. With `of: platform` the failures strike one node
# after the other.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cat >scenario.yaml <<EOF
program:
  ranks: 4
  script: |
    rank *: repeat 300 (compute 1s, barrier, checkpoint)
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: bookmark}
checkpoint: {every: 20s, storage: local, bytes: 1kB}
detection:  100ms
failures:   [{law: exponential, mtbf: 150s, repair: 2s}]
EOF

# Prints "TIME RANK" for each crash before second 250, in the order of time.
crashes() { awk '$3 == "crash" && $1 < 250 { print $1, $2 }' "$1/trace.txt"; }

run_ends recovered 'four nodes that fail by law'
crashes out >four
mv out first
run_ends recovered 'the same once more'
same first/trace.txt out/trace.txt 'in the same bytes'
check 'more than one failure' test "$(wc -l <four)" -gt 2

"$recline" run first/scenario.yaml --out saved >/dev/null
same first/result.json saved/result.json 'so the scenario that a run keeps'

run_ends recovered 'a fifth rank' --set program.ranks=5
crashes out | grep -v ' 4$' >of-four
same four of-four 'the failures of the first four nodes stay where they are'
check 'and the fifth has its own' grep -q ' 4$' <<EOF
$(crashes out)
EOF
run_ends recovered 'another law beside it' \
  --set 'failures.1={law: weibull, mtbf: 900s, shape: 0.7, repair: 2s}'
crashes out >two-laws
is "$(grep -cxFf four two-laws):$(wc -l <two-laws | awk -v n="$(wc -l <four)" '{ print ($1 > n) }')" \
  "$(wc -l <four):1" 'adds failures to those of the first' two-laws four
run_ends recovered 'another seed' --set seed=2
crashes out >other
check 'other failures' sh -c '! cmp -s four other'

# The time to the next failure counts from the repair of the node; with `of: platform`, from the last
# repair of any node.
for of in node platform; do
  run_ends recovered "of a $of, a long repair" --set failures.0.repair=100s --set failures.0.of=$of
  awk '$3 == "crash" { print $1, $2 }' out/trace.txt >times
  check 'more than one failure' test "$(wc -l <times)" -gt 1
  is "$(awk -v of=$of '{ key = of == "node" ? $2 : 0
      if (key in last && $1 < last[key] + 100.1) bad++
      last[key] = $1 } END { print bad + 0 }' times)" 0 'strikes none that is being repaired' times
done

# If failures come faster than the program gets to a checkpoint, it goes back for ever.
"$recline" run scenario.yaml --set failures.0.mtbf=5s --set limits.simulated=200s --json >json 2>stderr
is "$?:$(jq -r '"\(.verdict):\(.gave_up):\(.simulated_s)"' json)" \
  '1:gave-up:not at its end after 200 s (limits.simulated):200' 'a limit of simulated time' stderr
check 'after many rollbacks' test "$(value json rollbacks.global)" -gt 20
"$recline" campaign scenario.yaml --set failures.0.mtbf=5s --set limits.simulated=50s --runs 2 --json >json 2>stderr
is "$?:$(jq -c '.cells[] | [.runs, .ended]' json)" '1:[2,0]' 'runs that have not ended, in a campaign' stderr
run_ends recovered 'a limit that is not reached' --set limits.simulated=9999s
same first/trace.txt out/trace.txt 'changes nothing'
"$recline" run scenario.yaml --set limits.simulated=9s --set failures=[] --json \
  --set 'program.script="rank *: recv any"' >json 2>stderr
is "$(value json verdict)" lost 'programs that wait for ever are told from it' stderr

# A spare takes the ranks of a node. When the spare fails, they go to the node, which has been repaired.
run_ends recovered 'a spare' --set platform.spares=1
check 'has more failures than spares' test "$(value out/result.json crashes)" -gt 1

# If nodes do not come back, their ranks go on beside the ranks of other nodes, and fail with them.
gone() { echo "failures.$1={rank: $1, at: $((50 + 50 * $1))s, returns: never}"; }
together() { awk '$3 == "crash" { on[int($1)] = on[int($1)] $2 } END { for (t in on) print t ":" on[t] }' out/trace.txt | sort -n | tr '\n' ' '; }
run_ends recovered 'nodes that do not come back' --set 'failures=[]' --set "$(gone 0)" --set "$(gone 1)" --set "$(gone 2)"
is "$(together)" '50:0 100:01 150:012 ' 'have ever fewer to go to, with more ranks on each' out/trace.txt
check 'which takes longer' test "$(jq '.simulated_s > 600' out/result.json)" = true
run_ends recovered 'first to spares' --set 'failures=[]' --set platform.spares=1 --set "$(gone 0)" --set "$(gone 1)" --set "$(gone 2)"
is "$(together)" '50:0 100:1 150:2 ' 'then to the node with the fewest ranks' out/trace.txt
"$recline" run scenario.yaml --set 'failures=[{law: exponential, mtbf: 50s, returns: never}]' --json >json 2>stderr
is "$(jq -r '"\(.verdict):\(.gave_up):\(.crashes)"' json)" 'lost:no node is left:4' 'until there is none' stderr

# Failures by trace: two further formats give the same failures. Node 9 carries no rank.
cat >plain.csv <<EOF
node,start,end
# a comment
0,0,2.1
node-1,10,12.1
0,1min,70
9,65,66
EOF
cat >lanl.csv <<EOF
System,nodes,nodenumz,purpose,Prob Started,Prob Fixed,Down Time
20,8,17,compute,6/21/2005 10:54,6/21/2005 10:55,1
20,8,3,compute,6/21/2005 10:56,6/21/2005 10:57,1
EOF
printf '# event_id\tcomponent_id\tnode_id\tevent_type\tevent_start_time\tevent_stop_time\n' >fta.tab
printf '1 1 17 0 1000 1060\n2 1 17 1 1060 2000\n3 1 3 0 1120 1180\n' >>fta.tab
struck() { awk '$3 == "crash" { printf "%g:%s ", $1, $2 }' out/trace.txt; }
run_ends recovered 'a trace' --set 'failures=[{trace: plain.csv}]'
is "$(struck)" '0:0 10:1 60:0 ' 'its nodes fail when it says' out/trace.txt
restart() { awk -v rank="$1" -v from="$2" '$2 == rank && $3 == "start" && $1 > from { printf "%.1f", $1; exit }' out/trace.txt; }
is "$(restart 0 60)" 70.0 'and are back when it says' out/trace.txt
run_ends recovered 'a log of LANL' --set 'failures=[{trace: lanl.csv}]'
cp out/trace.txt lanl.txt
is "$(struck)" '0:0 120:1 ' 'its nodes in the order of their appearance' lanl.txt
run_ends recovered 'a trace of the Failure Trace Archive' --set 'failures=[{trace: fta.tab}]'
same lanl.txt out/trace.txt 'the same failures as of LANL'

# A run that begins at a drawn time meets the same outages: first those after that time, and then those
# before it. The trace is 92 s long.
printf 'node,start,end\n0,10,12\n1,40,42\n2,90,92\n' >turned.csv
turned='failures=[{trace: turned.csv, begins: drawn}]'
run_ends recovered 'a trace from a drawn time' --set "$turned"
struck | tr ' ' '\n' | grep . | tr ':' ' ' >drawn
is "$(awk '{ split("10 40 90", at, " "); shift = at[$2 + 1] - $1; if (shift < 0) shift += 92
  printf "%.1f\n", shift }' drawn | sort -u | wc -l):$(wc -l <drawn)" 1:3 'the same outages, turned round' drawn
run_ends recovered 'another seed' --set "$turned" --set seed=2
check 'another time' sh -c "! echo '$(struck)' | grep -q \"^$(awk 'NR == 1 { print $1 ":" }' drawn)\""

# All nodes of a zone fail at once, again and again, and only they.
cat >racks.xml <<'EOF'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Floyd">
EOF
for rack in 0-1 2-3; do
  cat <<EOF
    <cluster id="rack-$rack" prefix="node-" suffix="" radical="$rack" speed="1Gf" bw="1GBps" lat="1us"
     router_id="router-$rack"/>
EOF
done >>racks.xml
cat >>racks.xml <<'EOF'
    <zone id="services" routing="Full"><host id="service-0" speed="1Gf"/></zone>
    <link id="up" bandwidth="1GBps" latency="1us"/>
    <zoneRoute src="rack-0-1" dst="rack-2-3" gw_src="router-0-1" gw_dst="router-2-3"><link_ctn id="up"/></zoneRoute>
    <zoneRoute src="rack-0-1" dst="services" gw_src="router-0-1" gw_dst="service-0"><link_ctn id="up"/></zoneRoute>
  </zone>
</platform>
EOF
run_ends recovered 'two racks' --set platform.file=racks.xml --set failures.0.of=zone \
  --set failures.0.mtbf=100s --set checkpoint.storage=nfs
awk '$3 == "crash" { print $1, $2 }' out/trace.txt >pairs
is "$(awk '{ on[$1] = on[$1] " " $2 } END { for (t in on) print on[t] }' pairs | sort -u | tr '\n' ';')" \
  ' 1 0; 3 2;' 'fail as a whole' pairs
is "$(value out/result.json crashes)" "$(($(wc -l <pairs) / 2))" 'a failure each' pairs

# A burst makes three nodes fail within 5 s; then none fails until the next burst.
run_ends recovered 'bursts' --set 'failures=[{law: exponential, mtbf: 120s, of: platform, burst: 3, within: 5s, repair: 1s}]'
awk '$3 == "crash" { print $1, $2 }' out/trace.txt >bursts
check 'more than one' test "$(wc -l <bursts)" -gt 3
is "$(awk 'NR > 1 && $1 - last < 5 { near++ } { last = $1 } END { print (near >= NR / 3) }' bursts)" 1 \
  'come close together' bursts

# Repairs by law take times that differ; their mean is near the one that the scenario gives.
run_ends recovered 'repairs by law' --set 'failures=[{law: exponential, mtbf: 20s, of: platform, repair: 2s, repair_law: gamma, repair_shape: 4}]'
awk '$3 == "crash" { down[$2] = $1 } $3 == "start" && $2 in down { print $1 - down[$2] - 0.1; delete down[$2] }' \
  out/trace.txt >repairs
is "$(awk '{ s += $1; q += $1 * $1 } END { m = s / NR; d = sqrt(q / NR - m * m)
  print (NR > 10 && m > 1.4 && m < 2.6 && d > 0.4 && d < 1.8) }' repairs)" 1 'of a gamma law' repairs

# A law that strikes processes leaves their nodes alone, and what is stored there.
run_ends recovered 'processes by law' --set failures.0.kills=rank --set failures.0.mtbf=60s \
  --set checkpoint.storage=memory
is "$(grep -c ' crash leaves=2$' out/trace.txt)" "$(value out/result.json crashes)" 'alone' out/trace.txt

bad() { # NAME LINE TEXT PATTERN
  printf '%s\n' "$3" >bad.csv
  "$recline" run scenario.yaml --set 'failures=[{trace: bad.csv}]' >stdout 2>stderr
  is "$?:$(wc -l <stderr):$(grep -c "bad.csv:$2: $4" stderr)" 64:1:1 "$1" stderr
}
bad 'no columns' 1 'time,node' '"time,node" names no columns'
bad 'a node that is not there' 2 'node,start,end
mars,1,2' '"mars" is no node'
bad 'too few columns' 3 'node,start,end
0,1,2
1,2' '"1,2" has too few columns'
bad 'no time' 2 'node,start,end
0,soon,2' '"soon" is no time'
bad 'an end before the start' 2 'node,start,end
0,5,2' '"2" is before the start'
bad 'no date' 2 'nodenumz,Prob Started,Prob Fixed
0,13/32/2005 10:00,1/1/2006 10:00' '"13/32/2005 10:00" is no time'
"$recline" run scenario.yaml --set 'failures=[{trace: none.csv}]' >stdout 2>stderr
is "$?:$(grep -c '"none.csv" is not there' stderr)" 64:1 'no such file' stderr
"$recline" run scenario.yaml --set 'failures=[{trace: plain.csv, mtbf: 1h}]' >stdout 2>stderr
is "$?:$(grep -c 'mtbf: beside trace' stderr)" 64:1 'a mean beside a trace' stderr
finish
