#!/usr/bin/env perl
# Mutation analysis: makes small changes to sources in protocols/ and looks whether a claim notices.
#
#     verify/bench/mutate.pl [--build DIR] [--seed N[..N]] [--count N] [--jobs N]
#                            [--known] [--known-file FILE] [FILE]...
#
#     FILE       protocols/c3.c, protocols/parts/links.h ...; default: every protocol and every part
#     --count    changes of each file that yield other machine code, drawn by the seeds in turn from
#                all that there are; default 20, 0: all
#     --jobs     files at the same time; default 1
#     --known    try the changes of mutate-known.txt (or FILE), --count of each file instead: each
#                must go unnoticed
#
# A changed source is compiled as the build compiles it and linked into a copy of recline. A change
# that yields the same machine code, or that of a change before it, is none. Otherwise the claims of
# the protocols that include the source are checked, those of the fewest states first, until one has
# another verdict than it is to have, or does not end; behind them, its step tests. Lie claims are left
# out: they are about hosts.
#
# A change that no claim notices is listed as a survivor, with the first claim in which it leads to
# other states, or to more than four times as many; the exit code is 1 then, unless it stands in
# mutate-known.txt with the reason why it is equivalent or merely slower. An entry there of which the
# source no longer has the line is an error (exit code 64).
#
# What a claim says of a change is kept in BUILD/mutate/results for as long as the claim, the machine
# code and the explorer are the same: interrupted work goes on from there, and after a new claim only
# that one is run on survivors.
use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::MD5 qw(md5_hex);
use File::Basename;
use File::Path qw(make_path remove_tree);
use Getopt::Long;
use JSON::PP;
use List::Util qw(uniq);

my $root = abs_path(dirname(__FILE__) . '/../..');
my ($build, $seeds, $count, $jobs, $known_only) = ("$root/build", 1, 20, 1, 0);
my $known_file = "$root/verify/bench/mutate-known.txt";
GetOptions('build=s' => \$build, 'seed=s' => \$seeds, 'count=i' => \$count, 'jobs=i' => \$jobs,
  'known' => \$known_only, 'known-file=s' => \$known_file)
  && $seeds =~ /^(\d+)(?:\.\.(\d+))?$/ && $jobs > 0 or exit 64;
my @seeds = $1 .. $2 // $1;
$build = abs_path($build);
my $kept = "$build/mutate";
my $work = "$kept/0"; # of each job its own
make_path($work);
chdir $build or die "$build: $!";

sub read_file { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar <$in> }
sub write_file { open my $out, '>', $_[0] or die "$_[0]: $!\n"; print $out $_[1]; close $out }

# The same numbers on every machine.
my $random;
sub draw
{
  $random = ($random * 1664525 + 1013904223) % 4294967296;
  return ($random >> 8) % $_[0];
}

# ---- changes: [line, operator, new text of the line] ----

# Headers of a protocol's own: its state.
sub own_headers {
  (my $name = $_[0]) =~ s{.*/|(_.*)?\.[ch]$}{}g;
  return grep { $_ ne $_[0] } map { s{^\Q$root\E/}{}r } glob "$root/protocols/${name}_*.h";
}

# The enumerators of each enum, and the number fields of each struct, of a source.
sub families {
  my ($text) = @_;
  my @families;
  while ($text =~ /\benum(?: \w+)? \{([^}]*)\}/g) {
    (my $body = $1) =~ s{/\*.*?\*/}{}gs;
    my @names = map { /^\s*([A-Z]\w*)/ ? $1 : () } split /,/, $body;
    push @families, ['enumerator', map { "\\b$_\\b" } @names] if @names > 1;
  }
  while ($text =~ /\bstruct \w+ \{(.*?)\n\}/gs) {
    (my $body = $1) =~ s{/\*.*?\*/}{}gs;
    my @names = grep { $_ ne 'pad' } map { split /,\s*/ } $body =~ /^\s*uint32_t ([a-z_, ]+);/gm;
    push @families, ['field', map { "(?<=->)$_\\b" } @names] if @names > 1;
  }
  push @families, ['part', '\bRCL_PART_IMAGE\b', '\bRCL_PART_LOG\b'], ['truth', '\btrue\b', '\bfalse\b'];
  return @families;
}

