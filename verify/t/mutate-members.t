#!/usr/bin/env perl
# Tests which members of the screening set mutate.pl asks about a change of the judge: those that
# execute its line, the cheapest first, up to the first that notices it. Also tests which files it
# draws, and that a build serves one process at a time.
use strict;
use warnings;
use Cwd;
use Fcntl qw(:flock);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../bench/mutate";
use Test::More;
use Changes;
use Coverage;
use Judge;
use Tree;

# ---- lines that a program executes ----

my $dir = tempdir(CLEANUP => 1);
open my $out, '>', "$dir/two.c" or die;
print $out <<'END';
int main(int argc, char **argv)
{
  if (argc > 1)
    return argv[1][0] == 'x' &&

           argv[1][1];
  return 0;
}
END
close $out;
system("cd $dir && cc --coverage -o two two.c") == 0 or die;
sub executed { system("cd $dir && rm -f *.gcda && ./two @_"); return Coverage::lines_of($dir, scalar `cd $dir && gcov --stdout *.gcda`)->{'two.c'} }
my ($without, $with) = (executed(), executed('x'));
is(join('', map { Coverage::executes($without, $_) ? 1 : 0 } 3 .. 7), '10001', 'without an argument');
is(join('', map { Coverage::executes($with, $_) ? 1 : 0 } 3 .. 7), '11110', 'with one: a line without code is part of what begins before it');

# ---- who is asked ----

package Kept { sub keep { } }

my (@asked, %notices);
my $most = 0;
sub judge {
  my @members = map { my ($name, $seconds) = @$_; {name => $name, seconds => $seconds, says => sub { push @asked, $name; return $notices{$name} ? "$name: noticed" : '' }} } @_;
  return bless {tree => bless({}, 'Kept'), id => 'id', most => $most, members => \@members,
    executed => {dear => {'a.c' => '-11'}, cheap => {'a.c' => '-11'}, other => {'a.c' => '-01'}, elsewhere => {'b.c' => '-1'}}}, 'Judge';
}
my $codes = 0;
sub says { # LINE NOTICING...: what is said of a change of that line
  my ($line, @noticing) = @_;
  @asked = ();
  %notices = map { $_ => 1 } @noticing;
  my @says = judge(['dear', 9], ['memory', 1], ['cheap', 2], ['other', 1], ['elsewhere', 1])->noticed({'a.c' => $codes++}, {}, 'a.c', $line);
  return join ', ', grep { defined } @says;
}
is(says(1), '', 'nobody notices');
is("@asked", 'cheap dear memory', 'those are asked that execute the line, the cheapest first, then the sanitizers');
$most = 5;
is(says(1), ', as far as was looked', 'nobody within some seconds');
is("@asked", 'cheap memory', 'then the sanitizers are asked all the same');
$most = 12;
is(says(1), '', 'nobody within the seconds of all');
$most = 9.5;
is(says(1), ', as far as was looked', 'nobody, and one is too dear behind another');
is("@asked", 'cheap memory', 'a member that takes more than is left is not asked');
$most = 5;
is(says(0), ', not executed', 'one that does not execute the line is not waited for');
$most = 0;
is(says(1, 'cheap', 'dear'), 'cheap: noticed', 'one notices');
is("@asked", 'cheap', 'and is the last that is asked');
is(says(2, 'other'), 'other: noticed', 'another line is executed by another member');
is(says(0, 'cheap', 'dear', 'other', 'memory', 'elsewhere'), ', not executed', 'a line that nobody executes is said to be one');
is("@asked", '', 'and shown to nobody');

# ---- what members are ----

# recline says nothing about a list if it refuses one claim of it.
package Refusing {
  our @ISA = 'Judge';
  sub checked { my (undef, undef, undef, undef, @claims) = @_; return {map { $_ => 1 } grep { !grep { $_ eq 'refused' } @claims } @claims} }
}
my $of = bless({}, 'Refusing')->checked_most('recline', 1, '', qw(a b refused c d));
is(join(' ', sort keys %$of), 'a b c d', 'a claim that is refused hides no other');

my $merits = bless {}, 'Judge';
$merits->note_noticed([map { {file => 'world/rules/a.c', what => $_} } 'c3-one', 'c3-one --reduce por', 'c3-other', 'verify/t/a.t', 'memory t/a-test'],
  ['full', '--reduce none', 1, 1, 'verify/claims/c3/one.yaml' => 'holds'],
  ['por', '--reduce por', 1, 1, 'verify/claims/c3/one.yaml' => 'holds']);
is(join(' ', sort keys %{$merits->{kills}{'world/rules'}}), 'full-0 memory t/a-test por-1 verify/t/a.t',
  'changes that must be noticed are merits of the members that have the claim or are the test');

# ---- files that are drawn ----

my @files = map { "$_.c" } 'a' .. 'z';
my @drawn = drawn_files(7, 5, @files);
is(scalar(@drawn), 5, 'so many files');
is("@drawn", join(' ', sort @drawn), 'each once, in their order');
is("@drawn", join(' ', drawn_files(7, 5, @files)), 'the same by the same seed');
isnt("@drawn", join(' ', drawn_files(8, 5, @files)), 'others by another');
is(join(' ', drawn_files(7, 30, @files)), "@files", 'all when there are no more');

# ---- one process for a build ----

my $mutate = "$FindBin::Bin/../bench/mutate.pl";
write_file("$dir/build.ninja", "rule none\n  command = true\n");
make_path("$dir/mutate");
open my $lock, '>', "$dir/mutate/lock" or die;
flock $lock, LOCK_EX or die;
my $at = Cwd::abs_path($dir);
is(`$mutate --build $dir 2>&1`, "mutate: $at/mutate/lock: locked by another mutate.pl, expected one for a build\n",
  'a second process is refused');
is($? >> 8, 64, 'by exit code 64');
ok(!-e "$dir/mutate/0", 'and leaves what the first one makes');
close $lock;
unlike(`$mutate --build $dir protocols/none.c 2>&1`, qr/locked/, 'a next one is not');
done_testing;
