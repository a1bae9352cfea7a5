#!/usr/bin/env perl
# Mutation analysis: makes small changes to sources in protocols/ and looks whether a claim notices.
#
#     verify/bench/mutate.pl [--build DIR] [--seed N] [--count N] [--seconds N]
#                            [--known] [--known-file FILE] [FILE]...
#
#     FILE       protocols/c3.c, protocols/parts/links.h ...; default: every protocol and every part
#     --count    changes of each file that yield other machine code, drawn by --seed from all that
#                there are; default 20, 0: all
#     --seconds  a claim that takes longer with the protocol as it is takes no part; default 5
#     --known    try the changes of mutate-known.txt (or FILE) instead: each must go unnoticed
#
# A changed source is compiled as the build compiles it and linked into a copy of recline. A change
# that yields the same machine code is none. Otherwise the claims of the protocols that include the
# source are checked, those of the fewest states first, until one has another verdict than it is to
# have, or does not end. Lie claims are left out: they are about hosts.
#
# A change that no claim notices is listed as a survivor, and the exit code is 1, unless it stands in
# mutate-known.txt with the reason why it is equivalent or merely slower. An entry there of which the
# source no longer has the line is an error (exit code 64).
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Path qw(make_path remove_tree);
use Getopt::Long;
use JSON::PP;

my $root = abs_path(dirname(__FILE__) . '/../..');
my ($build, $seed, $count, $seconds, $known_only) = ("$root/build", 1, 20, 5, 0);
my $known_file = "$root/verify/bench/mutate-known.txt";
GetOptions('build=s' => \$build, 'seed=i' => \$seed, 'count=i' => \$count,
  'seconds=f' => \$seconds, 'known' => \$known_only, 'known-file=s' => \$known_file)
  or exit 64;
$build = abs_path($build);
my $work = "$build/mutate";
make_path($work);
chdir $build or die "$build: $!";

sub read_file { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar <$in> }
sub write_file { open my $out, '>', $_[0] or die "$_[0]: $!\n"; print $out $_[1]; close $out }

# The same numbers on every machine.
my $random = $seed;
sub draw
{
  $random = ($random * 1664525 + 1013904223) % 4294967296;
  return ($random >> 8) % $_[0];
}

# ---- changes: [line, operator, new text of the line] ----

# The enumerators of each enum, and the number fields of each struct, of a source.
sub families {
  my ($text) = @_;
  my @families;
  while ($text =~ /\benum(?: \w+)? \{([^}]*)\}/g) {
    (my $body = $1) =~ s{/\*.*?\*/}{}gs;
    my @names = map { /^\s*([A-Z]\w*)/ ? $1 : () } split /,/, $body;
    push @families, ['enumerator', map { "\\b$_\\b" } @names] if @names > 1;
  }
  while ($text =~ /\bstruct \w+ \{(.*?)\n\}/gs) {
    (my $body = $1) =~ s{/\*.*?\*/}{}gs;
    my @names = grep { $_ ne 'pad' } map { split /,\s*/ } $body =~ /^\s*uint32_t ([a-z_, ]+);/gm;
    push @families, ['field', map { "(?<=->)$_\\b" } @names] if @names > 1;
  }
  push @families, ['part', '\bRCL_PART_IMAGE\b', '\bRCL_PART_LOG\b'], ['truth', '\btrue\b', '\bfalse\b'];
  return @families;
}

my @swaps = (
  ['compare', ' == ', ' != '], ['compare', ' != ', ' == '], ['compare', ' < ', ' <= '],
  ['compare', ' <= ', ' < '], ['compare', ' > ', ' >= '], ['compare', ' >= ', ' > '],
  ['connect', ' && ', ' || '], ['connect', ' \|\| ', ' && '],
  ['off-by-one', ' + 1\b', ''], ['off-by-one', ' - 1\b', ''], ['off-by-one', '\+\+', '--'],
  ['off-by-one', '--(?!>)', '++'], ['arithmetic', ' \+ ', ' - '], ['arithmetic', ' - ', ' + '],
  ['arithmetic', ' \+= ', ' -= '], ['arithmetic', ' -= ', ' += '], ['zero', ' = 0;', ' = 1;']);

