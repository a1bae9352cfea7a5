#!/usr/bin/perl
# distance.pl FILE FILE PATTERN: prints the largest distance, in units of the last place, of hexadecimal
# numbers at the ends of lines with the pattern. Other words there must be equal; if they are not, prints
# `other`. Fails if the files have no such lines, or not equally many.
use strict;
use warnings;
no warnings 'portable';

my $pattern = pop;

# Numbers doubles in their order; returns words that are no number as they are.
sub value {
  my ($sign, $digits, $power) = $_[0] =~ /(-?)0x1(?:\.([0-9a-f]*))?p([-+]\d+)$/;
  return $_[0] unless defined $power;
  $digits = ($digits // '') . '0' x (13 - length($digits // ''));
  return (($power + 1023) << 52 | hex $digits) * ($sign ? -1 : 1);
}

sub values_of {
  open my $in, '<', $_[0] or die "$_[0]: $!\n";
  return [map { /$pattern.* (\S+)$/ ? value($1) : () } <$in>];
}

my ($x, $y) = map { values_of($_) } @ARGV;
die "no values\n" unless @$x and @$x == @$y;
my $most = 0;
for my $i (0 .. $#$x) {
  my $far = $x->[$i] eq $y->[$i] ? 0 : "$x->[$i]$y->[$i]" =~ /^[-0-9]+$/ ? abs($x->[$i] - $y->[$i]) : 'other';
  $most = $far if $far eq 'other' or $most ne 'other' and $far > $most;
}
print $most;
