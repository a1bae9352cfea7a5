#!/bin/sh
# docs/add-a-protocol.md: its files are taken from it, built against installed headers, explored and
# run; a flaw in them is found; what is wrong with a file is said in one line.
. "$(dirname "$0")/../../sim/t/tap.sh"
cd "$dir" || exit 1

awk '/^<!-- file: / { file = $3 } file != "" && /^```$/ { file = ""; inside = 0 }
  inside { print >file } /^```[a-z]/ && file != "" { inside = 1 }' "$root/docs/add-a-protocol.md"

cmake --install "$build" --prefix "$dir/installed" >install.log 2>&1
is $? 0 'recline is installed' install.log
export PKG_CONFIG_PATH="$dir/installed/lib/pkgconfig"
PATH=$dir/installed/bin:$PATH
unset RECLINE_DATA

compile() { # SOURCE OBJECT
  # shellcheck disable=SC2046 # words
  ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC $(pkg-config --cflags recline) \
    -o "$2" "$1" 2>cc.log
}

compile restart.c restart.so
is $? 0 'the protocol of the page compiles against the installed headers' cc.log
is "$(nm -u restart.so | grep -v ' w ')" '' 'it needs nothing'

recline check restart-recovers.yaml >stdout 2>stderr
is "$?" 0 'its claim holds' stdout stderr
recline run run.yaml --out out >stdout 2>stderr
is "$?:$(value out/result.json verdict):$(value out/result.json crashes)" 0:recovered:1 \
  'a program crashes under it and recovers' stderr
is "$(value out/result.json audit.violations)" 0 'the audit agrees'
recline run out/scenario.yaml >stdout 2>stderr
is "$?" 0 'the saved scenario finds the object again' stderr

sed '/RCL_ACTION_ROLL_BACK/d' restart.c >flawed.c
mkdir flawed
compile flawed.c flawed/restart.so
cp restart-recovers.yaml flawed
recline check flawed/restart-recovers.yaml >stdout 2>stderr
is "$?:$(grep -c '^restart-recovers  *violated' stdout)" 1:1 'without its roll-back it is violated' stdout

refused() { # FILE-LINE EXPECTED DESCRIPTION
  sed "s/^protocol:.*/protocol: {name: restart, file: $1}/" restart-recovers.yaml >bad.yaml
  recline check bad.yaml >stdout 2>stderr
  is "$?:$(wc -l <stderr):$(grep -c "^bad.yaml:8: protocol.file: .*$2" stderr)" 64:1:1 "$3" stderr
}

echo 'int nothing;' >nothing.c && compile nothing.c nothing.so
sed 's/"restart"/"c3"/' restart.c >taken.c && compile taken.c taken.so
sed 's/RECLINE_PROTOCOLS(&restart)/const uint32_t recline_door = 0; const struct rcl_protocol *const recline_protocols[] = {\&restart, 0}/' \
  restart.c >old.c && compile old.c old.so
refused missing.so 'expected a shared object' 'a file that is not there'
refused bad.yaml 'expected a shared object' 'a file that is no object'
refused nothing.so 'expected RECLINE_PROTOCOLS in it' 'an object without protocols'
refused old.so 'it was built for door 0' 'an object built for another door'
refused taken.so 'there is a protocol c3 already' 'a name that is taken'

finish 13
