#!/usr/bin/perl
# Line coverage by folder: .ci/line-coverage.pl [--build DIR] [--write] [TEST...]
#
# Runs tests (all, unless some are named) against a build of `cmake --preset coverage`, adds up what
# gcov has counted in each source outside of tests and benches, and prints a table of folders.
# --write puts the table into docs/measurements/coverage.md. Processes that a signal ends lose their
# counts. Exit code 1: a test has failed.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Find 'find';
use Getopt::Long;
use JSON::PP;

my $root = abs_path(dirname($0) . '/..');
my ($build, $write) = ("$root/build-coverage", 0);
GetOptions('build=s' => \$build, 'write' => \$write) or exit 64;
$build = abs_path($build) // die "line-coverage: no build, expected cmake --preset coverage first\n";
chdir $root or die "$root: $!\n";
my @tests = @ARGV ? @ARGV : glob '*/t/*.t */*/t/*.t';

my @notes;
find(sub {
  unlink $File::Find::name if /\.gcda$/;
  push @notes, $File::Find::name if /\.gcno$/;
}, $build);
$ENV{RECLINE_BUILD} = $build;
my $failed = system('prove', '-j2', '-Q', @tests) != 0;

my %executed; # source -> line -> 1, or 0 if nothing has executed it
for my $note (@notes) {
  open my $gcov, '-|', "gcov --json-format --stdout '$note' 2>/dev/null" or die "gcov: $!\n";
  local $/;
  my $found = eval { decode_json(scalar <$gcov>) } or next;
  for my $file (@{$found->{files}}) {
    my $source = $file->{file};
    $source = abs_path("$found->{current_working_directory}/$source") // next if $source !~ m{^/};
    next if $source !~ s{^\Q$root\E/}{} || $source =~ m{^build|(?:^|/)(?:t|bench|fuzz)/|^scenarios/|^examples/};
    $executed{$source}{$_->{line_number}} ||= $_->{count} ? 1 : 0 for @{$file->{lines}};
  }
}

my %folder;
for my $source (keys %executed) {
  my @lines = values %{$executed{$source}};
  for my $at (dirname($source), 'all') {
    $folder{$at}[0] += @lines;
    $folder{$at}[1] += grep { $_ } @lines;
  }
}
sub row {
  my ($name, $count) = @_;
  return sprintf "| %s | %d | %d | %.1f %% |\n", $name eq 'all' ? 'all' : "`$name`", @$count, 100 * $count->[1] / $count->[0];
}
my $table = "| folder | lines | executed | share |\n|---|---|---|---|\n";
$table .= row($_, $folder{$_}) for sort grep { $_ ne 'all' } keys %folder;
$table .= row('all', $folder{all});
print $table;
if ($write) {
  my $page = "$root/docs/measurements/coverage.md";
  open my $in, '<', $page or die "$page: $!\n";
  my $text = do { local $/; <$in> };
  $text =~ s/(<!-- table -->\n\n).*?(\n<!-- end -->)/$1$table$2/s or die "$page: no table\n";
  open my $out, '>', $page or die "$page: $!\n";
  print $out $text;
}
exit $failed;
