# Finds which lines each member of a screening set executes. A change of a line that a member does not
# execute need not be tried with that member.
package Coverage;
use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use Tree;

# Processes that explore end by _exit, and tests let some abort: what they counted is written there.
my $ends = <<'END';
void __gcov_dump(void);
#define ENDS(name, declared, given) \
  void __real_##name declared __attribute__((noreturn)); \
  void __wrap_##name declared __attribute__((noreturn)); \
  void __wrap_##name declared { __gcov_dump(); __real_##name given; }
ENDS(_exit, (int code), (code))
ENDS(abort, (void), ())
END

# A copy of the build of `tree` in which `sources` count what is executed, and `programs` have them.
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
  local $tree->{work} = $at; # where no source is changed
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

# What `act` executes, which finds the copy in place of the build: see lines_of().
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

# Of the report of gcov, for each file below `root` a string with a character for each line, from 1 on:
# 1 executed, 0 not, - a line without code.
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

# Whether the line is executed: one without code is part of what begins before it.
sub executes {
  my ($lines, $line) = @_;
  $line = length($lines) - 1 if $line >= length $lines;
  $line-- while $line > 0 && substr($lines, $line, 1) eq '-';
  return $line > 0 && substr($lines, $line, 1) eq '1';
}

1;
