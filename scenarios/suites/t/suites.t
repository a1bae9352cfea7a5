#!/bin/sh
# Programs in the style of well-known suites, built as a user builds them: by their own Makefile, with
# recline's compiler wrappers. Each program verifies its result. It must find it right without a
# protocol, and after crashes under every protocol, with exit code 0 and without a violation.
#
#   suites.t                        about a minute
#   suites.t PROGRAM SEED [RANKS]   one line of this test again
#   RECLINE_LONG=1 suites.t         more seeds, and 64 ranks
#   RECLINE_PROTOCOLS='...'         other protocols than c3, bookmark and (not on 64 ranks, where its
#                                   lists would be full) pessimistic
#
# Checkpoints, crashes and their times follow from the seed and from how long a run without a
# protocol takes. A failing line leaves its scenario in the folder RECLINE_KEEP, if that is set.
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
. "$here/../../../protocols/t/tap.sh"
needs_layer

suite=$root/scenarios/suites
programs='sort:8 wavefront:12 stencil27:8 particles:7 farm:6 bfs:8 dense:6 calls:5 fem:8 blocks:7
  fourier:8 relax:6 outofcore:5 sweep:9 hybrid:6 deck:5'
seeds='1 2'
protocols=${RECLINE_PROTOCOLS:-c3 bookmark pessimistic}
if [ "${RECLINE_LONG:-0}" = 1 ]; then
  seeds='1 2 3 4 5 6'
  protocols=${RECLINE_PROTOCOLS:-c3 bookmark}
fi
many=64
[ $# -lt 2 ] || seeds=$2

# ---- building ----

cp "$suite"/* "$dir" 2>/dev/null
cd "$dir" || exit 1
make -s CC="$build/bin/recline-cc" CXX="$build/bin/recline-c++" FC="$build/bin/recline-f90" \
  >log 2>&1
is "$?" 0 'the Makefile builds all programs with the wrappers' log

# ---- running ----

# Writes the scenario of a run. Its times are fractions of a run without failures.
write_scenario() { # PROGRAM RANKS PROTOCOL SEED SECONDS
  platform=$root/platforms/clan.xml
  [ "$2" -le 32 ] || platform=$root/platforms/flat.xml
  awk -v program="$1" -v ranks="$2" -v protocol="$3" -v seed="$4" -v length_s="$5" \
    -v platform="$platform" '
    function draw(limit) { at = (at * 16807) % 2147483647; return int(at / 2147483647 * limit) }
    BEGIN {
      at = (seed * 7919 + length(program) * 104729 + length(protocol) * 1299709) % 2147483646 + 1
      for (i = 0; i < 10; i++) draw(2)
      printf "program:    {binary: ./%s, ranks: %d}\n", program, ranks
      printf "platform:   {file: %s}\nprotocol:   {name: %s}\n", platform, protocol
      if (protocol == "none") exit
      printf "checkpoint: {every: %.9fs, storage: local, bytes: %dB}\n", length_s / (2 + draw(5)), \
        2 ^ draw(15)
      printf "detection:  %.9fs\nfailures:\n", length_s / 20
      crashes = 1 + draw(2)
      for (i = 0; i < crashes; i++)
        printf "  - {rank: %d, at: %.9fs, repair: 1ms}\n", draw(ranks), \
          length_s * (0.05 + draw(1000) / 1000)
    }'
}

run_one() { # PROGRAM RANKS PROTOCOL SEED SECONDS: prints an answer, and leaves $case.json
  write_scenario "$@" >"$case.yaml"
  rm -rf "$case.d"
  timeout 300 "$recline" run "$case.yaml" --json --out "$case.d" >"$case.json" 2>"$case.err"
  status=$?
  said=$(grep -h 'verification: ' "$case.d/program.out" | sed 's/.*verification: //' | sort -u)
  verdict=$(value "$case.json" verdict)
  what="$1 on $2 ranks, $3, seed $4: $verdict, $(value "$case.json" crashes) crashes, \
$(value "$case.json" checkpoints.committed) checkpoints"
  violations=$(value "$case.json" audit.violations)
  if [ "$status:$said:$violations" = 0:PASS:0 ]; then
    echo "ok - $what"
    return
  fi
  echo "not ok - $what, exit code $status, verification ${said:-missing}"
  sed 's/^/#   /' "$case.yaml"
  sed -n '1,8s/^/#   said: /p' "$case.err" "$case.d/program.err" 2>/dev/null
  [ -z "${RECLINE_KEEP-}" ] || cp "$case.yaml" "$RECLINE_KEEP/$1-$3-$4.yaml"
}

# Runs one program without a protocol, and then with all seeds under each protocol.
run_program() { # PROGRAM RANKS
  run_one "$1" "$2" none 0 0
  seconds=$(value "$case.json" simulated_s)
  for protocol in $protocols; do
    for seed in $seeds; do
      run_one "$1" "$2" $protocol "$seed" "${seconds:-1}"
    done
  done
}

work() { # JOB
  number=0
  for entry in $list; do
    number=$((number + 1))
    [ $((number % 2)) -eq $(($1 % 2)) ] || continue
    case=$dir/case.$1
    run_program "${entry%:*}" "${entry#*:}" >"$dir/answers.$number"
  done
}

list=$programs
if [ $# -gt 0 ]; then
  list=
  for entry in $programs; do
    [ "${entry%:*}" != "$1" ] || list=${entry%:*}:${3:-${entry#*:}}
  done
elif [ "${RECLINE_LONG:-0}" = 1 ]; then
  for entry in $programs; do
    list="$list ${entry%:*}:$many"
  done
fi
work 1 &
work 2 &
wait

# ---- answers ----

total=1
number=0
per_program=1
for protocol in $protocols; do
  for seed in $seeds; do
    per_program=$((per_program + 1))
  done
done
for entry in $list; do
  number=$((number + 1))
  total=$((total + per_program))
  cat "$dir/answers.$number" >>"$dir/answers"
done
while IFS= read -r line; do
  case $line in
    'ok - '*) ok "${line#ok - }" ;;
    'not ok - '*) not_ok "${line#not ok - }" ;;
    *) echo "$line" ;;
  esac
done <"$dir/answers"
if [ $# -eq 0 ]; then
  struck=$(grep -c ': recovered, [12] crashes, [1-9]' "$dir/answers")
  is "$([ "$struck" -ge "$number" ] && echo many)" many \
    "$struck runs recovered, with checkpoints committed"
  total=$((total + 1))
fi
finish $total
