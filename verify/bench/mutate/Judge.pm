# Finds out whether a change of the judge (world, reductions, tables, search) is noticed, by a
# screening set. Each member of the set notices a change if it says something else about the changed
# build than about the build. Members are:
#
#   claims in groups: the claims of verify/claims, verify/mutants and verify/t/worlds, with a bound on
#     states. All are explored without reduction; those that end are also explored with reductions,
#     with an audit and by fingerprints. Verdict, property, states, transitions, depth and reduction
#     are compared.
#   single claims, with options, that mutate-noticed.txt names and no group has.
#   tests (TAP), by their exit codes.
#   memory: the reports of the sanitizers on the changed source, in programs of quick tests and in
#     claims.
#
# The members that execute the changed line (Coverage.pm) are asked, the cheapest first, until one
# notices the change. A member is cheap if it has noticed many changes in the same folder for each
# second that it takes; the changes of mutate-noticed.txt count, too.
package Judge;
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use File::Basename;
use File::Find;
use JSON::PP;
use Coverage;
use Entries;
use Tree;

my @folders = ('world/script', 'world/rules', 'world/line', map { "verify/$_" } qw(reduce state explore));

# Each mode has a name, options, the most states and the most seconds of a claim, and the number of
# claims in a group.
my @modes = (
  ['full', '--reduce none', 3000, 1, 24], ['por', '--reduce por', 3000, .2, 12],
  ['all', '--reduce all', 3000, .2, 12], ['audit', '--reduce all --audit', 3000, .3, 12],
  ['compact', '--reduce none --compact', 3000, .03, 16]);

# Limits the states of a claim that mutate-noticed.txt names.
my $named_states = 100000;

# Lists tests, the quick ones first, with the programs that they need beside recline.
my @tests = (
  ['world/script/t/script.t', 't/script-test'], ['world/trace/t/trace.t', 't/verify-tool'],
  ['world/rules/t/in-place.t', 't/in-place-test'], ['world/rules/t/shares.t', 't/shares-test'],
  ['world/rules/t/grouped.t', 't/grouped-test'], ['world/rules/t/given.t', 't/given-test'],
  ['world/rules/t/rename.t', 't/rename-test'],
  ['verify/t/sound.t', 't/verify-tool'],
  ['verify/t/hazards.t', 't/verify-tool'], ['verify/t/archive.t', 't/archive-test'],
  ['verify/t/tables.t', 't/tables-test'],
  ['verify/t/judged.t', 't/judge-test'], ['verify/t/grammar.t', 't/grammar-test'],
  ['verify/t/outputs-reduced.t', 't/verify-tool'],
  ['verify/t/views.t', 't/verify-tool'], ['verify/t/numbers.t', 't/verify-tool'],
  ['verify/t/flawed.t', 't/verify-tool'],
  ['verify/t/liveness.t', 't/liveness-test'],
  ['verify/t/explorer.t', 't/explorer-test'], ['verify/t/check.t', 't/verify-tool'],
  ['verify/t/random-worlds.t'], ['verify/t/referee.t'], ['verify/t/resume.t', 't/verify-tool'],
  ['verify/t/monitors.t', qw(t/monitor-walks t/verify-tool t/script-outcomes)],
  ['verify/t/line.t', 't/verify-tool'], ['verify/t/ltl.t', 't/verify-tool'], ['verify/t/pure.t'],
  ['verify/t/distributed.t', 't/verify-tool'],
  ['verify/t/distributed-checkpoints.t', 't/verify-tool'], ['mpi/t/host.t', 't/verify-tool']);

# Lists the programs of tests that also run under the sanitizers, with the seconds that this takes.
my %memory = ((map { ("t/$_-test" => 3) } qw(script shares grouped in-place given rename archive judge tables)),
  't/grammar-test' => 8, 't/explorer-test' => 25, 't/liveness-test' => 35);

sub new {
  my ($class, $tree, $most) = @_;
  my $self = bless {tree => $tree, most => $most}, $class; # seconds of members for a change; 0: all
  push @{$self->{said}{$_->[0]}{$_->[1]}}, $_->[2] // '' for $tree->kept('judge-results');
  $self->{kills}{$_->[0]}{$_->[1]}++ for $tree->kept('judge-noticed');
  return $self;
}

