#!/usr/bin/perl
# Tests bad input of all kinds for all commands, by mutations of good input. A refused input gives
# one line (`check`: one for each claim) with what was expected, exit code 64 and nothing on
# standard output, and leaves neither the folder of --out nor anything in TMPDIR. An accepted input
# ends with 0, 1 or 2, and leaves nothing in TMPDIR. 60 inputs have to be refused, or 1,000 with
# RECLINE_LONG=1. RECLINE_SEED: another seed. RECLINE_KEEP: a folder for the inputs that fail.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Temp 'tempdir';

my $here = abs_path(dirname($0));
my $root = abs_path("$here/../..");
my $build = abs_path($ENV{RECLINE_BUILD} || "$root/build");
my $recline = "$build/bin/recline";
if (grep { /^SANITIZE:BOOL=(ON|TRUE|true)/ } do { open my $in, '<', "$build/CMakeCache.txt" or die; <$in> }) {
  print "1..0 # SKIP the MPI layer is not built with the sanitizers: it copies stacks\n";
  exit 0;
}
my $wanted = $ENV{RECLINE_LONG} ? 1000 : 60;
my $seed = $ENV{RECLINE_SEED} || 20261122;
srand $seed;
print "# seed $seed\n";
my $dir = tempdir(CLEANUP => 1);
$ENV{TMPDIR} = "$dir/tmp";
$ENV{LC_ALL} = 'C';
mkdir $ENV{TMPDIR};

sub read_file { my ($file) = @_; open my $in, '<:raw', $file or die "$file: $!"; local $/; return scalar <$in> }
sub write_file { my ($file, $text) = @_; open my $out, '>:raw', $file or die "$file: $!"; print $out $text; close $out }
sub one_of { return $_[int rand @_] }

# ---- good input ----

my $platform = <<'END';
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
    <prop id="smpi/os" value="0:6e-6:2.86e-9"/>
    <prop id="smpi/bw-factor" value="0:1;8192:0.91"/>
  </config>
  <zone id="all" routing="Full">
    <prop id="memory_copy_bw" value="350e6"/>
    <cluster id="nodes" prefix="node-" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>
    <cluster id="service" prefix="service-" suffix="" radical="0-0" speed="1Gf" bw="1GBps" lat="1us"/>
    <link id="between" bandwidth="10GBps" latency="1us"/>
    <zoneRoute src="nodes" dst="service" gw_src="node-nodes_router" gw_dst="service-service_router">
      <link_ctn id="between"/>
    </zoneRoute>
  </zone>
</platform>
END
my $scenario = <<'END';
id: small
seed: 3
program:
  ranks: 2
  script: |
    rank 0: repeat 4 (compute 1ms, send 1 tag 7, recv any)
    rank 1: repeat 4 (irecv a 0 tag any, wait a, send 0), barrier
platform:   {file: mine.xml, spares: 1, per_node: 1, dispatcher: service-0}
protocol:   {name: c3, capacity: 64}
checkpoint: {every: 2ms, storage: local, bytes: 4KiB, places: anywhere, writes: background}
failures:
  - {rank: 1, at: 3ms, repair: 1ms, kills: node}
  - {rank: 0, after: {event: committed, checkpoint: 1, count: 1}, repair: 1ms}
detection:  1ms
recovery:   {runtime: ulfm, agree: 20us}
limits:     {time: 20s, memory: 2GB}
expect:     {verdict: recovered, program_exit: 0}
END
my $claim = read_file("$root/verify/claims/bookmark/recovers.yaml");
system("$recline check c3-no-suppress --out $dir/traces >/dev/null 2>&1");
my $trace = read_file("$dir/traces/c3-no-suppress.trace");

# ---- mutations ----

my @words = ('', '-1', '0', '99999999999999999999', '1e400', 'nan', 'inf', '-0', '3.5', '~', 'null', '[]', '{}',
  '[[[]]]', '*a', '&a', '!!binary x', '"', "'", '|', '>', "\t", "\0", "\xff\xfe", "\xe2\x80\xa8", '../../x', '/dev/zero',
  '/', 'x' x 5000, '%s%n', '${HOME}', ': :', '- -', '#', '1s', '5parsec', '4KiB', 'true', 'c3', 'rank', 'any', '--');

sub mutate_bytes {
  my ($text) = @_;
  my $at = int rand length $text;
  my $how = int rand 5;
  if ($how == 0) { substr($text, $at, 1 + int rand 8) = '' }
  elsif ($how == 1) { substr($text, $at, 0) = one_of(@words) }
  elsif ($how == 2) { substr($text, $at, 1) = chr int rand 256 }
  elsif ($how == 3) { substr($text, $at) = '' }
  else { substr($text, $at, 0) = substr($text, int rand length $text, 40) }
  return $text;
}

