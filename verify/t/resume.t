#!/bin/sh
# A check that is killed goes on from its last save, with any number of workers, to the same counts;
# what is still to be expanded goes to disk when memory is short.
. "$(dirname "$0")/../../protocols/t/tap.sh"

cp "$here/worlds/big.yaml" "$dir"

# counts WORKERS ARG...: checks and prints how it came out.
counts()
{
  workers=$1
  shift
  "$tool" check "$dir/big.yaml" --workers "$workers" --json "$@" |
    sed -n -e 's/^ *"\(verdict\|states\|transitions\|depth\)" : \([^,]*\),$/\1 \2/p'
}

# killed WORKERS OFFSET:NUMBER [CLAIM [ARG...]]: a check is killed with kill -9 behind the first save in
# which the number at this offset is larger (kill-at-save.c). Fails when it ends before that.
states=16 files=72 # struct head of verify/explore/resume.c
killed()
{
  workers=$1
  at=$2
  claim=${3:-$dir/big.yaml}
  shift $(($# < 3 ? 2 : 3))
  (
    KILL_AT_SAVE=$at LD_PRELOAD=$build/t/libkill-at-save.so "$tool" check "$claim" \
      --workers "$workers" --resume "$dir/saves" --save-every 0 "$@" >"$dir/out" 2>&1
  ) 2>/dev/null
  test $? = 137
}

counts 1 >"$dir/one"
check 'the claim holds' grep -q 'verdict "holds"' "$dir/one"
counts 2 >"$dir/two"
check 'two workers give the same counts' cmp "$dir/one" "$dir/two"

for workers in 1 2; do
  check "$workers workers: killed in the middle" killed "$workers" $states:5000
  check "$workers workers: and once more, later" killed "$workers" $states:45000
  check "$workers workers: a save is there" test -s "$dir/saves/big.save"
  cp "$dir/saves/big.save" "$dir/kept.save"
  "$tool" check "$dir/big.yaml" --workers "$workers" --resume "$dir/saves" --json \
    >"$dir/json"
  check "$workers workers: it goes on from there" \
    sh -c 'test "$(sed -n "s/.*resumed_states. : \([0-9]*\),/\1/p" "$1")" -gt 45000' - "$dir/json"
  check "$workers workers: the save is gone with the verdict" test ! -e "$dir/saves/big.save"
  cp "$dir/kept.save" "$dir/saves/big.save"
  counts $((3 - workers)) --resume "$dir/saves" >"$dir/more"
  check "$workers workers, then $((3 - workers)): the same counts" cmp "$dir/one" "$dir/more"
done

# A violation: the same counterexample.
bad=c3-calls-begin-again
exits 0 'a mutant is violated' "$tool" check $bad --workers 1 --out "$dir/bad"
cp "$dir/bad/$bad.trace" "$dir/bad.trace"
for workers in 1 2; do
  check "$workers workers: killed before the violation" killed "$workers" $states:5000 $bad
  exits 0 "then $((3 - workers)): violated" "$tool" check $bad --workers $((3 - workers)) \
    --resume "$dir/saves" --out "$dir/bad"
  check "$workers workers, then $((3 - workers)): the same trace" \
    cmp "$dir/bad.trace" "$dir/bad/$bad.trace"
done

# Runs that go round for ever, by steps before the save and behind it.
forever=bookmark-until-equal
exits 0 'a protocol goes round for ever' "$tool" check $forever --out "$dir/bad"
cp "$dir/bad/$forever.trace" "$dir/forever.trace"
for states in 1000 3000 3220; do
  exits 2 "saved behind $states states" "$tool" check $forever --resume "$dir/saves" --save-every 0 \
    --max-states $states
  exits 0 'and gone on with: violated' "$tool" check $forever --resume "$dir/saves" --out "$dir/bad"
  check 'by the same run' cmp "$dir/forever.trace" "$dir/bad/$forever.trace"
done
judged() {
  grep -q '"livelock_judged" : true' "$dir/out"
}
exits 0 'with states on disk, none does' "$tool" check bookmark-progress --memory 1MiB \
  --disk "$dir/disk" --json
check 'by the steps alone' judged
check 'of states on disk' grep -q '"archived_states" : [1-9]' "$dir/out"
exits 2 'saved with them' "$tool" check bookmark-progress --memory 1MiB --disk "$dir/disk" \
  --resume "$dir/saves" --save-every 0 --max-states 15000
exits 0 'and gone on with: neither' "$tool" check bookmark-progress --memory 1MiB \
  --disk "$dir/disk" --resume "$dir/saves" --json
check 'by the steps alone, too' judged
exits 2 'one that does is not looked for there' "$tool" check $forever --memory 300KiB \
  --disk "$dir/disk"
check 'for want of memory' grep -q 'bound reached: memory' "$dir/out"

# States on disk are part of a save.
disk() { # WORKERS ARG...
  workers=$1
  shift
  counts "$workers" --memory 4MiB --disk "$dir/disk" "$@"
}
disk 2 >"$dir/more"
check 'with states on disk the same counts' cmp "$dir/one" "$dir/more"
check 'killed with states on disk' \
  killed 2 $files:0 "$dir/big.yaml" --memory 4MiB --disk "$dir/disk"
cp "$dir/saves/big.save" "$dir/disk.save"
exits 64 'without them the save is refused' \
  "$tool" check "$dir/big.yaml" --resume "$dir/saves"
check 'and says why' grep -q 'big.save: has states on disk, and there is no --disk' "$dir/err"
disk 1 --resume "$dir/saves" >"$dir/more"
check 'then the same counts' cmp "$dir/one" "$dir/more"
check 'no file is left' test -z "$(ls "$dir/disk" "$dir/saves" | grep states)"
cp "$dir/disk.save" "$dir/saves/big.save"
exits 64 'a save whose files are gone is refused' \
  "$tool" check "$dir/big.yaml" --memory 4MiB --disk "$dir/disk" --resume "$dir/saves"

sed 's/capacity: 4/capacity: 5/' "$dir/big.yaml" >"$dir/other.yaml"
cp "$dir/kept.save" "$dir/saves/big.save"
exits 64 'a save of another claim is refused' \
  "$tool" check "$dir/other.yaml" --resume "$dir/saves"
check 'in one clear line' grep -q 'big.save: is a save of another claim' "$dir/err"
head -c 100000 "$dir/kept.save" >"$dir/saves/big.save"
exits 64 'a damaged save is refused' "$tool" check "$dir/big.yaml" --resume "$dir/saves"
check 'and says so' grep -q 'big.save: is damaged' "$dir/err"

exits 2 'too little memory' "$tool" check "$dir/big.yaml" --memory 8MB
check 'says so' grep -q 'bound reached: memory' "$dir/out"
exits 64 'a size that is none' "$tool" check "$dir/big.yaml" --memory much
finish
