#!/usr/bin/perl
# `run`, `check` and `draw` are interrupted at random moments: by kill -9, by a reader that goes away, by
# a full disk, or because memory ends. Every file that exists then is whole and as in a run without an
# interruption, and files that were reported exist. The same command, started again, ends as without an
# interruption and leaves nothing.
# There are 12 moments, with RECLINE_LONG=1 200. RECLINE_SEED: another seed. RECLINE_MOMENT: that one alone.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Temp 'tempdir';
use Time::HiRes qw(sleep time);

my $root = abs_path(dirname($0) . '/../..');
my $build = abs_path($ENV{RECLINE_BUILD} || "$root/build");
my $recline = "$build/bin/recline";
if (grep { /^SANITIZE:BOOL=(ON|TRUE|true)/ } do { open my $in, '<', "$build/CMakeCache.txt" or die; <$in> }) {
  print "1..0 # SKIP the MPI layer is not built with the sanitizers: it copies stacks\n";
  exit 0;
}
# Where it is allowed, the test mounts a disk of its own, which it can fill. Elsewhere files may not grow.
if (!exists $ENV{RECLINE_DISK}) {
  $ENV{RECLINE_DISK} = system('unshare -m true 2>/dev/null') == 0;
  exec 'unshare', '-m', $^X, abs_path($0) if $ENV{RECLINE_DISK};
}
my $moments = $ENV{RECLINE_LONG} ? 200 : 12;
my $seed = $ENV{RECLINE_SEED} || 20261122;
print "# seed $seed\n";
my $dir = tempdir(CLEANUP => 1);
chdir $dir or die;
$ENV{LC_ALL} = 'C';
my $disk = "$dir/disk";
mkdir $disk;
system('mount', '-t', 'tmpfs', '-o', 'size=64m', 'none', $disk) == 0 or die if $ENV{RECLINE_DISK};
END { chdir '/'; system 'umount', $disk if $ENV{RECLINE_DISK} && $disk }
chdir $disk or die;
$ENV{TMPDIR} = "$disk/tmp";

sub read_file { my ($file) = @_; open my $in, '<:raw', $file or return undef; local $/; return scalar <$in> }
sub write_file { my ($file, $text) = @_; open my $out, '>:raw', $file or die "$file: $!"; print $out $text; close $out }
sub in { my ($folder) = @_; opendir my $in, $folder or return (); return sort grep { !/^\.\.?$/ } readdir $in }

write_file("$dir/scenario.yaml", <<"END");
program:    {binary: cg, args: [S], ranks: 4}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 50ms, storage: nfs, bytes: 64KiB}
failures:   [{rank: 1, at: 120ms}]
END
system("$recline check c3-no-suppress --out $dir/traces >/dev/null 2>&1");

# The words of each command; `printed` returns the files that its output promises.
my %commands = (
  'run' => {words => ['run', "$dir/scenario.yaml"], printed => sub { () }},
  'run --out' => {words => ['run', "$dir/scenario.yaml", '--out', 'out'],
                  printed => sub { $_[0] =~ /^  kept  /m ? qw(scenario.yaml program.out trace.txt result.json) : () }},
  'check --out' => {words => [qw(check c3-no-suppress bookmark-blind pessimistic-gap --out out)],
                    printed => sub { map { ("$_.trace", "$_.scenario.yaml") } $_[0] =~ /^ *violated +(\S+)/mg }},
  'check --resume' => {words => [qw(check pessimistic-recovers --resume out --save-every 0.02)],
                       printed => sub { () }},
  'draw' => {words => ['draw', "$dir/traces/c3-no-suppress.trace", '-o', 'out/picture.svg'],
             printed => sub { $_[0] =~ m{^out/picture.svg$}m ? 'picture.svg' : () }});
my @kinds = qw(kill pipe disk memory);

# Returns the processes of the test that still run, which have its TMPDIR.
sub processes {
  my @found;
  for my $pid (grep { /^\d+$/ && $_ != $$ } in('/proc')) {
    my $environment = read_file("/proc/$pid/environ") // '';
    push @found, $pid if $environment =~ /(?:^|\0)TMPDIR=\Q$ENV{TMPDIR}\E\0/;
  }
  return @found;
}

sub begin {
  my ($command, $limit) = @_;
  pipe my $from, my $to or die;
  my $pid = fork // die;
  if (!$pid) {
    open STDIN, '<', '/dev/null';
    open STDOUT, '>&', $to;
    open STDERR, '>', "$dir/stderr";
    exec @$limit, $recline, @{$commands{$command}{words}};
  }
  return ($pid, $from);
}

