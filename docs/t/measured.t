#!/usr/bin/perl
# Tests that the tables of simulated values in docs/ are what the build measures
# (sim/bench/measured.pl). Each table must have all rows, and one row in five is measured again;
# with RECLINE_LONG=1 all rows are. The values are those of SimGrid 3.32, as other versions have
# other times.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use Test::More;

my $root = abs_path(dirname($0) . '/../..');
my $build = abs_path($ENV{RECLINE_BUILD} || "$root/build");
plan skip_all => 'the layer is not part of this build' if !-e "$build/lib/librecline_mpi.so";
my $measured = "$root/sim/bench/measured.pl";

sub read_file { my ($file) = @_; open my $in, '<', $file or BAIL_OUT("$file: $!"); local $/; return scalar <$in> }
sub lines { open my $in, '-|', 'perl', $measured, @_ or BAIL_OUT("$measured: $!"); my @lines = <$in>; chomp @lines; return @lines }

# page -> table -> rows by their first cell, and their order
my %shown;
for my $page (glob("$root/docs/*.md"), glob("$root/docs/*/*.md")) {
  my $text = read_file($page);
  while ($text =~ /^<!-- measured (\S*?) ?-->\n[^\n]*\n[^\n]*\n(.*?)^<!-- end -->$/msg) {
    $shown{substr($page, length($root) + 1)}{$1} = [split /\n/, $2];
  }
}
sub name_of { return $_[0] =~ /^\| ?(.*?) \|/ ? $1 : '' }

my ($simgrid) = read_file("$build/CMakeCache.txt") =~ /^SIMGRID_VERSION:INTERNAL=(.*)/m;
my %rows;
push @{$rows{$_->[0]}{$_->[1]}}, $_->[2] for map { [split /\t/] } lines('--list');
is_deeply([map { my $page = $_; map { "$page $_" } sort keys %{$shown{$page}} } sort keys %shown],
          [map { my $page = $_; map { "$page $_" } sort keys %{$rows{$page}} } sort keys %rows],
          'the pages have the tables that are measured');

for my $page (sort keys %rows) {
  for my $table (sort keys %{$rows{$page}}) {
    my @names = @{$rows{$page}{$table}};
    my @found = @{$shown{$page}{$table} // []};
    is_deeply([map { name_of($_) } @found], \@names, "$page, $table: its rows");
    next if $simgrid !~ /^3\.32/;
    for my $i (grep { $ENV{RECLINE_LONG} || $_ % 5 == 1 } 0 .. $#names) {
      my (undef, undef, undef, $now) = lines("$table:$names[$i]");
      is($found[$i], $now, "$page, $table: $names[$i]");
    }
  }
}
note("other values than those of SimGrid $simgrid") if $simgrid !~ /^3\.32/;
done_testing;