# A token (what stands between blanks, brackets, quotes, commas and colons) becomes another word.
sub mutate_token {
  my ($text) = @_;
  my @tokens;
  push @tokens, [$-[0], $+[0]] while $text =~ /[^\s{}\[\],:<>"=\/]+/g;
  my $token = one_of(@tokens) or return '';
  my $with = rand() < 0.7 ? one_of(@words) : do { my $o = one_of(@tokens); substr $text, $o->[0], $o->[1] - $o->[0] };
  substr($text, $token->[0], $token->[1] - $token->[0]) = $with;
  return $text;
}

sub mutate_lines {
  my ($text) = @_;
  my @lines = split /^/, $text;
  my $at = int rand @lines;
  if (rand() < 0.5) { splice @lines, $at, 1 } else { splice @lines, $at, 0, one_of(@lines) }
  return join '', @lines;
}

sub mutate {
  my ($text) = @_;
  for (1 .. 1 + int rand 3) { $text = one_of(\&mutate_bytes, \&mutate_token, \&mutate_token, \&mutate_lines)->($text) if length $text }
  return $text;
}

my @keys = qw(program.ranks program.script program.binary platform.file platform.spares platform.per_node protocol.name
  protocol.capacity protocol.file checkpoint.every checkpoint.bytes checkpoint.storage failures failures.0.rank
  failures.0.at failures.1.after failures.9 detection seed expect.verdict check.properties limits.time id clocks.skew
  failures.0.law failures.0.shape failures.0.trace recovery.runtime schedule nothing.here);
my @options = qw(--json --out --set --timeout --memory --keep --jobs --workers --reduce --max-states --junit --tap --fast
  --matrix -o -x --dependencies --save-every --compact --resume);

sub bad_options { # returns options, which may be wrong for the command
  my @more;
  for (1 .. 1 + int rand 3) {
    push @more, one_of(@options);
    push @more, one_of(grep { !/\0/ } @words) if rand() < 0.6;
  }
  @more = grep { $_ ne '/' && !/^\/dev/ } @more;
  return @more;
}

# ---- one input ----

my %commands = (
  run => sub {
    write_file("$dir/mine.xml", rand() < 0.3 ? mutate($platform) : $platform);
    write_file("$dir/in.yaml", rand() < 0.5 ? mutate($scenario) : $scenario);
    my @set;
    push @set, '--set', one_of(@keys) . '=' . one_of(grep { !/\0/ } @words) if rand() < 0.4;
    return ('run', "$dir/in.yaml", '--out', "$dir/out", @set, rand() < 0.1 ? bad_options() : ());
  },
  check => sub {
    write_file("$dir/in.yaml", mutate($claim));
    return ('check', "$dir/in.yaml", '--max-states', 500, '--timeout', 10, rand() < 0.2 ? bad_options() : ());
  },
  draw => sub {
    write_file("$dir/in.trace", mutate($trace));
    return ('draw', "$dir/in.trace", '-o', one_of("$dir/tmp/picture.svg", "$dir/no/picture.svg", "$dir/picture.doc"),
      rand() < 0.2 ? bad_options() : ());
  },
  list => sub { return ('list', bad_options(), one_of(grep { !/\0/ } @words)) },
  doctor => sub { return ('doctor', bad_options()) },
);

sub left { my ($folder) = @_; opendir my $in, $folder or return (); return grep { !/^\.\.?$/ && $_ ne 'picture.svg' } readdir $in }

sub refusal { # returns what is wrong with a refusal, or ''
  my ($stdout, $stderr, $inputs) = @_;
  my @lines = split /^/, $stderr;
  return 'not one line' if @lines < 1 || @lines > $inputs || $lines[-1] !~ /\n\z/;
  return 'not what was expected' if grep { !/expected/ } @lines;
  return 'something on standard output' if $stdout ne '';
  return 'the folder of --out is there' if -e "$dir/out";
  return '';
}

my ($tests, $refused, $taken) = (0, 0, 0);
my @failed;
for (my $turn = 0; $refused < $wanted && $turn < 20 * $wanted; $turn++) {
  my $command = one_of(qw(run run run check check draw draw list doctor));
  my @words = $commands{$command}->();
  chdir $dir;
  my $pid = fork;
  if (!$pid) {
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', "$dir/stdout";
    open STDERR, '>', "$dir/stderr";
    exec 'timeout', 60, $recline, @words;
  }
  waitpid $pid, 0;
  my ($stdout, $stderr) = map { read_file("$dir/$_") } qw(stdout stderr);
  my $code = $? >> 8;
  my $wrong = $? & 127 ? 'killed' : $code == 64 ? refusal($stdout, $stderr, $command eq 'check' ? 9 : 1) : $code > 2 ? "exit code $code" : '';
  $wrong ||= 'left in TMPDIR: ' . join ' ', left($ENV{TMPDIR}) if left($ENV{TMPDIR});
  $code == 64 ? $refused++ : $taken++;
  if ($wrong) {
    push @failed, $turn;
    print "not ok ", ++$tests, " - input $turn: recline @{[map { s/[^ -~]/?/gr } @words]}\n# $wrong\n";
    print "# $_\n" for map { s/[^ -~]/?/gr } split /\n/, substr $stderr, 0, 2000;
    system('cp', '-r', $dir, "$ENV{RECLINE_KEEP}/$turn") if $ENV{RECLINE_KEEP};
  }
  system 'rm', '-rf', "$dir/out", glob("$dir/tmp/* $dir/tmp/.r*");
}
print @failed ? 'not ok ' : 'ok ', ++$tests, " - $refused were refused, $taken taken\n";
print $refused >= $wanted ? 'ok ' : 'not ok ', ++$tests, " - enough of them\n";
print "1..$tests\n";
exit(@failed || $refused < $wanted ? 1 : 0);
