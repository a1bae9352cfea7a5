#!/usr/bin/perl
# Runs the examples of every --help, in one folder that has the files that they name. With
# RECLINE_LONG=1 it also runs examples that take minutes. Examples that take hours are left to the
# tests of their parts, and examples that another test runs are left to that test.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Temp 'tempdir';
use Test::More;

my $root = abs_path(dirname($0) . '/../..');
my $build = abs_path($ENV{RECLINE_BUILD} || "$root/build");
plan skip_all => 'the layer is not part of this build' if !-e "$build/lib/librecline_mpi.so";
delete $ENV{RECLINE_DATA};
$ENV{PATH} = "$build/bin:$ENV{PATH}";
my $dir = tempdir(CLEANUP => 1);
chdir $dir or BAIL_OUT($!);
my %long = map { $_ => 1 } 'interval mine.yaml --runs 20 --out interval', 'check --all --jobs 2 --junit';
my %hours = map { $_ => 1 } 'replicate --out replication';
# Names the test that runs an example, and the lines of the test that do so.
my %elsewhere = ('prove --memory bookmark --ranks 2 --capacity 1' =>
  ['prove/t/memory.t', "small='--ranks 2 --capacity 1'", 'is "$(verdict $small bookmark)" ', '  "$recline" prove --memory "$@" ']);

# Writes a run with failures by a law, as `interval` needs them, and a protocol of one's own with
# its claim.
open my $out, '>', 'mine.yaml' or BAIL_OUT($!);
print $out "program: {binary: cg, args: [S], ranks: 8}\nplatform: {file: clan, spares: 4}\nprotocol: {name: c3}\n"
  . "checkpoint: {every: 50ms, storage: nfs, bytes: 256KiB}\ndetection: 1ms\n"
  . "failures: [{law: exponential, mtbf: 2s, of: node, repair: 10ms}]\n";
close $out;
copy("$root/examples/pause.c", 'my-protocol.c');
system "cc -std=c11 -shared -fPIC -I$build/include -o my-protocol.so my-protocol.c && "
  . "sed 's/pause.so/my-protocol.so/' $root/examples/pause-recovers.yaml >my-claim.yaml" and BAIL_OUT('no protocol');

# Writes the samples of a machine, for `calibrate`.
open $out, '>', 'machine.samples' or BAIL_OUT($!);
print $out "recline-samples 1\nranks 2\nnodes 1\nper_node 2\ncores 2\nlibrary An MPI 1\nsample barrier : 2e-6 3e-6\n";
close $out;

# Makes what processes on real MPI leave, for `join`.
my $jacobi = "$build/t/jacobi-mpi";
my $open = -x $jacobi && qx(mpirun --version 2>&1) =~ /Open MPI/ ? '--allow-run-as-root --oversubscribe' : '';
system "RECLINE_CHECKPOINTS=checkpoints RECLINE_PROTOCOL=c3 RECLINE_TRACE=1 mpirun $open -n 2 $jacobi 4 10 >jacobi.out"
  and BAIL_OUT('no traces') if -x $jacobi;

# Makes a run to stand beside another one, for `report`.
system 'recline run demo --set protocol.name=bookmark --out other >other.out' and BAIL_OUT('no run');

my @commands = grep { !/^-|^help$/ } split ' ', qx(recline --complete '');
my %rank = (run => 0, check => 1, compare => 1, draw => 2, play => 2, report => 2);
for my $command (sort { ($rank{$a} // 3) <=> ($rank{$b} // 3) || $a cmp $b } @commands) {
  my @examples = qx(recline $command --help) =~ /^  recline (.*)$/mg;
  ok(@examples > 0, "$command has examples");
  for my $example (@examples) {
    next if $hours{$example} || ($long{$example} && !$ENV{RECLINE_LONG});
    next if $command eq 'join' && !-x $jacobi;
    next if $command eq 'prove' && !-e "$build/bin/recline-prove"; # built where LLVM and Z3 are
    next if $command eq 'play' && !-e "$build/play/page.html";
    if (my ($file, @lines) = @{$elsewhere{$example} // []}) {
      open my $in, '<', "$root/$file" or BAIL_OUT("$file: $!");
      my $test = join '', <$in>;
      is(join(', ', grep { index($test, "\n$_") < 0 } @lines), '', "recline $example is run by $file");
      next;
    }
    system 'rm -rf kept' if $command eq 'campaign';
    my $said = qx(timeout 900 recline $example 2>&1 </dev/null);
    is($? >> 8, 0, "recline $example") or diag($said);
    ok(-s $1, "which writes $1") if $example =~ / -o (\S+)/;
  }
}
done_testing();
