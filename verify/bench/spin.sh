#!/bin/sh
# Compares the explorer and SPIN on the same finite worlds, side by side in one run. Both searches are
# exhaustive and exact, without reduction, on one core and on two. World CL-C has K sends for each rank
# (K=4), world CL-T has T (T=3); WORLDS selects worlds (default: both). The script judges nothing.
# Read its numbers on a quiet machine; on a busy one, compare only the CPU seconds on one core.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/verify/bench/world.sh"
build=${RECLINE_BUILD:-$root/build}
colours=${K:-4} tokens=${T:-3} memory=${MEMORY:-12000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# timed COMMAND...: runs the command for LIMIT seconds (900) at most. SPIN's workers wait for each
# other in busy loops, which may take for ever where cores are shared. The output is in the file
# out, wall and CPU seconds are in $wall and $cpu.
timed()
{
  perl -MTime::HiRes=time -e '
    my $from = time;
    my $status = system('timeout', $ENV{LIMIT} // 900, @ARGV);
    my ($user, $system, $u, $s) = times;
    printf STDERR "%.2f %.2f\n", time - $from, $u + $s;
    exit($status & 127 ? 128 + ($status & 127) : $status >> 8)' "$@" 2>err >out || return $?
  read -r wall cpu <<END
$(tail -n 1 err)
END
}

# row ENGINE STATES BYTES: prints one line of the table, from $wall and $cpu.
row()
{
  perl -e 'my ($engine, $states, $bytes, $wall, $cpu) = @ARGV;
    $_ = $_ > 0.01 ? $_ : 0.01 for $wall, $cpu; # the shortest time that the clock can tell
    printf "  %-28s %12d states %8.2f s %8.2f CPU s %6.2f M states/s %6.2f M states/CPU s %5.1f bytes/state\n",
      $engine, $states, $wall, $cpu, $states / $wall / 1e6, $states / $cpu / 1e6, $bytes' \
    "$1" "$2" "$3" "$wall" "$cpu"
}

# missing ENGINE WHY: prints why the table has no row for the engine.
missing()
{
  printf '  %-28s none: %s\n' "$1" "$2"
}

# failed ENGINE STATUS: prints why a run has no result.
failed()
{
  case $2 in
    124) missing "$1" "not done after ${LIMIT:-900} s" ;;
    *) missing "$1" "exit status $2, $(cat out err | grep -v '^$' | tail -n 2 | paste -s -d ' ')" ;;
  esac
}

# explorer PROTOCOL PROPERTY SENDS WORKERS
explorer()
{
  name="recline, $4 workers"
  write_world world.yaml "$1" 3 ", properties: [$2]" "rank *: free $3"
  timed "$build/bin/recline" check world.yaml --workers "$4" --json || { failed "$name" $?; return; }
  row "$name" "$(sed -n 's/^ *"states" : \([0-9]*\),/\1/p' out)" \
    "$(sed -n 's/^ *"bytes_per_state" : \([0-9.]*\),/\1/p' out)"
}

# spin_row NAME MODEL-OPTIONS COMPILER-OPTIONS RUN-OPTIONS
spin_row()
{
  name="SPIN, $1"
  command -v spin >/dev/null || { missing "$name" 'spin is not installed'; return; }
  # shellcheck disable=SC2086 # lists of options
  { spin $2 -a "$root/verify/bench/snapshot.pml" && gcc -O2 -DSAFETY -DMEMLIM="$memory" $3 -o pan pan.c; } \
    >out 2>err || { missing "$name" "it does not compile: $(cat out err | tail -n 1)"; return; }
  # shellcheck disable=SC2086
  timed ./pan $4 || { failed "$name" $?; return; }
  if why=$(cat err out | grep -E -m 1 'MEMLIM|out of memory|too small|not completed'); then
    missing "$name" "$why"
    return
  fi
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out | tail -n 1)
  [ -n "$states" ] || { missing "$name" "it says no number of states: $(tail -n 1 out)"; return; }
  states=$(printf '%.0f' "$states")
  megabytes=$(sed -n 's/^ *\([0-9.]*\)\tactual memory usage for states.*/\1/p' out | tail -n 1)
  row "$name" "$states" "$(perl -e 'print $ARGV[0] * 1048576 / $ARGV[1]' "${megabytes:-0}" "$states")"
}

world() # TITLE PROTOCOL PROPERTY SENDS MODEL-OPTIONS
{
  echo "$1, 3 ranks, $4 sends each"
  spin_row '1 core' "$5" '' '-m100000 -w26'
  explorer "$2" "$3" "$4" 1
  spin_row '2 cores, -DNCORE=2' "$5" '-DNCORE=2 -DSEP_STATE' '-m100000 -w26'
  explorer "$2" "$3" "$4" 2
}

uptime
for world in ${WORLDS:-colours tokens}; do
  case $world in
    colours) world CL-C cl-c invariant "$colours" "-DK=$colours" ;;
    tokens) world CL-T cl-t tokens "$tokens" "-DK=$tokens -DTOKENS" ;;
  esac
done
