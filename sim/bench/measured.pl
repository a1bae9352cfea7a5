#!/usr/bin/env perl
# Measures the tables of simulated values in docs/: those between <!-- measured NAME --> and
# <!-- end -->. Values are simulated, so the same build makes the same table everywhere.
#
#     measured.pl [NAME[:ROW]]...      prints these tables (default: all), or these rows; ROW is the
#                                      first cell of a row
#     measured.pl --write [NAME]...    puts the tables into their pages
#     measured.pl --list               lists pages, names and rows
#
# docs/t/measured.t compares some rows of each table; with RECLINE_LONG=1 it compares all rows.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX qw(floor);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{RECLINE_BUILD} // "$root/build");
my $dir = tempdir(CLEANUP => 1);

# ---- runs ----

# Runs a scenario of the tree, or the text of one, with these settings. Returns its result and its
# trace.
my %scenario;
sub run {
  my ($scenario, @settings) = @_;
  my $file = $scenario =~ /\n/ ? $scenario{$scenario} //= "$dir/" . keys(%scenario) . '.yaml' : "$root/$scenario";
  write_file($file, $scenario) if $scenario =~ /\n/ && !-e $file;
  my @words = map { ('--set', $_) } @settings;
  my $pid = open(my $out, '-|') // die "recline: $!\n";
  if (!$pid) {
    open STDERR, '>', "$dir/err" or die "$dir/err: $!\n";
    exec "$build/bin/recline", 'run', $file, '--json', '--out', "$dir/out", @words or die "recline: $!\n";
  }
  local $/;
  my $said = <$out>;
  close $out; # it may end with a verdict that the scenario does not expect
  my $result = eval { decode_json($said) } or die "recline run $file @words: " . read_file("$dir/err");
  return $result;
}
sub trace { return split /\n/, read_file("$dir/out/trace.txt") }

sub read_file { my ($file) = @_; open my $in, '<', $file or die "$file: $!\n"; local $/; return scalar <$in> }
sub write_file { my ($file, $text) = @_; open my $out, '>', $file or die "$file: $!\n"; print $out $text; close $out or die "$file: $!\n" }

# ---- how values are written ----

