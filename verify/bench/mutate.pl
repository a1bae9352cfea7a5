#!/usr/bin/env perl
# Mutation analysis: makes small changes to sources, and finds out whether anything notices them.
#
#     verify/bench/mutate.pl [--build DIR] [--seed N[..N]] [--files N] [--count N] [--jobs N] [--judge]
#                            [--seconds N] [--known] [--known-file FILE] [--noticed FILE] [FILE]...
#
#     FILE       protocols/c3.c, protocols/parts/links.h, world/rules/world.c ...; default: every
#                protocol and every part, or with --judge every source of the judge
#     --files    number of these files to try, drawn by the first seed; default: all
#     --count    number of changes of each file that yield other machine code; the seeds draw them in
#                turn; default 20, 0: all changes
#     --jobs     number of files that are tried at the same time; default 1
#     --seconds  for the judge: give a change up after members of the screening set have taken that
#                many seconds; a call without this option goes on from there
#     --known    try --count changes of each file from mutate-known.txt (or FILE) instead: each must go
#                unnoticed
#     --noticed  try the changes of FILE, such as mutate-noticed.txt: each must be noticed by the claim,
#                test or step test that it names
#
# A changed source is compiled as the build compiles it and linked into a copy of recline. A change
# that yields the same machine code, or the machine code of an earlier change, does not count. Every
# other change is given to the detectors that could notice it, the quick ones first. For a protocol
# the detectors are its claims (mutate/Protocols.pm). For the judge they are those members of a
# screening set (mutate/Judge.pm) that execute the changed line; a build that counts executed lines
# tells which do (mutate/Coverage.pm). The script says so if no member executes a line.
#
# A change that goes unnoticed is listed as a survivor, and the exit code is 1, unless
# mutate-known.txt has the change with the reason why it is equivalent or merely slower. An entry of
# that file whose line is no longer in the source is an error (exit code 64).
#
# Results are kept in BUILD/mutate as long as claim, machine code and explorer are the same. So
# interrupted work goes on from there, and a new claim alone is run on the survivors. A build serves
# one mutate.pl at a time: a second one ends with exit code 64.
use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::MD5 qw(md5_hex);
use File::Basename;
use FindBin;
use Getopt::Long;
use lib "$FindBin::Bin/mutate";
use Changes;
use Entries;
use Judge;
use Protocols;
use Tree;

my $root = abs_path("$FindBin::Bin/../..");
my ($build, $seeds, $count, $jobs, $seconds, $judge, $known_only, $noticed) = ("$root/build", 1, 20, 1, 0);
my $most_files = 0;
my $known_file = "$FindBin::Bin/mutate-known.txt";
GetOptions('build=s' => \$build, 'seed=s' => \$seeds, 'count=i' => \$count, 'jobs=i' => \$jobs,
  'seconds=i' => \$seconds, 'files=i' => \$most_files,
  'judge' => \$judge, 'known' => \$known_only, 'known-file=s' => \$known_file, 'noticed=s' => \$noticed)
  && $seeds =~ /^(\d+)(?:\.\.(\d+))?$/ && $jobs > 0 or exit 64;
my @seeds = $1 .. $2 // $1;
$_ = abs_path($_) for grep { defined } $known_file, $noticed;