# Returns all sources that can be changed. Headers are changed only if the user names them.
sub files {
  my ($self) = @_;
  my $root = $self->{tree}{root};
  return grep { $self->{tree}{compile}{$_} } map { s{^\Q$root\E/}{}r } "$root/protocols/grammar.c", map { glob "$root/$_/*.c" } @folders;
}

sub sources { my ($self, $file) = @_; return $self->{tree}->sources_of($file, $self->judges) }

# Returns the sources of the judge, and the sources that are compiled with its headers.
sub judges {
  my ($self) = @_;
  return ('protocols/grammar.c', sort grep { m{^(?:world|verify)/} && !m{/t/} } keys %{$self->{tree}{compile}});
}

sub key { my ($file) = @_; return dirname $file }

# ---- claims ----

# Returns the name of a claim, a mutant or a world: c3-recovers for claims/c3/recovers.yaml.
sub name_of { return $_[0] =~ m{/(?:claims|mutants)/([^/]+)/([^/]+)\.yaml$} ? "$1-$2" : basename($_[0], '.yaml') }

sub claims {
  my ($self) = @_;
  my @found;
  find({no_chdir => 1, wanted => sub { push @found, $_ if /\.yaml$/ && !m{/long/} }},
    map { "$self->{tree}{root}/verify/$_" } qw(claims mutants t/worlds));
  return sort @found;
}

# Returns what recline says about each claim, by id. A claim that recline did not reach is missing.
sub checked {
  my ($self, $recline, $seconds, $options, @claims) = @_;
  my $limit = 20 * $seconds; # of wall time, as the machine may be busy
  my $out = `ulimit -t $seconds; timeout $limit $recline check --json --jobs 1 --workers 1 $options @claims 2>$self->{tree}{work}/check.log`;
  my $list = eval { decode_json($out)->{claims} } // [];
  return {map { $_->{id} => $_ } @$list};
}

# Does the same, but leaves out claims that recline refuses, as recline says nothing about a list if
# it refuses one claim of it. It refuses a claim whose program needs more states than it is given.
sub checked_most {
  my ($self, $recline, $seconds, $options, @claims) = @_;
  my $of = $self->checked($recline, $seconds, $options, @claims);
  return $of if %$of || @claims < 2;
  my @half = splice @claims, 0, @claims / 2;
  return {map { %{$self->checked_most($recline, $seconds, $options, @$_)} } \@half, \@claims};
}

