#!/usr/bin/env perl
# bundle.pl PAGE MODULE TEMPLATE FILE...: writes the template to PAGE, with each file in place of
# {{its name}}. In place of {{packed NAME ...}} it writes several files as one, compressed and in base64.
# The module, compressed likewise, replaces {{module}}; MODULE '' means that there is none. Browsers
# unpack gzip themselves. Every page that users keep has all scripts, so their indentation and lines of
# comment are left out.
use strict;
use warnings;
use IO::Compress::Gzip qw(gzip $GzipError);
use MIME::Base64;

sub slurp {
  my ($file) = @_;
  open my $in, '<:raw', $file or die "$file: $!\n";
  local $/;
  return scalar <$in>;
}

my ($page, $module, $template, @files) = @ARGV;
my %part = map { m{([^/]*)$} ? ($1 => slurp($_)) : () } @files;
$part{$_} =~ s{^ *(?://.*\n)?}{}mg for grep { /\.js$/ } keys %part;

sub packed {
  my ($bytes) = @_;
  gzip(\$bytes => \my $packed, -Level => 9, Minimal => 1) or die "$GzipError\n";
  return encode_base64($packed, '');
}

$part{module} = packed(slurp($module)) if $module;
my $text = slurp($template);
$text =~ s{\{\{(packed )?([\w. ]+)\}\}}{
  my $content = join '', map { $part{$_} // die "$template names $_\n" } split / /, $2;
  $1 ? packed($content) : $content}ge;
open my $out, '>:raw', "$page.new" or die "$page.new: $!\n";
print $out $text;
close $out or die "$page.new: $!\n";
rename "$page.new", $page or die "$page: $!\n";
