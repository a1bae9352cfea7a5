#!/usr/bin/perl
# Puts predictions beside measurements: the times of programs under protocols on a simulated, calibrated
# machine, and then on real MPI. The order of the steps lets nothing measured reach a prediction:
#
#     mpi/bench/reality.pl calibrate FOLDER        the machine, and how fast each program computes on it
#     mpi/bench/reality.pl predict FOLDER          every program under every protocol, simulated
#     mpi/bench/reality.pl measure FOLDER RUNS     the same on real MPI, in rounds
#     mpi/bench/reality.pl alone FOLDER RUNS       with the processors to themselves, by chrt -r 1
#     mpi/bench/reality.pl plain FOLDER RUNS       alone, without the host: times that programs print
#     mpi/bench/reality.pl page FOLDER             the tables of docs/reality.md, on standard output
#     mpi/bench/reality.pl picture FOLDER          docs/pictures/reality.svg, on standard output
#
# FOLDER is docs/reality. Numbers are kept there as predicted.csv and measured.csv: program, protocol,
# run, name of the number as `recline compare` has it, value. alone.csv has the same columns, for programs
# whose priority keeps others off the processors; the calibration has that priority, too. The runs write
# to the folder that TMPDIR names, on the disk that is measured; their files are removed.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Path qw(make_path remove_tree);
use File::Temp 'tempdir';
use JSON::PP;
use List::Util qw(max min sum0);

my $root = abs_path(dirname($0) . '/../..');
my $build = abs_path($ENV{RECLINE_BUILD} || "$root/build");
my $recline = "$build/bin/recline";
my $mpirun = 'mpirun' . (qx(mpirun --version 2>&1) =~ /Open MPI/ ? ' --allow-run-as-root --oversubscribe' : '');
my @above = qw(none bookmark c3 event-logging message-tagging);
# `every`: seconds to the next checkpoint. `blocking` captures in barriers, which one program has.
my %programs = (
  'jacobi' => {real => 't/jacobi-mpi', args => [20000, 150], ranks => 2, every => 0.25, protocols => ['blocking', @above]},
  'cg' => {real => 't/cg-mpi', args => ['-s', 'W', 15], ranks => 2, every => 0.1, protocols => \@above},
  'lulesh-like' => {real => 't/lulesh-like-mpi', args => [24, 25], ranks => 8, every => 0.15, protocols => \@above},
);
my ($what, $folder, $runs) = @ARGV;
die "reality.pl: expected calibrate, predict, measure, alone, plain, page or picture, and a folder\n" if @ARGV < 2;
make_path($folder);
$folder = abs_path($folder);

