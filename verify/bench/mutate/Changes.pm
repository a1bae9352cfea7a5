# Makes small changes of a source. A change is [line from 0, operator, new text of the line].
package Changes;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(uniq);
use Tree;

our @EXPORT = qw(changes_of drawn drawn_files function_at);

# Returns the headers that belong to one source: their names begin with its name.
sub own_headers {
  my ($root, $file) = @_;
  my ($folder, $name) = $file =~ m{^(.*/)([^/_.]+)};
  return grep { $_ ne $file } map { s{^\Q$root\E/}{}r }
    grep { -e } glob "$root/$folder${name}{,_*}.h";
}

# Returns families: the enumerators of each enum, and the number fields of each struct, of a source.
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

# Splits a line with the whole condition of an `if`, or with a whole returned expression, into
# [before, condition, after].
sub condition {
  my ($line) = @_;
  return ($1, $2, ';') if $line =~ /^(\s*return )(.* (?:&&|\|\|) .*);$/;
  return unless $line =~ /^(\s*(?:\} else )?if \()(.*)(\)(?: \{)?)$/;
  my ($before, $inside, $after, $depth) = ($1, $2, $3, 0);
  for (split //, $inside) { $depth += $_ eq '(' ? 1 : $_ eq ')' ? -1 : 0; return if $depth < 0 }
  return $depth ? () : ($before, $inside, $after);
}

# Returns the parts of a condition that && or || connects outside of parentheses.
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

# Returns all changes of a file, but none in a protocol's checks of invariants.
sub changes_of {
  my ($root, $file) = @_;
  my $text = read_file("$root/$file");
  my @families = families(join '', map { read_file("$root/$_") } own_headers($root, $file), $file);
  (my $code = $text) =~ s{(/\*.*?\*/)}{(my $c = $1) =~ s/[^\n]/ /g; $c}ges; # comments become spaces
  my @lines = split /\n/, $code, -1;
  my @found;
  my @text_lines = split /\n/, $text, -1;
  my ($inside, $macro, $judge) = (0, 0, 0);
  for my $i (0 .. $#lines) {
    (my $line = $lines[$i]) =~ s/\s+$//;
    my $directive = $macro || $line =~ /^#/;
    $macro = $directive && $lines[$i] =~ /\\$/;
    $inside = 1 if $line eq '{';
    $inside = 0 if $line eq '}';
    $judge = 1 if $text_lines[$i] =~ m{^/\* ---- invariants};
    $judge = 0 if $text_lines[$i] =~ m{^/\* ---- (?!invariants)};
    next if $judge || !$inside || $directive || $line =~ /^\s*\}?$/ || $line =~ /"/;
    push @found, map { [$i, @$_] } grep { $_->[1] ne $line } of_line(\@lines, $i, $line, @families);
  }
  return @found;
}

# Returns [operator, new text] for each change of one line.
sub of_line {
  my ($lines, $i, $line, @families) = @_;
  my @found;
  push @found, ['return', '{ return;'] if $line eq '{' && $i > 0 && returns_nothing($lines, $i);
  push @found, ['delete', ';'] if $line =~ /^\s+[^{}]*;$/
    && $line !~ /^\s*(return|const|struct|uint\w+|size_t|int|bool|enum|static|for)\b/
    && $lines->[$i - 1] =~ /(?:[;{}:]|\)|\belse)\s*$/ && $lines->[$i - 1] !~ /^\s*for .*[^)]$/;
  if (my ($before, $inside, $after) = condition($line)) {
    push @found, ['negate', "$before!($inside)$after"];
    for my $by ('&&', '||') {
      my @terms = terms($inside, $by);
      for my $k (0 .. $#terms) {
        next if @terms < 2;
        push @found, ['drop', $before . join(" $by ", @terms[grep { $_ != $k } 0 .. $#terms]) . $after];
      }
    }
  }
  for (@swaps) {
    my ($name, $from, $to) = @$_;
    while ($line =~ /$from/g) { push @found, [$name, substr($line, 0, $-[0]) . $to . substr($line, $+[0])] }
  }
  for my $family (@families) {
    my ($name, @names) = @$family;
    for my $from (@names) {
      while ($line =~ /$from/g) {
        my ($at, $end) = ($-[0], $+[0]);
        for my $to (grep { $_ ne $from } @names) {
          (my $plain = $to) =~ s/\(\?<=->\)|\\b//g;
          push @found, [$name, substr($line, 0, $at) . $plain . substr($line, $end)];
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
    return $lines->[$k] !~ /\bvoid \*/ if $lines->[$k] =~ /^(?:static |inline )*void \w+\(/;
  }
  return 0;
}

# Returns the name of the function that contains the line.
sub function_at {
  my ($lines, $i) = @_;
  for (; $i >= 0; $i--) { return $1 if $lines->[$i] =~ /^(?![ }#\/]).*?(\w+)\(/ }
  return '';
}

# ---- drawing: the same numbers on every machine ----

my $random;
sub draw
{
  $random = ($random * 1664525 + 1013904223) % 4294967296;
  return ($random >> 8) % $_[0];
}

# Returns `count` of the files, or all if there are fewer, in their order.
sub drawn_files {
  my ($seed, $count, @files) = @_;
  $random = $seed;
  my @left = 0 .. $#files;
  my @chosen = map { splice @left, draw(scalar @left), 1 } 1 .. ($count < @files ? $count : @files);
  return @files[sort { $a <=> $b } @chosen];
}

# Returns all changes in an order in which the operators take turns, beginning with any operator.
sub shuffled {
  my ($seed, @all) = @_;
  $random = $seed;
  my (%by, @order);
  for my $i (0 .. $#all) { my $k = $i + draw(@all - $i); @all[$i, $k] = @all[$k, $i] }
  push @{$by{$_->[1]}}, $_ for @all;
  my @names = sort keys %by;
  push @names, splice @names, 0, draw(scalar @names) if @names;
  while (@names = grep { @{$by{$_}} } @names) {
    push @order, shift @{$by{$_}} for @names;
  }
  return @order;
}

# Returns each change once: the seeds, each with an order of its own, take turns.
sub drawn {
  my ($seeds, @all) = @_;
  my @orders = map { [shuffled($_, @all)] } @$seeds;
  return uniq map { my $i = $_; map { $_->[$i] } @orders } 0 .. $#all;
}

1;
