#!/bin/sh
# docs/add-a-protocol.md: the files of examples/ are built against installed headers, explored and
# run; flaws in them are found; an error in a file is told in one line.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

cp "$root"/examples/* .

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
is $? 0 'the first protocol compiles against the installed headers' cc.log
is "$(nm -u restart.so | grep -v ' w ')" '' 'it needs nothing'

recline check restart-recovers.yaml >stdout 2>stderr
is "$?" 0 'its claim holds' stdout stderr
recline run restart-run.yaml --out out >stdout 2>stderr
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

mkdir beyond
grep -h '^sed .* restart\.c >beyond' "$root/docs/add-a-protocol.md" | sh
compile beyond.c beyond/restart.so
cp restart-recovers.yaml beyond
recline check beyond/restart-recovers.yaml --out beyond >stdout 2>stderr
is "$?:$(sed -n 's/^ *pure/pure/p' stdout)" \
  "3:$(sed -n 's/^`\(pure, rank.* at start\)`.*/\1/p' "$root/docs/add-a-protocol.md")" \
  'a step beyond its state is a breach, in the words of the page' stdout stderr
check 'with a trace' grep -q '^violation pure ' beyond/restart-recovers.trace

# The same protocol in other languages must have the same states and the same run.
states() { sed -n 's/^ *\([0-9]* states, [0-9]* transitions, depth [0-9]*\),.*/\1/p' "$1"; }
recline check restart-recovers.yaml >in_c 2>stderr
time_of() { grep '"simulated_s"' "$1/result.json"; }
other_language() { # LANGUAGE COMMAND...: compiles restart.so in the folder LANGUAGE
  language=$1
  shift
  "$@" -o "$language/restart.so" 2>"$language.log"
  is $? 0 "$language: it compiles" "$language.log"
  cp restart-recovers.yaml restart-run.yaml "$language"
  recline check "$language/restart-recovers.yaml" >stdout 2>stderr
  is "$?:$(states stdout)" "0:$(states in_c)" "$language: its claim holds, with the states that C has" stdout stderr
  recline run "$language/restart-run.yaml" --out "$language/out" >stdout 2>stderr
  is "$?:$(time_of "$language/out")" "0:$(time_of out)" "$language: a program crashes under it and recovers" stderr
}
mkdir c++ rust
# shellcheck disable=SC2046 # words
other_language c++ ${CXX:-c++} -std=c++17 -O2 -Wall -Wextra -Werror -shared -fPIC $(pkg-config --cflags recline) restart.cc
languages=3
if command -v rustc >/dev/null; then
  other_language rust rustc --edition 2021 --crate-type cdylib -O -C panic=abort -D warnings restart.rs
  languages=6
fi

# The second protocol, which takes checkpoints.
compile pause.c pause.so
is $? 0 'the protocol with checkpoints compiles' cc.log
recline check pause-recovers.yaml >stdout 2>stderr
is "$?" 0 'its claim holds' stdout stderr
recline run pause-run.yaml --out paused >stdout 2>stderr
is "$?:$(value paused/result.json verdict):$(value paused/result.json rollbacks.global)" 0:recovered:1 \
  'a program crashes under it and recovers' stderr
is "$(value paused/result.json audit.violations)" 0 'the audit agrees'
is "$(sed -n 's/^[0-9 .]* 2 start checkpoint=//p' paused/trace.txt | cut -d ' ' -f 1 | tail -n 1)" 2 \
  'from its second checkpoint' paused/trace.txt

broken() { # NAME PROPERTY DESCRIPTION: NAME.c violates PROPERTY in the claim pause-recovers
  mkdir "$1" && compile "$1.c" "$1/pause.so" && cp pause-recovers.yaml "$1"
  recline check "$1/pause-recovers.yaml" >stdout 2>stderr
  is "$?:$(grep -c "^ *$2, .* by step [0-9]*: " stdout)" 1:1 "$3" stdout stderr
}

grep -h '^sed .* pause\.c >\|^sed .* pause-recovers\.yaml >' "$root/docs/add-a-protocol.md" >flaws.sh
is "$(wc -l <flaws.sh)" 4 'the page has three flaws of it, and another claim'
sh flaws.sh
broken loose deadlock 'a program that is not held loses messages'
broken forgetful deadlock 'without the count messages to oneself are lost'
mkdir large && compile large.c large/pause.so && cp pause-recovers.yaml large
recline check large/pause-recovers.yaml >stdout 2>stderr
is "$?:$(grep -c '^ *sizes: 16 bytes' stdout)" 0:1 'a flaw of larger messages is not seen with 16 bytes' stdout stderr
cp larger.yaml large/pause-recovers.yaml
recline check large/pause-recovers.yaml >stdout 2>stderr
is "$?:$(grep -c '^ *deadlock, .* by step [0-9]*: ' stdout)" 1:1 'with larger ones it is' stdout stderr

# Every header that the page lists compiles on its own.
sed -n 's/^| `\(<recline\/.*>\)` .*/#include \1/p' "$root/docs/add-a-protocol.md" >headers
is "$(wc -l <headers)" 9 'the page lists the headers'
while read -r line; do
  echo "$line" >header.c
  compile header.c header.so || echo "$line"
done <headers >failed
is "$(cat failed)" '' 'each compiles on its own' cc.log

refused() { # FILE-LINE EXPECTED DESCRIPTION
  sed "s/^protocol:.*/protocol: {name: restart, file: $1}/" restart-recovers.yaml >bad.yaml
  recline check bad.yaml >stdout 2>stderr
  is "$?:$(wc -l <stderr):$(grep -c "^bad.yaml:8: protocol.file: .*$2" stderr)" 64:1:1 "$3" stderr
}

echo 'extern const int nothing; const int nothing = 1;' >nothing.c && compile nothing.c nothing.so
sed 's/"restart"/"c3"/' restart.c >taken.c && compile taken.c taken.so
sed 's/RECLINE_PROTOCOLS(&restart)/const uint32_t recline_door = 0; const struct rcl_protocol *const recline_protocols[] = {\&restart, 0}/' \
  restart.c >old.c && compile old.c old.so
sed 's/^static void step/static uint32_t calls;\n&/; s/  case RCL_EVENT_START:/&\n    calls++;/' restart.c >counts.c
compile counts.c counts.so
sed 's/^static void step/#include <stdio.h>\n&/; s/  case RCL_EVENT_START:/&\n    puts("start");/' restart.c >prints.c
compile prints.c prints.so
sed 's/uint32_t calls;/uint32_t calls[4];/; s/calls++/calls[state->told % 4]++/' counts.c >counts4.c
compile counts4.c counts4.so && strip counts4.so
refused counts.so 'it can write to a variable (calls)' 'an object with a variable'
refused counts4.so 'it can write to a variable (without a name' 'one that is stripped'
refused prints.so 'it needs puts' 'an object that needs more than mem*'
refused missing.so 'expected a shared object' 'a file that is not there'
refused bad.yaml 'expected a shared object' 'a file that is no object'
refused nothing.so 'expected RECLINE_PROTOCOLS in it' 'an object without protocols'
refused old.so 'it was built for door 0' 'an object built for another door'
refused taken.so 'there is a protocol c3 already' 'a name that is taken'

finish $((30 + languages))
