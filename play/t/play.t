#!/usr/bin/env perl
# recline play: compares the page's module with the native protocols, world and explorer. The same moves
# must give the same lines, verdicts and states, of which both compute a digest. RECLINE_LONG=1 takes
# 100,000 moves for each protocol.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = realpath("$FindBin::Bin/../..");
my $build = $ENV{RECLINE_BUILD} // "$root/build";
my ($recline, $tool) = ("$build/bin/recline", "$build/t/session-tool");
my $here = "$root/play/t";
plan skip_all => 'no page in this build: it needs clang, lld and wasi-libc' if !-e "$build/play/page.html";
plan skip_all => 'node is missing (package nodejs)' if !grep { -x "$_/node" } split /:/, $ENV{PATH};
$ENV{RECLINE_DATA} = $root;
my $dir = tempdir(CLEANUP => 1);

sub run {
  my $out = qx($_[0] 2>&1);
  diag($out) if $? && !$_[1];
  return $out;
}

# Claims by the protocol that they are about.
sub claims {
  my %of;
  for my $file (sort glob "$root/verify/claims/*/*.yaml") {
    open my $in, '<', $file or BAIL_OUT("$file: $!");
    my $text = join '', <$in>;
    push @{$of{$1}}, $file =~ s{.*/(.*)/(.*)\.yaml}{$1-$2}r if $text =~ /^protocol:\s*\{?\s*name: *([\w-]+)[,}\s]/m;
  }
  return %of;
}

is(run("cd $dir && $recline play c3-recovers"), "c3-recovers.html\n", 'a page is written');
my $page = "$dir/c3-recovers.html";
cmp_ok(-s $page, '<', 500_000, 'it takes less than 500 kB');

