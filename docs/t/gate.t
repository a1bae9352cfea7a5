#!/bin/sh
# Runs the shell steps of action.yml, which examples/gate.yml uses, one after the other in a
# repository that holds the protocol examples/restart.c. Each error must be refused by the step that
# is there for it. Only the step that fetches packages is left out, as recline comes from this
# build.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cp "$root"/examples/* .

# Writes each step's script to steps/N and its name to steps/N.name. A script is on the line of
# `run:` or, behind `|`, in the lines that are indented further.
mkdir steps
awk '
  /^ *- name: / { sub(/^ *- name: /, ""); name = $0 }
  /^ *run: / {
    match($0, /^ */); depth = RLENGTH; n++
    print name >("steps/" n ".name")
    sub(/^ *run: /, "")
    inside = $0 == "|"
    if (!inside) print >("steps/" n)
    next
  }
  inside && /[^ ]/ { match($0, /^ */); inside = RLENGTH > depth }
  inside { print substr($0, depth + 3) >("steps/" n) }
' "$root/action.yml"
steps=$(ls steps/*.name | wc -l)
is "$steps" 7 'the action has so many shell steps'
is "$(cat steps/[0-9] | grep -c '\${{')" 0 'no step has an expression in its script, which could be a command'
is "$(grep -c 'uses: example/recline@' gate.yml)" 1 'the example uses the action'
if python3 -c 'import yaml' 2>err; then
  python3 - "$root/action.yml" gate.yml >names 2>err <<'END'
import re, sys, yaml
action, gate = (yaml.safe_load(open(name)) for name in sys.argv[1:])
steps = action['runs']['steps']
for step in steps:
    if 'run' not in step:
        continue
    assert step['shell'] == 'sh -e {0}', step['name']
    for value in step['env'].values():
        name = re.fullmatch(r'\$\{\{ (?:inputs\.(\w+)|github\.action_path) \}\}', value)
        assert name and name[1] in [None, *action['inputs']], value
used = [s for s in gate['jobs']['claims']['steps'] if 'recline@' in s.get('uses', '')]
assert all(key in action['inputs'] for key in used[0]['with'])
assert all(name in used[0]['with'] for name, i in action['inputs'].items() if i.get('required'))
print('fine')
END
  is "$(cat names)" fine 'every input is declared, and every step has a shell' err
else
  ok 'every input is declared # SKIP python3-yaml is missing'
fi

# Makes the repository.
mkdir repository && cd repository || exit 1
mkdir claims flaws runs recline-source
cp ../restart.c .
cp ../restart-recovers.yaml claims
cp ../restart-run.yaml runs
sed 's/^/ /; /RCL_ACTION_ROLL_BACK/s/^ /-/' restart.c >flawed
lines=$(wc -l <restart.c)
{
  printf -- '--- a/restart.c\n+++ b/restart.c\n@@ -1,%d +1,%d @@\n' "$lines" $((lines - 1))
  cat flawed
} >flaws/no-roll-back.patch
sed 's/^id: .*/id: no-roll-back/; s/restart.so/no-roll-back.so/; s/verdict: holds/verdict: violated/' \
  ../restart-recovers.yaml >flaws/no-roll-back.yaml

# Stands for the checkout of recline, which would be built for minutes.
ln -s "$build" recline-source/build
printf '#!/bin/sh\necho "$*" >>"%s/asked"\n[ "$1" = packages ] || exec "%s" "$@"\n' "$dir" "$recline" >recline-source/recline
chmod +x recline-source/recline

# Sets what the runner sets, and the inputs: the protocol, and defaults for the others.
GITHUB_PATH=$dir/path GITHUB_ENV=$dir/env GITHUB_OUTPUT=$dir/output GITHUB_STEP_SUMMARY=$dir/summary
RECLINE=$PWD/recline-source PROTOCOL=restart.c CLAIMS=claims FLAWS=flaws RUNS=runs OUT=counterexamples
export GITHUB_PATH GITHUB_ENV GITHUB_OUTPUT GITHUB_STEP_SUMMARY RECLINE PROTOCOL CLAIMS FLAWS RUNS OUT
unset RECLINE_DATA RECLINE_PLATFORMS RECLINE_PROGRAMS

: >"$dir/path"
# step N: runs the step as the workflow's runner does, with the outputs of the steps before it.
step() {
  env $(cat "$dir/env" 2>/dev/null) PATH="$(tr '\n' : <"$dir/path")$PATH" \
    sh -e "$dir/steps/$1" >"$dir/stdout" 2>"$dir/stderr"
}

passes() { # N
  step "$1"
  is "$?" 0 "passes: $(cat "$dir/steps/$1.name")" "$dir/stdout" "$dir/stderr"
}

refuses() { # N, what
  step "$1"
  code=$?
  [ "$code" -ne 0 ]
  is "$?" 0 "refuses $2: $(cat "$dir/steps/$1.name")" "$dir/stdout" "$dir/stderr"
}

for n in 1 2 3 4 5 6 7; do
  passes "$n"
done
sum=$(cat "$dir/output")
is "$(printf '%s' "$sum" | grep -cE '^sum=[0-9a-f]{32}$')" 1 'the key of the cache is a sum of the sources' "$dir/output"
: >"$dir/output"
echo '# more' >>recline-source/recline
step 1
[ "$(cat "$dir/output")" != "$sum" ]
is "$?" 0 'other sources have another one' "$dir/output"
is "$(grep -c '<testcase .* name="restart-recovers"' claims.xml):$(grep -c '<failure' claims.xml)" \
  1:0 'claims.xml says so' claims.xml
is "$(ls counterexamples | tr '\n' ' ')" \
  'check.json no-roll-back.narration.txt no-roll-back.scenario.yaml no-roll-back.svg no-roll-back.trace ' \
  'the counterexample of the flaw is kept, with its picture'
is "$(grep -c '^### no-roll-back$' "$dir/summary"):$(grep -c '^Violated: ' "$dir/summary")" 1:1 \
  'and told on the page of the job' "$dir/summary"
passes 2
is "$(tail -n 1 "$dir/asked")" packages 'what the cache has is not built again' "$dir/asked"

# Tries a wrong protocol.
cp restart.c right.c
sed -i '/RCL_ACTION_ROLL_BACK/d' restart.c
sed -n '/^compile()/,/^compile "\$PROTOCOL"/p' "$dir/steps/3" >"$dir/steps/8" # flaws as they are
cp "$dir/steps/3.name" "$dir/steps/8.name"
passes 8
refuses 4 'a protocol that is wrong'
is "$(grep -c '<failure message="violated, expected holds"' claims.xml)" 1 'claims.xml says so' claims.xml
line=$(grep -n '^expect:' claims/restart-recovers.yaml | cut -d : -f 1)
is "$(sed 's/expected holds: .*/expected holds/' "$dir/stderr")" \
  "::error file=claims/restart-recovers.yaml,line=$line,title=restart-recovers::violated, expected holds" \
  'and an annotation, at the line of the claim' "$dir/stderr"
is "$(ls counterexamples | grep -c '^restart-recovers')" 4 'and its counterexample is kept'
refuses 6 'a protocol that is wrong'
cp right.c restart.c
passes 8

# Tries a claim that says too much, and a flaw that its claim does not find.
sed -i 's/verdict: holds/verdict: violated/' claims/restart-recovers.yaml
refuses 4 'a claim that does not hold'
cp claims/restart.so flaws/no-roll-back.so
refuses 5 'a flaw that nobody finds'

# Tries a repository without flaws and programs.
rm -rf flaws/* runs/*
for n in 3 5 6; do
  passes "$n"
done
finish
