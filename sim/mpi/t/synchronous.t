#!/bin/sh
# Tests that synchronous sends end when a receive takes their message, under every protocol,
# whatever the protocol does with messages at checkpoints and after crashes. Open MPI passes the
# same program.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
"$build/bin/recline-cc" -O1 -Wall -Wextra "$here/programs/synchronous-program.c" -o program

right() { # PROTOCOL BYTES CRASHES [OPTION]...
  protocol=$1 bytes=$2 crashes=$3
  shift 3
  cat >scenario.yaml <<END
program:    {binary: ./program, args: [$bytes], ranks: 6}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: $protocol}
checkpoint: {every: 700us, storage: local, bytes: 1kB}
detection:  200us
failures:   [$crashes]
END
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --no-trace --out out "$@" >stdout 2>stderr
  is "$?-$(tail -n 1 out/program.out)" "0-all are right" \
    "$protocol, $bytes bytes${crashes:+, crashes}" out/program.out stderr
}

one='{rank: 1, at: 1300us, repair: 300us}'
# At each of these crashes (RANK@MICROSECONDS), one of the protocols loses messages if there are no
# receipts.
alone='4@1100 2@1500 1@2700 4@4700 2@5900 4@5900'
[ -z "${RECLINE_LONG-}" ] || alone=$(for at in $(seq 300 200 7500); do printf '%s ' 0@"$at" 1@"$at" 2@"$at" 4@"$at"; done)
two='{rank: 0, at: 900us, repair: 200us}, {rank: 1, at: 1500us, repair: 300us}'
for protocol in $("$recline" list protocols | cut -d ' ' -f 1); do
  case $protocol in
  none) right none 4 '' ;;
  hybrid) right hybrid 4 '' --set checkpoint.places=program ;;
  time-based)
    right time-based 4 "$one" --set checkpoint.every=3ms --set 'clocks={deviation: 10us, longest: 1ms}'
    ;;
  pessimistic* | causal | optimistic | uncoordinated | index-based) # ranks go back alone
    right "$protocol" 4 ''
    right "$protocol" 16000 "$two"
    for crash in $alone; do
      right "$protocol" 4 "{rank: ${crash%@*}, at: ${crash#*@}us, repair: 300us}"
    done
    ;;
  *)
    right "$protocol" 4 ''
    right "$protocol" 4 "$one"
    right "$protocol" 16000 "$two"
    ;;
  esac
done

if command -v mpicc.openmpi >/dev/null; then
  mpicc.openmpi "$here/programs/synchronous-program.c" -o open >log 2>&1
  timeout 60 mpirun.openmpi --allow-run-as-root --oversubscribe -n 6 ./open 4 >open.out 2>open.err
  is "$?-$(tail -n 1 open.out)" '0-all are right' 'Open MPI' open.out open.err
else
  ok 'Open MPI # SKIP it is not there (package libopenmpi-dev)'
fi
[ -z "${RECLINE_LONG-}" ] || finish
finish 91