my @all = map { s{.*/(.*)/(.*)\.yaml}{$1-$2}r } sort glob "$root/verify/{claims,mutants}/*/*.yaml";
unlike(run("$tool describe @all"), qr/^session-tool/m, @all . ' claims and mutants are described whole');
my %of = claims();
my @protocols = map { $_->{name} } @{decode_json(run("$recline list protocols --json"))->{protocols}};
my ($worlds, $moves) = $ENV{RECLINE_LONG} ? (10, 100_000) : (3, 1_500);
for my $protocol (@protocols) {
  my @names = @{$of{$protocol} // []};
  @names = @names[map { int $_ * @names / $worlds } 0 .. $worlds - 1] if @names > $worlds;
  my $steps = int($moves / (@names || 1) + 1);
  my @native = map { (split)[1] } split /\n/, run("$tool walk 1 $steps @names");
  my @page = split /\n/, run("$tool describe @names | node $here/walks.js $page 1 $steps");
  is("@page", "@native", "$protocol: " . @names * $steps . ' moves, the same in both') if @names;
  ok(@native > 0, "$protocol: there are walks");
}
# A page judges no temporal formula, so it does not list the property as kept.
run("cd $dir && $recline play bookmark-temporal");
unlike(slurp("$dir/bookmark-temporal.html"), qr/property ltl/, 'a formula of a claim is not said to be judged');
like(slurp("$dir/bookmark-temporal.html"), qr/property progress/, 'other properties are');
# Counterexamples, played to their last step and exported again: the same bytes. Mutants are compiled
# into their pages.
sub slurp {
  open my $in, '<', $_[0] or return "$_[0]: $!";
  return join '', <$in>;
}
my @mutants = qw(causal-one-copy uncoordinated-collects-unwritten c3-no-suppress bookmark-any-tag event-logging-hash-not-perfect lai-yang-late-untold lai-yang-image-not-awaited c3-all-no-log bookmark-wildcard-uncounted);
# Where the missing rule shows: by an action, by what a rank remembers, by an action that is too much.
my %shows = ('c3-all-no-log' => 'step 13: With the rule, rank 1 keeps a copy in slot 1; here it does not.',
  'bookmark-wildcard-uncounted' => 'step 6: With the rule, rank 1 remembers peers[0] received: 1 (here: 0), "messages that arrived from the peer, including kept messages".');
# The story of a violation: after a cause at a step come what follows, the effect and the harm.
my %story = (
  'c3-all-no-log' => qr/^Cause: At step 13: .*^Then: Checkpoint 1 is committed \(step 22\); rank 0 crashes \(step 23\); ranks 0 and 1 go back to checkpoint 1 .*^Effect: Rank 1 waits in collective call 1 .* since step 32; rank 0 made that call at step 2, .*^Harm: The job hangs/ms,
  'causal-one-copy' => qr/^Then: Rank 0 crashes .* rank 1 goes on\.\n.*^Effect: Rank 0 chose 0 at step 1, .*, and chooses 1 at step 17\. Message 1, .* stays with rank 1, .*^Harm: .*wrong/ms,
  'bookmark-wildcard-uncounted' => qr/^Effect: The protocol holds rank 0 before recv 1 since step 3, .*\. The protocol holds rank 1 before send 0 since step 8, .*^Harm: The job hangs/ms,
  'lai-yang-image-not-awaited' => qr/^Cause: At step 7: .*\(The rule is missing at step 8, too\.\)\n.*^Then: Rank 1 tells rank 0 "my image and my log of checkpoint 1 are stored" \(step 8\); rank 0 commits checkpoint 1 \(step 9\); .*^Effect: The writing of the image of checkpoint 1 of rank 0 began at step 2 and had not ended /ms,
  'c3-no-suppress' => qr/^Effect: At step \d+[^,]* rank 0 sends message \d+ to rank 1, which has it at step \d+.*^Harm: A program takes the same message twice/ms,
  'uncoordinated-collects-unwritten' => qr/^Promise: Invariant 4 of the protocol: no message waits to be sent [^:]*; otherwise nothing would ever send the message, [^:]*\.\n.*^Then: Rank 0 tells rank 1 "no line needs [^"]*" \(step 20\); rank 1 tells rank 0 "your messages [^"]*" \(step 21\); rank 0 frees its copy of message 1 \(step 22\); rank 1 crashes .*^Effect: .*\(step 31\): .* at rank 0\. Message 1, .* step 9, is undone .* freed its copy at step 22\.\n.*^Harm: None is seen yet: the run was stopped at step 31, /ms,
  'none-lost' => qr/^Then: .*^Effect: .*^Harm: /ms);
@mutants = map { s{.*/(.*)/(.*)\.yaml}{$1-$2}r } grep { slurp($_) =~ /verdict: violated/ }
  sort glob "$root/verify/mutants/*/*.yaml" if $ENV{RECLINE_LONG};
for my $id ('none-lost', @mutants) {
  my ($claim) = @{decode_json(run("$recline check $id --json --out $dir"))->{claims}};
  run("cd $dir && $recline play $id.trace");
  my $said = run("node $here/export.js $dir/$id.html $dir/exported.trace");
  like($said, qr/^rank 0: phase=\w+; epoch=1; .*peers\[1\]=\w+ \d/m, "$id: the state has names") if $id eq 'c3-no-suppress';
  like($said, qr/^rank 0: phase=recording; .*counts\[0\]=received 1/m, "$id: and those of a form that is called otherwise") if $id eq 'lai-yang-late-untold';
  is($said =~ s/ rank=.*//sr, "violation $claim->{property}", "$id: its violation in the page");
  my ($shown) = $said =~ /^(step \d+: .*)/m;
  is($shown, $shows{$id}, "$id: where the missing rule shows") if $shows{$id} || $id eq 'none-lost';
  like(run("node $here/cause.js $dir/$id.html"), $story{$id} // qr/^Cause: .*^Effect: .*^Harm: /ms, "$id: its story");
  is(slurp("$dir/exported.trace"), slurp("$dir/$id.trace"), "$id: exported as it was");
  run("cd $dir && $recline draw $id.trace -o told.txt");
  my @told = map { /^ *\d+  (.*)/ ? $1 : () } split /\n/, slurp("$dir/told.txt");
  is(run("node $here/narrate.js $dir/$id.html $dir/$id.trace"), join('', map { "$_\n" } @told), "$id: told as recline draw tells it");
}
# No message crosses a capture of an earlier life: rank 0 has gone back when it sends.
open my $lives, '>', "$dir/lives.trace" or BAIL_OUT($!);
print $lives <<'END';
recline-trace 3
ranks 2
---
0 0 start
1 1 start
2 0 captured checkpoint=1
3 0 crash
4 - detected rank=0 incarnation=1 checkpoint=0
5 0 start
6 1 down peer=0 checkpoint=0 | roll-back checkpoint=0
7 1 start
8 0 send peer=1 tag=0 comm=0 bytes=16 @1 | transmit words=0,0,0
9 1 arrived request=1 peer=0 tag=0 comm=0 bytes=16 @1 | deliver request=1
10 1 captured checkpoint=1
11 0 durable part=log checkpoint=0 | store part=log
END
close $lives;
run("cd $dir && $recline draw lives.trace -o told.txt");
my @lives = map { /^ *\d+  (.*)/ ? $1 : () } split /\n/, slurp("$dir/told.txt");
is($lives[8], 'Rank 0 sends message 1 to rank 1.', 'a message of a later life crosses no line of an earlier one');
is($lives[11], 'Rank 0 learns that its log of checkpoint 0 is on stable storage; it has its log of checkpoint 0 written.', 'a log of checkpoint 0');
is(run("node $here/narrate.js $dir/none-lost.html $dir/lives.trace"), join('', map { "$_\n" } @lives), 'nor in the page');
like(run("$recline check $dir/exported.trace"), qr{^$dir/exported.trace: \d+ moves, the same}, 'a trace replays');
run("sed -i 's/^1 1 start.*/1 1 crash/' $dir/none-lost.trace");
like(run("$recline check $dir/none-lost.trace", 1), qr/none-lost.trace:\d+: /, 'and not if it is changed');
# Fields of a state have their names: a field behind a struct does not have the struct's name before it.
open my $layouts, '<', "$build/play/layouts.json" or BAIL_OUT($!);
my $layout = decode_json(join '', <$layouts>);
my %fields = map { my $name = $_; $name => [map { $_->[0] } @{$layout->{$name}{types}{'struct state'}}] } sort keys %$layout;
is(join(' ', grep { my (%seen, $twice); $twice += $seen{$_}++ for @{$fields{$_}}; $twice } sort keys %fields), '', 'no field of a state has the name of another one');
open my $state, '<', "$root/protocols/causal_log.h" or BAIL_OUT($!);
my @plain = map { /^  uint32_t (\w+);/ ? $1 : () } split /\n/, join('', <$state>) =~ s/.*^struct state \{(.*?)^\}.*/$1/msr;
is(join(' ', grep { my $name = $_; @plain && !grep { $_ eq $name } @{$fields{causal}} } @plain), '', 'a field behind a struct has its own name');
# Fields say what they hold: by a comment behind them or above, in a struct within the state, and in entries of lists.
my $said = sub { my ($name, $type, $field) = @_; (grep { $_->[0] eq $field } @{$layout->{$name}{types}{"struct $type"}})[0][3] };
is($said->('c3', 'state', 'epoch'), 'checkpoints taken; the colour is its lowest bit', 'a comment behind a field says what it holds');
like($said->('c3', 'state', 'passed'), qr/^number of reductions that /, 'so does a comment above it');
like($said->('lai-yang', 'state', 'commit.done'), qr/^at the coordinator: number of ranks /, 'in a struct within the state, too');
like($said->('bookmark', 'peer', 'received'), qr/^messages that arrived /, 'and in entries of lists');
is($said->('c3', 'state', 'phase'), undef, 'a field without a comment says nothing');
# Each invariant says what it guards against, as a run in which it is violated shows nothing of that.
for my $file (sort glob "$root/protocols/*.c") {
  my ($texts) = slurp($file) =~ /^static const char \*const invariants\[\] = \{(.*?)NULL\}/ms or next;
  $texts =~ s/"\s+"//g;
  is(join('; ', grep { !/: otherwise ./ } $texts =~ /"([^"]*)"/g), '', "$file: invariants say what they guard against");
}
# A user's own protocol is played from its source.
run("cp $root/examples/pause* $dir; cd $dir && cc -std=c11 -shared -fPIC -I$build/include -o pause.so pause.c && "
  . "$recline play pause-recovers.yaml");
is(run("$tool describe $dir/pause-recovers.yaml | node $here/walks.js $dir/pause-recovers.html 1 500"),
   (split / /, run("$tool walk 1 500 $dir/pause-recovers.yaml"))[1], 'a protocol of another repository');
# Traces of this protocol are played with the scenario beside them, with --source, and without either.
run("mkdir $dir/loose; cd $dir && sed '/RCL_ACTION_HOLD/d' pause.c >loose/pause.c && cp pause-recovers.yaml loose && "
  . "cc -std=c11 -shared -fPIC -I$build/include -o loose/pause.so loose/pause.c");
run("cd $dir && $recline check loose/pause-recovers.yaml --out kept", 1);
run("mkdir $dir/alone; cp $dir/kept/pause-recovers.trace $dir/alone/alone.trace");
for (['kept/pause-recovers', ''], ['alone/alone', ' --source loose/pause.c']) {
  my ($trace, $option) = @$_;
  run("cd $dir && $recline play $trace.trace$option -o own.html");
  like(run("node $here/export.js $dir/own.html $dir/exported.trace"), qr/^violation deadlock rank=1\nrank 0: phase=running; captured=1$/m,
       "a trace of it$option, with its state by names");
  is(slurp("$dir/exported.trace"), slurp("$dir/$trace.trace"), "exported as it was$option");
}
like(run("$recline play $dir/alone/alone.trace", 1), qr{alone.trace:\d+: there is no protocol 'pause', expected }, 'without its source');
# Runs are played, too: a program's up to a time, and on from there by other moves; a script's by schedule.
SKIP: {
  skip 'the layer is not part of this build', 7 if !-e "$build/lib/librecline_mpi.so";
  run("cd $dir && $recline run $root/scenarios/demo.yaml --out demo && $recline play demo/trace.txt", 1);
  run("node $here/export.js $dir/demo.html $dir/exported.trace");
  ok(slurp("$dir/exported.trace") eq slurp("$dir/demo/trace.txt"), 'the run of a program, exported as it was');
  run("cd $dir && $recline play demo/trace.txt --at 150ms -o at.html");
  run("node $here/export.js $dir/at.html $dir/exported.trace 300");
  my @lines = grep { /^\d/ } split /\n/, slurp("$dir/exported.trace");
  my $known = grep { /^(\S+) / && $1 <= 0.15 } grep { /^\d/ } split /\n/, slurp("$dir/demo/trace.txt");
  is(scalar @lines, $known + 300, 'to a time of it, and on from there');
  like(run("$recline check $dir/exported.trace"), qr{^$dir/exported.trace: @{[scalar @lines]} moves, the same}, 'what the page has made of it replays');
  run("cd $dir && $recline check c3-no-suppress --out flaw && $recline run flaw/c3-no-suppress.scenario.yaml --out schedule", 1);
  run("cd $dir && $recline play schedule/trace.txt");
  is(run("node $here/export.js $dir/schedule.html $dir/exported.trace") =~ s/ rank=.*//sr, 'violation no-duplicate',
     'the run of a script by schedule: its violation in the page');
  is(slurp("$dir/exported.trace"), slurp("$dir/schedule/trace.txt"), 'exported as it was');
  like(run("cd $dir && $recline play demo/trace.txt --at 150", 1), qr/^recline play: --at: "150" is no time, expected /, 'a time without unit');
  like(run("cd $dir && $recline play flaw/c3-no-suppress.trace --at 99", 1), qr/^recline play: --at 99, expected a step from 0 to 32/, 'a step behind the last');
}
run("rm $dir/pause.c");
like(run("cd $dir && $recline play pause-recovers.yaml", 1),
     qr/^recline play: protocol pause comes from .*pause.so, expected --source with its C file/, 'or none');

like(run("$recline play nothing", 1), qr/^recline play: there is no claim and no file 'nothing', expected /,
     'what is not there');
done_testing;