my $tree = Tree->new($root, $build);
my @known = Entries::read_entries($root, $known_file);
my %kinds;
sub kind { my $class = $_[0] =~ m{^protocols/(?!grammar)} ? 'Protocols' : 'Judge'; return $kinds{$class} //= $class->new($tree, $seconds) }

# Returns the new machine code, by source, of the sources of which `file` is part and whose code
# differs from `originals`. Returns nothing if the changed text does not compile.
sub compiled {
  my ($file, $lines, $i, $new, $originals) = @_;
  my @changed = @$lines;
  $changed[$i] = $new;
  $tree->change($file, join "\n", @changed);
  my %codes;
  for my $source (sort keys %$originals) {
    my $code = $tree->compile($source) // return;
    $codes{$source} = $code if $code ne $originals->{$source};
  }
  return \%codes;
}

sub originals {
  my ($file) = @_;
  $tree->change($file, read_file("$root/$file"));
  return {map { $_ => $tree->compile($_) // die "mutate: $file does not compile\n" } kind($file)->sources($file)};
}

# ---- the analysis of a file: returns the number of changes that survive ----

sub analyse {
  my ($file) = @_;
  my $kind = kind($file);
  my @lines = split /\n/, read_file("$root/$file"), -1;
  my @all = changes_of($root, $file);
  @all = grep { Entries::entry_of(\@known, $file, @$_[0, 2]) } @all if $known_only;
  @all = drawn(\@seeds, @all) if $count;
  my $originals = originals($file);
  my %tally = map { $_ => 0 } qw(none refused twice noticed known survivors);
  my ($tried, %seen) = (0);
  for my $change (@all) {
    last if $count && $tried == $count;
    my ($i, $operator, $new) = @$change;
    my $codes = compiled($file, \@lines, $i, $new, $originals);
    my $how = !$codes ? 'refused' : !%$codes ? 'none' : $seen{md5_hex(%$codes{sort keys %$codes})}++ ? 'twice' : '';
    if ($how) { $tally{$how}++; next }
    $tried++;
    my $known = Entries::entry_of(\@known, $file, $i, $new);
    my ($by, $more) = $known && !$known_only ? '' : $kind->noticed($codes, $originals, $file, $i + 1);
    $how = $by ? $known ? 'NOT KNOWN TO BE NONE' : 'noticed' : $known ? 'known' : 'SURVIVES';
    $tally{$by && !$known ? 'noticed' : !$by && $known ? 'known' : 'survivors'}++;
    $how .= $by ? " by $by" : $more ? ", $more" : '';
    printf "%-24s %s:%d %s, %s\n    %s\n    %s\n", $how, $file, $i + 1,
      function_at(\@lines, $i), $operator, map { Entries::trim($_) } $lines[$i], $new;
  }
  my $judged = $tally{noticed} + $tally{survivors};
  printf "%s: %d changes, beside %d that are not C and %d of the same code; %d known; of %d others %d noticed (%s)\n\n",
    $file, $tried, $tally{refused}, $tally{none} + $tally{twice}, $tally{known}, $judged,
    $tally{noticed}, $kind->detectors($originals);
  return $tally{survivors};
}

# ---- changes that must be noticed: returns true if one is not ----

sub must_be_noticed {
  my ($entries) = @_;
  my ($missed, %originals) = (0);
  my $judge_of_all = Judge->new($tree);
  for (@$entries) {
    my ($file, $i) = ($_->{file}, $_->{lines}[0]);
    @{$_->{lines}} == 1 or Tree::refuse("$_->{at}: " . @{$_->{lines}} . " such lines of $file, expected one");
    my @lines = split /\n/, read_file("$root/$file"), -1;
    my $codes = compiled($file, \@lines, $i, $_->{to}, $originals{$file} //= originals($file));
    my $by = !$codes ? '' : $judge_of_all->notices($_->{what}, sort keys %$codes);
    $missed ||= !$by;
    printf "%s %s, %s\n    %s\n    %s\n", $by ? "noticed by $by" : $codes ? 'MISSED' : 'NO C', $file,
      function_at(\@lines, $i), $_->{from}, $_->{to};
  }
  return $missed;
}

# ---- jobs ----

$| = 1;
exit(must_be_noticed([Entries::read_entries($root, $noticed)]) ? 1 : 0) if $noticed;
my @files = @ARGV ? map { s{^\Q$root\E/}{}r } @ARGV : ($judge ? 'Judge' : 'Protocols')->new($tree)->files;
@files = grep { my $f = $_; grep { $_->{file} eq $f } @known } @files if $known_only;
@files = drawn_files($seeds[0], $most_files, @files) if $most_files;
kind($_)->can('members') && kind($_)->members for @files; # once for all jobs
my (%running, $survive, $failed);
sub ended { $survive ||= $_[0] == 1; $failed ||= $_[0] > 1 }
# With one job, this process takes one file after the other, and so keeps what it learns about
# members.
if ($jobs == 1) {
  ended(eval { analyse($_) ? 1 : 0 } // do { print STDERR $@; 3 }) for splice @files;
}
while (@files || %running) {
  if (@files && keys %running < $jobs) {
    my ($file) = shift @files;
    my ($free) = grep { my $n = $_; !grep { $_->[1] == $n } values %running } 0 .. $jobs - 1;
    my $child = fork // die "fork: $!";
    if (!$child) {
      $tree->work_in($free);
      open STDOUT, '>', "$tree->{kept}/" . basename($file) . '.log' or die;
      $| = 1;
      exit(analyse($file) ? 1 : 0);
    }
    $running{$child} = [$file, $free];
    next;
  }
  my $child = wait;
  my ($file) = @{delete $running{$child}};
  ended($? & 255 ? 3 : $? >> 8);
  print read_file("$tree->{kept}/" . basename($file) . '.log');
}
exit($failed ? 3 : $survive ? 1 : 0);
