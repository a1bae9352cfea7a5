#!/usr/bin/env perl
# Which mutants do walks find, and at what cost?
#
#     mutants.pl [--until N] [--seed N] [PROTOCOL]...
#
# Walks through drawn worlds of every mutant whose claim says that it is violated (verify/mutants),
# N walks at most (1000), in one process. Prints a line for each mutant: found or not, the walk that
# finds it, the CPU seconds, the property; then a table by protocol: mutants, found, and found within
# 1, 5 and 30 seconds of CPU.
use strict;
use warnings;
use FindBin;
use Getopt::Long;
use JSON::PP;

my $root = "$FindBin::Bin/../../..";
my $recline = ($ENV{RECLINE_BUILD} // "$root/build") . '/bin/recline';
$| = 1;
my ($until, $seed) = (1000, 1);
GetOptions('until=i' => \$until, 'seed=i' => \$seed) or exit 64;

# Returns [protocol, mutant] for each mutant whose claim expects a violation.
sub mutants {
  my %of = map { $_ => 1 } @ARGV;
  my @found;
  for my $file (sort glob "$root/verify/mutants/*/*.yaml") {
    my ($protocol, $flaw) = $file =~ m{/([^/]+)/([^/]+)\.yaml$};
    next if @ARGV && !$of{$protocol};
    open my $in, '<', $file or die "$file: $!";
    my $text = do { local $/; <$in> };
    my ($name) = $text =~ /name: *"?([\w~-]+)/;
    push @found, [$protocol, $name] if $text =~ /verdict: violated/ && $name =~ /~/;
  }
  return @found;
}

# Walks through worlds of a mutant. Returns {found, walk, seconds, property}: the seconds of CPU do
# not include shrinking.
sub walk {
  my ($name) = @_;
  my (undef, undef, $user, $system) = times;
  open my $in, '-|', $recline, 'walk', $name, '--whole', '--json', '--workers=1', "--until=$until",
    "--seed=$seed", '--out', "/tmp/recline-mutants-$$" or die "$recline: $!";
  my $json = do { local $/; <$in> };
  close $in;
  my (undef, undef, $user_after, $system_after) = times;
  my $said = $json ? decode_json($json) : {verdict => 'lost'};
  my $violation = $said->{violation};
  return {found => $said->{verdict} ne 'no violation',
          walk => $violation ? $violation->{walk} : '-',
          property => $violation ? $violation->{property} : '-',
          seconds => $user_after - $user + $system_after - $system};
}

my (%all, %within, $cpu);
my @limits = (1, 5, 30);
for (mutants()) {
  my ($protocol, $name) = @$_;
  my $one = walk($name);
  $cpu += $one->{seconds};
  $all{$protocol}++;
  $all{all}++;
  for my $of ($protocol, 'all') {
    $within{$of}{$_} += $one->{found} && $one->{seconds} <= $_ for @limits;
    $within{$of}{found} += $one->{found};
  }
  printf "%-45s %-7s walk %5s %7.2f s  %s\n", $name, $one->{found} ? 'found' : 'missed',
    $one->{walk}, $one->{seconds}, $one->{property};
}
print "\n| mutants of | all | found | in 1 s | in 5 s | in 30 s |\n|---|---|---|---|---|---|\n";
for my $of (sort { ($a eq 'all') <=> ($b eq 'all') || $a cmp $b } keys %all) {
  print "| $of | $all{$of} | $within{$of}{found} | ", join(' | ', map { $within{$of}{$_} } @limits), " |\n";
}
printf "\n%.0f s of CPU, at most %d walks of each, seed %d\n", $cpu, $until, $seed;
system 'rm', '-rf', "/tmp/recline-mutants-$$";