sub ms { return sprintf('%.1f', 1e3 * $_[0]) =~ s/\.0$//r . ' ms' }
sub share { return sprintf '%.1f', 100 * ($_[0] / $_[1] - 1) }
sub thousands { my ($n) = @_; 1 while $n =~ s/^(\d+)(\d{3})/$1,$2/; return $n }

# ---- the tables: page, head, names of rows, cells of a row behind the first ----

my $program = "program: {binary: ring, ranks: 8}\nplatform: {file: clan.xml, spares: 1}\nprotocol: {name: none}\n"
  . "checkpoint: {bytes: 64KiB}\n"; # measured sizes would depend on the machine

my %base; # results under `none`, by what was run
sub none { my ($scenario, @settings) = @_; return $base{"$scenario @settings"} //= run($scenario, @settings) }

sub protocols {
  open my $out, '-|', "$build/bin/recline", 'list', 'protocols', '--json' or die "recline: $!\n";
  local $/;
  return map { $_->{back} ? $_->{name} : () } @{decode_json(<$out>)->{protocols}};
}

my @hybrid = ('checkpoint.places=program', 'protocol.interval=3');
sub protocols_row {
  my ($protocol) = @_;
  my $scenario = 'scenarios/comparison.yaml';
  my @settings = ("protocol.name=$protocol", 'expect={}', $protocol eq 'hybrid' ? @hybrid : ());
  my $none = none($scenario, 'expect={}');
  my $quiet = run($scenario, @settings);
  my $taken = grep { /^[\d.]+ \d+ captured / } trace();
  my $crash = run($scenario, @settings, 'failures=[{rank: 3, at: 190ms, repair: 20ms}]');
  my (%back, $crashed);
  for (trace()) {
    my (undef, $rank, $event) = split / /;
    $crashed ||= ($event // '') eq 'crash';
    $back{$rank} = 1 if $crashed && ($event // '') eq 'start';
  }
  my $time = $quiet->{simulated_s};
  return (ms($time), share($time, $none->{simulated_s}) . ' %',
          $crash->{verdict} eq 'lost' ? 'lost' : ms($crash->{simulated_s} - $time), scalar keys %back,
          $taken, floor($quiet->{stored_bytes} / 1024 + 0.5) . ' KiB', $quiet->{network}{control},
          '+' . share($quiet->{network}{bytes}, $none->{network}{bytes}) . ' %');
}

# Measures logging of determinants without a checkpoint.
sub determinants_row {
  my ($row) = @_;
  my ($protocol, $failures) = $row =~ /(none|[a-z-]+)`?(?:, f = (\d+))?/;
  my @cells;
  for my $settings (['program.binary=cg', 'program.args=[S]'], ['program.binary=halo', 'program.args=[8192,60]']) {
    my $result = run($program, @$settings, "protocol.name=$protocol", $failures ? "protocol.failures=$failures" : ());
    my $told = 0;
    $told += () = /control peer=\d+ determinant /g for $failures ? trace() : ();
    push @cells, sprintf('%.4f', $result->{simulated_s}), $failures ? thousands($told) : '';
  }
  return @cells;
}

# Measures what c3's numbers on messages cost.
sub numbers_row {
  my ($row) = @_;
  my ($binary, $steps) = $row =~ /`(\w+)`, (\d+)/;
  my @settings = ("program.binary=$binary", "program.args=[64,$steps]", 'checkpoint.every=5ms', 'checkpoint.storage=local');
  my $none = none($program, @settings);
  my @more = map { run($program, @settings, "protocol.name=$_")->{network}{bytes} - $none->{network}{bytes} } qw(c3 c3-envelopes);
  return (thousands($none->{messages}{sent}), map { thousands($_) } @more);
}

# Counts control messages with a declared topology and without one.
sub topology_row {
  my ($row) = @_;
  my ($binary, $args, $ranks, $protocol, $topology) = $row =~ /^`(\w+) ([\d ]+)`, (\d+) ranks, `([\w-]+)`, `([^`]+)`/;
  my @settings = ("program.binary=$binary", 'program.args=[' . join(',', split / /, $args) . ']', "program.ranks=$ranks",
                  'platform.per_node=' . ($ranks > 16 ? 2 : 1), 'platform.spares=0', "protocol.name=$protocol",
                  'checkpoint.every=50ms');
  my @results = map { run($program, @settings, "program.topology=$_") } 'all', $topology;
  return ($results[0]{checkpoints}{committed}, map { thousands($_->{network}{control}) } @results);
}

# Measures how long outputs wait.
my $outputs = <<'END';
program:    {binary: ./in-c, ranks: 3}
platform:   {file: clan.xml}
protocol:   {name: none}
checkpoint: {every: 20ms, storage: nfs, bytes: 64KiB}
detection:  1ms
failures:   [{rank: 1, at: 75ms, repair: 1ms}]
END
sub outputs_row {
  my ($row) = @_;
  my ($protocol) = $row =~ /`([\w-]+)`/;
  -e "$dir/in-c" or !system "$build/bin/recline-cc", '-O2', "$root/sim/host/t/programs/output-program.c", '-o', "$dir/in-c"
    or die "output-program.c is not built\n";
  my $output = run($outputs, "protocol.name=$protocol")->{output};
  return map { sprintf('%.2f', 1e3 * $output->{$_}) } qw(delay_mean_s delay_max_s);
}

# Compares hybrid rollback in the program with that under the protocol.
my %rollback = (
  '`cg`' => [],
  '`cg-ulfm`' => ['program.binary=cg-ulfm', 'program.args=[4,10,10,S]', 'program.ranks=5', 'recovery.runtime=ulfm'],
  (map { ("`cg` under `hybrid`, $_ level" => ['protocol.name=hybrid', 'protocol.interval=10', 'protocol.log=10',
     'checkpoint.places=program', "checkpoint.level=$_", 'checkpoint.storage=local', 'checkpoint.bytes=22456B']) } qw(application system)),
);
sub rollback_row {
  my ($row) = @_;
  my @settings = ('program.binary=cg', 'program.args=[S]', 'program.ranks=4', 'detection=1ms', @{$rollback{$row}});
  my @cells = sprintf '%.3f', run($program, @settings)->{simulated_s};
  push @cells, $row eq '`cg`' ? '' :
    sprintf '%.3f', run($program, @settings, 'failures=[{rank: 1, at: 200ms, repair: 10ms}]')->{simulated_s};
  return @cells;
}

my %table = (
  protocols => ['docs/map.md',
    '| protocol | time | over `none` | a failure costs | ranks back | checkpoints | stored | control messages | on the network |',
    sub { map { "`$_`" } protocols() }, sub { protocols_row($_[0] =~ tr/`//dr) }],
  determinants => ['docs/protocols/causal.md', '| | CG, class S | determinants told | `halo` | determinants told |',
    sub { ('none', '`pessimistic-wildcards`', '`pessimistic`', map { "`causal`, f = $_" } 1, 2, 7) }, \&determinants_row],
  numbers => ['docs/protocols/c3.md', '| program | messages | `c3` | `c3-envelopes` |',
    sub { ('`ring`, 500 laps', '`halo`, 200 steps') }, \&numbers_row],
  rollback => ['docs/protocols/hybrid.md', '| | without failures | a failure at 0.2 s |',
    sub { sort keys %rollback }, \&rollback_row],
  topology => ['docs/measurements/layer.md', '| run | checkpoints | all | declared |',
    sub { map { my $run = $_; map { "$run, $_" } '`c3`, `' . ($run =~ /ring/ ? 'ring' : $run =~ /64 ranks/ ? 'torus-8x8' : 'torus-4x4') . '`',
            '`chandy-lamport`, `' . ($run =~ /ring/ ? 'ring' : $run =~ /64 ranks/ ? 'torus-8x8' : 'torus-4x4') . ' hypercube`' }
          '`ring 4096 400`, 16 ranks', '`ring 4096 100`, 64 ranks', '`halo 8192 60`, 16 ranks', '`halo 8192 60`, 64 ranks' },
    \&topology_row],
  outputs => ['docs/measurements/layer.md', '| protocol | mean, ms | longest, ms |',
    sub { map { "`$_`" } grep { $_ ne 'none' && $_ ne 'time-based' } protocols() }, \&outputs_row],
);

sub table {
  my ($name, $only) = @_;
  my ($page, $head, $rows, $cells) = @{$table{$name} // die "measured.pl: no table $name, expected " . join(', ', sort keys %table) . "\n"};
  my @rows = grep { !defined $only || $_ eq $only || tr/`//dr eq $only } $rows->();
  @rows or die "measured.pl: table $name has no row $only\n";
  return ($head, $head =~ s/[^|]+/---/gr, map { my $row = $_; '| ' . join(' | ', $row, $cells->($row)) . ' |' } @rows);
}

if (@ARGV && $ARGV[0] eq '--list') {
  for my $name (sort keys %table) {
    print join("\t", $table{$name}[0], $name, $_), "\n" for $table{$name}[2]->();
  }
  exit;
}
my $write = @ARGV && $ARGV[0] eq '--write' ? shift : 0;
for (@ARGV ? @ARGV : sort keys %table) {
  my ($name, $row) = split /:/, $_, 2;
  my $text = join "\n", map { s/ \|  (?=\|)/ | /gr } table($name, $row);
  if (!$write) {
    print "<!-- measured $name -->\n$text\n<!-- end -->\n";
    next;
  }
  my $page = "$root/$table{$name}[0]";
  my $now = read_file($page);
  $now =~ s/(^<!-- measured \Q$name\E -->\n).*?(?=^<!-- end -->$)/$1$text\n/ms or die "$page: no table $name\n";
  write_file($page, $now);
}
