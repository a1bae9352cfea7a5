#!/bin/sh
# Failures by law in runs: each node has its own, which nothing that is added changes; repaired nodes
# fail again; of a platform one node after the other.
. "$(dirname "$0")/../../protocols/t/tap.sh"
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

# "TIME RANK" of each crash before second 250, in the order of time.
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

# The next failure of a node is counted from its repair, that of a platform from the last repair.
for of in node platform; do
  run_ends recovered "of a $of, a long repair" --set failures.0.repair=100s --set failures.0.of=$of
  awk '$3 == "crash" { print $1, $2 }' out/trace.txt >times
  check 'more than one failure' test "$(wc -l <times)" -gt 1
  is "$(awk -v of=$of '{ key = of == "node" ? $2 : 0
      if (key in last && $1 < last[key] + 100.1) bad++
      last[key] = $1 } END { print bad + 0 }' times)" 0 'strikes none that is being repaired' times
done

# A spare takes the ranks of a node and gives way in turn to the node, which has been repaired; a
# spare may fail as well.
run_ends recovered 'a spare' --set platform.spares=1
check 'has more failures than spares' test "$(value out/result.json crashes)" -gt 1

# By trace: the same failures from three formats. Node 9 carries nothing.
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
