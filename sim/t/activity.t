#!/usr/bin/env perl
# activity.txt of a run: its times, added up, are the result's time_s. With global and with local
# rollbacks; two crashes, so that what was lost is gone back behind again.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = realpath("$FindBin::Bin/../..");
my $build = $ENV{RECLINE_BUILD} // "$root/build";
plan skip_all => 'the layer is not part of this build' if !-e "$build/lib/librecline_mpi.so";
my $dir = tempdir(CLEANUP => 1);

sub slurp { my ($file) = @_; open my $in, '<', $file or BAIL_OUT("$file: $!"); local $/; return scalar <$in> }

# Periods of a rank, [begin, activity], from the lines: those since `back to` are lost, but for restarts.
sub go_back {
  my ($periods, $to) = @_;
  for (my $i = @$periods; $i-- > 0;) {
    my ($began, $what) = @{$periods->[$i]};
    if ($what ne 'restart' && $began >= $to) { $periods->[$i][1] = 'lost' }
    elsif ($what ne 'restart') { splice @$periods, $i + 1, 0, [$to, 'lost'] }
    last if $began <= $to;
  }
}

# activity -> seconds, the mean of all ranks
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

# Both files round: up to 50,000 periods by 1e-9 each, which is 1e-8 in the mean of eight ranks, and a sum with
# nine digits.
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
done_testing();
