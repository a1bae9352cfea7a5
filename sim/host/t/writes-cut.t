#!/bin/sh
# Crashes a rank while its writes are under way, at an instant at which the victim has a step to
# take. Its writes are cut twice at once: by the crash, and when the victim finds that it is dead.
# That can happen because other ranks run while a transfer is being ended.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer

cd "$dir" || exit 1
cat >scenario.yaml <<END
program:    {binary: lulesh-like, args: ["4", "60"], ranks: 8}
platform:   {file: $root/platforms/clan.xml, spares: 1}
protocol:   {name: lai-yang}
checkpoint: {every: 20ms, storage: nfs, bytes: 64KiB}
detection:  10ms
END
results() { # FOLDER: prints the output of the program without its time
  grep -v '^time:' "$1/program.out"
}

# Finds points in a trace at which a rank takes a step, and then, at the same instant, another rank that
# has writes under way takes one. Prints COUNT of these points, spread over all, as failures of the other
# rank.
points() { # COUNT TRACE
  perl -e '
    my ($count, %number, %writes, @steps, @points) = shift;
    while (<>) {
      my ($time, $rank, $kind, $rest) = /^([\d.]+) (\d+) ([a-z-]+)(.*)$/ or next;
      $writes{$rank} += () = $rest =~ /\| store /g;
      $writes{$rank}-- if $kind eq "durable";
      my %writing = map { $_ => 1 } grep { $writes{$_} > 0 } keys %writes;
      push @steps, [$time, $rank, $kind, ++$number{"$rank $kind"}, \%writing];
    }
    for my $i (0 .. $#steps) {
      my ($time, $rank, $kind, $number, $writing) = @{$steps[$i]};
      next unless $kind =~ /^(receive|send)$/;
      my %seen = ($rank => 1);
      for (my $j = $i + 1; $j < @steps && $steps[$j][0] eq $time; $j++) {
        my $victim = $steps[$j][1];
        next if $seen{$victim}++ || !$writing->{$victim};
        push @points, "rank: $victim, after: {event: $kind, checkpoint: 0, rank: $rank, count: $number}";
      }
    }
    print "$points[(2 * $_ + 1) * @points / (2 * $count)]\n" for @points ? 0 .. $count - 1 : ();
  ' "$@"
}

for protocol in lai-yang event-logging-paired; do
  exits 0 "$protocol: without a crash" timeout 120 "$recline" run scenario.yaml --out plain \
    --set "protocol.name=$protocol"
  results plain >expected
  points 6 plain/trace.txt >crashes
  is "$(sort -u crashes | wc -l)" 6 'the trace has such points' crashes
  wrong_at=
  while read -r failure; do
    timeout 120 "$recline" run scenario.yaml --out crashed --no-trace --json \
      --set "protocol.name=$protocol" --set "failures=[{$failure, repair: 20ms}]" \
      >found.json 2>err </dev/null
    code=$?
    results crashed >found
    [ "$code-$(value found.json crashes)" = 0-1 ] && cmp -s found expected ||
      wrong_at="$wrong_at$failure
"
  done <crashes
  is "$wrong_at" '' 'with a crash the same results' err found.json
done
finish 6
