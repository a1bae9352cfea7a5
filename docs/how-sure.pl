#!/usr/bin/env perl
# What stands behind each protocol's HOLDS? Prints the table of docs/how-sure.md, or with --write puts
# it there, from results that other commands have written: claims and mutants of verify/, and the
# tables of states (docs/protocols/), proofs (docs/prove.md), walks (docs/walk.md), crashed runs
# (docs/measurements/sweeps.md) and mutations (docs/measurements/mutations.md).
use strict;
use warnings;
use FindBin;

my $root = "$FindBin::Bin/..";
my $page = "$root/docs/how-sure.md";

sub read_file { my ($file) = @_; open my $in, '<', $file or die "$file: $!\n"; local $/; return scalar <$in> }
sub thousands { my ($n) = @_; 1 while $n =~ s/^(\d+)(\d{3})/$1,$2/; return $n }
sub number { my ($text) = @_; return $text =~ tr/,//dr }
sub sum { my $sum = 0; $sum += $_ for @_; return $sum }

# Rows of the tables of a page, as cells.
sub rows { return map { [map { s/^ +| +$//gr } (split /\|/)[1 .. tr/|// - 1]] } grep { /^\|/ } split /\n/, read_file($_[0]) }

# Names in backquotes; "-sorted" goes on from the first: "event-logging-sorted".
sub names { my @names = $_[0] =~ /`([^`]+)`/g; return map { /^-/ ? "$names[0]$_" : $_ } @names }

# ---- results, by protocol ----

my (%claims, %mutants, %states, %proved, %steps, %runs, %mutated);
my %id_states;
for my $file (glob "$root/docs/protocols/*.md") {
  for my $row (rows($file)) {
    my ($id) = names($row->[0]);
    my ($count) = grep { /^[\d,]+$/ } @$row[1 .. $#$row];
    $id_states{$id} //= number($count) if defined $id && defined $count;
  }
}
for my $file (glob "$root/verify/{claims,mutants}/*/*.yaml") {
  my $text = read_file($file);
  my ($name) = $text =~ /^protocol: *\{name: *"?([a-z0-9-]+(?:~[a-z0-9-]+)?)|^  name: *"?([a-z0-9-]+(?:~[a-z0-9-]+)?)/m ? $1 // $2 : ();
  my ($id) = $text =~ /^id: *(\S+)/m;
  my ($verdict) = $text =~ /verdict: *(\w+)/;
  next if !$name || !$verdict;
  my ($protocol, $flaw) = split /~/, $name;
  if ($flaw) {
    $mutants{$protocol}{$flaw} = 1;
  } else {
    push @{$claims{$protocol}{$verdict}}, $id;
    push @{$states{$protocol}}, $id_states{$id} if $id_states{$id};
  }
}
for (rows("$root/docs/prove.md")) { $proved{(names($_->[0]))[0]} = $_->[1] if @$_ == 7 && $_->[0] =~ /^`/ }
my %line = read_file("$root/docs/prove.md") =~ /^\| of `([a-z-]+)`, (\w+) ranks/mg;
for (rows("$root/docs/walk.md")) { $steps{(names($_->[0]))[0]} = $_ if @$_ == 7 && $_->[0] =~ /^`/ }
for my $row (rows("$root/docs/measurements/sweeps.md")) {
  next if @$row != 6 || $row->[0] !~ /^`/;
  $runs{$_} = sum(map { /^([\d,]+)/ ? number($1) : 0 } @$row[1 .. 5]) for names($row->[0]);
}
for my $row (rows("$root/docs/measurements/mutations.md")) {
  next if @$row != 5 || $row->[0] !~ /^`[\w-]+\.[ch]`/;
  my @counts = map { /^(\d+)/ ? $1 : 0 } @$row[2 .. 4];
  for my $file (names($row->[0])) {
    my ($base) = $file =~ /^(.*?)(?:_\w+)?\.[ch]$/;
    $mutated{$base}[$_] += $counts[$_] for 0 .. 2;
  }
}

# The source of a protocol: the file of its name, or else the one that names it.
sub source_of {
  my ($protocol) = @_;
  return $protocol if -e "$root/protocols/$protocol.c";
  my ($source) = grep { !/registry|text/ && read_file($_) =~ /"\Q$protocol\E"/ } glob "$root/protocols/*.c";
  return $source =~ m{/([^/]+)\.c$} ? $1 : '';
}

# ---- the table ----

sub row {
  my ($protocol, $title) = @_;
  my %of = %{$claims{$protocol} // {}};
  my @sizes = sort { $a <=> $b } @{$states{$protocol} // []};
  my $explored = sprintf '%d hold, %d refuted', scalar @{$of{holds} // []}, scalar @{$of{violated} // []};
  $explored .= sprintf '; up to %s states', thousands($sizes[-1]) if @sizes;
  my $walked = $steps{$protocol} ? "$steps{$protocol}[2] steps, $steps{$protocol}[3] crashes" : '';
  my $changed = $mutated{source_of($protocol)};
  my $noticed = $changed ? sprintf('%d of %d', $changed->[1], $changed->[0] - $changed->[2]) : '';
  my @proofs = (($line{$protocol} ? "line of $line{$protocol} ranks" : ()), (($proved{$protocol} // '') eq 'proved' ? 'memory' : ()));
  return sprintf "| `%s` | %s | %s | %s | %s | %d | %s |\n", $protocol, $explored,
    join(', ', @proofs), $walked,
    $runs{$protocol} ? thousands($runs{$protocol}) : '', scalar keys %{$mutants{$protocol} // {}}, $noticed;
}

my $table = "| protocol | explored: claims | proved | walked | crashed runs, all right | mutants, all refuted | mutations noticed |\n|---|---|---|---|---|---|---|\n";
my @protocols = map { (names($_->[0]))[0] } grep { @$_ == 7 && $_->[0] =~ /^`/ } rows("$root/docs/prove.md");
$table .= row($_) for @protocols;
if (($ARGV[0] // '') ne '--write') {
  print $table;
  exit;
}
my $text = read_file($page);
$text =~ s/(<!-- table -->\n).*?(<!-- end -->)/$1\n$table\n$2/s or die "$page: no table\n";
open my $out, '>', $page or die "$page: $!\n";
print $out $text;
close $out or die "$page: $!\n";
