#!/usr/bin/env perl
# layout.pl FILE NAME=SOURCE=DUMP...: writes the structs of each protocol as JSON, from what clang says
# of their layout (-fdump-record-layouts), what their fields hold and the names of its phases, from its source.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP;

sub slurp {
  my ($file) = @_;
  open my $in, '<', $file or die "$file: $!\n";
  local $/;
  return scalar <$in>;
}

# Returns the text of a source and of the headers of protocols/ that it includes.
sub sources {
  my ($source, $root, $seen) = @_;
  return '' if $seen->{$source}++ || !-e $source;
  my $text = slurp($source);
  return join "\n", $text, map { sources("$root/$_", $root, $seen) } $text =~ /^#include "(protocols\/[^"]+)"/mg;
}

# type -> field -> the comment that says what the field holds: behind the field, or on lines of its own above it
sub meanings {
  my ($text) = @_;
  my %meaning;
  while ($text =~ /^(struct \w+) \{[ \t]*(?:\/\*[^\n]*\*\/)?\n(.*?)^\}/msg) {
    my ($type, $body, $above) = ($1, $2, '');
    while ($body =~ m{\G\s*(?:(/\*.*?\*/)|([^;/]+);[ \t]*((?:/\*.*?\*/)?)|(\S))}gs) {
      my ($alone, $fields, $behind) = ($1, $2, $3);
      if (defined $alone) {
        $above = $alone;
      } elsif (defined $fields) {
        my $said = ($behind || $above) =~ s{^/\*\s*|\s*\*/$}{}gr =~ s/\s*\n\s*\*?\s*/ /gr;
        $meaning{$type}{$_} = $said for $said ne '' ? map { /(\w+)(?:\[\w+\])?\s*$/ ? $1 : () } split /,/, $fields : ();
        $above = '';
      }
    }
  }
  return \%meaning;
}

# type -> [[field, type, offset, meaning], ...]; a struct within a struct becomes one field for each of its
# fields
sub structs {
  my ($dump, $meaning) = @_;
  my %type;
  for my $record (split /\*\*\* Dumping AST Record Layout\n/, $dump) {
    my ($name) = $record =~ /^ *0 \| (struct \w+)$/m or next;
    my (@fields, @outer, @types);
    while ($record =~ /^ *(\d+) \|(\s+)(.*\S) (\w+)$/mg) {
      my ($offset, $depth, $type, $field) = ($1, int(length($2) / 2), $3, $4);
      next if $depth < 1 || "$type $field" eq $name;
      @outer = @outer[0 .. $depth - 2] if @outer > $depth - 1;
      my $owner = $depth > 1 ? $types[$depth - 2] : $name;
      push @fields, [join('.', @outer, $field), $type, 0 + $offset, $meaning->{$owner}{$field} // ()] if $type !~ /^(?:struct|union) /;
      ($outer[$depth - 1], $types[$depth - 1]) = ($field, $type) if $type =~ /^(?:struct|union) /;
    }
    $type{$name} //= \@fields;
  }
  return \%type;
}

my ($file, @protocols) = @ARGV;
my %all;
for (@protocols) {
  my ($name, $source, $dump) = split /=/;
  my $text = sources($source, dirname(dirname($source)), {});
  my $types = structs(slurp($dump), meanings($text));
  my ($phases) = $text =~ /^enum phase \{([^}]*)\}/m;
  my %listed = map { $_ => 1 } 'struct state', $text =~ /\b(?:LIST|ARRAY)\(\s*\w+,\s*(struct \w+)/g;
  delete @$types{grep { !$listed{$_} } keys %$types};
  $all{$name} = {types => $types, phases => [map { lc } ($phases // '') =~ /(\w+)/g]};
}
open my $out, '>', $file or die "$file: $!\n";
print $out JSON::PP->new->canonical->encode(\%all);
close $out or die "$file: $!\n";
