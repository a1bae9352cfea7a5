#!/usr/bin/env perl
# Locks 8 and 9 of docs/architecture.md: which folder includes which, and no call cycles. File names
# are unique, and files that comments name are there.
#
# The table is read from docs/architecture.md, between the lines `<!-- layers -->`: a folder, then
# those that it may include and call. Calls are read from the object files of the build: an edge for
# each symbol that one file needs and another defines. Calls through pointers are not seen.
#
# A cycle of files is accepted where the comment of one of them says why, and names all others:
#
#     Call cycle with heap.c, pages.c: REASON
use strict;
use warnings;
use Cwd qw(realpath);
use File::Find;
use FindBin;
use JSON::PP;
use Test::More;

my $root = realpath("$FindBin::Bin/../..");
my $build = $ENV{RECLINE_BUILD} // "$root/build";
my $folders = 'base|include|protocols|world|verify|prove|sim|mpi|plots|play|report|command';

sub slurp {
  my ($file) = @_;
  open my $in, '<', $file or BAIL_OUT("$file: $!");
  local $/;
  return scalar <$in>;
}

# folder -> {folder that it may reach => 1}
sub read_table {
  my ($text) = slurp("$root/docs/architecture.md") =~ /<!-- layers -->(.*?)<!-- layers -->/s;
  my (%may, $folder);
  for (split /\n/, $text // '') {
    $folder = $1 if s{^((?:$folders)[\w/]*)\s*:}{};
    $may{$folder}{$_} = 1 for defined $folder ? ($folder, grep { m{^(?:$folders)} } split) : ();
  }
  return \%may;
}

# The folder of the table in which a file lies: the longest that fits.
sub folder_of {
  my ($may, $file) = @_;
  my $folder = $file;
  while ($folder =~ s{/[^/]*$}{}) {
    return $folder if $may->{$folder};
  }
  return '';
}

# Sources by their path below the root; tests and benchmarks may use anything.
sub sources {
  my @found;
  find({no_chdir => 1,
        wanted => sub {
          my $file = $File::Find::name =~ s{^\Q$root\E/}{}r;
          push @found, $file if $file =~ /\.(?:c|cc|h)$/ && $file !~ m{/(?:t|bench)/};
        }}, map { "$root/$_" } split /\|/, $folders);
  return sort @found;
}

# [including file, included file]; generated files are included without a folder
sub includes {
  my @pairs;
  for my $file (@_) {
    my $text = slurp("$root/$file");
    push @pairs, [$file, $1] while $text =~ /^\s*#\s*include\s*"([^"]+)"/mg;
  }
  return @pairs;
}

# Symbols of libc: files of sim/memory and sim/mpi define some of them once more.
sub libc_symbols {
  my ($libc) = map { m{=> (/\S*libc\.so\S*)} ? $1 : () } qx(ldd "$build/bin/recline");
  return map { /\s(\w+)(?:@|$)/ ? ($1 => 1) : () } qx(nm -D --defined-only "$libc");
}

# Files of the tree by their path; tests and benchmarks, too.
sub tree {
  my @found;
  find({no_chdir => 1,
        preprocess => sub { grep { $_ ne '.git' && !/^build/ } @_ },
        wanted => sub { push @found, $File::Find::name =~ s{^\Q$root\E/}{}r if -f $File::Find::name }}, $root);
  return @found;
}