# Text of the condition of an if that is on one line, as [before, condition, after].
sub condition {
  my ($line) = @_;
  return unless $line =~ /^(\s*(?:\} else )?if \()(.*)(\)(?: \{)?)$/;
  my ($before, $inside, $after, $depth) = ($1, $2, $3, 0);
  for (split //, $inside) { $depth += $_ eq '(' ? 1 : $_ eq ')' ? -1 : 0; return if $depth < 0 }
  return $depth ? () : ($before, $inside, $after);
}

# The parts of a condition that && or || connects, outside of parentheses.
sub terms {
  my ($text, $by) = @_;
  my ($depth, @terms) = (0, '');
  for (split /( \Q$by\E )/, $text) {
    if ($_ eq " $by " && $depth == 0) { push @terms, ''; next }
    $depth += tr/(// - tr/)//;
    $terms[-1] .= $_;
  }
  return @terms;
}

sub changes {
  my ($text) = @_;
  my @families = families($text);
  (my $code = $text) =~ s{(/\*.*?\*/)}{(my $c = $1) =~ s/[^\n]/ /g; $c}ges; # comments to spaces
  my @lines = split /\n/, $code, -1;
  my @found;
  my @text_lines = split /\n/, $text, -1;
  my ($inside, $macro, $judge) = (0, 0, 0); # the checks of invariants are no part of a protocol
  for my $i (0 .. $#lines) {
    (my $line = $lines[$i]) =~ s/\s+$//;
    my $directive = $macro || $line =~ /^#/;
    $macro = $directive && $lines[$i] =~ /\\$/;
    $inside = 1 if $line eq '{';
    $inside = 0 if $line eq '}';
    $judge = 1 if $text_lines[$i] =~ m{^/\* ---- invariants};
    $judge = 0 if $text_lines[$i] =~ m{^/\* ---- (?!invariants)};
    next if $judge || !$inside || $directive || $line =~ /^[{}\s]*$/ || $line =~ /"/;
    my $add = sub { push @found, [$i, @_] if $_[1] ne $line };
    $add->('return', "{ return;") if $line eq '{' && $i > 0 && returns_nothing(\@lines, $i);
    $add->('delete', ';') if $line =~ /^\s+[^{}]*;$/ && $line !~ /^\s*(return|const|struct|uint\w+|size_t|int|bool|enum|static|for)\b/
      && $lines[$i - 1] =~ /(?:[;{}:]|\)|\belse)\s*$/ && $lines[$i - 1] !~ /^\s*for .*[^)]$/;
    if (my ($before, $inside_it, $after) = condition($line)) {
      $add->('negate', "$before!($inside_it)$after");
      for my $by ('&&', '||') {
        my @terms = terms($inside_it, $by);
        for my $k (0 .. $#terms) {
          next if @terms < 2;
          $add->('drop', $before . join(" $by ", @terms[grep { $_ != $k } 0 .. $#terms]) . $after);
        }
      }
    }
    for (@swaps) {
      my ($name, $from, $to) = @$_;
      while ($line =~ /$from/g) {
        $add->($name, substr($line, 0, $-[0]) . $to . substr($line, $+[0]));
      }
    }
    for my $family (@families) {
      my ($name, @names) = @$family;
      for my $from (@names) {
        while ($line =~ /$from/g) {
          my ($at, $end) = ($-[0], $+[0]);
          for my $to (grep { $_ ne $from } @names) {
            (my $plain = $to) =~ s/\(\?<=->\)|\\b//g;
            $add->($name, substr($line, 0, $at) . $plain . substr($line, $end));
          }
        }
      }
    }
  }
  return @found;
}

sub returns_nothing {
  my ($lines, $i) = @_;
  for (my $k = $i - 1; $k >= 0; $k--) {
    return 0 if $lines->[$k] =~ /^[}]|;\s*$/;
    return $lines->[$k] =~ /\bvoid \w+\(/ && $lines->[$k] !~ /\bvoid \*/ if $lines->[$k] =~ /^static/;
  }
  return 0;
}

# All changes in an order in which the operators take turns.
sub shuffled {
  my (@all) = @_;
  my (%by, @order);
  for my $i (0 .. $#all) { my $k = $i + draw(@all - $i); @all[$i, $k] = @all[$k, $i] }
  push @{$by{$_->[1]}}, $_ for @all;
  while (%by) {
    for (sort keys %by) {
      push @order, shift @{$by{$_}};
      delete $by{$_} unless @{$by{$_}};
    }
  }
  return @order;
}

# ---- building ----

chomp(my @link = `ninja -t commands bin/recline`);
my $link = $link[-1] // "";
my ($library) = $link =~ m{(\S*librecline-protocols\.a)};
die "mutate: $build: no such build, expected one by ninja\n" unless $library;

my %includes; # source -> the files of protocols/ that it includes, also through others
sub includes {
  my ($file) = @_;
  return $includes{$file} //= do {
    my %all;
    for (read_file("$root/$file") =~ m{^#include "(protocols/[^"]*)"}gm) {
      $all{$_} = 1;
      $all{$_} = 1 for keys %{includes($_)};
    }
    \%all;
  };
}

my @protocols = grep { !m{/(step|registry|text)\.c$} } map { s{^\Q$root\E/}{}r } glob "$root/protocols/*.c";

# Compiles the protocols that `file` is part of, with `text` in its place; their machine code, or
# nothing when it does not compile.
sub compile {
  my ($file, $text) = @_;
  my $place = "$work/$file";
  remove_tree("$work/protocols"); # no other changed source may be found before the real one
  make_path(dirname $place);
  write_file($place, $text);
  my %code;
  for my $source ($file =~ /\.c$/ ? $file : grep { includes($_)->{$file} } @protocols) {
    my $name = basename $source;
    chomp(my @commands = `ninja -t commands protocols/CMakeFiles/recline-protocols.dir/$name.o`);
    my $command = $commands[-1];
    $command =~ s{ -o \S+}{ -o $work/$name.o};
    $command =~ s{ -M[TF] \S+}{}g;
    $command =~ s{ -MD\b| -g\b}{}g;
    my $from = $source eq $file ? $place : "$root/$source";
    $command =~ s{ -c \S+}{ -w -iquote $work -c $from};
    system("$command 2>$work/cc.log") == 0 or return;
    $code{$source} = `objdump -d -r -s -j .text -j .rodata -j .data.rel.ro -j .data.rel.ro.local $work/$name.o 2>/dev/null | tail -n +4`;
  }
  return \%code;
}

sub link_recline {
  my (@sources) = @_;
  my $copy = "$work/protocols.a";
  system('cp', $library, $copy) == 0 or die;
  system('ar', 'r', $copy, map { "$work/" . basename($_) . '.o' } @sources) == 0 or die
    if @sources;
  (my $command = $link) =~ s{\Q$library\E}{$copy}g;
  $command =~ s{ -o bin/recline }{ -o bin/recline-mutated };
  system("$command 2>$work/ld.log") == 0 or die "mutate: cannot link, see $work/ld.log\n";
}

# ---- claims ----

# Those of the protocols, with the states that they have, smallest first.
my %of;
sub claims {
  my (@sources) = @_;
  my @all;
  for my $source (@sources) {
    my $name = basename($source, '.c');
    $of{$source} //= do {
      my @files = grep { !m{/lie-} && read_file($_) =~ /^protocol: *\{name: $name(-\w+)*[,}]/m }
        glob "$root/verify/claims/*.yaml";
      my @found;
      for my $file (@files) {
        my $out = `timeout $seconds bin/recline check --json --workers 1 '$file' 2>/dev/null`;
        my $one = eval { decode_json($out)->{claims}[0] } or next;
        push @found, {file => $file, id => $one->{id}, states => $one->{states}}
          if $one->{verdict} eq $one->{expected};
      }
      \@found;
    };
    push @all, @{$of{$source}};
  }
  return sort { $a->{states} <=> $b->{states} || $a->{id} cmp $b->{id} } @all;
}

# The first claim that notices, with what it says; nothing when none does.
sub noticed {
  my (@claims) = @_;
  my $slower = '';
  for my $claim (@claims) {
    my $bound = 4 * $claim->{states} + 10000;
    my $limit = 4 * $seconds;
    my $out = `timeout $limit bin/recline-mutated check --json --workers 1 --max-states $bound '$claim->{file}' 2>/dev/null`;
    my $code = $? >> 8;
    return "$claim->{id}: does not end" if $code == 124;
    return "$claim->{id}: breach" unless $code == 0 || $code == 1 || $code == 2;
    my $one = eval { decode_json($out)->{claims}[0] } or return "$claim->{id}: no answer";
    if ($one->{verdict} eq 'inconclusive') { $slower ||= $claim->{id} }
    elsif ($one->{verdict} ne $one->{expected}) {
      return "$claim->{id}: $one->{verdict}" . ($one->{property} ? " $one->{property}" : '');
    }
  }
  return $slower ? "$slower: more than four times the states" : '';
}

# ---- changes that are known to be none ----

my (%known, @known);
for (split /\n/, read_file($known_file)) {
  next if /^#|^\s*$/;
  my ($file, $from, $to, $why) = split /\s*\|\|\|\s*/;
  unless ($why && grep { s/^\s+|\s+$//gr eq $from } split /\n/, read_file("$root/$file")) {
    print STDERR "$known_file: $file has no line '$from', expected one\n";
    exit 64;
  }
  $known{"$file|$from|$to"} = $why;
  push @known, [$file, $from, $to];
}

# ---- the analysis ----

my @files = @ARGV ? map { s{^\Q$root\E/}{}r } @ARGV : (@protocols, map { s{^\Q$root\E/}{}r } glob("$root/protocols/parts/*.h"), glob("$root/protocols/c3_*.h"));
@files = grep { my $f = $_; grep { $_->[0] eq $f } @known } @files if $known_only;
my $survivors = 0;
$| = 1;
link_recline();
for my $file (@files) {
  my $text = read_file("$root/$file");
  my @all = changes($text);
  my @lines = split /\n/, $text, -1;
  my $trim = sub { $_[0] =~ s/^\s+|\s+$//gr };
  my $key = sub { my ($c) = @_; my $from = $lines[$c->[0]]; $from =~ s{/\*.*?\*/}{}g; $file . '|' . $trim->($from) . '|' . $trim->($c->[2]) };
  if ($known_only) {
    @all = grep { $known{$key->($_)} } @all;
  } elsif ($count) {
    @all = shuffled(@all);
  }
  my $original = compile($file, $text) or die "mutate: $file does not compile\n";
  my @sources = sort keys %$original;
  my @claims = claims(@sources);
  my %tally = (none => 0, refused => 0, noticed => 0, known => 0, survivors => 0);
  my $tried = 0;
  for my $change (@all) {
    last if $count && !$known_only && $tried == $count;
    my ($i, $operator, $new) = @$change;
    my @changed = @lines;
    $changed[$i] = $new;
    my $code = compile($file, join "\n", @changed);
    if (!$code) { $tally{refused}++; next }
    if (!grep { $code->{$_} ne $original->{$_} } @sources) { $tally{none}++; next }
    $tried++;
    my @differ = grep { $code->{$_} ne $original->{$_} } @sources;
    link_recline(@differ);
    my $by = noticed(claims(@differ));
    my $why = $known{$key->($change)};
    my $how = $by ? $why ? 'NOT KNOWN TO BE NONE' : 'noticed' : $why ? 'known' : 'SURVIVES';
    $tally{$by && !$why ? 'noticed' : !$by && $why ? 'known' : 'survivors'}++;
    printf "%-24s %s:%d %s\n    %s\n    %s\n", $how . ($by ? " by $by" : ''), $file, $i + 1,
      $operator, $trim->($lines[$i]), $trim->($new);
  }
  $survivors += $tally{survivors};
  my $judged = $tally{noticed} + $tally{survivors};
  printf "%s: of %d changes %d are not C, %d the same code, %d known; %d of %d others noticed (%d claims)\n\n",
    $file, $tried + $tally{refused} + $tally{none}, @tally{qw(refused none known noticed)}, $judged,
    scalar @claims;
}
exit($survivors ? 1 : 0);
