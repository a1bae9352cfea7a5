# The Test Anything Protocol for tests in sh: `. "$(dirname "$0")/tap.sh"`.
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=${RECLINE_BUILD:-$root/build}
case $build in
  /*) ;;
  *) build=$PWD/$build ;;
esac
tool=$build/t/verify-tool
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tests=0
failed=0

# report STATUS NAME: one line; status 0 is success.
report()
{
  tests=$((tests + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $tests - $2"
  else
    echo "not ok $tests - $2"
    failed=1
  fi
}

# check NAME COMMAND...: the command succeeds.
check()
{
  name=$1
  shift
  if "$@" >"$scratch/check.log" 2>&1; then
    report 0 "$name"
  else
    report 1 "$name"
    sed 's/^/# /' "$scratch/check.log"
  fi
}

# exits CODE NAME COMMAND...: the command ends with that code; its output is in $scratch/out, err.
exits()
{
  code=$1
  name=$2
  shift 2
  got=0
  "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
  [ "$got" -eq "$code" ] && report 0 "$name" || {
    report 1 "$name"
    echo "# exit code $got, expected $code"
    sed 's/^/# /' "$scratch/out" "$scratch/err"
  }
}

finish()
{
  echo "1..$tests"
  exit $failed
}
