#!/bin/sh
# Measures processor time and memory of one world that is explored by threads, and by processes:
#
#     verify/bench/distributed.sh RECLINE CLAIM [ARG...]
#
# Each row has the number of threads or processes, states, processor seconds, microseconds for each
# state, their ratio to those of one thread, wall seconds, and the MB of the first process. The claim
# must end as expected.
set -eu
recline=$1
shift
! mpirun --version 2>&1 | grep -q 'Open MPI' || open='--allow-run-as-root --oversubscribe'
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

row() { # NAME COMMAND...
  name=$1
  shift
  perl -MTime::HiRes=time -e '
    my $from = time;
    system(@ARGV) == 0 or die "$ARGV[0] failed\n";
    my (undef, undef, $user, $system) = times;
    printf STDERR "cpu %.2f %.2f\n", $user + $system, time - $from' "$@" >"$dir/json" 2>"$dir/err"
  awk -v name="$name" -v base="${base-}" '
    /^cpu/ { cpu = $2; seconds = $3 }
    /"states"/ { gsub(/[^0-9]/, ""); states = $0 }
    /"peak_rss_mb"/ { gsub(/[^0-9.]/, ""); mb = $0 }
    END { each = 1e6 * cpu / states
          printf "%-12s %12d %9.2f %7.3f %5.2f %8.2f %7.0f\n", name, states, cpu, each,
            base ? each / base : 1, seconds, mb }' "$dir/err" "$dir/json"
}

first=$(row '1 thread' "$recline" check "$@" --workers 1 --json)
echo "$first"
base=$(echo "$first" | awk '{ print $5 }')
row '2 threads' "$recline" check "$@" --workers 2 --json
for processes in 2 4 8; do
  # shellcheck disable=SC2086 # a list of words
  row "$processes processes" mpirun ${open-} -n $processes "$recline" check "$@" --json
done
