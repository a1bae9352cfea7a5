#!/usr/bin/env perl
# Lists lines of protocols/ that no claim executes: verify/bench/coverage.pl [--build DIR] [CLAIM...]
#
# The protocols are compiled with --coverage and linked into a copy of recline, which checks the
# claims (default: all). Processes that explore end by _exit, so their counts are written at that
# call. Lines of invariants that only wrong protocols execute are left out. Exit code 1: there are
# lines that no claim executes.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Path qw(make_path remove_tree);
use Getopt::Long;
use JSON::PP;

my $root = abs_path(dirname(__FILE__) . '/../..');
my $build = "$root/build";
GetOptions('build=s' => \$build) or exit 64;
my @claims = @ARGV ? map { abs_path($_) } @ARGV : glob "$root/verify/claims/*/*.yaml";
chdir($build = abs_path($build)) or die "$build: $!\n";
my $work = "$build/coverage";
remove_tree($work);
make_path($work);

sub command { my @all = `ninja -t commands '$_[0]'`; chomp @all; return $all[-1] // die "$build: no $_[0]\n" }
sub run { system($_[0]) == 0 or die "coverage: $_[0]\n" }

my $objects = 'protocols/CMakeFiles/recline-protocols.dir';
my @sources = grep { !m{/(step|registry|text|grammar|neighbours)\.c$} } glob "$root/protocols/*.c";
my $library = "$work/protocols.a";
run("cp lib/librecline-protocols.a $library");
for my $source (map { basename $_ } @sources) {
  my $compile = command("$objects/$source.o");
  $compile =~ s{ -(?:o|MT|MF) \S+| -MD\b| -O\d| -ffile-prefix-map=\S+}{}g;
  run("$compile -O0 --coverage -o $work/$source.o");
}
open my $exit, '>', "$work/exit.c" or die;
print $exit <<'END';
void __gcov_dump(void);
void __real__exit(int code);
void __wrap__exit(int code);
void __wrap__exit(int code)
{
  __gcov_dump();
  __real__exit(code);
}
END
close $exit;
run("cc -c -o $work/exit.o $work/exit.c");
run("ar r $library $work/*.c.o");
my $link = command('bin/recline');
$link =~ s{\S*librecline-protocols\.a}{$library $work/exit.o --coverage -Wl,--wrap=_exit}g;
$link =~ s{ -o bin/recline }{ -o $work/recline };
run($link);
system("$work/recline check " . join(' ', map { "'$_'" } @claims) . " >$work/check.log 2>&1");
die "coverage: see $work/check.log\n" if $? >> 8 > 2;

my %count; # file -> line -> how often it was executed
for (glob "$work/*.c.gcda") {
  my $found = decode_json(scalar `cd $work && gcov --json-format --stdout $_ 2>/dev/null`);
  for my $file (@{$found->{files}}) {
    $count{$file->{file}}[$_->{line_number}] += $_->{count} for @{$file->{lines}};
  }
}
my $some = 0;
for my $file (sort grep { m{^\Q$root\E/protocols/} } keys %count) {
  open my $in, '<', $file or die "$file: $!\n";
  my $judge = 0;
  while (my $line = <$in>) {
    $judge = $1 if $line =~ m{^/\* ---- (invariants)?};
    next if $judge || ($count{$file}[$.] // 1);
    print $file =~ s{^\Q$root\E/}{}r, ":$.: ", $line =~ s/^\s+//r;
    $some = 1;
  }
}
exit $some;
