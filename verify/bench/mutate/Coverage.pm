# Finds which lines each member of a screening set executes. A change of a line that a member does not
# execute need not be tried with that member.
package Coverage;
use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use Tree;

# Processes that explore end by _exit, and tests let some processes abort, so counts are written at
# both calls.
my $ends = <<'END';
void __gcov_dump(void);
#define ENDS(name, declared, given) \
  void __real_##name declared __attribute__((noreturn)); \
  void __wrap_##name declared __attribute__((noreturn)); \
  void __wrap_##name declared { __gcov_dump(); __real_##name given; }
ENDS(_exit, (int code), (code))
ENDS(abort, (void), ())
END

# Makes a copy of the build of `tree`, in which `sources` count executed lines, and links `programs`
# with these sources.
sub new {
  my ($class, $tree, $sources, $programs) = @_;
  my $at = "$tree->{work}/covered";
  my $self = bless {tree => $tree, at => $at, programs => $programs}, $class;
  remove_tree($at);
  $tree->copy_to("$at/build");
  make_path("$at/objects", "$at/lib");
  write_file("$at/ends.c", $ends);
  run("cc -c -o $at/ends.o $at/ends.c");
  my %counts = map { $tree->{object}{$_} => "$at/objects/" . s{/}{#}gr . '.o' } @$sources;
  local $tree->{work} = $at; # a folder without changed sources
  for (@$sources) { $tree->compile_with($_, $counts{$tree->{object}{$_}}, '--coverage') or die "mutate: cannot compile $_\n" }
  while (my ($library, $objects) = each %{$tree->{library}}) {
    run("ar qc $at/$library " . join ' ', map { "'$_'" } map { $counts{$_} // $_ } @$objects) if grep { $counts{$_} } @$objects;
  }
  for my $program (@$programs) {
    (my $command = $tree->{link}{$program}) =~ s{ -o \S+ }{ -o $at/build/$program $at/ends.o };
    $command =~ s{ (lib/\S+\.a)(?= |$)}{-e "$at/$1" ? " $at/$1" : " $1"}ge;
    unlink "$at/build/$program";
    run("$command --coverage -Wl,--wrap=_exit,--wrap=abort");
  }
  return $self;
}

sub run { system("$_[0] 2>&1") == 0 or die "mutate: $_[0]\n" }

# Returns the lines that `act` executes, as lines_of() does. `act` finds the copy in place of the
# build.
sub of {
  my ($self, $act) = @_;
  my $tree = $self->{tree};
  unlink glob "$self->{at}/objects/*.gcda";
  {
    local $tree->{copy} = "$self->{at}/build";
    local $tree->{linked} = {map { $_ => 1 } @{$self->{programs}}};
    $act->();
  }
  return lines_of($tree->{root}, scalar `cd $tree->{root} && ls $self->{at}/objects/*.gcda | xargs -r gcov --stdout`);
}

# Reads a report of gcov. Returns, for each file below `root`, a string with a character for each
# line, from 1 on: 1 executed, 0 not executed, - without code.
sub lines_of {
  my ($root, $report) = @_;
  my (%lines, $of);
  for (split /\n/, $report) {
    my ($count, $line, $text) = /^ *([^ :]+): *(\d+):(.*)/ or next;
    if ($line == 0) { $of = \$lines{$1} if $text =~ m{^Source:(?:\Q$root\E/)?(.*)}; next }
    $$of //= '-';
    $$of .= '-' x ($line + 1 - length $$of) if length $$of <= $line;
    my $now = $count eq '-' ? '-' : $count =~ /^[#=]/ ? '0' : '1';
    substr($$of, $line, 1, $now) if $now gt substr $$of, $line, 1;
  }
  delete @lines{grep { m{^/} } keys %lines};
  return \%lines;
}

# Returns whether the line is executed. A line without code belongs to the line with code before it.
sub executes {
  my ($lines, $line) = @_;
  $line = length($lines) - 1 if $line >= length $lines;
  $line-- while $line > 0 && substr($lines, $line, 1) eq '-';
  return $line > 0 && substr($lines, $line, 1) eq '1';
}

1;