# Returns what the command prints from here to its end.
sub rest { my ($from) = @_; local $/; return scalar(<$from>) // '' }

sub fresh { system 'rm', '-rf', glob("$disk/*"); mkdir 'tmp'; mkdir 'out' }

# Each command without an interruption: its exit code, output, files and time.
my %whole;
# Returns the output without time, memory, and how many states came from a save.
sub essence { my ($text) = @_; return $text =~ s/(transitions)?, depth (\d+), .*/, depth $2/gr =~ s/, \d+ of them.*?,/,/r }
sub whole {
  my ($command) = @_;
  fresh();
  my $start = time;
  my ($pid, $from) = begin($command, []);
  my $printed = rest($from);
  waitpid $pid, 0;
  return {code => $? >> 8, printed => $printed, seconds => time - $start,
          files => {map { $_ => kept($_) } in('out')}};
}

# Returns a file of out, without time and memory.
sub kept { return read_file("out/$_[0]") =~ s/"(\w*seconds|\w+_per_s|bytes_per_state|peak_rss_mb)"\s*:\s*[-+.\de]+/$1/gr }

# Returns what is wrong with the files in out; those that the output promises must be there.
sub wrong_files {
  my ($command, $printed) = @_;
  my $files = $whole{$command}{files};
  my @wrong;
  for my $name (grep { !/^\.recline-tmp-/ && !/\.save$/ } in('out')) {
    push @wrong, "$name is not whole" if !defined $files->{$name} || $files->{$name} ne kept($name);
  }
  push @wrong, map { "$_ was reported and is not there" } grep { !-e "out/$_" } $commands{$command}{printed}->($printed);
  return @wrong;
}

sub limit { my ($what) = @_; system 'prlimit', "--pid=$_", $what for processes() }

my %what_happens = (
  kill => sub { my ($pid) = @_; kill KILL => $pid; return rest($_[1]) },
  pipe => sub { my ($pid, $from) = @_; $from->blocking(0); my $read = rest($from); close $from; return $read },
  disk => sub {
    $ENV{RECLINE_DISK} ? system("cat /dev/zero >filler 2>$dir/log") : limit('--fsize=4096');
    return rest($_[1]);
  },
  memory => sub { return rest($_[1]) }); # the limit was set at the start, and is met at some time

# The exit codes that each interruption may lead to; a negative code is a signal.
my %codes = (kill => qr/^(?:[01]|-9)$/, pipe => qr/^(?:[01]|-13)$/, disk => qr/^(?:[01]|64)$/, memory => qr/^(?:[012]|64)$/);

sub moment {
  my ($number) = @_;
  srand $seed + $number;
  my $command = (sort keys %commands)[$number % keys %commands];
  my $kind = $kinds[$number % @kinds];
  my $reference = $whole{$command};
  my $delay = rand() * $reference->{seconds};
  my @limit = $kind ne 'memory' ? () : ('prlimit', '--' . (qw(as data))[rand 2] . '=' . int 2e7 + rand(rand() < 0.5 ? 2e8 : 1e9));
  fresh();
  my ($pid, $from) = begin($command, \@limit);
  sleep $delay;
  my $printed = $what_happens{$kind}->($pid, $from);
  waitpid $pid, 0;
  my $code = $? & 127 ? -($? & 127) : $? >> 8;
  unlink 'filler';
  for (1 .. 1000) { last if !processes(); sleep 0.02 }
  my @wrong = wrong_files($command, $printed);
  push @wrong, "exit code $code" if $code !~ $codes{$kind};
  push @wrong, 'left in TMPDIR: ' . join ' ', in('tmp') if $kind ne 'kill' && in('tmp');
  my $stderr = read_file("$dir/stderr");
  my ($again, $output) = begin($command, []);
  $printed = rest($output);
  waitpid $again, 0;
  push @wrong, "the next one ends with " . ($? >> 8) if $? >> 8 != $reference->{code};
  push @wrong, 'the next one prints something else' if essence($printed) ne essence($reference->{printed});
  push @wrong, wrong_files($command, $printed);
  push @wrong, 'left by the next one: ' . join ' ', in('tmp'), grep { !defined $reference->{files}{$_} } in('out')
    if in('tmp') || "@{[in('out')]}" ne "@{[sort keys %{$reference->{files}}]}";
  printf "%s %d - %s after %.3f s of %.3f: %s%s: exit code %d\n", @wrong ? 'not ok' : 'ok', $number + 1, $command, $delay,
    $reference->{seconds}, $kind, @limit ? " @limit" : '', $code;
  print "# $_\n" for @wrong, @wrong ? split(/\n/, substr $stderr . $printed, 0, 1500) : ();
  return !@wrong;
}

$whole{$_} = whole($_) for sort keys %commands;
my $good = 0;
my @numbers = defined $ENV{RECLINE_MOMENT} ? $ENV{RECLINE_MOMENT} - 1 : 0 .. $moments - 1;
$good += moment($_) for @numbers;
printf "1..%d\n", scalar @numbers;
exit($good != @numbers);
