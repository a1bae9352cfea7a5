#!/usr/bin/env perl
# Tests activity.txt of a run: its times, added up, are the time_s of the result. Rollbacks are
# global or local; there are two crashes, so a rank may go back behind what it had already lost.
# Restarts and checkpoints take as long as the trace says: from a crash or rollback to the start,
# and while a rank is held or captured.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = realpath("$FindBin::Bin/../../..");
my $build = $ENV{RECLINE_BUILD} // "$root/build";
plan skip_all => 'the layer is not part of this build' if !-e "$build/lib/librecline_mpi.so";
my $dir = tempdir(CLEANUP => 1);

sub slurp { my ($file) = @_; open my $in, '<', $file or BAIL_OUT("$file: $!"); local $/; return scalar <$in> }

# Marks as lost the periods of a rank, [begin, activity], since the time to which it goes back. Restarts
# stay what they are.
sub go_back {
  my ($periods, $to) = @_;
  for (my $i = @$periods; $i-- > 0;) {
    my ($began, $what) = @{$periods->[$i]};
    if ($what ne 'restart' && $began >= $to) { $periods->[$i][1] = 'lost' }
    elsif ($what ne 'restart') { splice @$periods, $i + 1, 0, [$to, 'lost'] }
    last if $began <= $to;
  }
}

