#!/bin/sh
# examples/gate.yml: its shell steps, taken out of the file and run one after the other, in a repository
# that holds the protocol examples/restart.c. What is wrong is refused, by the step that is
# there for it. Only what fetches sources and packages is left out: recline comes from this build.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cp "$root"/examples/* .

# Each step's script into steps/N, its name into steps/N.name. A script is on the line of `run:` or,
# behind `|`, in the lines that are indented further.
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
' gate.yml
steps=$(ls steps/*.name | wc -l)
is "$steps" 6 'the workflow has so many shell steps'

# The repository.
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
printf '#!/bin/sh\nexec "%s" "$@"\n' "$recline" >recline-source/recline
chmod +x recline-source/recline

GITHUB_PATH=$dir/path GITHUB_ENV=$dir/env
export GITHUB_PATH GITHUB_ENV
unset RECLINE_DATA RECLINE_PLATFORMS RECLINE_PROGRAMS

# step N: runs it as the workflow's runner does, with what the steps before have put down.
step() {
  env $(cat "$dir/env" 2>/dev/null) PATH="$(cat "$dir/path" 2>/dev/null || true):$PATH" \
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

is "$(sed -n 2p "$dir/steps/1" | cut -d ' ' -f 1)" apt-get 'the first step installs packages'
for n in 2 3 4 5 6; do
  passes "$n"
done
is "$(grep -c '<testcase .* name="restart-recovers"' claims.xml):$(grep -c '<failure' claims.xml)" \
  1:0 'claims.xml says so' claims.xml
is "$(ls counterexamples | tr '\n' ' ')" \
  'check.json no-roll-back.narration.txt no-roll-back.scenario.yaml no-roll-back.svg no-roll-back.trace ' \
  'the counterexample of the flaw is kept'

# A protocol that is wrong.
cp restart.c right.c
sed -i '/RCL_ACTION_ROLL_BACK/d' restart.c
sed -n '/^compile()/,/^compile restart.c/p' "$dir/steps/3" >"$dir/steps/7" # flaws as they are
cp "$dir/steps/3.name" "$dir/steps/7.name"
passes 7
refuses 4 'a protocol that is wrong'
is "$(grep -c '<failure message="violated, expected holds"' claims.xml)" 1 'claims.xml says so' claims.xml
is "$(ls counterexamples | grep -c '^restart-recovers')" 4 'and its counterexample is kept'
refuses 6 'a protocol that is wrong'
cp right.c restart.c
passes 7

# A claim that says too much, and a flaw that its claim does not find.
sed -i 's/verdict: holds/verdict: violated/' claims/restart-recovers.yaml
refuses 4 'a claim that does not hold'
cp claims/restart.so flaws/no-roll-back.so
refuses 5 'a flaw that nobody finds'
finish
