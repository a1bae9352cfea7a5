#!/usr/bin/env perl
# Random worlds: what the explorer concludes depends neither on the reduction nor on the workers.
#
#     random-worlds.t            RECLINE_RANDOM worlds (30) from RECLINE_SEED (1) on
#     random-worlds.t SEED       this world alone: prints it
#
# RECLINE_LONG=1: 1,450 worlds, so that 1,000 can be compared. Each is a script of 2 or 3 ranks that
# ends in some order of its messages, under a protocol or one of its mutants, with checkpoints and
# crashes. It is explored in full by one worker and by two, which must agree in verdict, depth and
# counts, and with each reduction, which must agree in the verdict; where it is a violation they need
# not find the same one. With --audit the explorer compares all terminal states, too. Worlds with
# more than RECLINE_STATES (60,000; 300,000 if long) states in full are left out, and counted.
use strict;
use warnings;
use Digest::MD5 qw(md5);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = "$FindBin::Bin/../..";
my $recline = ($ENV{RECLINE_BUILD} // "$root/build") . '/bin/recline';
my $most = $ENV{RECLINE_STATES} // ($ENV{RECLINE_LONG} ? 300_000 : 60_000);
my $first = $ENV{RECLINE_SEED} // 1;
my $worlds = $ENV{RECLINE_RANDOM} // ($ENV{RECLINE_LONG} ? 1450 : 30);

# The same numbers on every machine, whatever perl's rand() is.
my $state;
sub draw {
  my ($below) = @_;
  $state = ($state * 1103515245 + 12345) % 2**31;
  return int($state / 65536) % $below;
}
sub one_of { return $_[draw(scalar @_)] }

my @protocols = qw(c3 bookmark event-logging event-logging-sorted message-tagging chandy-lamport
  time-based blocking pessimistic pessimistic-wildcards uncoordinated causal optimistic lai-yang mattern index-based none);
my $some = join '|', @protocols;
my @mutants = map { m{/($some)/([^/]*)\.patch$} ? "$1~$2" : () }
  sort glob "$root/verify/mutants/*/*.patch";

# Draws a mutant by its name and the seed, so that a new mutant in the tree changes only the worlds
# that it takes.
sub mutant_of {
  my ($seed) = @_;
  my %weight = map { $_ => md5("$seed $_") } @mutants;
  return (sort { $weight{$a} cmp $weight{$b} } @mutants)[0];
}

# Each rank's operations, in an order in which the whole can run: a message is received after it was
# sent. All receives of a rank name source and tag, or the source, or neither: so none takes a
# message that another needs.
sub script_of {
  my ($ranks) = @_;
  my @ops = map { [] } 1 .. $ranks;
  my @under_way;
  my @names = map { one_of('both', 'both', 'source', 'neither') } @ops;
  my $calls = draw(4) == 0 ? 1 : 0;
  for (1 .. 4 + draw(6)) {
    my $rank = draw($ranks);
    my $kind = draw(10);
    if ($kind < 4) {
      my $to = draw($ranks - 1);
      $to++ if $to >= $rank;
      $to = $rank unless draw(8);
      my $tag = draw(3) ? 0 : 1;
      my $now = $to != $rank && !draw(6) && !grep { $_->[1] == $to } @under_way;
      push @{$ops[$rank]}, ($now ? 'ssend' : 'send') . " $to" . ($tag ? " tag $tag" : '');
      receive(\@ops, [[$rank, $to, $tag]], \@names) if $now;
      push @under_way, [$rank, $to, $tag] if !$now;
    } elsif ($kind < 7 && @under_way) {
      receive(\@ops, \@under_way, \@names);
    } elsif ($kind == 7) {
      push @{$ops[$rank]}, 'choose 2';
    } elsif ($kind == 8) {
      push @{$ops[$rank]}, 'checkpoint';
    } elsif ($calls) {
      my $call = one_of('barrier', 'allreduce', 'bcast 0', 'reduce 0');
      push @$_, $call for @ops;
      $calls = 0;
    }
  }
  receive(\@ops, \@under_way, \@names) while @under_way;
  return join '', map { "    rank $_: " . (join(', ', @{$ops[$_]}) || 'checkpoint') . "\n" } 0 .. $#ops;
}

sub receive {
  my ($ops, $under_way, $names) = @_;
  my ($from, $to, $tag) = @{shift @$under_way};
  $from = 'any' if $names->[$to] eq 'neither';
  $tag = 'any' if $names->[$to] ne 'both';
  push @{$ops->[$to]}, "recv $from tag $tag";
}

sub world_of {
  my ($seed) = @_;
  $state = $seed * 7919 + 17;
  draw(2) for 1 .. 3;
  my $ranks = draw(4) ? 2 : 3;
  my $protocol = draw(3) ? mutant_of($seed) : one_of(@protocols);
  my $script = script_of($ranks);
  my ($checkpoints, $crashes) = (draw(4) ? 1 : 0, one_of(0, 1, 1, 1, 2));
  my $per_node = draw(4) ? 1 : 2;
  my $hazards = draw(3) ? '' : one_of(qw(cut-steps whole-writes torn-writes false-detection control-overtakes));
  $hazards = '' if $hazards eq 'control-overtakes' && $protocol =~ /^(chandy-lamport|lai-yang|mattern|time-based)/;
  my $places = one_of('program', 'anywhere');
  my $order = draw(4) ? 'any' : one_of('fifo', 'none');
  $places = 'anywhere' if $protocol =~ /^(bookmark|chandy-lamport|lai-yang|mattern|time-based|none)/;
  # Calls may be spelled out as messages, which would overtake what the program receives later.
  $order = 'any' if $order eq 'fifo' && $script =~ /barrier|reduce|bcast/;
  return <<"END";
id: world-$seed
statement: a random world
program:
  ranks: $ranks
  script: |
${script}protocol: {name: $protocol, capacity: 6}
checkpoint: {places: $places}
check: {checkpoints: $checkpoints, crashes: $crashes, per_node: $per_node, hazards: [$hazards], order: $order, reach: [commits 0]}
expect: {verdict: holds}
END
}

if (@ARGV) {
  print world_of($ARGV[0]);
  exit;
}

my $dir = tempdir(CLEANUP => 1);
my @files;
for my $seed ($first .. $first + $worlds - 1) {
  push @files, "$dir/world-$seed.yaml";
  open my $out, '>', $files[-1] or die "$files[-1]: $!";
  print $out world_of($seed);
}

# id -> what is said of it. A world for which a reduction takes too long is left out: the timeout
# decides what is compared, never what is right.
sub check {
  my ($seconds, @options) = @_;
  my %said;
  for my $file (@files) {
    open my $in, '-|', 'timeout', $seconds, $recline, 'check', '--json', "--max-states=$most", @options,
      $file or die "$recline: $!";
    local $/;
    my $json = <$in>;
    my $claims = $json ? decode_json($json)->{claims} : [];
    $said{$_->{id}} = $_ for @$claims;
  }
  return \%said;
}

my $full = check(120, '--workers=1', '--reduce=none');
is(scalar keys %$full, $worlds, 'each world gets a verdict');
@files = grep { m{/(world-\d+)\.yaml}; $full->{$1} && $full->{$1}{verdict} =~ /holds|violated/ } @files;
my %count;
$count{$_->{verdict}}++ for values %$full;
note(join ', ', map { "$count{$_} $_" } sort keys %count);
ok(($count{holds} // 0) > $worlds / 6, 'many hold');
ok(($count{violated} // 0) > $worlds / 10, 'many are violated');

sub differing {
  my ($other, @keys) = @_;
  my @compared = grep { $other->{$_} && $full->{$_}{verdict} =~ /holds|violated/ } sort keys %$full;
  return 'too few compared' if @compared < @files * 2 / 3;
  return join ' ', grep {
    my $id = $_;
    grep { ($other->{$id}{$_} // 'nothing') ne $full->{$id}{$_} } @keys
  } @compared;
}

is(differing(check(10, '--workers=2', '--reduce=none'), qw(verdict states transitions depth)), '',
   'two workers see what one sees');
# Reductions do not judge livelock, and say so.
delete $full->{$_} for grep { ($full->{$_}{property} // '') eq 'progress' } keys %$full;
@files = grep { m{/(world-\d+)\.yaml}; $full->{$1} } @files;
is(differing(check(10, '--workers=1', "--reduce=$_"), 'verdict'), '', "reduction $_ agrees")
  for qw(por sym all);
is(differing(check(10, '--workers=2', '--reduce=all'), 'verdict'), '', 'also with two workers');

@files = grep { m{/(world-\d+)\.yaml}; $full->{$1}{states} < $most / 4 } @files;
my $audited = check(10, '--workers=1', '--reduce=all', '--audit');
note("$_->{id}: $_->{why}") for grep { $_->{verdict} eq 'breach' } values %$audited;
is(differing($audited, 'verdict'), '', 'the terminal states are the same, too');
done_testing;