# Finds the files that comments in C name, except names with a part in capitals (NAME.c), which
# stands for any name. Files of the system, of the build and of a run's results are not in the tree.
my %elsewhere = map { $_ => 1 } qw(mpi.h mpif.h smpi.h smpi_helpers.h parameters.h scenario.yaml);
sub strangers {
  my %there;
  for my $file (tree()) {
    do { $there{$file} = 1 } while $file =~ s{^[^/]*/}{};
  }
  my @found;
  for my $file (@_) {
    my $text = slurp("$root/$file");
    while ($text =~ m{(/\*.*?\*/|//[^\n]*)}sg) {
      my $comment = $1;
      while ($comment =~ m{(?<![\w.*~-])([\w.-]+(?:/[\w.-]+)*\.(?:c|cc|h|t|md|sh|pl|awk|yaml|xml|f90))\b}g) {
        my $name = $1;
        push @found, "$file: $name" if !$there{$name} && !$elsewhere{$name} && $name !~ m{\b[A-Z]+\b};
      }
    }
  }
  return @found;
}

# source -> its object file, of all sources of the tree that the build compiles
sub objects {
  my %object;
  for my $entry (@{decode_json(slurp("$build/compile_commands.json"))}) {
    my $source = realpath($entry->{file}) // next;
    my $output = $entry->{command} =~ / -o (\S+)/ ? "$entry->{directory}/$1" : next;
    $object{$source} //= $output if $source =~ s{^\Q$root\E/}{} && -e $output;
  }
  return \%object;
}

# {caller => {callee => symbol}} between files
sub calls {
  my ($object) = @_;
  my %libc = libc_symbols();
  my (%defined_in, %needs);
  my %source = reverse %$object;
  delete @source{grep { $source{$_} =~ m{/(?:t|bench)/} || $source{$_} !~ m{^(?:$folders)/} } keys %source};
  open my $symbols, '-|', 'nm', '-gA', sort keys %source or BAIL_OUT("nm: $!");
  while (<$symbols>) {
    my ($file, $kind, $symbol) = /^(.*?):.*(\w) (\S+)$/ or next;
    next if $libc{$symbol} || $symbol =~ /^(?:P?MPI_|mpi_|pmpi_|recline_)/; # what programs call
    if ($kind eq 'U') { push @{$needs{$source{$file}}}, $symbol }
    elsif ($kind =~ /^[A-TV-Z]$/ && $kind !~ /[WV]/) { $defined_in{$symbol} = $source{$file} }
  }
  my %call;
  for my $source (keys %needs) {
    for my $symbol (@{$needs{$source}}) {
      my $callee = $defined_in{$symbol} // next;
      $call{$source}{$callee} //= $symbol if $callee ne $source;
    }
  }
  return \%call;
}

# Tarjan's algorithm: the sets of more than one file that can all reach each other.
sub cycles {
  my ($call) = @_;
  my (%index, %low, @stack, %on, @found);
  my $visit;
  $visit = sub {
    my ($node) = @_;
    $index{$node} = $low{$node} = keys %index;
    push @stack, $node;
    $on{$node} = 1;
    for my $next (sort keys %{$call->{$node} // {}}) {
      if (!exists $index{$next}) {
        $visit->($next);
        $low{$node} = $low{$next} if $low{$next} < $low{$node};
      } elsif ($on{$next} && $index{$next} < $low{$node}) {
        $low{$node} = $index{$next};
      }
    }
    return if $low{$node} != $index{$node};
    my @set;
    do { push @set, pop @stack; $on{$set[-1]} = 0 } while $set[-1] ne $node;
    push @found, [sort @set] if @set > 1;
  };
  exists $index{$_} or $visit->($_) for sort keys %$call;
  return @found;
}

# Whether a comment of one of the files says why they call each other.
sub is_defended {
  my @files = @_;
  for my $file (@files) {
    my ($named) = slurp("$root/$file") =~ /Call cycle with ([^:]*):/ or next;
    my %named = map { s/^[*\s]+|\s+$//gr => 1 } split /,/, $named;
    return 1 if !grep { $_ ne $file && !$named{s{.*/}{}r} } @files;
  }
  return 0;
}

my $may = read_table();
my @sources = sources();
ok(keys %$may, 'docs/architecture.md has the table of layers');
is(join(' ', grep { !folder_of($may, $_) } @sources), '', 'each file lies in a folder of the table');

my %named;
push @{$named{s{.*/}{}r}}, $_ for @sources;
is(join("\n", map { "@{$named{$_}}" } grep { @{$named{$_}} > 1 } sort keys %named), '',
   'no two files have one name');
is(join("\n", strangers(@sources)), '', 'files that comments name are there');

my @bad = grep {
  my ($from, $to) = @$_;
  $to =~ m{/} && !$may->{folder_of($may, $from)}{folder_of($may, $to)}
} includes(@sources);
is(join("\n", map { "$_->[0] includes $_->[1]" } @bad), '', 'no folder includes another than it may');

# A row names only what its folder needs: an include or a call.
my %idle = map { my $from = $_; map { ("$from $_" => 1) } grep { $_ ne $from } keys %{$may->{$from}} } keys %$may;
delete $idle{folder_of($may, $_->[0]) . ' ' . folder_of($may, $_->[1])} for includes(@sources);

# A folder has at most 40 files of its own; tests, claims, mutants and generated tables do not
# count.
my %files;
$files{s{/[^/]*$}{}r}++ for grep { m{^(?:$folders)/} && !m{/t/|^verify/(?:claims|mutants|fuzz)/|/corpus} } tree();
is(join(' ', map { "$_: $files{$_}" } grep { $files{$_} > 40 } sort keys %files), '', 'no folder has more than 40 files');

# The root has only committed files and builds: no test or command leaves a file there.
SKIP: {
  my %known = map { s{/.*}{}sr => 1 } split /\0/, qx(git -C "$root" ls-files -z 2>/dev/null);
  skip 'no repository', 1 if !%known;
  opendir my $at, $root or BAIL_OUT("$root: $!");
  my @stray = grep { !$known{$_} && !/^(?:\.\.?|\.git|\.prove|build(?:-.*)?)$/ } sort readdir $at;
  is("@stray", '', 'no stray file lies in the root of the repository');
}

# The table itself: folders that lie in one folder reach each other one way, at every depth.
my %reaches;
for my $from (keys %$may) {
  for my $to (keys %{$may->{$from}}) {
    my @from = split m{/}, $from;
    my @to = split m{/}, $to;
    while (@from && @to && $from[0] eq $to[0]) { shift @from; shift @to }
    next if !@from || !@to;
    my $common = $from =~ s{\Q@{[join '/', @from]}\E$}{}r;
    $reaches{"$common$from[0]"}{"$common$to[0]"} = 1;
  }
}
is(join("\n", map { join ' ', @$_ } cycles(\%reaches)), '', 'no folders reach each other both ways');

my $object = objects();
my $layer = "$build/lib/librecline_mpi.so"; # not there with the sanitizers
my $transport = "$build/lib/librecline-transport.so"; # not there without MPI
my @missing = grep {
  (-e "$build/bin/recline-prove" || !m{^prove/}) && !/_bitcode\.c$/ && # not there without LLVM; not linked
  (-e $transport || ($_ ne 'verify/distribute/mpi.c' && !m{^mpi/})) && !/_wasm\.c$/ && # compiled for wasm32 only
  /\.c$/ && !$object->{$_} && (-e $layer || !m{^sim/(?:net|host|mpi|memory)/})
} @sources;
is(join(' ', @missing), '', 'the build has an object of each file');

my $call = calls($object);
my @upward;
for my $from (sort keys %$call) {
  for my $to (sort keys %{$call->{$from}}) {
    push @upward, "$from calls $call->{$from}{$to}() of $to"
      if !$may->{folder_of($may, $from)}{folder_of($may, $to)};
  }
}
is(join("\n", @upward), '', 'no folder calls another than it may');

for my $from (keys %$call) {
  delete $idle{folder_of($may, $from) . ' ' . folder_of($may, $_)} for keys %{$call->{$from}};
}
my $whole = -e $layer && -e $transport;
is($whole ? join("\n", sort keys %idle) : '', '', 'no folder may reach what it does not need');

my @undefended = grep { !is_defended(@$_) } cycles($call);
is(join("\n", map { join ' ', @$_ } @undefended), '', 'no call cycle that a comment does not defend');

# The layer is loaded under every MPI program.
SKIP: {
  skip 'no layer in this build', 1 if !-e $layer;
  my @strangers = grep { /^(?:explor|claim_|claims_|mutant|stubborn_|visited_|frontier_|report_)/ }
    map { / [A-Za-z] (\S+)$/ ? $1 : () } qx(nm "$layer");
  is("@strangers", '', 'librecline_mpi.so has no explorer, claim or mutant in it');
}
done_testing;
