#!/bin/sh
# Tests the launcher, in a copy of the tree that builds nothing but a script, with package tools
# that only pretend.
launcher=$(cd "$(dirname "$0")/../.." && pwd)/recline
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
count=0

# ok NAME: the command before must have succeeded.
ok()
{
  if [ $? -eq 0 ]; then result=ok; else result='not ok'; fi
  count=$((count + 1))
  echo "$result $count - $1"
}

# has FILE PATTERN: a line of $here/FILE matches.
has()
{
  grep -Eq -e "$2" "$here/$1" && return 0
  sed "s/^/# $1: /" "$here/$1"
  return 1
}

# The tree has a program that prints its words; each build leaves a line in "builds".
tree="$here/a tree"
mkdir -p "$tree/sim/t" "$tree/scenarios/programs/t" "$here/fake" "$here/elsewhere"
cp "$launcher" "$tree/recline"
cat >"$tree/program" <<'END'
#!/bin/sh
printf '<%s>' "$@"
[ "$1" != fail ] || exit 2
END
chmod +x "$tree/program"
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(stub NONE)
add_custom_command(OUTPUT bin/recline DEPENDS ${CMAKE_SOURCE_DIR}/program VERBATIM
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/program bin/recline
  COMMAND sh -c "echo built >>builds")
add_custom_target(all-of-it ALL DEPENDS bin/recline)
END
printf '#!/bin/sh\necho 1..1; echo "ok 1 - $RECLINE_BUILD" | tee "%s/ran"\n' "$here" \
  >"$tree/sim/t/one.t"
cp "$tree/sim/t/one.t" "$tree/scenarios/programs/t/two.t"

# This dpkg-query says that the packages in the file "installed" are there; this apt-get adds to the file.
cat >"$here/fake/dpkg-query" <<END
#!/bin/sh
while read -r name provides; do echo "installed \$name \$provides"; done <"$here/installed"
END
cat >"$here/fake/apt-get" <<END
#!/bin/sh
echo "\$*" >>"$here/apt"
echo chatter
case "\$*" in
  *update*) exit 0 ;;
  *install*) [ ! -e "$here/offline" ] || exit 100 ;;
esac
for word in \$*; do echo "\$word"; done >>"$here/installed"
END
printf '#!/bin/sh\nif [ "$*" = -u ]; then cat "%s/uid"; else exec /usr/bin/id "$@"; fi\n' "$here" \
  >"$here/fake/id"
