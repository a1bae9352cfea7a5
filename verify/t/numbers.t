#!/usr/bin/env perl
# One numbering: a message and a step have the same number in the sentence of the judge, in the trace,
# in its narration, in its picture, and in the page that plays it. In each claim here a message is
# lost, doubled, or sent again, and the judge names it by its place among the messages of one
# envelope, too.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = realpath("$FindBin::Bin/../..");
my $build = realpath($ENV{RECLINE_BUILD} // "$root/build");
my $dir = tempdir(CLEANUP => 1);
chdir $dir or BAIL_OUT("$dir: $!");

sub slurp { my ($file) = @_; open my $in, '<', $file or return ''; local $/; return scalar(<$in>) // '' }

# Returns the numbers of a program's messages from a rank to another with a tag, in the order of
# their sends.
sub sent {
  my ($trace, $from, $to, $tag) = @_;
  return map { /^\S+ $from send peer=$to tag=$tag .*? @(\d+) \|/ ? $1 : () } split /^/m, $trace;
}

sub judge {
  my ($claim, $property, $words) = @_;
  my $said = `$build/bin/recline check $claim --out out --json 2>&1`;
  my $text = `$build/bin/recline check $claim --out out 2>&1`;
  my $trace = slurp("out/$claim.trace");
  my ($rank, $sentence) = $trace =~ /^violation $property rank=(\d+): (.*)/m
    or return fail("$claim: violates $property") || diag($text);
  my ($place, $from, $tag, $numbers) =
    $sentence =~ /^the (\d+)(?:st|nd|rd|th) message from rank (\d+) with tag (\d+) $words \((.*)\)$/
    or return fail("$claim: $words") || diag($sentence);
  my @lists = map { [/@(\d+)/g] } split /; /, $numbers;
  my @sent = sent($trace, $from, $rank, $tag);
  is($lists[0][0], $sent[$place - 1], "$claim: $sentence");
  if ($sentence =~ /before the (\d+)\w\w \(/) {
    is($lists[1][0], $sent[$1 - 1], "$claim: the other message");
  }
  my %sent = map { $_ => 1 } @sent;
  is_deeply([grep { !$sent{$_} } map { @$_ } @lists], [], "$claim: all are on lines that send to the rank");
  my $steps = () = $trace =~ /^\d+ /mg;
  like($text, qr/^ *\Q$property, rank $rank, by step @{[$steps - 1]}: $sentence\E$/m, "$claim: check says the same");
  is($trace =~ /^@{[$steps - 1]} .*\n(?:again .*\n)?violation /m, 1, "$claim: by the last step of the trace");
  is(eval { decode_json($said)->{claims}[0]{why} } // $said, "$property, rank $rank, by step @{[$steps - 1]}: $sentence",
    "$claim: in JSON, too");
  my $story = slurp("out/$claim.narration.txt");
  for my $number (map { @$_ } @lists) {
    like($story, qr/^ *\d+  Rank $from sends message $number\b.* to rank $rank\b/m, "$claim: message $number is told by rank $from");
  }
  my $told = $sentence =~ s/@(\d+)/message $1/gr;
  like($story, qr/^Violated: $property, at rank $rank, by step @{[$steps - 1]}: \Q$told\E\.$/m, "$claim: the narration ends with the sentence");
  like($story, qr/^ *@{[$steps - 1]}  /m, "$claim: its last step is " . ($steps - 1));
  my $picture = slurp("out/$claim.svg");
  $picture =~ s/<[^>]*>//g if $picture =~ s/<text[^>]*>([^<]*)<\/text>/ $1 /g;
  like($picture, qr/message $lists[0][0]\b/, "$claim: the picture has the number");
}

judge('c3-no-suppress', 'no-duplicate', 'was given, and sent once more');
judge('lie-c3-duplicate', 'no-duplicate', 'was given twice');
judge('event-logging-expired-forgotten', 'no-loss', 'was given before the \d+\w\w');
judge('blocking-not-quiet', 'no-loss', 'was given before the \d+\w\w');

# A count in a sentence must be the count in the trace of messages that were sent and have not
# arrived.
sub counts_under_way {
  my ($claim) = @_;
  `$build/bin/recline check $claim --out out 2>&1`;
  my $trace = slurp("out/$claim.trace");
  my ($rank, $count, $way, $peer) =
    $trace =~ /^violation quiet-channels rank=(\d+): captured with (\d+) messages (from|to) rank (\d+) under way$/m
    or return fail("$claim: messages under way are counted") || diag($trace);
  my ($from, $to) = $way eq 'from' ? ($peer, $rank) : ($rank, $peer);
  my $sent = () = $trace =~ /^\S+ $from send peer=$to /mg;
  my $arrived = () = $trace =~ /^\S+ $to arrived .*\bpeer=$from /mg;
  is($count, $sent - $arrived, "$claim: $count messages are under way");
}
counts_under_way($_) for qw(blocking-release-early bookmark-one-way);
done_testing();
