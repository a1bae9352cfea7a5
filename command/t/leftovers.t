#!/bin/sh
# On a disk without room a command ends with one line and exit code 64, and leaves nothing half-written.
# The next command removes what a killed one has left, but not what a running one has. Signals leave
# nothing.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
mkdir tmp
TMPDIR=$dir/tmp
export TMPDIR
cat >scenario.yaml <<EOF
program:    {binary: cg, args: [S], ranks: 8}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
EOF
"$recline" check c3-no-suppress --out traces >log 2>&1 || cat log
trace=$dir/traces/c3-no-suppress.trace

# Lists what is in TMPDIR, and what is half-written in ./out.
left() {
  ls -A "$TMPDIR"
  [ ! -d out ] || ls -A out | grep '^\.\|XXX\|tmp$\|\.[A-Z0-9a-z]\{6\}$'
  [ -e out/result.json ] || [ ! -e out/scenario.yaml ] || echo 'no result'
}

# The command has ended with 64 and one line that contains PART, and has left nothing.
told() { # DESCRIPTION PART: looks at $code, err and left()
  is "$code:$(wc -l <err):$(grep -c "$2" err):$(left)" 64:1:1: "$1" err
}

# ---- no room ----

# Runs the command on a disk of KIB KiB. Lists what it leaves, after its exit code.
full() { # KIB DESCRIPTION WORD...
  kib=$1 what=$2
  shift 2
  cat >full.sh <<EOF
mount -t tmpfs -o size=${kib}k none "$dir/disk" && cd "$dir/disk" && mkdir tmp && TMPDIR=\$PWD/tmp || exit 99
"\$@" >../stdout 2>../err
echo \$? \$(find tmp -mindepth 1) \$(find . -name '.recline*' -o -name '*.tmp') \$(ls -d out/* 2>&1 | grep /scenario.yaml) >../code
EOF
  mkdir -p disk
  unshare -m sh full.sh "$@"
  is "$(cat code):$(wc -l <err):$(grep -c 'expected .*room' err)" 64:1:1 "$kib KiB: $what" err
}
if unshare -m true 2>/dev/null; then
  for kib in 4 16 64 256; do
    full $kib 'run, in TMPDIR' "$recline" run "$dir/scenario.yaml"
  done
  for kib in 4 256 1500; do
    full $kib 'run --out' "$recline" run "$dir/scenario.yaml" --out out
  done
  for kib in 4 8 32; do
    full $kib 'check --out' "$recline" check c3-no-suppress --out "$kib" --json
  done
  full 8 'draw' "$recline" draw "$trace" -o picture.svg
  full 4 'what is printed' sh -c "exec '$recline' list claims >list"
  full 256 'what a run prints' \
    sh -c "seq 100000 >all 2>&3; TMPDIR='$TMPDIR' exec '$recline' run '$dir/scenario.yaml' >list" 3>log
  cat >noexec.sh <<EOF
mount -t tmpfs -o noexec none "$dir/disk" && TMPDIR=$dir/disk exec "\$@"
EOF
  unshare -m sh noexec.sh "$recline" run scenario.yaml >stdout 2>err
  code=$?
  told 'no programs may be loaded from TMPDIR' 'mounted noexec, expected a folder from which'
else
  for test in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do ok "# SKIP no file systems can be mounted here"; done
fi

# Limits the size of files, which has the same effect and is allowed to every user.
limited() { # BLOCKS DESCRIPTION WORD...
  blocks=$1 what=$2
  shift 2
  rm -rf out
  (ulimit -f "$blocks" && exec "$recline" "$@") >stdout 2>err
  code=$?
  told "files of at most $blocks blocks: $what" 'cannot be written: .*, expected .*room'
}
limited 8 'run' run scenario.yaml
limited 400 'run --out' run scenario.yaml --out out
limited 8 'check --out' check c3-no-suppress --out out
limited 8 'draw' draw "$trace" -o "$dir/picture.svg"

# ---- no memory ----

# Runs the command with less memory than it needs. It must be inconclusive, in one line.
without() { # LIMIT DESCRIPTION PART WORD...
  limit=$1 what=$2 part=$3
  shift 3
  rm -rf out
  prlimit "$limit" "$recline" "$@" >stdout 2>err
  is "$?:$(wc -l <err):$(grep -c "$part" err):$(left):$(ls -d out 2>/dev/null)" 2:1:1:: "$limit: $what" err
}
for limit in --as=50000000 --as=1000000000 --data=20000000 --data=80000000; do
  without $limit 'run' 'inconclusive: no memory: .*' run scenario.yaml --out out
done
without --as=100000000 'check' 'out of memory' check c3-no-suppress
prlimit --as=200000000 "$recline" draw "$trace" -o picture.svg >stdout 2>err
code=$?
told 'draw' 'not enough memory, expected 512 MiB'
prlimit --as=1000000000 "$recline" check c3-no-suppress >stdout 2>err
is $? 0 'tables of a check are as large as the limit allows' err

# ---- kill -9 ----

cat >endless.c <<EOF
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (int i = 0; argc > 1 && i < 100000; i++)
    puts("a line of some length");
  while (argc < 2 && access("enough", F_OK))
    continue;
  return MPI_Finalize();
}
EOF
"$build/bin/recline-cc" endless.c -o endless 2>err || not_ok 'recline-cc compiles a program' err

# Waits at most 20 s until a command succeeds.
until_it() {
  for attempt in $(seq 200); do
    ! "$@" >log 2>&1 || return 0
    sleep 0.1
  done
  return 1
}
gone() { ! kill -0 "$1"; }
simulates() { # PID: prints its child that runs the program, if there is one
  pgrep -P "$1" -f endless
}

# Begins a run of the program that waits. Sets $job to the process of the run, and $child to the simulation.
begin() { # WORD...
  env --default-signal=INT,HUP "$recline" run scenario.yaml --set program.binary=./endless --set 'program.args=[]' "$@" \
    >stdout 2>err &
  job=$!
  until_it simulates $job || not_ok 'the program is started' err log
  child=$(simulates $job)
}
kill_9() {
  kill -9 $job
  wait $job 2>/dev/null
  until_it gone $child
}
count() { ls -A "$1" | wc -l; }

begin
kill_9
is "$(count tmp)" 1 'kill -9 leaves a folder'
begin
cp err other.err
is "$(count tmp)" 1 'which the next run removes'
"$recline" list protocols >stdout
is "$(count tmp)" 1 'but no command that of a run that goes on'
running=$job
begin --out out
kill_9
is "$(count out):$(left | wc -l)" 1:2 'kill -9 leaves a folder in that of --out'
touch enough
wait $running
is "$?:$(count tmp)" 0:0 'the run that went on ends well'
"$recline" run scenario.yaml --out out >stdout 2>err
is "$?:$(left)" 0: 'the next run into the same folder removes what was left there'
rm enough

# These are names of what killed commands leave; a file that is locked is in use.
printf half >out/.recline-tmp-1
printf half >out/.recline-tmp-2
mkdir -p out/.recline-tmp-3/deep out/.recline-kept-000001
printf half >out/.recline-tmp-3/deep/file
swept() { # DESCRIPTION WORD...
  what=$1
  shift
  cp -r out swept
  flock swept/.recline-tmp-2 "$recline" "$@" >stdout 2>err
  is "$?:$(ls -A swept | grep '^\.' | tr '\n' ' ')" '0:.recline-kept-000001 .recline-tmp-2 ' "$what" err
  rm -rf swept
}
swept 'check --out removes what nobody holds' check c3-no-suppress --out swept
swept 'so does check --resume' check c3-no-suppress --resume swept
swept 'and draw' draw "$trace" -o swept/picture.svg
swept 'and run' run scenario.yaml --out swept
rm -rf out

# ---- signals ----

for signal in INT TERM HUP; do
  for words in '' '--out out'; do
    # shellcheck disable=SC2086 # words
    begin $words
    kill -$signal $job
    wait $job 2>/dev/null
    code=$?
    until_it gone $child
    is "$((code > 128)):$(kill -l $((code - 128))):$(left):$(ls -d out 2>/dev/null)" "1:$signal::" \
      "run $words, SIG$signal: ends by it and leaves nothing" err
  done
done
pipe() { # WORD...
  { "$recline" run scenario.yaml --set program.binary=./endless --set 'program.args=[print]' "$@" 2>err
    echo $? >code; } | head -n 1 >stdout
  is "$(cat code):$(left)" 141: "run $*, no reader: ends by SIGPIPE and leaves nothing" err
}
pipe
pipe --out out
is "$(value out/result.json verdict)" completed 'what was to be kept is there'
finish
