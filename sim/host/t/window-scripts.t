#!/bin/sh
# Windows in scripts behave as windows in programs. A program (programs/script) makes the real calls
# of a script. Its run, move by move, must be a run of that script in the world, and the program
# must see what the script can see there (script-outcomes).
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# Changes the trace of the run into a trace of the script. There the window's communicator has number 3,
# also where c3 tells its calls, and what programs print is no output.
as_of_script() { # SCRIPT
  sed '/^---/,$d' run/trace.txt
  sed 's/^rank/script rank/' "$1"
  echo ---
  sed -e '1,/^---/d' -e '/ finish\| output/d' -e 's/ content=[0-9a-f]*//' -e 's/comm=[24]/comm=3/' \
    -e 's/ calls words=8,2,/ calls words=8,3,/g' -e 's/ # .*//' run/trace.txt
}

runs() { # SCRIPT RANKS PROTOCOL [FAILURES]
  cat >scenario.yaml <<END
program:    {binary: $build/programs/script, args: [$dir/$1, each], ranks: $2}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: $3}
checkpoint: {every: 500us, count: 1, storage: local, bytes: 10kB}
detection:  1ms
failures:   ${4:-none}
END
  [ "$3" != none ] || sed -i /^checkpoint/d scenario.yaml
  run="$1 under $3${4:+, crashed}"
  "$recline" run scenario.yaml --out run >stdout 2>stderr
  is $? 0 "$run: it ends" stderr
  [ -z "$4" ] || check "$run: it goes back to a checkpoint" grep -q ' start checkpoint=1' run/trace.txt
  as_of_script "$1" >as-of-script.trace
  [ "$3" = pessimistic ] || # there collectives are messages of MPI's algorithm, which scripts do not have
    exits 0 "$run: it is a run of the script" "$tool" replay as-of-script.trace
  history=$(sort -u run/program.out | sed 's/history of rank [0-9]*://' | tr -d '\n')
  "$build/t/script-outcomes" "$1" "$2" >outcomes
  is "$(grep -c "^history:$history$" outcomes)" 1 "$run: the programs see what they can see" \
    run/program.out outcomes
}

cat >fences <<'END'
rank 0: window, accumulate 1 0 1, put 1 1 4, put 0 1 9, fence, repeat 6 (compute 1ms, barrier), accumulate 1 0 last+2, get 1 1, fetch 1 0 1, fetch 0 1 1, fence, load 1
rank 1: window, put 2 0 5, fence, repeat 6 (compute 1ms, barrier), get 2 0, fence, load 0
rank 2: window, fence, repeat 6 (compute 1ms, barrier), fetch 1 0 64, accumulate 0 0 2, fence, load 0
END
cat >groups <<'END'
rank 0: window, post 1, start 1, accumulate 1 0 1, complete, wait window, repeat 6 (compute 1ms, barrier), start 1, fetch 1 0 2, complete, load 0
rank 1: window, post 0, start 0, put 0 0 7, wait window, complete, repeat 6 (compute 1ms, barrier), post 0, wait window, load 0
END
cat >locks <<'END'
rank 0: window, lock 1, get 1 0, flush 1, put 1 0 last+1, unlock 1, repeat 6 (compute 1ms, barrier), lock 1, fetch 1 0 1, unlock 1, send 1
rank 1: window, lock 1, accumulate 1 0 4, unlock 1, repeat 6 (compute 1ms, barrier), recv any, load 0
rank 2: window, lock 1 shared, get 1 1, unlock 1, lock 0, put 0 1 3, flush 0, get 0 1, unlock 0, repeat 6 (compute 1ms, barrier), send 1
END
for script in fences:3 groups:2 locks:3; do
  runs ${script%:*} ${script#*:} none
  for protocol in c3 pessimistic; do
    runs ${script%:*} ${script#*:} $protocol
    runs ${script%:*} ${script#*:} $protocol '[{rank: 1, at: 6500us, repair: 1ms}]'
  done
done

# ---- two ranks get a number and put a larger one; only one rank can hold an exclusive lock, so the
# second sees what the first has put; under shared locks both may see the old number ----
cat >exclusive <<'END'
rank 0: window, lock 1, get 1 0, flush 1, put 1 0 last+1, unlock 1
rank 1: window, lock 0, unlock 0, lock 1, get 1 0, flush 1, put 1 0 last+1, unlock 1
END
sed 's/lock 1, get/lock 1 shared, get/' exclusive >shared
is "$("$build/t/script-outcomes" exclusive 2 | wc -l)" 2 'an exclusive lock leaves two outcomes'
is "$("$build/t/script-outcomes" shared 2 | wc -l)" 3 'a shared lock leaves three'

# ---- a replay that would accept anything shows nothing ----
runs groups 2 none
grep -n 'send peer=1 tag=[12]' as-of-script.trace | cut -d : -f 1 | sed 2q >lines
awk 'NR == FNR { at[FNR] = $1; next }
  FNR == at[1] { kept = $0; next }
  { print }
  FNR == at[2] { print kept }' lines as-of-script.trace >wrong.trace
exits 1 'accesses behind the message that says how many are no run of the script' \
  "$tool" replay wrong.trace
sed 's/tag=3/tag=5/' as-of-script.trace >wrong.trace
exits 1 'nor is an answer on another tag' "$tool" replay wrong.trace
finish
