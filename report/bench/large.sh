#!/bin/sh
# Measures sizes and speeds of two pages, as each build writes them: that of the demo's run, and that of a run of
# 64 ranks with more than 1,000,000 events. The first build makes both runs. Their version is replaced by that of
# the build which writes the pages, as it would refuse them otherwise. Usage: large.sh BUILD...
# Needs node and chromium.
set -eu
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

version() { "$1" --version | awk '{ print $2 }'; }

first=$(CDPATH='' cd "$1" && pwd)/bin/recline
for build; do
  tools="${tools:-} $(CDPATH='' cd "$build" && pwd)/bin/recline"
done
cd "$work"
cat >large.yaml <<'EOT'
program:    {binary: halo, args: ["512", "1100"], ranks: 64}
platform:   {file: flat.xml}
protocol:   {name: c3}
checkpoint: {every: 20ms, storage: nfs, bytes: 64KiB}
detection:  100us
failures:   [{rank: 33, at: 75ms, repair: 100us}]
EOT
"$first" run demo --out demo >said
"$first" run large.yaml --out large >said
echo "events: $(grep -c '^[0-9]' large/trace.txt)"
for recline in $tools; do
  echo "$recline"
  sed -i "s/\"version\": \"[0-9.]*\"/\"version\": \"$(version "$recline")\"/" demo/result.json large/result.json
  for run in demo large; do
    began=$(date +%s.%N)
    "$recline" report $run >said
    echo "$began $(date +%s.%N) $(wc -c <$run.html)" | awk -v run=$run '{ printf "%s: %d bytes, written in %.1f s\n", run, $3, $2 - $1 }'
  done
  node "$here/../t/large.js" "$work" | sed -n 's/^# //p; /^not ok/p'
done
