#!/bin/sh
# Bad input gives one line on standard error, exit code 64 and nothing on standard output. It leaves
# nothing behind: neither the folder of --out nor a private folder.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer

scenario=$dir/good.yaml
cat >"$scenario" <<EOF
program:    {binary: cg, args: [S], ranks: 8}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
failures:
  - {rank: 3, at: 60ms}
EOF
touch "$dir/file"
cp "$build/programs/cg-plain" "$dir/plain"
printf 'program: {binary: cg\n' >"$dir/broken.yaml"
sed 's/^seed.*//; s/rank: 3/rnak: 3/' "$scenario" >"$dir/unknown.yaml"
sed 's/program:.*/program: {ranks: 2, script: "rank 0: sing"}/; /^failures/,$d' "$scenario" \
  >"$dir/script.yaml"
TMPDIR=$dir/tmp
export TMPDIR
mkdir "$TMPDIR"

# Runs recline with these words; the line that it must print contains PART.
refuses() { # DESCRIPTION PART WORD...
  what=$1 part=$2
  shift 2
  "$recline" "$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null
  code=$?
  wrong_with=
  [ $code -eq 64 ] || wrong_with="$wrong_with exit code $code, expected 64;"
  [ ! -s "$dir/stdout" ] || wrong_with="$wrong_with something on standard output;"
  [ "$(wc -l <"$dir/stderr")" -eq 1 ] || wrong_with="$wrong_with not one line;"
  grep -qF -- "$part" "$dir/stderr" || wrong_with="$wrong_with the line does not say: $part;"
  grep -qF expected "$dir/stderr" || wrong_with="$wrong_with the line does not say what was expected;"
  [ ! -e "$dir/out" ] || wrong_with="$wrong_with the folder of --out was made;"
  [ -z "$(ls -A "$TMPDIR")" ] || wrong_with="$wrong_with something is left in TMPDIR;"
  if [ -z "$wrong_with" ]; then
    ok "$what"
  else
    not_ok "$what" "$dir/stderr" "$dir/stdout"
    echo "#$wrong_with"
  fi
  rm -rf "$dir/out"
}

run() { # DESCRIPTION PART WORD...: refuses a run that would keep its files
  what_run=$1 part_run=$2
  shift 2
  refuses "$what_run" "$part_run" run --out "$dir/out" "$@"
}

refuses 'no scenario' 'no scenario' run
refuses 'two scenarios' 'more than one' run "$scenario" "$scenario"
refuses 'an unknown option' '--fast' run --fast "$scenario"
refuses 'an option without its value' '--set' run "$scenario" --set
run 'a scenario that is not there' "$dir/none.yaml" "$dir/none.yaml"
run 'a scenario that is a folder' "$dir" "$dir"
run 'a scenario that is no YAML' 'broken.yaml:' "$dir/broken.yaml"
run 'an unknown key' 'unknown.yaml:6: ' "$dir/unknown.yaml"
run 'a wrong unit' 'failures.0.at' "$scenario" --set failures.0.at=4parsec
run 'a rank out of range' 'failures.0.rank' "$scenario" --set failures.0.rank=8
run 'a host that the platform does not have' 'service-9' "$scenario" \
  --set platform.dispatcher=service-9
run 'a platform that is not there' 'moon.xml' "$scenario" --set platform.file=moon.xml
platform() { # SED-EXPRESSION: makes a platform file with an error
  sed "$1" "$root/platforms/clan.xml" >"$dir/bad.xml"
}
platform 's/<platform version="[^"]*"/<platform version="3"/'
run 'a platform of an old version' 'bad.xml:' "$scenario" --set platform.file=bad.xml
platform '0,/ speed="[^"]*"/s// speed="-5Gf"/'
run 'a negative speed' 'speed "-5Gf" of <' "$scenario" --set platform.file=bad.xml
platform '0,/ speed="[^"]*"/s// speed="nanf"/'
run 'a speed that is no number' 'speed "nanf" of <' "$scenario" --set platform.file=bad.xml
platform 's|^.*</platform>|<zone id="twice" routing="None"><host id="node-0" speed="1Gf"/><host id="node-0" speed="1Gf"/></zone></platform>|'
run 'a host twice' 'a second host "node-0"' "$scenario" --set platform.file=bad.xml
platform 's/id="memory_copy_bw" value="350e6"/id="memory_copy_bw" value="speed"/'
run 'a property that is no number' 'value "speed" of <memory_copy_bw>' "$scenario" \
  --set platform.file=bad.xml
