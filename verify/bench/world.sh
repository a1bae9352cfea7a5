# Writes worlds that the explorer and SPIN both explore. spin.sh and the test spin.t source this file.

# write_world FILE PROTOCOL RANKS CHECK SCRIPT-LINE... writes a claim that holds. $crashes is the
# number of crashes, $commits the number of commits to be reached (default: 0). CHECK has the other
# keys under `check`.
write_world()
{
  file=$1 protocol=$2 ranks=$3 more=$4
  shift 4
  {
    cat <<END
id: world
statement: a world that SPIN explores, too
source: docs/measurements/explorer.md
program:
  ranks: $ranks
  script: |
END
    printf '    %s\n' "$@"
    cat <<END
protocol: {name: $protocol, capacity: 8}
check: {checkpoints: 1, crashes: ${crashes:-0}, reach: [commits ${commits:-0}]$more}
expect: {verdict: holds}
END
  } >"$file"
}