sub said_of {
  my ($one) = @_;
  return join ' ', map { $one->{$_} // '-' } qw(verdict property states transitions depth reduction);
}

# Returns groups of claims of about the same size.
sub groups {
  my ($self) = @_;
  my $tree = $self->{tree};
  my (@groups, %ends, %reduced);
  for (@modes) {
    my ($mode, $options, $states, $most, $size) = @$_;
    my @claims = $self->claims;
    my $some = $mode =~ /all|audit/ ? \%reduced : \%ends;
    @claims = grep { $some->{name_of($_)} } @claims if $mode ne 'full';
    my $limit = $mode eq 'full' ? '' : '--timeout 0.5';
    my $of = $self->checked_most('bin/recline', 3600, "$options $limit --max-states $states", @claims);
    %$of or die "mutate: no claim is judged with $options\n";
    for (values %$of) {
      $ends{$_->{id}} = 1 if $mode eq 'full' && $_->{verdict} ne 'inconclusive';
      $reduced{$_->{id}} = 1 if $mode eq 'por' && $_->{reduction} ne 'none';
    }
    @claims = sort { $of->{$a->{id}}{states} <=> $of->{$b->{id}}{states} || $a->{id} cmp $b->{id} }
      grep { $of->{$_->{id}} && $of->{$_->{id}}{seconds} < $most && ($_->{why} // '') !~ /timeout/
        && ($mode !~ /all|audit/ || $_->{reduction} ne 'none') }
      map { {%{$of->{name_of($_)} // {}}, id => name_of($_), file => $_} } @claims;
    while (my @some = splice @claims, 0, $size) {
      my $seconds = .02 * @some;
      $seconds += $_->{seconds} for @some;
      push @groups, [$mode, $options, $states, $seconds, map { ($_->{file}, said_of($_)) } @some];
    }
  }
  return @groups;
}

# Returns the name and the options of `CLAIM [OPTION]...`, in the form that groups have. Without
# options there is no reduction.
sub wanted {
  my ($name, $options) = split / /, $_[0], 2;
  return ($name, $options // '--reduce none');
}

# Returns the name of a member, by the claim and options that it has.
sub in_groups {
  my %in;
  for my $number (0 .. $#_) {
    my (undef, $options, undef, undef, %is) = @{$_[$number]};
    $in{name_of($_), $options} //= group_name($number, $_[$number]) for keys %is;
  }
  return \%in;
}

sub group_name { my ($number, $group) = @_; return "$group->[0]-$number" }

# Returns a group of one for each claim that an entry of `noticed` names and no group of `groups`
# has. It may have more states than the claims of groups.
sub named {
  my ($self, $noticed, @groups) = @_;
  my $in = in_groups(@groups);
  my (@found, %seen);
  for (grep { !/\.(?:t|steps)$|^memory / && !$seen{$_}++ } map { $_->{what} } @$noticed) {
    my ($name, $options) = wanted($_);
    my ($file) = grep { name_of($_) eq $name } $self->claims;
    next if $in->{$name, $options} || !$file;
    my $one = $self->checked('bin/recline', 60, "$options --max-states $named_states", $file)->{$name} or next;
    push @found, ['named', $options, $named_states, $one->{seconds} + .02, $file, said_of($one)];
  }
  return @found;
}

# Returns what a group says about the linked build, or about the build that counts lines; '' if it
# notices nothing.
sub group_says {
  my ($self, $group, $recline) = @_;
  my ($mode, $options, $states, $seconds, %is) = @$group;
  my $of = $self->checked($recline, int(5 + 10 * $seconds), "$options --max-states $states", sort keys %is);
  return "$mode: does not end" unless %$of;
  for (sort keys %is) {
    my $id = name_of($_);
    my $says = $of->{$id} ? said_of($of->{$id}) : 'nothing';
    return "$mode $id: $says, not $is{$_}" if $says ne $is{$_};
  }
  return '';
}

# ---- the screening set ----

# Returns the members, each as {name, seconds, says}. They are measured once for a build.
sub members {
  my ($self) = @_;
  return @{$self->{members} //= do {
    my $tree = $self->{tree};
    my $file = "$tree->{root}/verify/bench/mutate-noticed.txt";
    my @noticed = Entries::read_entries($tree->{root}, $file);
    my $id = md5_hex($tree->{digest}, map { read_file($_) } $self->claims, $file, $self->files_of_tests);
    my @lines = grep { shift @$_ eq $id } $tree->kept('judge-screen');
    if (!@lines) {
      print STDERR "measuring the screening set\n";
      @lines = $self->groups;
      push @lines, $self->named(\@noticed, @lines);
      $tree->keep('judge-screen', $id, @$_) for @lines;
    }
    $self->{id} = $id;
    $self->{executed}{$_->[1]}{$_->[2]} = $_->[3] for grep { $_->[0] eq $id } $tree->kept('judge-executed');
    my $number = 0;
    $self->note_noticed(\@noticed, @lines);
    [(map { $self->group_member($number++, $_) } @lines),
      (map { ($self->test_member($_), $self->memory_member($_)) } grep { -e "$tree->{root}/$tests[$_][0]" } 0 .. $#tests),
      {name => 'memory', seconds => 8, says => sub { return $self->memory_says('bin/recline', @_) }}];
  }};
}

# Returns the files on which the results of tests depend.
sub files_of_tests {
  my ($self) = @_;
  my ($root, $build) = @{$self->{tree}}{'root', 'build'};
  return grep { -f } glob("$root/verify/t/*"), map { ("$root/$_->[0]", map { "$build/$_" } @$_[1 .. $#$_]) } @tests;
}

# Counts for each member the changes of mutate-noticed.txt that it must notice.
sub note_noticed {
  my ($self, $noticed, @groups) = @_;
  my $in = in_groups(@groups);
  for (@$noticed) {
    my ($name, $options) = wanted($_->{what});
    my $member = $name =~ /\.t$/ ? $name : $name eq 'memory' ? $_->{what} : $in->{$name, $options} // next;
    $self->{kills}{key($_->{file})}{$member}++;
  }
}

# Returns whether a member executes a line (from 1) of a file. This is measured when it is first
# needed. A member that does not say the right thing about the build itself takes no part.
sub executes {
  my ($self, $member, $file, $line) = @_;
  my $tree = $self->{tree};
  $member = $member->{like} // $member;
  my $executed = $self->{executed}{$member->{name}} //= do {
    my ($began, $says) = (processor_seconds());
    $self->{coverage} //= Coverage->new($tree, [$self->judges],
      [sort keys %{{map { $_ => 1 } 'bin/recline', map { @$_[1 .. $#$_] } @tests}}]);
    my $lines = $self->{coverage}->of(sub { $says = $member->{says}->() });
    print STDERR "it takes no part: $says\n" if $says;
    my %all = (%{$says ? {} : $lines}, seconds => sprintf '%.1f', processor_seconds() - $began);
    $tree->keep('judge-executed', $self->{id}, $member->{name}, $_, $all{$_}) for sort keys %all;
    \%all;
  };
  return Coverage::executes($executed->{$file} // '', $line);
}

# Returns whether the lines that a member executes are known.
sub is_looked_at {
  my ($self, $member) = @_;
  return $self->{executed}{($member->{like} // $member)->{name}};
}

# Returns what the sanitizers report when the changed sources are compiled with them: only errors of
# memory, as the other members compare results. They watch the program of a test, which frees all
# memory, or recline when it checks claims.
sub memory_says {
  my ($self, $program, @sources) = @_;
  my $linked = $self->{tree}->link_sanitized($program, @sources);
  return $self->sanitizers_say($linked, 1) if $program ne 'bin/recline';
  my @claims = $self->claims;
  for ('--reduce none', '--reduce all --audit', '--compact') {
    my $says = $self->sanitizers_say("$linked check --json --jobs 1 --workers 1 --max-states 300 $_ @claims", 0);
    return $says if $says;
  }
  return '';
}

sub sanitizers_say {
  my ($self, $command, $leaks) = @_;
  my $log = "$self->{tree}{work}/sanitized.log";
  system("cd $self->{tree}{work} && ASAN_OPTIONS=detect_leaks=$leaks timeout 600 $command >/dev/null 2>$log");
  my ($line) = grep { /ERROR: (?:Address|Leak)Sanitizer|runtime error:/ } split /\n/, read_file($log);
  return $line ? 'memory: ' . $line =~ s/.*((?:Address|Leak)Sanitizer: \S+|runtime error: .*).*/$1/r : '';
}

# Returns the member for a test's program under the sanitizers. It executes the same lines as the
# test.
sub memory_member {
  my ($self, $place) = @_;
  my $program = $tests[$place][1] // '';
  return !$memory{$program} ? () : {name => "memory $program", seconds => $memory{$program}, like => $self->test_member($place),
    says => sub { return $self->memory_says($program, @_) }};
}

sub group_member {
  my ($self, $number, $group) = @_;
  return {name => group_name($number, $group), seconds => $group->[3], says => sub {
    return $self->group_says($group, $self->{tree}->link_with('bin/recline', @_));
  }};
}

# Returns the member for a test. Its seconds are known when it has been measured; until then its
# place in the list serves as an estimate.
sub test_member {
  my ($self, $place) = @_;
  my ($test, @programs) = @{$tests[$place]};
  my $seconds = sub { return $self->{executed}{$test} ? $self->{executed}{$test}{seconds} : $_[0] };
  return {name => $test, seconds => $seconds->(1 + $place), says => sub {
    return $self->test_says($test, $seconds->(60), \@programs, @_);
  }};
}

# Returns the processor time of all programs that were called and have ended.
sub processor_seconds { my (undef, undef, $user, $system) = times; return $user + $system }

sub test_says {
  my ($self, $test, $seconds, $programs, @sources) = @_;
  my $tree = $self->{tree};
  $tree->link_with($_, @sources) for @sources ? ('bin/recline', @$programs) : ();
  my ($limit, $clock) = (int(10 + 10 * $seconds), int(200 + 200 * $seconds)); # processor, wall seconds
  my $log = "$tree->{work}/test.log";
  my $code = system("ulimit -t $limit; cd $tree->{root} && RECLINE_BUILD=$tree->{copy} LC_ALL=C timeout $clock $test >$log 2>&1");
  my ($line) = grep { /^not ok/ } split /\n/, read_file($log);
  return "$test: does not end" if $code >> 8 == 124;
  return $line ? "$test: " . $line =~ s/^not ok \d+ - //r : $code ? "$test: ends with $code" : '';
}

# Takes out of the list the member that promises most for each second: it has noticed many changes
# in the folder `key`, and few groups of its mode were asked in vain (`asked`).
sub next_member {
  my ($self, $key, $list, $asked) = @_;
  my %worth = map {
    ($_->{name} => (($self->{kills}{$key}{$_->{name}} // 0) + .3) / ($_->{seconds} + .5) / (1 + ($asked->{mode_of($_)} // 0)))
  } @$list;
  my ($best) = sort { $worth{$b->{name}} <=> $worth{$a->{name}} || $a->{name} cmp $b->{name} } @$list;
  @$list = grep { $_ != $best } @$list;
  return $best;
}

sub mode_of { return $_[0]{name} =~ s/-\d+$//r }

# Returns what the first member says that notices the change of `line` (from 1); if none does, ''
# and why no more members were tried. Members that do not execute the line are not asked. Members
# that would take more seconds than are left are not asked either, so their lines need not be
# measured. The sanitizers watch what other members execute, so they come last, even if no seconds
# are left.
sub noticed {
  my ($self, $codes, $originals, $file, $line) = @_;
  my $tree = $self->{tree};
  my @sources = sort keys %$codes;
  my $key = key($file);
  my @left = $self->members;
  my ($memory) = grep { $_->{name} eq 'memory' } @left;
  @left = grep { $_ != $memory } @left;
  my $id = md5_hex($self->{id}, map { ($_, $codes->{$_}) } @sources);
  my $of = $self->{said}{$id} //= {};
  my ($spent, $executed, $late, %asked) = (0);
  my $too_dear = sub { return $self->{most} && $spent + $_[0]{seconds} > $self->{most} };
  for my $name (sort keys %$of) { return $of->{$name}[0] if $of->{$name}[0] }
  while (my $member = @left ? $self->next_member($key, \@left, \%asked) : $memory) {
    my $name = $member->{name};
    $memory = undef if $member == ($memory // 0);
    if ($name ne 'memory' && !$of->{$name} && $too_dear->($member)) {
      $late ||= !$self->is_looked_at($member) || $self->executes($member, $file, $line);
      next;
    }
    next unless $name eq 'memory' ? $executed : $self->executes($member, $file, $line);
    $executed = 1;
    $asked{mode_of($member)}++;
    next if $of->{$name};
    $spent += $member->{seconds};
    $of->{$name} = [$member->{says}->(@sources)];
    $tree->keep('judge-results', $id, $name, $of->{$name}[0] =~ s/[\t\n]/ /gr);
    next unless $of->{$name}[0];
    $self->{kills}{$key}{$name}++;
    $tree->keep('judge-noticed', $key, $name);
    return $of->{$name}[0];
  }
  return ('', $late ? 'as far as was looked' : $executed ? () : 'not executed');
}

sub detectors { my ($self) = @_; return scalar(my @all = $self->members) . ' members of the screening set' }

# ---- changes that must be noticed, each by the detector that its entry names ----

# Asks one detector: `CLAIM [OPTION]...`, a test, a step test or `memory PROGRAM`. Returns what it
# says about the changed build, and '' if it says the same about the build.
sub notices {
  my ($self, $named, @sources) = @_;
  my $tree = $self->{tree};
  my ($name, @options) = split / /, $named;
  if ($name =~ /\.t$/) {
    my ($test) = grep { $_->[0] eq $name } @tests;
    return $self->test_says($name, 60, [$test ? @$test[1 .. $#$test] : ()], @sources);
  }
  return $self->memory_says($options[0], @sources) if $name eq 'memory';
  if ($name =~ /\.steps$/) {
    my $test = $tree->link_with('t/steps-test', @sources);
    return system("timeout 20 $test $tree->{root}/protocols/t/$name >$tree->{work}/steps.log 2>&1") ? $name : '';
  }
  my ($file) = grep { name_of($_) eq $name } $self->claims;
  $file or Tree::refuse("there is no claim or test '$name', expected one");
  my $options = "@options --max-states 100000";
  my $is = $self->{is}{$named} //= said_of($self->checked('bin/recline', 60, $options, $file)->{$name});
  my $one = $self->checked($tree->link_with('bin/recline', @sources), 60, $options, $file)->{$name};
  my $says = $one ? said_of($one) : 'nothing';
  return $says eq $is ? '' : "$named: $says, not $is";
}

1;