my @swaps = (
  ['compare', ' == ', ' != '], ['compare', ' != ', ' == '], ['compare', ' < ', ' <= '],
  ['compare', ' <= ', ' < '], ['compare', ' > ', ' >= '], ['compare', ' >= ', ' > '],
  ['connect', ' && ', ' || '], ['connect', ' \|\| ', ' && '],
  ['off-by-one', ' + 1\b', ''], ['off-by-one', ' - 1\b', ''], ['off-by-one', '\+\+', '--'],
  ['off-by-one', '--(?!>)', '++'], ['arithmetic', ' \+ ', ' - '], ['arithmetic', ' - ', ' + '],
  ['arithmetic', ' \+= ', ' -= '], ['arithmetic', ' -= ', ' += '], ['zero', ' = 0;', ' = 1;']);

# Text of the condition of an if that is on one line, as [before, condition, after].
sub condition {
  my ($line) = @_;
  return unless $line =~ /^(\s*(?:\} else )?if \()(.*)(\)(?: \{)?)$/;
  my ($before, $inside, $after, $depth) = ($1, $2, $3, 0);
  for (split //, $inside) { $depth += $_ eq '(' ? 1 : $_ eq ')' ? -1 : 0; return if $depth < 0 }
  return $depth ? () : ($before, $inside, $after);
}

# The parts of a condition that && or || connects, outside of parentheses.
sub terms {
  my ($text, $by) = @_;
  my ($depth, @terms) = (0, '');
  for (split /( \Q$by\E )/, $text) {
    if ($_ eq " $by " && $depth == 0) { push @terms, ''; next }
    $depth += tr/(// - tr/)//;
    $terms[-1] .= $_;
  }
  return @terms;
}

sub changes {
  my ($file, $text) = @_;
  my @families = families(join '', map { read_file("$root/$_") } own_headers($file), $file);
  (my $code = $text) =~ s{(/\*.*?\*/)}{(my $c = $1) =~ s/[^\n]/ /g; $c}ges; # comments to spaces
  my @lines = split /\n/, $code, -1;
  my @found;
  my @text_lines = split /\n/, $text, -1;
  my ($inside, $macro, $judge) = (0, 0, 0); # the checks of invariants are no part of a protocol
  for my $i (0 .. $#lines) {
    (my $line = $lines[$i]) =~ s/\s+$//;
    my $directive = $macro || $line =~ /^#/;
    $macro = $directive && $lines[$i] =~ /\\$/;
    $inside = 1 if $line eq '{';
    $inside = 0 if $line eq '}';
    $judge = 1 if $text_lines[$i] =~ m{^/\* ---- invariants};
    $judge = 0 if $text_lines[$i] =~ m{^/\* ---- (?!invariants)};
    next if $judge || !$inside || $directive || $line =~ /^\s*\}?$/ || $line =~ /"/;
    my $add = sub { push @found, [$i, @_] if $_[1] ne $line };
    $add->('return', "{ return;") if $line eq '{' && $i > 0 && returns_nothing(\@lines, $i);
    $add->('delete', ';') if $line =~ /^\s+[^{}]*;$/ && $line !~ /^\s*(return|const|struct|uint\w+|size_t|int|bool|enum|static|for)\b/
      && $lines[$i - 1] =~ /(?:[;{}:]|\)|\belse)\s*$/ && $lines[$i - 1] !~ /^\s*for .*[^)]$/;
    if (my ($before, $inside_it, $after) = condition($line)) {
      $add->('negate', "$before!($inside_it)$after");
      for my $by ('&&', '||') {
        my @terms = terms($inside_it, $by);
        for my $k (0 .. $#terms) {
          next if @terms < 2;
          $add->('drop', $before . join(" $by ", @terms[grep { $_ != $k } 0 .. $#terms]) . $after);
        }
      }
    }
    for (@swaps) {
      my ($name, $from, $to) = @$_;
      while ($line =~ /$from/g) {
        $add->($name, substr($line, 0, $-[0]) . $to . substr($line, $+[0]));
      }
    }
    for my $family (@families) {
      my ($name, @names) = @$family;
      for my $from (@names) {
        while ($line =~ /$from/g) {
          my ($at, $end) = ($-[0], $+[0]);
          for my $to (grep { $_ ne $from } @names) {
            (my $plain = $to) =~ s/\(\?<=->\)|\\b//g;
            $add->($name, substr($line, 0, $at) . $plain . substr($line, $end));
          }
        }
      }
    }
  }
  return @found;
}

sub returns_nothing {
  my ($lines, $i) = @_;
  for (my $k = $i - 1; $k >= 0; $k--) {
    return 0 if $lines->[$k] =~ /^[}]|;\s*$/;
    return $lines->[$k] =~ /\bvoid \w+\(/ && $lines->[$k] !~ /\bvoid \*/ if $lines->[$k] =~ /^static/;
  }
  return 0;
}

# All changes in an order in which the operators take turns.
sub shuffled {
  my ($seed, @all) = @_;
  $random = $seed;
  my (%by, @order);
  for my $i (0 .. $#all) { my $k = $i + draw(@all - $i); @all[$i, $k] = @all[$k, $i] }
  push @{$by{$_->[1]}}, $_ for @all;
  while (%by) {
    for (sort keys %by) {
      push @order, shift @{$by{$_}};
      delete $by{$_} unless @{$by{$_}};
    }
  }
  return @order;
}

# The orders of all seeds, which take turns; each change once.
sub drawn {
  my (@all) = @_;
  my @orders = map { [shuffled($_, @all)] } @seeds;
  return uniq map { my $i = $_; map { $_->[$i] } @orders } 0 .. $#all;
}

# ---- building ----

sub command_of { chomp(my @commands = `ninja -t commands $_[0]`); return $commands[-1] // '' }
my %link = map { $_ => command_of($_) } 'bin/recline', 't/steps-test';
my ($library) = $link{'bin/recline'} =~ m{(\S*librecline-protocols\.a)};
die "mutate: $build: no such build, expected one by ninja\n" unless $library;
my $explorer = md5_hex(map { read_file($_) } grep { $_ ne $library } sort glob 'lib/librecline-*.a');

my %includes; # source -> the files of protocols/ that it includes, also through others
sub includes {
  my ($file) = @_;
  return $includes{$file} //= do {
    my %all;
    for (read_file("$root/$file") =~ m{^#include "(protocols/[^"]*)"}gm) {
      $all{$_} = 1;
      $all{$_} = 1 for keys %{includes($_)};
    }
    \%all;
  };
}

my @protocols = grep { !m{/(step|registry|text|grammar|neighbours)\.c$} } map { s{^\Q$root\E/}{}r } glob "$root/protocols/*.c";

# Puts `text` in the place of `file`.
sub change {
  my ($file, $text) = @_;
  remove_tree("$work/protocols"); # no other changed source may be found before the real one
  make_path(dirname "$work/$file");
  write_file("$work/$file", $text);
}

# The protocols that `file` is part of.
sub sources { my ($file) = @_; return $file =~ /\.c$/ ? $file : grep { includes($_)->{$file} } @protocols }

# The machine code of a protocol with the changed source; nothing when it does not compile.
sub compile {
  my ($source) = @_;
  my $name = basename $source;
  chomp(my @commands = `ninja -t commands protocols/CMakeFiles/recline-protocols.dir/$name.o`);
  my $command = $commands[-1];
  $command =~ s{^\S*ccache }{};
  $command =~ s{ -o \S+}{ -o $work/$name.o};
  $command =~ s{ -M[TF] \S+}{}g;
  $command =~ s{ -MD\b| -g\b}{}g;
  my $from = -e "$work/$source" ? "$work/$source" : "$root/$source";
  $command =~ s{ -c \S+}{ -w -iquote $work -c $from};
  system("$command 2>$work/cc.log") == 0 or return;
  return `objdump -d -r -s -j .text -j .rodata -j .data.rel.ro -j .data.rel.ro.local $work/$name.o 2>/dev/null | tail -n +4`;
}

sub link_with {
  my ($source, $program) = @_;
  my $copy = "$work/protocols.a";
  system('cp', $library, $copy) == 0 or die;
  system('ar', 'r', $copy, "$work/" . basename($source) . '.o') == 0 or die;
  (my $command = $link{$program}) =~ s{\Q$library\E}{$copy}g;
  $command =~ s{ -o \Q$program\E }{" -s -o $work/" . basename($program) . ' '}e;
  system("$command 2>$work/ld.log") == 0 or die "mutate: cannot link, see $work/ld.log\n";
}

# ---- claims ----

# Appends a line that stays whole beside those of other jobs.
sub keep {
  open my $out, '>>', "$kept/$_[0]" or die "$kept/$_[0]: $!\n";
  syswrite $out, join("\t", @_[1 .. $#_]) . "\n";
}

sub kept { map { chomp; [split /\t/] } -e "$kept/$_[0]" ? do { open my $in, '<', "$kept/$_[0]"; <$in> } : () }

sub check {
  my ($command, $limit, $file) = @_;
  my $out = `timeout $limit $command --json --workers 1 '$file' 2>/dev/null`;
  return ($? >> 8, eval { decode_json($out)->{claims}[0] });
}

# The protocols of a source, as a pattern: those registered whose names stand in it. (As a control
# message, `none` stands in all.)
my %registered = map { /^(\S+)/ ? ($1 => 1) : () } `bin/recline list protocols`;
sub names_in {
  my ($source) = @_;
  return 'none' if basename($source) eq 'none.c';
  return join '|', grep { $registered{$_} && $_ ne 'none' } read_file("$root/$source") =~ /"([\w-]+)"/g;
}

# Those of a protocol, smallest first, with the verdict that they are to have, the states and the seconds that they
# take.
my (%of, %measured);
$measured{$_->[0]} = $_ for kept('claims');
sub claims_of {
  my ($source, $code) = @_;
  return @{$of{$source} //= do {
    my @found;
    my $names = names_in($source);
    for my $file (grep { !m{/lie-} } glob "$root/verify/claims/*.yaml") {
      my $text = read_file($file);
      next unless $text =~ /^protocol: *\{name: (?:$names)[,}]/m;
      my $id = md5_hex($explorer, $code, $text);
      if (!$measured{$id}) {
        my (undef, $one) = check('bin/recline check', 600, $file);
        my $right = $one && $one->{verdict} eq $one->{expected};
        print STDERR "$file: not as expected, it takes no part\n" unless $right;
        $measured{$id} = [$id, $right ? ($one->{states}, $one->{seconds}) : ('no')];
        keep('claims', @{$measured{$id}});
      }
      my (undef, $states, $seconds) = @{$measured{$id}};
      push @found, {file => $file, id => basename($file, '.yaml'), digest => md5_hex($explorer, $text),
        states => $states, seconds => $seconds} if $states ne 'no';
    }
    [sort { $a->{states} <=> $b->{states} || $a->{id} cmp $b->{id} } @found];
  }};
}

# What the claim says of the recline that is linked; when it is as expected: nothing, or that there
# are more states, or other ones.
my %unnoticed = map { $_ => 1 } '', 'more states', 'other states';
sub judged {
  my ($claim) = @_;
  my $bound = 4 * $claim->{states} + 10000;
  my ($code, $one) = check("$work/recline check --max-states $bound",
    int(20 + 10 * $claim->{seconds}), $claim->{file});
  return 'does not end' if $code == 124;
  return 'breach' unless $code == 0 || $code == 1 || $code == 2;
  return 'no answer' unless $one;
  return 'more states' if $one->{verdict} eq 'inconclusive';
  return $one->{states} == $claim->{states} ? '' : 'other states' if $one->{verdict} eq $one->{expected};
  return $one->{verdict} . ($one->{property} ? " $one->{property}" : '');
}

# The step tests of a protocol and its forms: they see costs, which claims do not.
sub steps_of {
  my ($source) = @_;
  my $names = names_in($source);
  return map { {file => $_, id => basename($_), digest => md5_hex(read_file($_))} }
    grep { read_file($_) =~ /^protocol (?:$names) / } sort glob "$root/protocols/t/*.steps";
}

# The first claim, or step test, that notices, with what it says; nothing when none does.
my %said; # machine code -> claim -> what it says
push @{$said{$_->[0]}{$_->[1]}}, $_->[2] // '' for kept('results');
sub noticed {
  my ($source, $code, $original) = @_;
  my @claims = claims_of($source, $original);
  my $of = $said{my $id = md5_hex($source, $code)} //= {};
  my ($more, $linked);
  for my $claim (@claims) {
    my $says = $of->{$claim->{digest}} or next;
    return "$claim->{id}: $says->[0]" unless $unnoticed{$says->[0]};
  }
  for my $claim (@claims) {
    my $says = $of->{$claim->{digest}};
    if (!$says) {
      link_with($source, 'bin/recline') unless $linked++;
      $says = $of->{$claim->{digest}} = [judged($claim)];
      keep('results', $id, $claim->{digest}, $says->[0]);
    }
    return "$claim->{id}: $says->[0]" unless $unnoticed{$says->[0]};
    $more //= "$says->[0] in $claim->{id}" if $says->[0];
  }
  $linked = 0;
  for my $steps (steps_of($source)) {
    link_with($source, 't/steps-test') unless $linked++;
    return $steps->{id} if system("timeout 20 $work/steps-test '$steps->{file}' >$work/steps.log 2>&1") != 0;
  }
  return ('', $more);
}

# ---- changes that are known to be none ----

# FILE ||| LINE ||| CHANGED LINE ||| REASON; FILE may have a function behind it, and LINE the line
# before it in front, with ` // ` between them.
my (%known, @known);
sub trim { return $_[0] =~ s{/\*.*?\*/}{}gr =~ s/^\s+|\s+$//gr }
for (split /\n/, read_file($known_file)) {
  next if /^#|^\s*$/;
  my ($place, $from, $to, $why) = split /\s*\|\|\|\s*/;
  my ($file) = split / /, $place;
  my @lines = map { trim($_) } split /\n/, read_file("$root/$file");
  unless ($why && grep { $lines[$_] eq $from || $_ && "$lines[$_ - 1] // $lines[$_]" eq $from } 0 .. $#lines) {
    print STDERR "$known_file: $file has no line '$from', expected one\n";
    exit 64;
  }
  $known{"$place|$from|$to"} = $why;
  push @known, $file;
}

# ---- the analysis ----

# Of the line, the name of the function.
sub function_at {
  my ($lines, $i) = @_;
  for (; $i >= 0; $i--) { return $1 if $lines->[$i] =~ /^(?![ }#\/]).*?(\w+)\(/ }
  return '';
}

sub analyse {
  my ($file) = @_;
  my $text = read_file("$root/$file");
  my @lines = split /\n/, $text, -1;
  my @all = changes($file, $text);
  my $why = sub {
    my ($i, undef, $to) = @{$_[0]};
    my ($line, $before) = map { trim($_) } @lines[$i, $i - 1];
    for my $place ($file, "$file " . function_at(\@lines, $i)) {
      for my $from ($line, "$before // $line") {
        return $known{"$place|$from|" . trim($to)} if $known{"$place|$from|" . trim($to)};
      }
    }
    return;
  };
  @all = grep { $why->($_) } @all if $known_only;
  @all = drawn(@all) if $count;
  my @sources = sources($file);
  change($file, $text);
  my %original = map { $_ => compile($_) // die "mutate: $file does not compile\n" } @sources;
  my %tally = map { $_ => 0 } qw(none refused twice noticed known survivors);
  my ($tried, %seen) = (0);
  for my $change (@all) {
    last if $count && $tried == $count;
    my ($i, $operator, $new) = @$change;
    my @changed = @lines;
    $changed[$i] = $new;
    change($file, join "\n", @changed);
    my ($by, $more, $refused, @codes);
    for my $source (@sources) {
      my $code = compile($source);
      $refused = !defined $code and last;
      next if $code eq $original{$source};
      push @codes, $code;
      ($by, my $says) = noticed($source, $code, $original{$source});
      $more //= $says;
      last if $by;
    }
    my $how = $refused ? 'refused' : !@codes ? 'none' : $seen{md5_hex(@codes)}++ ? 'twice' : '';
    if ($how) { $tally{$how}++; next }
    $tried++;
    my $known = $why->($change);
    $how = $by ? $known ? 'NOT KNOWN TO BE NONE' : 'noticed' : $known ? 'known' : 'SURVIVES';
    $tally{$by && !$known ? 'noticed' : !$by && $known ? 'known' : 'survivors'}++;
    $how .= $by ? " by $by" : $more ? ", $more" : '';
    printf "%-24s %s:%d %s, %s\n    %s\n    %s\n", $how, $file, $i + 1,
      function_at(\@lines, $i), $operator, trim($lines[$i]), trim($new);
  }
  my $judged = $tally{noticed} + $tally{survivors};
  printf "%s: %d changes, beside %d that are not C and %d of the same code; %d known; of %d others %d noticed (%d claims)\n\n",
    $file, $tried, $tally{refused}, $tally{none} + $tally{twice}, $tally{known}, $judged,
    $tally{noticed}, scalar(my @claims = map { claims_of($_, $original{$_}) } @sources);
  return $tally{survivors};
}

my @files = @ARGV ? map { s{^\Q$root\E/}{}r } @ARGV
  : (@protocols, map { s{^\Q$root\E/}{}r } glob("$root/protocols/parts/*.h"), glob("$root/protocols/*_*.h"));
@files = grep { my $f = $_; grep { $_ eq $f } @known } @files if $known_only;
$| = 1;
my (%running, $survive, $failed);
while (@files || %running) {
  if (@files && keys %running < $jobs) {
    my ($file) = shift @files;
    my ($free) = grep { my $n = $_; !grep { $_->[1] == $n } values %running } 0 .. $jobs - 1;
    my $child = fork // die "fork: $!";
    if (!$child) {
      $work = "$kept/$free";
      make_path($work);
      open STDOUT, '>', "$kept/" . basename($file) . '.log' or die if $jobs > 1;
      $| = 1;
      exit(analyse($file) ? 1 : 0);
    }
    $running{$child} = [$file, $free];
    next;
  }
  my $child = wait;
  my ($file) = @{delete $running{$child}};
  $survive ||= $? == 1 << 8;
  $failed ||= $? && $? != 1 << 8;
  print read_file("$kept/" . basename($file) . '.log') if $jobs > 1;
}
exit($failed ? 3 : $survive ? 1 : 0);
