# Selects what can notice a change of a protocol: the protocol's claims, those with the fewest states
# first, and after them its step tests, which see costs. Lie claims are left out: they are about hosts.
package Protocols;
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use File::Basename;
use JSON::PP;
use Tree;

# Lists what a claim says if it has its expected verdict: nothing, or that there are more or other
# states.
my %unnoticed = map { $_ => 1 } '', 'more states', 'other states';

sub new {
  my ($class, $tree) = @_;
  my $self = bless {tree => $tree, of => {}, said => {}}, $class;
  $self->{measured} = {map { $_->[0] => $_ } $tree->kept('claims')};
  push @{$self->{said}{$_->[0]}{$_->[1]}}, $_->[2] // '' for $tree->kept('results');
  # The name `none` also occurs as a control message in every source.
  $self->{registered} = {map { /^(\S+)/ ? ($1 => 1) : () } `bin/recline list protocols`};
  $self->{sources} = [grep { !m{/(step|registry|text|grammar|neighbours)\.c$} }
    map { s{^\Q$tree->{root}\E/}{}r } glob "$tree->{root}/protocols/*.c"];
  return $self;
}

# Returns all files that can be changed.
sub files {
  my ($self) = @_;
  my $root = $self->{tree}{root};
  return (@{$self->{sources}}, map { s{^\Q$root\E/}{}r } glob("$root/protocols/parts/*.h"), glob("$root/protocols/*_*.h"));
}

# Returns the sources of the protocols that `file` is part of.
sub sources { my ($self, $file) = @_; return $self->{tree}->sources_of($file, @{$self->{sources}}) }

# Returns a pattern of the registered protocols whose names are in a source.
sub names_in {
  my ($self, $source) = @_;
  return 'none' if basename($source) eq 'none.c';
  return join '|', grep { $self->{registered}{$_} && $_ ne 'none' }
    read_file("$self->{tree}{root}/$source") =~ /"([\w-]+)"/g;
}

sub check {
  my ($command, $limit, $file) = @_;
  my $out = `timeout $limit $command --json --workers 1 '$file' 2>/dev/null`;
  return ($? >> 8, eval { decode_json($out)->{claims}[0] });
}

# Claims of at most this many states are measured first, larger ones only if no small one notices a
# change.
my $small = 20000;

# Returns the claims of a protocol, the smallest first, with the states and seconds that they take.
# For claims that are not small, both are not known yet.
sub claims_of {
  my ($self, $source, $code) = @_;
  my $tree = $self->{tree};
  return @{$self->{of}{$source} //= do {
    my @found;
    my $names = $self->names_in($source);
    for my $file (grep { !m{/(?:lie|long)/} } glob "$tree->{root}/verify/claims/*/*.yaml") {
      my $text = read_file($file);
      next unless $text =~ /^protocol: *\{name: (?:$names)[,}]/m;
      my $claim = {file => $file, id => $file =~ s{.*/(.*)/(.*)\.yaml$}{$1-$2}r,
        digest => md5_hex($tree->{digest_of_judge}, $text), key => md5_hex($tree->{digest_of_judge}, $code, $text)};
      my ($states, $seconds) = $self->measured($claim, "--max-states $small");
      push @found, {%$claim, states => $states eq 'more' ? undef : $states, seconds => $seconds} if $states ne 'no';
    }
    [sort { ($a->{states} // 9e9) <=> ($b->{states} // 9e9) || $a->{id} cmp $b->{id} } @found];
  }};
}

# Returns the states and the seconds that a claim takes; `no` if its verdict is not as expected,
# `more` if it exceeds `bound`.
sub measured {
  my ($self, $claim, $bound) = @_;
  my $at = \$self->{measured}{"$claim->{key}$bound"};
  if (!$$at) {
    my (undef, $one) = check("bin/recline check $bound", 600, $claim->{file});
    my $right = $one && $one->{verdict} eq $one->{expected};
    my $more = !$right && $bound && $one && $one->{verdict} eq 'inconclusive';
    print STDERR "$claim->{file}: not as expected, it takes no part\n" unless $right || $more;
    $$at = ["$claim->{key}$bound", $right ? ($one->{states}, $one->{seconds}) : $more ? 'more' : 'no'];
    $self->{tree}->keep('claims', @$$at);
  }
  return @$$at[1, 2];
}

# Returns what the claim says about the linked recline.
sub judged {
  my ($self, $claim) = @_;
  my $bound = 4 * $claim->{states} + 10000;
  my ($code, $one) = check("$self->{tree}{copy}/bin/recline check --max-states $bound",
    int(20 + 10 * $claim->{seconds}), $claim->{file});
  return 'does not end' if $code == 124;
  return 'breach' unless $code == 0 || $code == 1 || $code == 2;
  return 'no answer' unless $one;
  return 'more states' if $one->{verdict} eq 'inconclusive';
  return $one->{states} == $claim->{states} ? '' : 'other states' if $one->{verdict} eq $one->{expected};
  return $one->{verdict} . ($one->{property} ? " $one->{property}" : '');
}

# Returns the step tests of a protocol and its forms.
sub steps_of {
  my ($self, $source) = @_;
  my $names = $self->names_in($source);
  return map { {file => $_, id => basename($_)} }
    grep { read_file($_) =~ /^protocol (?:$names) / } sort glob "$self->{tree}{root}/protocols/t/*.steps";
}

# Returns the first claim, with what it says, or step test that notices that the machine code of
# `source` is `code` and not `original`. If there is none, returns '' and a claim that had other
# states.
sub noticed_in {
  my ($self, $source, $code, $original) = @_;
  my $tree = $self->{tree};
  my @claims = $self->claims_of($source, $original);
  my $of = $self->{said}{my $id = md5_hex($source, $code)} //= {};
  my $more;
  for my $claim (@claims) {
    my $says = $of->{$claim->{digest}} or next;
    return "$claim->{id}: $says->[0]" unless $unnoticed{$says->[0]};
  }
  for my $claim (@claims) {
    my $says = $of->{$claim->{digest}};
    @$claim{'states', 'seconds'} = $self->measured($claim, '') unless defined $claim->{states};
    next if $claim->{states} eq 'no';
    if (!$says) {
      $tree->link_with('bin/recline', $source);
      $says = $of->{$claim->{digest}} = [$self->judged($claim)];
      $tree->keep('results', $id, $claim->{digest}, $says->[0]);
    }
    return "$claim->{id}: $says->[0]" unless $unnoticed{$says->[0]};
    $more //= "$says->[0] in $claim->{id}" if $says->[0];
  }
  for my $steps ($self->steps_of($source)) {
    my $test = $tree->link_with('t/steps-test', $source);
    return $steps->{id} if system("timeout 20 $test '$steps->{file}' >$tree->{work}/steps.log 2>&1") != 0;
  }
  return ('', $more);
}

# Does the same for all sources that a change is part of; each source is one protocol. `codes` and
# `originals` are by source.
sub noticed {
  my ($self, $codes, $originals) = @_;
  my $more;
  for my $source (sort keys %$codes) {
    my ($by, $says) = $self->noticed_in($source, $codes->{$source}, $originals->{$source});
    return $by if $by;
    $more //= $says;
    $self->{tree}->forget_programs;
  }
  return ('', $more);
}

# Returns the number of claims, as text.
sub detectors {
  my ($self, $originals) = @_;
  return scalar(map { $self->claims_of($_, $originals->{$_}) } keys %$originals) . ' claims';
}

1;
