#!/usr/bin/env perl
# Crashes a small run in every place, under every protocol. Its places are time 0 and times between
# two events of its trace, at most 100. The program polls: in two of three rounds until a time has
# passed on its clock. It takes messages from any rank, meets in barriers, and its ranks end one
# after the other. Its clock never goes back. At each place a rank crashes
#   - alone;
#   - with a second rank, and with a third, while the first is being recovered, and the fourth time when
#     that is over: failures within milliseconds;
#   - with checkpoints asked for at instants beside the interval: behind the crash, in the recovery and
#     while programs end.
# In one more case a rank crashes at time 0, and two checkpoints are asked for soon after the place.
# Each run must recover, with the results of the run without failures and nothing found by the audit.
#
# Each case takes every 70th place, beginning with another one for each protocol. RECLINE_LONG=1:
# all places. RECLINE_STEP=N: every N-th. places.t PROTOCOL...: only these protocols. RECLINE_JOBS:
# runs at a time (2 by default).
use strict;
use warnings;
use Cwd qw(realpath);
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = realpath("$FindBin::Bin/../../..");
my $build = realpath($ENV{RECLINE_BUILD} // "$root/build");
plan skip_all => 'the layer is not part of this build' if !-e "$build/lib/librecline_mpi.so";
my $dir = tempdir(CLEANUP => 1);
chdir $dir or BAIL_OUT("$dir: $!");
my $step = $ENV{RECLINE_STEP} // ($ENV{RECLINE_LONG} ? 1 : 70);
my $jobs = $ENV{RECLINE_JOBS} // 2;
my $most = 100;

sub spew { my ($file, $text) = @_; open my $to, '>', $file or BAIL_OUT("$file: $!"); print $to $text; close $to }
sub slurp { my ($file) = @_; open my $in, '<', $file or return ''; local $/; return scalar(<$in>) // '' }

spew('small.c', <<'EOF');
#include <mpi.h>
#include <recline.h>
#include <stdio.h>
#include <unistd.h>

static double last;
static int back; /* how often a reading lay before an earlier one */

static double now(void)
{
  double reading = MPI_Wtime();
  back += reading < last;
  return last = reading;
}

static int take_one(int clock)
{
  MPI_Request request;
  int word, done = 0;
  MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
  for (double until = clock ? now() + 150e-6 : 0; !done && (!clock || now() < until);) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!clock && !done)
      usleep(50);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return word;
}

int main(int argc, char **argv)
{
  int rank, ranks, sum = 0, word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i <= 3; i++) {
    recline_iteration(i);
    usleep(300);
    for (int k = 1; k < ranks && rank == 0; k++)
      sum += take_one(i != 2);
    if (rank > 0)
      MPI_Send(&(int){rank * i}, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Sendrecv(&sum, 1, MPI_INT, (rank + 1) % ranks, 2, &word, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += word;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  usleep(400 * (useconds_t)rank); /* rank 0 has ended when the others still talk */
  if (rank > 0)
    MPI_Sendrecv(&sum, 1, MPI_INT, 3 - rank, 3, &word, 1, MPI_INT, 3 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  printf("result %d %d %d, %d\n", rank, sum, word, back);
  MPI_Finalize();
}
EOF
system("$build/bin/recline-cc -o small small.c") and BAIL_OUT('the program does not compile');
spew('run.yaml', <<'EOF');
program: {binary: ./small, ranks: 3}
platform: {file: clan.xml}
protocol: {name: c3}
checkpoint: {every: 700us, storage: local, bytes: 1kB}
detection: 300us
EOF

my %needs = (
  'causal' => '--set protocol.failures=2',
  'hybrid' => '--set checkpoint.places=program --set protocol.interval=1 --set protocol.log=1',
  'time-based' => "--set 'clocks={deviation: 1us, longest: 100us}'",
);

sub failures { '[' . join(', ', map { sprintf '{rank: %d, at: %.3fus, repair: 400us}', $_->[0], $_->[1] } @_) . ']' }

# Returns the cases of a place at `$at` microseconds, where `$victim` fails first: name => words.
sub cases {
  my ($protocol, $at, $victim) = @_;
  my @next = map { ($victim + $_) % 3 } 1, 2;
  my %case = (
    'one crash' => failures([$victim, $at]),
    'two crashes' => failures([$victim, $at], [$next[0], $at + 450]),
    'two of the same rank' => failures([$victim, $at], [$victim, $at + 900]),
    'three crashes' => failures([$victim, $at], [$next[0], $at + 200], [$next[1], $at + 750]),
    'four crashes' => failures([$victim, $at], [$next[0], $at + 350], [$next[1], $at + 800], [$victim, $at + 1300]),
  );
  $_ = "--set 'failures=$_'" for values %case;
  my $asks = join ', ', map { sprintf '%.3fus', $at + $_ } 10, 320, 720, 1500, 2600;
  my $late = join ', ', map { sprintf '%.3fus', $at + $_ } 700, 760;
  my $first = failures([$victim, 0]);
  if ($protocol ne 'time-based') { # it has clocks
    $case{'asked meanwhile'} = "$case{'one crash'} --set 'checkpoint.at=[$asks]'";
    $case{'asked twice'} = "--set 'failures=$first' --set 'checkpoint.at=[$late]'";
  }
  return \%case;
}

sub results { join '', sort grep { /^result / } split /^/m, $_[0] }

# Runs all jobs of a list, `$jobs` at a time, and calls `$take` with each job and its exit code.
sub run_all {
  my ($list, $take) = @_;
  my %running;
  my $number = 0;
  while (@$list || %running) {
    while (@$list && keys %running < $jobs) {
      my $job = shift @$list;
      my $out = 'out' . $number++;
      my $pid = fork // BAIL_OUT("fork: $!");
      exec "exec $build/bin/recline run run.yaml $job->{words} --no-trace --timeout 60 --out $out >$out.said 2>&1" if !$pid;
      $running{$pid} = {%$job, out => $out};
    }
    my $pid = wait;
    my $job = delete $running{$pid} or next;
    $take->($job, $? >> 8);
    system "rm -rf $job->{out} $job->{out}.said";
  }
}

my @protocols = @ARGV ? @ARGV
  : grep { $_ ne 'none' } map { $_->{name} } @{decode_json(scalar `$build/bin/recline list protocols --json`)->{protocols}};
my $turn = 0;
for my $protocol (@protocols) {
  my $set = "--set protocol.name=$protocol " . ($needs{$protocol} // '');
  system "rm -rf reference; $build/bin/recline run run.yaml $set --out reference >said 2>&1"
    and diag(slurp('said'));
  my $expected = results(slurp('reference/program.out'));
  my @time = sort { $a <=> $b } keys %{{map { /^(\d\S*) / ? (1e6 * $1 => 1) : () } split /^/m, slurp('reference/trace.txt')}};
  my @place = (0, map { ($time[$_] + $time[$_ + 1]) / 2 } 0 .. $#time - 1);
  @place = @place[map { int($_ * @place / $most) } 0 .. $most - 1] if @place > $most;
  my (@list, @wrong);
  for my $i (0 .. $#place) {
    my $cases = cases($protocol, $place[$i], $i % 3);
    for my $case (sort keys %$cases) {
      push @list, {name => $case, words => "$set $cases->{$case}"} if $turn++ % $step == 0;
    }
  }
  my $runs = @list;
  run_all(\@list, sub {
    my ($job, $code) = @_;
    my $result = eval { decode_json(slurp("$job->{out}/result.json")) } // {};
    my $found = results(slurp("$job->{out}/program.out"));
    return if $code == 0 && $result->{verdict} =~ /^(completed|recovered)$/ && $found eq $expected;
    push @wrong, "$job->{name}: exit $code, " . ($result->{verdict} // 'no verdict')
      . ($found eq $expected ? '' : ', other results') . ": $job->{words}\n" . slurp("$job->{out}.said");
  });
  ok($expected =~ tr/\n// == 3 && !@wrong, "$protocol: $runs runs in " . @place . ' places')
    or diag(map { s/^/  /mgr } @wrong[0 .. ($#wrong < 4 ? $#wrong : 4)]), diag(scalar(@wrong) . ' are wrong');
}
done_testing();
