#!/bin/sh
# Tests the command line of recline: commands, lists, errors, exit codes.
recline=${RECLINE_BUILD:-build}/bin/recline
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
unset RECLINE_PLATFORMS
count=0

# ok NAME: the command before must have succeeded.
ok()
{
  if [ $? -eq 0 ]; then result=ok; else result='not ok'; fi
  count=$((count + 1))
  echo "$result $count - $1"
}

# call ARG...: runs recline, and leaves its output in $out, its errors in $err, its exit code in $code.
call()
{
  "$recline" "$@" >"$here/out" 2>"$here/err"
  code=$?
  out=$(cat "$here/out")
  err=$(cat "$here/err")
}

# refuses NAME LINE ARG...: one line on standard error, nothing on standard output, exit 64.
refuses()
{
  name=$1
  line=$2
  shift 2
  call "$@"
  [ "$code" -eq 64 ] && [ -z "$out" ] && [ "$err" = "$line" ]
  ok "$name" || return
  [ "$result" = ok ] || printf '#      got: %s (%s)\n# expected: %s\n' "$err" "$code" "$line"
}

commands='expected run, campaign, interval, compare, replicate, check, walk, prove, draw, play, report, join, demo, platform, calibrate, list, doctor, help, or --version'
kinds='expected protocols, claims, platforms, scenarios, programs or mutants'
refuses 'no command' "recline: no command, $commands"
refuses 'an unknown command' "recline: \"lst\" is no command, $commands; did you mean list?" lst
refuses 'far from all commands' "recline: \"cows\" is no command, $commands" cows
refuses 'an unknown option' "recline: \"--lst\" is no command, $commands" --lst
refuses 'help on nothing' "recline: \"lst\" is no command, $commands; did you mean list?" help lst
refuses 'help on two' 'recline help: too many words, expected one command or none' help run list
refuses 'list without a kind' "recline list: nothing named, $kinds" list
refuses 'a name that no claim has' \
  "recline list: no name of claims matches 'cows', expected a part of one, or * and ?" list claims cows
refuses 'list of nothing' "recline list: \"cows\" is nothing to list, $kinds" list cows
refuses 'an unknown option of list' \
  'recline list: Unknown option --tsv, expected an option of '\''recline list --help'\' list claims --tsv
refuses 'letters that are swapped' "recline list: \"calims\" is nothing to list, $kinds; did you mean claims?" list calims
refuses 'a misspelt option' \
  "recline check: Unknown option --max-stats=9, expected an option of 'recline check --help'; did you mean --max-states?" \
  check --max-stats=9
refuses 'a misspelt claim' \
  "recline check: there is no claim 'c3-recover', expected one of 'recline list claims' or 'mutants', or a file; did you mean c3-recovers?" \
  check c3-recover
refuses 'a picture of a claim' \
  "c3-no-suppress: cannot be read, expected a trace, a platform or a protocol; 'recline check c3-no-suppress --out DIR' draws the counterexample of that claim, if it is violated" \
  draw c3-no-suppress
refuses 'a picture of a mutant' \
  "c3~no-suppress: cannot be read, expected a trace, a platform or a protocol; 'recline check c3-no-suppress --out DIR' draws the counterexample of that claim, if it is violated" \
  draw 'c3~no-suppress'
refuses 'a misspelt scenario' \
  "recline run: there is no scenario 'damo', expected one of 'recline list scenarios' or a file; did you mean demo?" \
  run damo
for pair in protocol.name=bokmark,bookmark protocl.name=c3,protocol protocol.nam=c3,name \
  platform.file=clam,clan platform.placement=blok,block check.hazards=['torn-writs'],torn-writes; do
  call run demo --set "${pair%,*}"
  [ "$code" -eq 64 ] && echo "$err" | grep -q "; did you mean ${pair##*,}? (from --set)$"
  ok "misspelt: ${pair%,*}" || echo "# $err"
