#!/usr/bin/env perl
# glossary.pl FILE GLOSSARY: writes the terms of docs/glossary.md that pages use, with their meanings, as
# JSON: all terms of the field, and those of recline that stand in steps or states.
use strict;
use warnings;
use JSON::PP;

my %own = map { $_ => 1 } qw(dispatcher slot f mutant clause life);
my ($file, $glossary) = @ARGV;
open my $in, '<:encoding(UTF-8)', $glossary or die "$glossary: $!\n";
my ($field, @terms) = (0);
while (<$in>) {
  $field = $1 eq 'Terms of the field' if /^## (.*)/;
  my ($names, $meaning) = /^\| (\*\*.*?) \| (.*?) \|/ or next;
  $meaning =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
  $meaning =~ s/[*`]//g;
  push @terms, map { {term => $_, meaning => $meaning} } grep { $field || $own{$_} } $names =~ /\*\*(.*?)\*\*/g;
}
open my $out, '>', $file or die "$file: $!\n";
print $out JSON::PP->new->canonical->utf8->encode(\@terms);
close $out or die "$file: $!\n";
