# The Test Anything Protocol for tests in sh, which source this file; $0 is the test.
#
# Sets here (the folder of the test), root (of the sources), build (RECLINE_BUILD, or build/ of the
# sources), recline and tool (the programs recline and verify-tool), and dir, a folder that is
# removed at the end. Each of ok, not_ok, report, is, same, check and exits says one line of TAP.
# The last line of a test is `finish`, or `finish N`, which fails unless N lines were said: a test
# that ended early does not pass. tap_said and tap_failed count lines; a test that passes on lines of
# another program sets them itself.

here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
root=$here
while [ ! -d "$root/verify" ] && [ "$root" != / ]; do
  root=$(dirname "$root")
done
build=$(CDPATH='' cd "${RECLINE_BUILD:-$root/build}" 2>/dev/null && pwd) || {
  echo "Bail out! no build in ${RECLINE_BUILD:-$root/build}"
  exit 1
}
recline=$build/bin/recline
tool=$build/t/verify-tool
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
LC_ALL=C
RECLINE_CHECKS=1 # invariants that take long to check, too
export LC_ALL RECLINE_CHECKS

tap_said=0
tap_failed=0

# Returns whether the build has sanitizers. Then it has no MPI layer, as that copies stacks.
is_sanitized() {
  grep -Eqs '^SANITIZE:BOOL=(ON|TRUE|true)' "$build/CMakeCache.txt"
}

# Skips the test if simulations cannot run.
needs_layer() {
  if is_sanitized; then
    echo '1..0 # SKIP the MPI layer is not built with the sanitizers: it copies stacks'
    exit 0
  fi
  [ -x "$recline" ] || {
    echo "Bail out! no $recline"
    exit 1
  }
}

# Prints the file of a claim or mutant: c3/recovers.yaml for c3-recovers.
claim_file() { # NAME
  for of_protocol in "$root"/verify/claims/* "$root"/verify/mutants/*; do
    rest=${1#"${of_protocol##*/}-"}
    [ "$rest" = "$1" ] || [ ! -e "$of_protocol/$rest.yaml" ] || {
      echo "$of_protocol/$rest.yaml"
      return
    }
  done
}

# Prints the names of claims or mutants, whose files come line by line.
claim_names() {
  sed 's,.*/\([^/]*\)/\([^/]*\)\.[a-z]*$,\1-\2,'
}

ok() { # DESCRIPTION
  tap_said=$((tap_said + 1))
  echo "ok $tap_said - $1"
}

not_ok() { # DESCRIPTION [FILE]...: the files are printed as diagnostics
  tap_said=$((tap_said + 1))
  tap_failed=$((tap_failed + 1))
  echo "not ok $tap_said - $1"
  shift
  for file; do
    [ ! -e "$file" ] || { echo "# ${file##*/}:" && sed -n '1,20s/^/#   /p' "$file"; }
  done
}

report() { # STATUS DESCRIPTION [FILE]...: status 0 is success
  status=$1
  shift
  if [ "$status" -eq 0 ]; then ok "$1"; else not_ok "$@"; fi
}

is() { # FOUND EXPECTED DESCRIPTION [FILE]...
  found=$1 expected=$2 what=$3
  shift 3
  if [ "$found" = "$expected" ]; then
    ok "$what"
  else
    not_ok "$what" "$@"
    printf '#    found: %s\n# expected: %s\n' "$found" "$expected"
  fi
}

same() { # FILE FILE DESCRIPTION: both are there, not empty and the same bytes
  if [ -s "$1" ] && cmp -s "$1" "$2"; then
    ok "$3"
  else
    not_ok "$3"
    { [ -s "$1" ] || echo "empty or not there: $1"; diff "$1" "$2"; } 2>&1 | sed -n '1,10s/^/#   /p'
  fi
}

check() { # DESCRIPTION COMMAND...: the command succeeds
  what=$1
  shift
  "$@" >"$dir/check.log" 2>&1
  report $? "$what" "$dir/check.log"
}

exits() { # CODE DESCRIPTION COMMAND...: it ends with that code; its output is in $dir/out and err
  code=$1 what=$2 got=0
  shift 2
  "$@" >"$dir/out" 2>"$dir/err" || got=$?
  is "$got" "$code" "$what" "$dir/out" "$dir/err"
}

needs_mpi() { # FILE: made by the build where it finds a real MPI; $open has options for mpirun
  needs_layer
  command -v mpirun >/dev/null && [ -e "$build/$1" ] || {
    echo '1..0 # SKIP recline is built without MPI (packages libopenmpi-dev, openmpi-bin)'
    exit 0
  }
  open=
  ! mpirun --version 2>&1 | grep -q 'Open MPI' || open='--allow-run-as-root --oversubscribe'
}

finish() { # [EXPECTED NUMBER OF TESTS]
  echo "1..${1:-$tap_said}"
  [ "$tap_said" -eq "${1:-$tap_said}" ] && [ "$tap_said" -gt 0 ] && [ "$tap_failed" -eq 0 ]
  exit $?
}

# Makes jq print a number in its shortest form: jq 1.7 prints the digits of the file, 20.0 for 20,
# unless the number was computed.
shortest='if type == "number" then . + 0 else . end'

# Prints the value of a key ("verdict", "rollbacks.global") of a JSON file, or nothing where there is
# no file.
value() { # FILE KEY
  jq -r ".$2 | $shortest" "$1" 2>/dev/null
}

# Says what the jobs of a test have left in FILE.1 to FILE.TOTAL, in that order: each has a line `ok - `
# or `not ok - `, and then diagnostics. FILE is $dir/answer unless it is named.
tell_answers() { # TOTAL [FILE]
  line=0
  while [ $line -lt "$1" ]; do
    line=$((line + 1))
    answer=${2:-$dir/answer}.$line
    case $(head -n 1 "$answer" 2>/dev/null) in
      'ok - '*) ok "$(sed 's/^ok - //' "$answer")" ;;
      'not ok - '*)
        not_ok "$(sed -n '1s/^not ok - //p' "$answer")"
        sed 1d "$answer"
        ;;
      *) not_ok "case $line: no answer" ;;
    esac
  done
}

# Runs scenario.yaml of this folder into ./out. The run must end with that verdict, exit code 0 and no
# violation. Sets $what to DESCRIPTION.
run_ends() { # VERDICT DESCRIPTION WORD...
  verdict=$1 what=$2
  shift 2
  rm -rf out
  timeout 300 "$recline" run scenario.yaml --out out "$@" >stdout 2>stderr </dev/null
  is "$?:$(value out/result.json verdict):$(value out/result.json audit.violations)" \
    "0:$verdict:0" "$what: $verdict" stderr out/program.err
}
