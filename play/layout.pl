#!/usr/bin/env perl
# layout.pl FILE NAME=SOURCE=DUMP...: writes the structs of each protocol as JSON, from what clang says
# of their layout (-fdump-record-layouts), and the names of its phases, from its source.
use strict;
use warnings;
use JSON::PP;

sub slurp {
  my ($file) = @_;
  open my $in, '<', $file or die "$file: $!\n";
  local $/;
  return scalar <$in>;
}

# type -> [[field, type, offset], ...]; a struct within a struct becomes one field for each of its
# fields
sub structs {
  my ($dump) = @_;
  my %type;
  for my $record (split /\*\*\* Dumping AST Record Layout\n/, $dump) {
    my ($name) = $record =~ /^ *0 \| (struct \w+)$/m or next;
    my (@fields, @outer);
    while ($record =~ /^ *(\d+) \|(\s+)(.*\S) (\w+)$/mg) {
      my ($offset, $depth, $type, $field) = ($1, int(length($2) / 2), $3, $4);
      next if $depth < 1 || "$type $field" eq $name;
      @outer = @outer[0 .. $depth - 2] if @outer > $depth - 1;
      push @fields, [join('.', @outer, $field), $type, 0 + $offset] if $type !~ /^(?:struct|union) /;
      $outer[$depth - 1] = $field if $type =~ /^(?:struct|union) /;
    }
    $type{$name} //= \@fields;
  }
  return \%type;
}

my ($file, @protocols) = @ARGV;
my %all;
for (@protocols) {
  my ($name, $source, $dump) = split /=/;
  my $types = structs(slurp($dump));
  my $text = slurp($source);
  $text .= slurp($_) for grep { -e } map { $source =~ s/\.c$/_$_.h/r } qw(state log);
  my ($phases) = $text =~ /^enum phase \{([^}]*)\}/m;
  my %listed = map { $_ => 1 } 'struct state', $text =~ /\b(?:LIST|ARRAY)\(\s*\w+,\s*(struct \w+)/g;
  delete @$types{grep { !$listed{$_} } keys %$types};
  $all{$name} = {types => $types, phases => [map { lc } ($phases // '') =~ /(\w+)/g]};
}
open my $out, '>', $file or die "$file: $!\n";
print $out JSON::PP->new->canonical->encode(\%all);
close $out or die "$file: $!\n";
