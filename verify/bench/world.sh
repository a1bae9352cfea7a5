# Worlds that the explorer and SPIN both explore: sourced by spin.sh and by the test spin.t.

# write_world FILE PROTOCOL RANKS CHECK SCRIPT-LINE...: a claim that holds, without crashes
# unless $crashes says how many, and without a commit unless $commits does; CHECK is what else stands
# under `check`.
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