sub read_file { my ($file) = @_; open my $in, '<', $file or die "$file: $!\n"; local $/; return scalar <$in> }
sub write_file { my ($file, $text) = @_; open my $out, '>', $file or die "$file: $!\n"; print $out $text; close $out }
sub run { my ($command) = @_; system($command) == 0 or die "failed: $command\n" }
sub median { my @v = sort { $a <=> $b } @_; return ($v[$#v / 2] + $v[@v / 2]) / 2 }

# Returns the numbers of a result that are compared; a phase is the mean over its checkpoints.
sub numbers
{
  my ($file) = @_;
  my $result = decode_json(read_file($file));
  my (%phase, %number);
  push @{$phase{$_->{phase}}}, $_->{mean_s} for @{$result->{phases}};
  $number{"phase $_"} = sum0(@{$phase{$_}}) / @{$phase{$_}} for keys %phase;
  $number{"time_s.$_"} = $result->{time_s}{$_} for keys %{$result->{time_s}};
  $number{simulated_s} = $result->{simulated_s};
  $number{image_bytes} = $result->{image_bytes};
  $number{'checkpoints.committed'} = $result->{checkpoints}{committed};
  die "$file: $result->{verdict}\n" if $result->{verdict} ne 'completed';
  return \%number;
}

sub rows
{
  my ($program, $protocol, $run, $numbers) = @_;
  return join '', map { sprintf "%s,%s,%s,%s,%.6g\n", $program, $protocol, $run, $_, $numbers->{$_} } sort keys %$numbers;
}

# ---- runs ----

# Under `none` there are no checkpoints.
sub measure_once
{
  my ($name, $protocol, $alone) = @_;
  my $p = $programs{$name};
  my $dir = tempdir('reality-XXXXXX', TMPDIR => 1, CLEANUP => 1);
  my $first = $alone ? 'chrt -r 1' : '';
  my @before = times;
  run("RECLINE_CHECKPOINTS=$dir/checkpoints RECLINE_PROTOCOL=$protocol RECLINE_EVERY=$p->{every} RECLINE_TRACE=1 "
    . "$mpirun -n $p->{ranks} $first $build/$p->{real} @{$p->{args}} >$dir/out 2>&1");
  my @after = times;
  run("$recline join $dir/checkpoints --out $dir/result >/dev/null");
  my $numbers = numbers("$dir/result/result.json");
  $numbers->{processor} = ($after[2] + $after[3] - $before[2] - $before[3]) / $p->{ranks}; # mpirun's, too
  remove_tree($dir);
  return $numbers;
}

sub simulate_once
{
  my ($name, $protocol, $speed, $cores) = @_;
  my $p = $programs{$name};
  my $dir = tempdir('reality-XXXXXX', TMPDIR => 1, CLEANUP => 1);
  my $binary = "$build/programs/$name";
  if (!-e $binary) {
    $binary = "$dir/jacobi";
    run("$build/bin/recline-cc -O2 -o $binary $root/mpi/t/jacobi.c -lm");
  }
  my $checkpoint = $protocol eq 'none' ? '' :
    "checkpoint: {every: $p->{every}s, level: application, storage: local, writes: foreground}\n";
  my $args = join ', ', @{$p->{args}};
  write_file("$dir/s.yaml", "program: {binary: $binary, args: [$args], ranks: $p->{ranks}}\n"
    . "platform: {file: $folder/machine.yaml, nodes: 1, per_node: $p->{ranks}, speed: ${speed}f" . ($cores ? ", cores: $cores" : '') . "}\n"
    . "protocol: {name: $protocol}\n$checkpoint");
  run("$recline run $dir/s.yaml --out $dir/run >$dir/said 2>&1");
  my $numbers = numbers("$dir/run/result.json");
  remove_tree($dir);
  return $numbers;
}

# ---- calibration: the machine, then the flop/s of each program by the time that it computes ----

sub calibrate
{
  my $dir = tempdir('reality-XXXXXX', TMPDIR => 1, CLEANUP => 1);
  make_path("$dir/disk");
  run("cd $dir && $mpirun -n 2 chrt -r 1 $recline calibrate -o $folder/machine.yaml --disk disk >$folder/check.txt");
  my $text = "program,speed,values\n";
  for my $name (sort keys %programs) {
    my $charged = 1e9 * simulate_once($name, 'none', 1e9, $programs{$name}{ranks})->{'time_s.compute'}; # none shares a core
    my @speed = map { $charged / measure_once($name, 'none', 1)->{'time_s.compute'} } 1 .. 3;
    $text .= sprintf "%s,%.4g,%s\n", $name, median(@speed), join ' ', map { sprintf '%.4g', $_ } @speed;
  }
  write_file("$folder/speeds.csv", $text);
}

sub speeds { return map { /^([a-z-]+),([0-9.e+]+),/ ? ($1, $2) : () } split /\n/, read_file("$folder/speeds.csv") }

sub each_case
{
  my ($do) = @_;
  for my $name (sort keys %programs) {
    $do->($name, $_) for @{$programs{$name}{protocols}};
  }
}

sub predict
{
  my %speed = speeds();
  my $text = "program,protocol,run,number,value\n";
  each_case(sub { my ($name, $protocol) = @_;
    $text .= rows($name, $protocol, 0, simulate_once($name, $protocol, $speed{$name})) });
  write_file("$folder/predicted.csv", $text);
}

# Measures in rounds, so that other users of the machine disturb all cases alike. Adds rounds to those
# in the file, unless the machine or the predictions are newer than the file.
sub measure
{
  my ($alone) = @_;
  my $file = $alone ? "$folder/alone.csv" : "$folder/measured.csv";
  my $text = "program,protocol,run,number,value\n";
  my $fresh = !-e $file || grep { (stat "$folder/$_")[9] > (stat $file)[9] } 'predicted.csv', 'speeds.csv', 'machine.yaml';
  $text = read_file($file) if !$fresh;
  my $done = max(0, $text =~ /^[^,\n]+,[^,\n]+,(\d+),/mg);
  for my $round ($done + 1 .. $done + $runs) {
    each_case(sub { my ($name, $protocol) = @_; $text .= rows($name, $protocol, $round, measure_once($name, $protocol, $alone)) });
    write_file($file, $text);
  }
}

# Two programs print the time of all but their beginning.
sub plain
{
  my $text = "program,protocol,run,number,value\n";
  for my $round (1 .. $runs) {
    for my $name ('cg', 'lulesh-like') {
      my $p = $programs{$name};
      my $said = qx($mpirun -n $p->{ranks} chrt -r 1 $build/$p->{real} @{$p->{args}} 2>&1);
      $said =~ /^time: ([0-9.]+) s$/m or die "$name: no time\n";
      $text .= rows($name, 'none', $round, {simulated_s => $1});
    }
  }
  write_file("$folder/plain.csv", $text);
}

# ---- the page ----

sub load
{
  my ($file) = @_;
  my %value;
  for (split /\n/, read_file($file)) {
    my ($program, $protocol, $run, $number, $value) = split /,/;
    push @{$value{$program}{$protocol}{$number}}, $value if $run =~ /^\d+$/;
  }
  return \%value;
}

sub seconds
{
  my ($s) = @_;
  return $s >= 1 ? sprintf('%.3g s', $s) : $s >= 1e-3 ? sprintf('%.3g ms', 1e3 * $s) : sprintf('%.3g us', 1e6 * $s);
}

my %kinds = (phase => 'phase', time => 'account', simulated => 'whole run');
sub kind { my ($number) = @_; return $kinds{(split /[ _]/, $number)[0]} }

# Returns a point for each number: the predicted value, and the median, least and most measured value.
sub points
{
  my ($predicted, $measured) = (load("$folder/predicted.csv"), load("$folder/$_[0].csv"));
  my @points;
  for my $program (sort keys %$predicted) {
    for my $protocol (sort keys %{$predicted->{$program}}) {
      for my $number (sort keys %{$predicted->{$program}{$protocol}}) {
        my @values = @{$measured->{$program}{$protocol}{$number} || []};
        my $p = $predicted->{$program}{$protocol}{$number}[0];
        next if !@values || !kind($number);
        push @points, {program => $program, protocol => $protocol, number => $number, kind => kind($number), predicted => $p,
          median => median(@values), least => min(@values), most => max(@values), count => scalar @values};
      }
    }
  }
  return @points;
}

sub share
{
  my ($within, @points) = @_;
  my $good = grep { my $r = $_->{predicted} / $_->{median}; $r >= 1 / (1 + $within) && $r <= 1 + $within } @points;
  return "$good of " . @points;
}

# Draws points with two equal logarithmic axes: a perfect prediction is on the diagonal.
sub picture
{
  my @points = @_;
  my %colour = (jacobi => '#1b6ca8', cg => '#b3541e', 'lulesh-like' => '#3a7d44');
  my ($low, $high, $size) = (-4, 2, 420);
  my $at = sub { my ($s) = @_; return ((log($s) / log(10)) - $low) / ($high - $low) * $size };
  my $svg = sprintf qq(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">\n), $size + 190, $size + 60;
  $svg .= qq(<title>Predicted over measured seconds</title>\n<rect width="100%" height="100%" fill="white"/>\n<g transform="translate(50,10)">\n);
  for my $e ($low .. $high) {
    my ($x, $y, $label) = ($at->(10**$e), $size - $at->(10**$e), $e < 0 ? seconds(10**$e) : 10**$e . ' s');
    $svg .= sprintf qq(<path d="M%.1f 0V%d M0 %.1fH%d" stroke="#ddd" fill="none"/>\n), $x, $size, $y, $size;
    $svg .= sprintf qq(<text x="%.1f" y="%d" text-anchor="middle">%s</text><text x="-6" y="%.1f" text-anchor="end">%s</text>\n), $x, $size + 16, $label, $y + 4, $label;
  }
  my $off = $at->(1.25) - $at->(1);
  $svg .= sprintf qq(<path d="M0 %d L%d 0" stroke="black"/>\n), $size, $size;
  $svg .= sprintf qq(<path d="M0 %.1f L%.1f 0 M%.1f %d L%d %.1f" stroke="black" stroke-dasharray="3 3"/>\n), $size - $off, $size - $off, $off, $size, $size, $off;
  for my $p (@points) {
    next if grep { $_ < 10**$low || $_ > 10**$high } $p->{predicted}, $p->{median};
    my ($x, $y) = ($at->($p->{median}), $size - $at->($p->{predicted}));
    $svg .= sprintf qq(<path d="M%.1f %.1fH%.1f" stroke="%s" stroke-opacity="0.4"/>), $at->(max($p->{least}, 10**$low)), $y, $at->(min($p->{most}, 10**$high)), $colour{$p->{program}};
    my $title = "<title>$p->{program}, $p->{protocol}: $p->{number}</title>";
    $svg .= $p->{kind} eq 'phase'
      ? sprintf(qq(<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s">%s</circle>\n), $x, $y, $colour{$p->{program}}, $title)
      : sprintf(qq(<rect x="%.1f" y="%.1f" width="8" height="8" fill="%s">%s</rect>\n), $x - 4, $y - 4, $colour{$p->{program}}, $title);
  }
  my $row = 0;
  for my $name (sort keys %colour) {
    $svg .= sprintf qq(<circle cx="%d" cy="%d" r="3.5" fill="%s"/><text x="%d" y="%d">%s</text>\n), $size + 14, 14 + 18 * $row, $colour{$name}, $size + 24, 18 + 18 * $row, $name;
    $row++;
  }
  $svg .= sprintf qq(<text x="%d" y="%d">circles: phases</text><text x="%d" y="%d">squares: whole runs</text><text x="%d" y="%d">dashes: 25 %%</text>\n), $size + 10, 80, $size + 10, 98, $size + 10, 116;
  $svg .= sprintf qq(<text x="%d" y="%d" text-anchor="middle">measured (median, least to most)</text>\n), $size / 2, $size + 36;
  return $svg . sprintf qq(<text transform="translate(-42,%d) rotate(-90)" text-anchor="middle">predicted</text>\n</g>\n</svg>\n), $size / 2;
}

# Prints the table of one kind of numbers, `alone` beside `shared`.
sub table
{
  my ($kind, $alone, $shared) = @_;
  my %other = map { ("$_->{program} $_->{protocol} $_->{number}" => $_) } @$shared;
  my $ratio = sub { my ($p) = @_; return $p && $p->{median} > 0 ? sprintf('%.2f', $p->{predicted} / $p->{median}) : '-' };
  print "\n| program | protocol | $kind | predicted | alone | least to most | ratio | shared | least to most | ratio |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for my $p (grep { $_->{kind} eq $kind && $_->{predicted} + $_->{median} > 0 } @$alone) {
    my $o = $other{"$p->{program} $p->{protocol} $p->{number}"};
    (my $name = $p->{number}) =~ s/^phase |^time_s\.//;
    printf "| `%s` | `%s` | %s | %s | %s | %s to %s | %s | %s | %s | %s |\n", $p->{program}, $p->{protocol}, $name eq 'simulated_s' ? 'time' : $name,
      map({ seconds($_) } @$p{qw(predicted median least most)}), $ratio->($p),
      $o ? (seconds($o->{median}), seconds($o->{least}) . ' to ' . seconds($o->{most})) : ('-', '-'), $ratio->($o);
  }
}

sub plain_table
{
  my ($plain, $predicted, $alone) = map { load("$folder/$_.csv") } qw(plain predicted alone);
  print "\n| program | predicted | plain Open MPI | predicted / plain | under the host, `none` | host / plain |\n|---|---|---|---|---|---|\n";
  for my $name (sort keys %$plain) {
    my ($without, $with) = map { median(@{$_->{$name}{none}{simulated_s}}) } $plain, $alone;
    my $said = $predicted->{$name}{none}{simulated_s}[0];
    printf "| `%s` | %s | %s | %.2f | %s | %.2f |\n", $name, seconds($said), seconds($without), $said / $without, seconds($with), $with / $without;
  }
}

sub page
{
  my @alone = points('alone');
  my @shared = points('measured');
  my $of = sub { my ($kind, @points) = @_; return grep { $_->{kind} eq $kind && $_->{median} > 0 } @points };
  print "| | runs of each | within 10 % | within 25 % | within a factor of 2 |\n|---|---|---|---|---|\n";
  for (['alone', \@alone], ['shared', \@shared]) {
    my ($name, $points) = @$_;
    for my $kind ('phase', 'whole run') {
      my @of = $of->($kind, @$points);
      printf "| %s, %s | %d | %s | %s | %s |\n", $name, $kind eq 'phase' ? 'phases' : 'whole runs', min(map { $_->{count} } @of),
        share(0.1, @of), share(0.25, @of), share(1, @of);
    }
  }
  plain_table();
  table($_, \@alone, \@shared) for 'whole run', 'phase', 'account';
}

sub print_picture { print picture(grep { $_->{kind} ne 'account' && $_->{median} > 0 } points('alone')) }

my %do = (calibrate => \&calibrate, predict => \&predict, measure => sub { measure(0) }, alone => sub { measure(1) }, plain => \&plain, page => \&page, picture => \&print_picture);
($do{$what} || die "reality.pl: $what, expected calibrate, predict, measure, alone, plain, page or picture\n")->();