done
call draw siff
[ "$code" -eq 64 ] && echo "$err" | grep -q 'did you mean sif?$'
ok 'a misspelt platform'
refuses 'a word for the doctor' \
  'recline doctor: "who" is one word too many, expected --json or nothing' doctor who

mkdir -p "$here/fails"
printf '#!/bin/sh\necho "sbatch: no slurm.conf" >&2\nexit 1\n' >"$here/fails/sbatch"
chmod +x "$here/fails/sbatch"
out=$(PATH=$here/fails:$PATH "$recline" doctor)
echo "$out" | grep -q '^  fails    sbatch    sbatch: no slurm.conf$'
ok 'a tool that ends with an error is not found by the doctor'

call --version
[ "$code" -eq 0 ] && echo "$out" | grep -Eqx 'recline [0-9]+\.[0-9]+\.[0-9]+( \([0-9a-f]{7,}\))?'
ok '--version'
call help
[ "$code" -eq 0 ] && [ "$(echo "$out" | grep -Ec \
  '^  (run|campaign|interval|replicate|check|draw|play|report|demo|list|doctor|help) ')" -eq 12 ]
ok 'help names every command'
call --help
[ "$code" -eq 0 ] && [ "$out" = "$("$recline" help)" ]
ok '--help is help'
call help list
[ "$code" -eq 0 ] && [ "$out" = "$("$recline" list --help)" ]
ok 'help on a command'
call list --help
[ "$code" -eq 0 ] && echo "$out" | grep -q 'recline list'
ok '--help of a command'

call list protocols
[ "$code" -eq 0 ] && echo "$out" | grep -q '^c3 '
ok 'list protocols'
call list protocols --json
[ "$code" -eq 0 ] && echo "$out" | tr -d ' \n' | grep -q '^{"protocols":\[{"name":.*}\]}$'
ok 'list protocols --json'
call list protocols 'c3*' optim
[ "$code" -eq 0 ] && [ "$(echo "$out" | cut -d ' ' -f 1 | tr '\n' ' ')" = 'c3 c3-envelopes optimistic ' ]
ok 'list what a pattern matches, or what has a text in its name'
call list programs
built=$(cd "${recline%/bin/recline}/programs" && ls | sed 's/-plain$//' | sort -u)
[ "$code" -eq 0 ] && [ "$(echo "$out" | sed -n 's/^\([^ ][^ ]*\) .*/\1/p' | sort)" = "$built" ] &&
  echo "$out" | grep -A 1 '^ring  *a token passes' | grep -q '^ *ring BYTES LAPS \[EVERY\]$'
ok 'list programs: all that are built, from the comments of their sources'

data=$here/data
mkdir -p "$data/verify/claims" "$data/verify/mutants" "$data/platforms" "$data/scenarios"
printf 'id: b-1\nstatement: it recovers\n' >"$data/verify/claims/a.yaml"
printf 'id: a-1\nstatement: it is "quiet"\n' >"$data/verify/claims/b.yaml"
printf 'id: c3~x\nstatement: flawed\npatch: x.patch\n' >"$data/verify/mutants/x.yaml"
printf 'seed: 1\n' >"$data/scenarios/plain.yaml"
printf '<platform><host id="a"/><host id="b"/></platform>\n' >"$data/platforms/two.xml"
touch "$data/platforms/README.md"
RECLINE_DATA=$data
export RECLINE_DATA