printf '#!/bin/sh\necho "sudo $*" >>"%s/apt"\nexec "$@"\n' "$here" >"$here/sudo"
chmod +x "$here/fake"/* "$here/sudo"
all='gcc g++ gfortran libc6-dev make cmake ninja-build libsimgrid-dev libglib2.0-dev
  libyaml-dev libjson-glib-dev zlib1g-dev libotf2-trace-dev libgsl-dev libgraphviz-dev graphviz gnuplot-nox perl patch
  binutils help2man spin jq'
PATH=$here/fake:$PATH

# call ARG...: runs the launcher from another folder, and leaves $here/out, $here/err and $code.
call()
{
  (cd "$here/elsewhere" && exec "${as:-$tree/recline}" "$@") >"$here/out" 2>"$here/err"
  code=$?
}

echo 0 >"$here/uid"
{ printf '%s\n' $all | grep -v -e patch -e spin -e jq; echo 'pkgconf pkg-config (= 1.8.1-1), other'; } >"$here/installed"
call doctor
[ "$code" -eq 1 ] && has out '^type: apt-get install patch$' && [ ! -e "$tree/build" ]
ok 'the doctor answers before anything is built'
call doctor --json
[ "$code" -eq 1 ] && has out '"type": "apt-get install patch"'
ok 'in JSON too'

touch "$here/offline"
call list
[ "$code" -eq 64 ] && has err '^recline: apt-get failed, expected it to install: patch' &&
  [ ! -s "$here/out" ]
ok 'a package that cannot be had'
rm "$here/offline" "$here/apt"

call list --json 'two words' ''
[ "$code" -eq 0 ] && [ "$(cat "$here/out")" = '<list><--json><two words><>' ]
ok 'installs, builds and hands over, from elsewhere'
has err '^recline: installing patch' && has apt 'update' && has apt 'install .* patch$' &&
  ! has apt 'gcc' >/dev/null
ok 'only what is missing was installed'
rm "$here/apt"
call list
[ "$code" -eq 0 ] && [ ! -s "$here/err" ] && [ ! -e "$here/apt" ] &&
  [ "$(wc -l <"$tree/build/builds")" -eq 1 ]
ok 'nothing to do, nothing said'
call fail
[ "$code" -eq 2 ]
ok 'the exit code is the program'\''s'
call doctor
[ "$(cat "$here/out")" = '<doctor>' ]
ok 'once built the doctor is the program'\''s'

ln -s "$tree/recline" "$here/link"
ln -s link "$here/link to link"
as="$here/link to link" call list
[ "$code" -eq 0 ] && has out '<list>'
ok 'called through symbolic links'

call play claim
[ "$code" -eq 0 ] && has out '^<play><claim>' && has apt 'install .* clang lld wasi-libc *$' &&
  has err '^recline: configuring'
ok 'play installs what a page is made with, and configures again'
rm "$here/apt"
call play claim
[ "$code" -eq 0 ] && [ ! -s "$here/err" ] && [ ! -e "$here/apt" ]
ok 'once'

call test
[ "$code" -eq 0 ] && has out '^Files=2,' && has ran "ok 1 - $tree/build\$" &&
  has apt 'install .* spin jq nodejs chromium pajeng otf2-tools slurmctld slurmd slurm-client libopenmpi-dev openmpi-bin zsh python3-jsonschema python3-yaml cmark-gfm *$'
ok 'test runs all tests, with what they need'
call test -v "$tree/sim/t/one.t"
[ "$code" -eq 0 ] && has out '^Files=1,' && has out '^ok 1'
ok 'or those named, with options of prove'
(cd "$tree/sim" && ../recline test t/one.t) >"$here/out" 2>&1
has out '^Files=1,'
ok 'by a path from where one is'

printf '#!/bin/sh\necho other\n' >"$tree/program"
call list & call list & call list & wait
[ "$(wc -l <"$tree/build/builds")" -eq 2 ]
ok 'three callers, one build'
call list
[ "$(cat "$here/out")" = other ]
ok 'a changed source is built'

echo 'add_custom_target(broken ALL COMMAND sh -c "echo the reason; exit 1")' >>"$tree/CMakeLists.txt"
call list
[ "$code" -eq 64 ] && has err '^the reason$' && has err '^recline: the build failed' &&
  [ ! -s "$here/out" ]
ok 'a build that fails shows its log'
sed -i '$d' "$tree/CMakeLists.txt"

printf '#!/bin/sh\necho third\n' >"$tree/program"
(cd "$here/elsewhere" && TERM=xterm script -qec "'$tree/recline' list" /dev/null) >"$here/out" </dev/null
has out 'recline: building \[[0-9]+/[0-9]+\]' && has out 'third'
ok 'on a terminal it says how far the build is'
echo 'add_custom_target(broken ALL COMMAND sh -c "echo the reason; exit 1")' >>"$tree/CMakeLists.txt"
(cd "$here/elsewhere" && TERM=xterm script -qec "'$tree/recline' list; echo code \$?" /dev/null) >"$here/out" </dev/null
has out '^the reason' && has out '^code 64'
ok 'and there too shows why it failed'
sed -i '$d' "$tree/CMakeLists.txt"
printf '#!/bin/sh\necho other\n' >"$tree/program"

mv "$tree" "$here/moved"
tree=$here/moved
call list
[ "$code" -eq 0 ] && has out '^other$' && has err '^recline: configuring'
ok 'a tree that was moved is configured again'

echo 1000 >"$here/uid"
grep -v -x patch "$here/installed" >"$here/fewer" && mv "$here/fewer" "$here/installed"
cp "$here/sudo" "$here/fake/sudo"
call list
[ "$code" -eq 0 ] && has apt '^sudo .*apt-get .* install .*patch'
ok 'with sudo where one is not root'
rm "$here/fake/sudo"
if ! command -v sudo >/dev/null; then
  grep -v -x patch "$here/installed" >"$here/fewer" && mv "$here/fewer" "$here/installed"
  call list
  [ "$code" -eq 64 ] && has err '^recline: neither root nor sudo, type as root: apt-get install patch'
  ok 'or says what to type'
fi
echo "1..$count"
