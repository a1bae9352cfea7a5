#!/usr/bin/perl
# Tests README.md and docs/*.md. Every block of commands (```sh) is run, in order, in one folder for
# each document. A block ```text behind it is what it prints on standard output, with numbers within
# 10 %, as versions of SimGrid differ. A block with a file's name (```yaml mine.yaml) becomes that file. A block `sh long`
# is run with RECLINE_LONG=1 only. A block `sh see FILE` is left to another test, which the block
# names, or which names the document. Commands and options of each `recline ...` in the text must
# exist, and links must lead to files and headings.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename qw(basename dirname);
use File::Temp 'tempdir';

my $root = abs_path(dirname($0) . '/../..');
my $build = abs_path($ENV{RECLINE_BUILD} || "$root/build");
sub read_file { my ($file) = @_; open my $in, '<', $file or die "$file: $!"; local $/; return scalar <$in> }
# Returns the first line in which two texts differ by more than 10 % of a number; empty: there is none.
sub differs
{
  my ($wanted, $found) = map { [split /\n/] } @_;
  for my $line (0 .. ($#$wanted > $#$found ? $#$wanted : $#$found)) {
    my ($want, $have) = map { $_->[$line] // '' } $wanted, $found;
    my @wants = $want =~ /(\d+(?:\.\d+)?)/g;
    my @has = $have =~ /(\d+(?:\.\d+)?)/g;
    my @words = map { s/\d+(?:\.\d+)?/N/gr =~ s/ +/ /gr } $want, $have;
    return "$want\n$have" if $words[0] ne $words[1] || grep { abs($wants[$_] - $has[$_]) > 0.1 * $wants[$_] } 0 .. $#wants;
  }
  return '';
}
sub write_file { my ($file, $text) = @_; open my $out, '>', $file or die "$file: $!"; print $out $text; close $out }
if (read_file("$build/CMakeCache.txt") =~ /^SANITIZE:BOOL=(ON|TRUE|true)/m) {
  print "1..0 # SKIP the MPI layer is not built with the sanitizers: it copies stacks\n";
  exit 0;
}
my $recline = "$build/bin/recline";
my ($said, $wrong) = (0, 0);
$| = 1;

sub ok
{
  my ($good, $name, @more) = @_;
  $said++;
  $wrong++ unless $good;
  print $good ? '' : 'not ', "ok $said - $name\n", map { "# $_\n" } $good ? () : map { split /\n/ } @more;
}

my %documents = map { substr($_, length($root) + 1) => read_file($_) } "$root/README.md", glob "$root/docs/*.md $root/docs/*/*.md";

# ---- commands ----

# Makes a folder that looks like a checkout: with recline and its compilers, ./recline and build/.
sub folder
{
  my $dir = tempdir(CLEANUP => 1);
  mkdir "$dir/home";
  symlink $build, "$dir/build";
  symlink $recline, "$dir/recline";
  $ENV{HOME} = "$dir/home";
  return $dir;
}

delete $ENV{RECLINE_DATA};
$ENV{PATH} = "$build/bin:$ENV{PATH}";
for my $name (sort keys %documents) {
  my ($dir, $text) = ('', $documents{$name});
  while ($text =~ /^```(\w+)(?: ([^\n]*))?\n(.*?)^```$/gms) {
    my ($language, $info, $block) = ($1, $2 // '', $3);
    my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
    my $rest = substr($text, $+[0]);
    $dir ||= folder();
    if ($language ne 'sh') {
      write_file("$dir/$info", $block) if $info;
      next;
    }
    if ($info =~ /^see (\S+)$/) {
      ok(-e "$root/$1" && (index($block, $1) >= 0 || index(read_file("$root/$1"), $name) >= 0),
        "$name:$line is run by $1");
      next;
    }
    next if $info eq 'long' && !$ENV{RECLINE_LONG};
    # Blocks share what they export, as the lines of a terminal do.
    write_file("$dir/.block", "cd $dir\n[ ! -e .exported ] || . ./.exported\nset -e\n$block\nexport -p >.exported\n");
    my $printed = `timeout 600 sh $dir/.block 2>$dir/.said </dev/null`;
    ok($? == 0, "$name:$line" . ($info ? " ($info)" : ''), $block, "exit " . ($? >> 8), $printed, read_file("$dir/.said"));
    if ($rest =~ /\A\n*```text\n(.*?)^```$/ms) {
      my $other = differs($1, $printed);
      ok($other eq '', "$name:$line prints what the document says", $other);
    }
  }
}

# ---- in the text ----

my %options;
for my $command (split ' ', `$recline --complete ''`) {
  $options{$command} = { map { $_ => 1 } split ' ', `$recline --complete $command -` };
}
for my $name (sort keys %documents) {
  my @bad;
  for my $called ($documents{$name} =~ /`(?:\.\/)?recline ([^`]+)`/g, $documents{$name} =~ /^\$ recline (.+)$/mg) {
    my ($command, @words) = split ' ', $called =~ s/[\[\]]/ /gr =~ s/ #.*//r;
    next if $command !~ /^[a-z]+$/ || $command eq 'test';
    if (!$options{$command}) {
      push @bad, "recline $called: no such command";
    } else {
      push @bad, map { "recline $called: $_" } grep { /^(--[a-z-]+)/ && !$options{$command}{$1} } @words;
    }
  }
  ok(!@bad, "$name names commands and options that are there", @bad);
}

# ---- links ----

# Makes the anchors of headings, as GitHub does.
sub anchors { return map { s/`|[^\w\s-]//gr =~ s/ /-/gr } map { lc } $_[0] =~ /^#+ (.+)$/mg }

for my $name (sort keys %documents) {
  my @bad;
  for my $link ($documents{$name} =~ /\]\(([^)\s]+)\)/g) {
    next if $link =~ /^https?:/;
    my ($file, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
    my $path = $file eq '' ? "$root/$name" : "$root/" . dirname($name) . "/$file";
    push @bad, "$link: no such file" unless -e $path;
    push @bad, "$link: no such heading" if defined $anchor && -e $path && !grep { $_ eq $anchor } anchors(read_file($path));
  }
  ok(!@bad, "the links of $name", @bad);
}
print "1..$said\n";
exit($wrong > 0);