# Returns for each activity its seconds, as the mean over all ranks.
sub add_up {
  my ($head, $lines) = split /^---\n/m, slurp($_[0]);
  my ($ranks) = $head =~ /^recline-activity 1\nranks (\d+)\n$/ or return {};
  my (@of, $end);
  for (split /\n/, $lines) {
    my ($time, $rank, $what, $to) = split;
    if ($what eq 'end') { $end = $time }
    elsif ($what eq 'back') { go_back($of[$rank], $to =~ s/to=//r) }
    else { push @{$of[$rank]}, [$time, $what] }
  }
  my %sum;
  for my $periods (@of) {
    $sum{$periods->[$_][1]} += (($periods->[$_ + 1] // [$end])->[0] - $periods->[$_][0]) / $ranks for 0 .. $#$periods;
  }
  return \%sum;
}

# Both files round: activity.txt rounds up to 50,000 periods by 1e-9 each, which adds up to 1e-8 in the mean
# of eight ranks; the result rounds the sum to nine digits.
my $rounding = 1e-7;

for my $protocol (qw(c3 bookmark uncoordinated pessimistic)) {
  my $crashes = '{rank: 3, at: 120ms}, {rank: 5, at: 180ms}';
  system "$build/bin/recline run $root/scenarios/demo.yaml --set protocol.name=$protocol --set 'failures=[$crashes]' "
    . "--set expect={} --out $dir/$protocol >$dir/log 2>&1" and diag(slurp("$dir/log"));
  my $result = decode_json(slurp("$dir/$protocol/result.json"));
  is($result->{crashes}, 2, "$protocol: there were two crashes");
  my $sum = add_up("$dir/$protocol/activity.txt");
  ok(abs(($sum->{$_} // 0) - $result->{time_s}{$_}) < $rounding, "$protocol: $_")
    or diag(($sum->{$_} // 0) . " for $result->{time_s}{$_}") for sort keys %{$result->{time_s}};
}

# ---- against the trace ----

sub span { my ($list, $from, $to) = @_; push @$list, [$from, $to] if $to > $from }

# Returns for how many seconds the period overlaps at least one of the others.
sub overlap {
  my ($period, $others) = @_;
  my ($at, $end, $sum) = (@$period, 0);
  for (sort { $a->[0] <=> $b->[0] } @$others) {
    my $from = $_->[0] > $at ? $_->[0] : $at;
    my $to = $_->[1] < $end ? $_->[1] : $end;
    if ($to > $from) { $sum += $to - $from; $at = $to }
  }
  return $sum;
}

# Returns by rank the seconds of restart and of checkpoint that the events of the trace give. A rank
# restarts while it is absent, while it is held for a recovery, and while a checkpoint holds it and
# another rank is absent. It is in a checkpoint while it is captured, and while it is held in any
# other case.
sub from_trace {
  my ($head, $lines) = split /^---\n/m, slurp($_[0]);
  my ($ranks) = $head =~ /^ranks (\d+)$/m;
  my (@held, @gone, @capture, @recovers, @stop, @absent, @copy);
  for (split /\n/, $lines) {
    my ($time, $rank, $event, $rest) = /^(\S+) (\d+) (\S+)(.*)/ or next;
    my $goes = $event eq 'crash' || $rest =~ /\| roll-back/;
    if ($held[$rank] && ($goes || $rest =~ /\| release/)) {
      push @{$stop[$rank]}, [$held[$rank][0], $time, $held[$rank][1]];
      $held[$rank] = undef;
    }
    if ($event eq 'start' && defined $gone[$rank]) { span(\@{$absent[$rank]}, $gone[$rank], $time); $gone[$rank] = undef }
    if ($rest =~ /\| hold/ && $rest !~ /\| release/) { $held[$rank] //= [$time, $event =~ /^(start|down)$/] }
    if ($goes) {
      span(\@{$copy[$rank]}, $capture[$rank], $time) if defined $capture[$rank] && !$held[$rank];
      $gone[$rank] //= $time;
      $capture[$rank] = undef;
    }
    if ($rest =~ /\| capture/) { $capture[$rank] = $time }
    if ($event eq 'captured') {
      span(\@{$copy[$rank]}, $capture[$rank], $time) if !$held[$rank];
      $capture[$rank] = undef;
    }
  }
  my @all = map { @{$_ // []} } @absent;
  my @of;
  for my $rank (0 .. $ranks - 1) {
    my %is = (restart => 0, checkpoint => 0);
    $is{restart} += $_->[1] - $_->[0] for @{$absent[$rank] // []};
    $is{checkpoint} += $_->[1] - $_->[0] for @{$copy[$rank] // []};
    for (@{$stop[$rank] // []}) {
      my ($from, $to, $recovers) = @$_;
      my $waits = $recovers ? $to - $from : overlap([$from, $to], \@all);
      $is{restart} += $waits;
      $is{checkpoint} += $to - $from - $waits;
    }
    $of[$rank] = \%is;
  }
  return \@of;
}

# Returns by rank the seconds of each activity, those that were lost later included, and their sum.
sub as_it_was {
  my (undef, $lines) = split /^---\n/m, slurp($_[0]);
  my (@of, @now);
  for (split /\n/, $lines) {
    my ($time, $rank, $what) = split;
    for my $r ($what eq 'end' ? (0 .. $#now) : $rank) {
      if (my $was = $now[$r]) { $of[$r]{$was->[1]} += $time - $was->[0]; $of[$r]{all} += $time - $was->[0] }
      $now[$r] = [$time, $what eq 'back' ? $now[$r][1] : $what];
    }
  }
  return \@of;
}

open my $yaml, '>', "$dir/ring.yaml" or BAIL_OUT($!);
print $yaml <<"EOF";
program:
  ranks: 4
  script: |
    rank 0: repeat 20 (compute 5ms, send 1, recv 3)
    rank 1: repeat 20 (recv 0, send 2)
    rank 2: repeat 20 (recv 1, send 3)
    rank 3: repeat 20 (recv 2, send 0)
platform: {file: clan.xml}
protocol: {name: bookmark}
checkpoint: {every: 20ms, storage: local, bytes: 4KiB}
detection: 5ms
EOF
close $yaml;
my %crash = (
  'between checkpoints' => '{rank: 1, at: 50ms, repair: 500ms}',
  'in a checkpoint' => '{rank: 1, after: {rank: 0, event: captured}, repair: 100ms}',
  'twice' => '{rank: 1, at: 50ms, repair: 60ms}, {rank: 2, at: 80ms, repair: 60ms}',
);
for my $protocol (qw(bookmark c3 event-logging uncoordinated optimistic causal)) {
  for my $case (sort keys %crash) {
    my $out = "$dir/trace";
    system "rm -rf $out; $build/bin/recline run $dir/ring.yaml --set protocol.name=$protocol --set 'failures=[$crash{$case}]' "
      . "--out $out >$dir/log 2>&1" and diag(slurp("$dir/log"));
    my $result = decode_json(slurp("$out/result.json"));
    my ($expected, $found) = (from_trace("$out/trace.txt"), as_it_was("$out/activity.txt"));
    my @wrong;
    for my $rank (0 .. 3) {
      my %is = (checkpoint => 0, restart => 0, protocol => 0, %{$found->[$rank]});
      push @wrong, "rank $rank: all $is{all} for $result->{simulated_s}" if abs($is{all} - $result->{simulated_s}) > $rounding;
      for (qw(restart checkpoint)) { # control messages are handled meanwhile, and booked as such
        my $missing = $expected->[$rank]{$_} - $is{$_};
        push @wrong, "rank $rank: $_ $is{$_} for $expected->[$rank]{$_}"
          if $missing < -$rounding || $missing > $is{protocol} + $rounding;
      }
    }
    is("@wrong", '', "$protocol, a crash $case: each rank's restarts and checkpoints are those of its trace");
  }
}
done_testing();