call list claims
[ "$code" -eq 0 ] && [ "$out" = 'b-1                              it recovers
a-1                              it is "quiet"' ]
ok 'list claims, in the order of their files'
call list claims --json
[ "$code" -eq 0 ] && echo "$out" | grep -qF '"statement" : "it is \"quiet\"",'
ok 'list claims --json'
call list mutants
[ "$code" -eq 0 ] && [ "$out" = 'c3~x                             flawed' ]
ok 'list mutants, whatever keys they have'
call list scenarios
[ "$code" -eq 0 ] && [ "$out" = "plain                            $data/scenarios/plain.yaml" ]
ok 'list scenarios'
call list platforms
[ "$code" -eq 0 ] && [ "$out" = 'two                  2 hosts' ]
ok 'list platforms, and nothing else of their folder'
printf 'id: [\n' >"$data/verify/claims/aa.yaml"
call list claims
[ "$code" -eq 64 ] && [ "$(echo "$out" | wc -l)" -eq 2 ] &&
  [ "$err" = "$data/verify/claims/aa.yaml:2: not YAML (did not find expected node content), expected one scenario" ]
ok 'a broken claim hides no other'
RECLINE_DATA=$here/missing
call list claims
[ "$code" -eq 0 ] && [ -z "$out" ]
ok 'no data, no claims'
unset RECLINE_DATA

call doctor
[ "$code" -eq 0 ] && echo "$out" | grep -q '^  found    smpirun   SimGrid version'
ok 'the doctor finds what is there'
call doctor --json
[ "$code" -eq 0 ] && echo "$out" | grep -q '^  "ready" : true,$'
ok 'and says so in JSON'
env PATH="$here" "$recline" doctor >"$here/out" 2>"$here/err"
[ $? -eq 1 ] && [ ! -s "$here/err" ]
ok 'a missing tool is exit code 1'
grep -q <"$here/out" \
  '^type: apt-get install libsimgrid-dev gcc g++ gfortran cmake ninja-build graphviz gnuplot-nox perl patch binutils spin jq clang lld nodejs chromium pajeng slurm-client$'
ok 'with what to type'

# On a terminal there are colours and progress. seen TERM COMMAND...: prints what the command shows there.
seen()
{
  TERM=$1 script -qec "$2" /dev/null </dev/null >"$here/out"
}
seen xterm "$recline check none-lost"
grep -q "$(printf '\033')\[1;32mviolated" "$here/out"
ok 'a verdict in colour'
seen dumb "$recline check none-lost"
grep -q '^none-lost  *violated  *as expected' "$here/out" && ! grep -q "$(printf '\033')" "$here/out"
ok 'none on a dumb terminal'
seen xterm "NO_COLOR=1 $recline check none-lost"
grep -q 'none-lost  *violated  *as expected' "$here/out"
ok 'none with NO_COLOR'
"$recline" check none-lost >"$here/out"
! grep -q "$(printf '\033')" "$here/out"
ok 'none in a file'

seen xterm "$recline run demo --set program.args=[B] --timeout 3.5 >/dev/null" &
"$recline" run demo --set program.args=[B] --timeout 3.5 2>"$here/err" >/dev/null
wait
grep -q "simulating, 2 s" "$here/out"
ok 'on a terminal a run says that it goes on'
grep -q '^recline run: inconclusive: ' "$here/err" && ! grep -q simulating "$here/err"
ok 'and in a file nothing'
claim=c3-three-two-crashes
seen xterm "$recline check $claim none-lost --jobs 2 --timeout 3.5" &
"$recline" check $claim none-lost --jobs 2 --timeout 3.5 2>"$here/err" >/dev/null
wait
grep -q '1 of 2 claims done, 2 s' "$here/out" && [ ! -s "$here/err" ]
ok 'and so does a check of several'

if [ -w /dev/full ]; then
  "$recline" help >/dev/full 2>"$here/err"
  [ $? -eq 64 ] && grep -q 'cannot be written' "$here/err"
  ok 'a full disk'
fi
# The first claim that is done shows that the rest is under way. A shell ignores SIGINT in what it starts
# in the background.
mkfifo "$here/lines"
"$recline" check --all --jobs 1 >"$here/lines" 2>"$here/err" &
check=$!
{ read -r line && kill -TERM "$check" && cat >"$here/rest"; } <"$here/lines"
wait "$check"
[ "$?" -gt 128 ] && [ -n "$line" ] && grep -qx 'stopped: nothing is kept; with --resume DIR the same command saves there, and goes on' "$here/err" &&
  [ "$(wc -l <"$here/err")" -eq 1 ]
ok 'a check that is interrupted says how to go on'
echo "1..$count"
