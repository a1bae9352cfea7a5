#!/usr/bin/env perl
# How many steps of random runs has each protocol survived?
#
#     survived.pl [--until N] [--seed N] [--write] [PROTOCOL]...
#
# Walks through N drawn worlds (3000) of each protocol but `none` and prints a table: walks, steps,
# crashes, the walks in which ranks have recovered, those that a full list has ended, violations.
# --write puts it into docs/walk.md.
use strict;
use warnings;
use FindBin;
use Getopt::Long;
use JSON::PP;

my $root = "$FindBin::Bin/../../..";
my $recline = ($ENV{RECLINE_BUILD} // "$root/build") . '/bin/recline';
my ($until, $seed, $write) = (3000, 1, 0);
GetOptions('until=i' => \$until, 'seed=i' => \$seed, 'write' => \$write) or exit 64;

sub output { open my $in, '-|', $recline, @_ or die "$recline: $!"; local $/; return decode_json(<$in>) }
sub thousands { my ($n) = @_; 1 while $n =~ s/^(\d+)(\d{3})/$1,$2/; return $n }

sub row {
  my ($name) = @_;
  my $walked = output('walk', $name, '--json', "--until=$until", "--seed=$seed", '--out', "/tmp/recline-survived-$$");
  my @numbers = (@$walked{qw(walks steps crashes)}, $walked->{reached}{recoveries}, $walked->{endings}{full});
  return sprintf "| `%s` | %s | %s |\n", $name, join(' | ', map { thousands($_) } @numbers),
    $walked->{violation} ? "$walked->{violation}{property}, walk $walked->{violation}{walk}" : 'none';
}

my @protocols = @ARGV ? @ARGV : grep { $_ ne 'none' } map { $_->{name} } @{output('list', 'protocols', '--json')->{protocols}};
my $table = "| protocol | walks | steps | crashes | walks with a recovery | with a full list | violated |\n"
  . "|---|---|---|---|---|---|---|\n" . join '', map { row($_) } @protocols;
print $table;
exit if !$write;
my $page = "$root/docs/walk.md";
open my $in, '<', $page or die "$page: $!";
my $text = do { local $/; <$in> };
$text =~ s/(<!-- survived -->\n).*?(<!-- end -->)/$1\n$table\n$2/s or die "$page: no table of survived.pl\n";
open my $out, '>', $page or die "$page: $!";
print $out $text;
close $out or die "$page: $!";
