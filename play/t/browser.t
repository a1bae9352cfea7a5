#!/usr/bin/env perl
# The page of recline play in a headless Chromium: clicks, keys, undo, search, export, replay.
# RECLINE_LONG=1: a world of 1,000,000 states, exhausted in less than 5 s.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Copy;
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = realpath("$FindBin::Bin/../..");
my $build = $ENV{RECLINE_BUILD} // "$root/build";
plan skip_all => 'no page in this build: it needs clang, lld and wasi-libc' if !-e "$build/play/page.html";
for my $tool (qw(node chromium)) {
  plan skip_all => "$tool is missing" if !grep { -x "$_/$tool" } split /:/, $ENV{PATH};
}
my $dir = tempdir(CLEANUP => 1);
my $recline = "cd $dir && $build/bin/recline";

sub checked {
  my ($claim) = @_;
  my $out = qx($recline check $claim --json --out native);
  return decode_json($out)->{claims}[0];
}

my ($violated, $holds) = (checked('lie-c3-drop'), checked('bookmark-recovers'));
system "$recline play lie-c3-drop -o lie-c3-drop.html >log 2>&1 && $recline play bookmark-recovers -o holds.html >log 2>&1 && "
  . "$recline play native/lie-c3-drop.trace -o counterexample.html >log 2>&1" and BAIL_OUT("no pages");
sub thousands { my $n = reverse shift; $n =~ s/(\d{3})(?=\d)/$1,/g; return scalar reverse $n }
# A world of more than a million states.
my $large = $ENV{RECLINE_LONG} ? checked('chandy-lamport-recovers-three') : undef;
system "$recline play chandy-lamport-recovers-three -o large.html >log 2>&1" if $large;
open my $out, '>', "$dir/expected.json" or BAIL_OUT($!);
print $out encode_json({property => $violated->{property}, moves => $violated->{depth},
                        large => $large && thousands($large->{states}) . ' states, ' . thousands($large->{transitions}) . ' transitions',
                        states => thousands($holds->{states}), transitions => thousands($holds->{transitions})});
close $out;
exit(system('node', "$root/play/t/clicks.js", $dir) ? 1 : 0);