platform 's/id="smpi.os"/id="smpi\/ow"/'
run 'an unknown setting of SimGrid' 'Bad config key: smpi/ow' "$scenario" --set platform.file=bad.xml
platform 's/id="smpi.bw-factor" value="/&often:/'
run 'a factor that is none' 'Invalid factor in chunk' "$scenario" --set platform.file=bad.xml
platform 's/id="smpi.bw-factor" value="0:1/id="smpi\/bw-factor" value="0:-1/'
run 'a negative factor' 'value "0:-1;8192:0.91" of <smpi/bw-factor>' "$scenario" \
  --set platform.file=bad.xml
run 'too few nodes' 'platform.file' "$scenario" --set program.ranks=512
run 'an unknown protocol' 'c4' "$scenario" --set protocol.name=c4
run 'an unknown event' 'failures.0.after' "$scenario" \
  --set 'failures=[{rank: 1, after: {event: sneezed}}]'
run '--set without a value' 'nonsense' "$scenario" --set nonsense
run '--set of an unknown key' 'program.colour' "$scenario" --set program.colour=red
run '--set of an item that is not there' 'failures.7' "$scenario" --set failures.7.at=1s
run 'a program that is nowhere' 'good.yaml:1: program.binary: "sing" not found' "$scenario" \
  --set program.binary=sing
run 'a program that was not built with recline-cc' 'plain" was not built with recline-cc' \
  "$scenario" --set program.binary=./plain
run 'a program that is a text' 'good.yaml" was not built with recline-cc' "$scenario" \
  --set program.binary=./good.yaml
run 'an empty program' 'file" was not built with recline-cc' "$scenario" --set program.binary=./file
run 'a wrong operation in a script' 'script.yaml:1: ' "$dir/script.yaml"
for verdict in holds violated inconclusive vacuous; do
  run "a verdict of checks: $verdict" 'expect.verdict: that of a check, expected completed' \
    "$scenario" --set expect.verdict=$verdict
done
printf 'program:\n  args:\n  - "a\\0b"\n' >"$dir/nul.yaml"
run 'a NUL in an argument' 'nul.yaml:3: a text with a NUL byte (\0), expected one scenario' "$dir/nul.yaml"
run 'the same with --set' 'a text with a NUL byte (\0)' "$scenario" \
  --set 'program.args=["a\0b"]'
run 'an id that is a path' '"../evil" is no name' "$scenario" --set id=../evil
run 'a size that is too large' '"5e30TB" is too much, expected a size of at most 1e+18 B' \
  "$scenario" --set checkpoint.bytes=5e30TB
run 'a time that is too large' '"1e300s" is too much, expected a time of at most 1e+10 s' \
  "$scenario" --set detection=1e300s
run 'a device that never ends' '/dev/zero: File too large' /dev/zero
refuses 'an --out that cannot be made' "$dir/file/out" run "$scenario" --out "$dir/file/out"
refuses 'an --out that is a file' "$dir/file" run "$scenario" --out "$dir/file"
refuses 'the same with --json' "$dir/file" run "$scenario" --json --out "$dir/file"

# The checks above see nothing if good input is refused, too.
if "$recline" run "$scenario" --json --out "$dir/out" >"$dir/stdout" 2>"$dir/stderr"; then
  ok 'the same scenario without these flaws runs'
else
  not_ok 'the same scenario without these flaws runs' "$dir/stderr"
fi
is "$(ls -A "$TMPDIR")" '' 'and leaves nothing in TMPDIR'
finish 46
