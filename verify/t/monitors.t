#!/usr/bin/env perl
# The monitors of the world against a naive judge: random walks through the worlds of claims, of
# mutants and of random-worlds.t, each judged again as a whole from its trace and its script, by the
# definitions of docs/architecture.md. Both must see the same property violated at the same step, or
# none. In half of the walks the protocol goes wrong now and then (monitor-walks.c).
#
#     monitors.t              1,000 walks; RECLINE_LONG=1: 200,000; RECLINE_WALKS of them
#     monitors.t SEED         this walk alone: prints it and what is seen of it
#
# The judge keeps whole programs, whole logs and every message that was ever sent, copies them for a
# checkpoint, and compares contents as what they are: the terms of all that was received and chosen.
use strict;
use warnings;
use FindBin;
use Test::More;

my $root = "$FindBin::Bin/../..";
my $build = $ENV{RECLINE_BUILD} // "$root/build";
my $walks = $ENV{RECLINE_WALKS} // ($ENV{RECLINE_LONG} ? 200_000 : 1000);
my $first = @ARGV ? $ARGV[0] : $ENV{RECLINE_SEED} // 1;

my @properties = qw(no-loss no-duplicate restorable quiet-channels c3-1.1 c3-1.2 c3-1.3 deadlock
  commits outcome recovers agreement invariant no-orphan c3-2.2 c3-2.3 local-rollback no-domino
  own-iteration tokens bounds progress requests bounded frees frees-at-capture useful output
  output-at-rest output-local once-per-failure);

use constant {SEND => 0, RECV => 1, IRECV => 2, WAIT => 3, CHOOSE => 4, CHECKPOINT => 5,
  COMPUTE => 6, COLLECTIVE => 7, FREE => 8, CANCEL => 9, ANY => -1, NOBODY => -2, OWN => 8, NEVER => -1};

# ---- terms: equal ones have the same number ----

my ($terms, %terms_of, %outcomes_of);    # by the claim
sub term { return $terms->{join ' ', @_} //= 1 + keys %$terms }

# ---- the world of a walk ----

my ($world, @script, @rank, %wire, %shares, %control, %seen, $incarnation, $target, $committed, $committing, $requested,
  $timed, @surplus, %reached, @outside);

sub is_free { return $world->{free} }

sub new_program {
  my ($r) = @_;
  my $program = {next => 0, waiting => undef, request => {}, got => {}, posted => [], posts => 0,
    history => term('rank', $r), sent => {}, given => {}, unexpected => [], outputs => [], calls => 0, call => undef};
  advance($program, $r);
  return $program;
}

sub copy {
  my ($p) = @_;
  return {%$p, request => {%{$p->{request}}}, got => {%{$p->{got}}},
    posted => [map { {%$_} } @{$p->{posted}}], unexpected => [@{$p->{unexpected}}],
    outputs => [@{$p->{outputs}}],
    call => $p->{call} && {%{$p->{call}}},
    map { my $flows = $p->{$_}; $_ => {map { $_ => [@{$flows->{$_}}] } keys %$flows} } qw(sent given)};
}

sub ended { my ($p, $r) = @_; return $p->{next} >= @{$script[$r]} }

# Passes what needs no event.
sub advance {
  my ($p, $r) = @_;
  return if $p->{sending};
  while (!ended($p, $r)) {
    my $op = $script[$r][$p->{next}];
    if (defined $p->{waiting}) {
      my $name = $p->{waiting};
      return if !exists $p->{got}{$name};
      $p->{history} = term('saw', $p->{history}, delete $p->{got}{$name});
      delete $p->{request}{$name};
      $p->{waiting} = undef;
      $p->{next}++;
    } elsif ($op->{kind} == WAIT) {
      $p->{waiting} = $op->{name};
    } elsif ($op->{kind} == COMPUTE
      || $op->{kind} == CHECKPOINT && $world->{anywhere} && (!$op->{count} || $world->{channel})) {
      $p->{next}++;
    } else {
      return;
    }
  }
  $p->{over} = 1;
}

sub content_here { my ($p) = @_; return is_free() ? 0 : term('from', $p->{history}, $p->{next}) }

sub reset_rank {
  my ($me, $phase) = @_;
  %$me = (r => $me->{r}, stored => $me->{stored}, origin => $me->{origin}, born => $me->{born},
    noticed => $me->{noticed}, phase => $phase, slots => {}, incarnation => 0, line => 0,
    stopped => 0, closed => 0, anew => 0, held => 0, declared => 0, drains => undef, program => undef);
}

sub flow { return join ' ', @_ }    # peer, comm, tag

sub takes {
  my ($peer, $tag, $from, $sent) = @_;
  return ($peer == ANY || $peer == $from) && ($tag == ANY || $tag == $sent);
}

# ---- messages: from the sender's program, in its incarnation, until they are received ----

sub exists_for { my ($me, $m) = @_; return $m->{in} >= $me->{incarnation} && $m->{in} <= $me->{noticed} }

# Ranks that have noticed that this one was declared dead take nothing more from it.
sub is_cut_off {
  my ($me, $you) = @_;
  return $world->{independent} && $me->{declared} && $you->{noticed} >= $me->{born};
}

sub send_off {
  my ($list, $to, $m) = @_;
  my $you = $rank[$to];
  return if $you->{phase} eq 'dead' || is_cut_off($rank[$m->{from}], $you);
  my $back = $you->{phase} eq 'restarting' || $you->{phase} eq 'restoring';
  my $oldest = !$back ? $you->{incarnation} : $world->{independent} ? $you->{noticed} : $incarnation;
  push @{$list->{$to}}, $m if $m->{in} >= $oldest;
}

sub forget_older {
  my ($to, $than, $from) = @_;
  for my $list (\%wire, \%shares, \%control) {
    $list->{$to} = [grep { $_->{in} >= $than || defined $from && $_->{from} != $from } @{$list->{$to}}];
  }
}

sub flows_from_to {
  my ($call, $from, $to) = @_;
  return 0 if $from == $to;
  return $from == $call->{root} if $call->{flow} eq 'from-root';
  return $to == $call->{root} if $call->{flow} eq 'to-root';
  return 1;
}

# ---- one step ----

sub bad { my ($property) = @_; $seen{$property} = 1 }

sub reach {
  my ($what, $count) = @_;
  $reached{$what} = $count if $count > ($reached{$what} // 0);
}

# The program is given a message: in the order of its flow, each once.
sub give {
  my ($me, $request, $peer, $m) = @_;
  my $p = $me->{program};
  if (!is_free()) {
    my ($posted) = grep { $_->{request} == $request } @{$p->{posted}};
    return bad('legal') if !$posted;
    bad('legal') if $posted->{comm} != $m->{comm} || !takes($posted->{peer}, $posted->{tag}, $peer, $m->{tag});
    $p->{posted} = [grep { $_ != $posted } @{$p->{posted}}];
    $p->{got}{$_} = $m->{content} for grep { $p->{request}{$_} == $request } keys %{$p->{request}};
  }
  my $given = $p->{given}{flow($peer, $m->{comm}, $m->{tag})} //= [];
  bad('no-loss') if $m->{place} > @$given + 1;
  bad('no-duplicate') if $m->{place} < @$given + 1;
  push @$given, $m->{content};
}

sub hand_over {
  my ($me, $request, $peer, $m) = @_;
  return give($me, $request, $peer, $m) if !$world->{channel} || is_free();
  for my $posted (@{$me->{program}{posted}}) {
    return give($me, $posted->{request}, $peer, $m)
      if $posted->{announced} && $posted->{comm} == $m->{comm} && takes($posted->{from}, $posted->{from_tag}, $peer, $m->{tag});
  }
  push @{$me->{program}{unexpected}}, $m;
}

sub end_call {
  my ($me, @given) = @_;
  my $p = $me->{program};
  $p->{history} = term('saw', $p->{history}, @given) if @given;
  $p->{call} = undef;
  $p->{next}++;
}

sub post {
  my ($me, $e) = @_;
  my $p = $me->{program};
  return if $e->{request} <= $p->{posts};
  $p->{posts} = $e->{request};
  push @{$p->{posted}}, {request => $e->{request}, peer => $e->{peer}, tag => $e->{tag}, comm => $e->{comm},
    from => $e->{peer}, from_tag => $e->{tag}, announced => $world->{channel}};
  my $op = $script[$me->{r}][$p->{next}];
  my $name = $op->{kind} == RECV ? OWN : $op->{name};
  $p->{request}{$name} = $e->{request};
  if ($op->{kind} == IRECV) { $p->{next}++ }
  else { $p->{waiting} = $name }
  return if !$world->{channel};
  my $waits = $p->{unexpected};
  my ($place) = grep { $waits->[$_]{comm} == $e->{comm} && takes($e->{peer}, $e->{tag}, @{$waits->[$_]}{qw(from tag)}) }
    0 .. $#$waits or return;
  my ($found) = splice @$waits, $place, 1;
  give($me, $e->{request}, $found->{from}, $found);
}

sub behind {
  my ($me) = @_;
  return 0 if $me->{declared};
  return $me->{phase} =~ /^(running|capturing|restoring)$/ && $me->{noticed} != $incarnation
    if !$world->{independent};
  return $me->{phase} eq 'running' && grep { $_ != $me && $_->{born} > $me->{noticed} } @rank;
}

sub fenced {
  my ($me) = @_;
  return $me->{declared} || !$world->{independent} && $me->{incarnation} < $incarnation;
}

sub durable {
  my ($me, $checkpoint, $part) = @_;
  my ($found) = grep { $_->{checkpoint} == $checkpoint && $_->{part} eq $part && $_->{durable} } @{$me->{stored}};
  return $found;
}

sub keep_stored {
  my ($me, $keep) = @_;
  $me->{stored} = [grep { $keep->($_) } @{$me->{stored}}];
}

sub begin_again {
  my ($me, $image) = @_;
  $me->{program} = $image ? copy($image) : new_program($me->{r});
  $me->{program}{unexpected} = [] if $world->{independent};
  $me->{program}{sending} = undef;
  $me->{program}{call}{joined} = 0 if $me->{program}{call};
  return if $world->{channel};
  for (@{$me->{program}{posted}}) {
    @$_{qw(announced from from_tag)} = (0, $_->{peer}, $_->{tag});
  }
}

sub start {
  my ($me, $e) = @_;
  my $checkpoint = $e->{checkpoint} // 0;
  if ($world->{independent}) {
    my ($stored) = grep { $_->{checkpoint} == $checkpoint && $_->{part} eq 'image' } @{$me->{stored}};
    bad('restorable') if $stored && $stored->{torn};
    my $image = $stored ? $stored->{program} : $checkpoint ? $me->{image} : undef;
    $me->{slots} = {%{$stored->{slots}}} if $me->{phase} eq 'restarting' && $stored;
    keep_stored($me, sub { $_->{part} ne 'image' || $_->{checkpoint} <= $checkpoint });
    begin_again($me, $image);
    forget_older($me->{r}, $me->{noticed});
    $me->{incarnation} = $me->{noticed};
    delete $me->{image} if $me->{line} != $checkpoint;
  } else {
    reset_rank($me, 'dead');
    forget_older($me->{r}, $incarnation);
    keep_stored($me, sub { $_->{checkpoint} == $checkpoint });
    my $image = durable($me, $checkpoint, 'image');
    my $log = durable($me, $checkpoint, 'log') // $image;
    return bad('restorable') if $checkpoint && !$image;
    bad('restorable') if $checkpoint && ($image->{torn} || $log->{torn});
    $me->{slots} = {%{$log->{slots}}} if $checkpoint;
    begin_again($me, $checkpoint ? $image->{program} : undef);
    @$me{qw(incarnation noticed closed anew)} = ($incarnation, $incarnation, ($e->{closed} ? 1 : 0) x 2);
  }
  $me->{phase} = 'running';
  $me->{line} = $me->{stopped} = $checkpoint;
  reach('recoveries', $me->{incarnation}) if $checkpoint;
  reach('recovered', $checkpoint);
}

# ---- clocks ----

# Returns whether x <= y for all bounds D >= 0 and L >= S >= 0; tries many of them. A time is a
# checkpoint, and factors of D, L and S.
my @bounds = ([0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1], map { my ($l, $s) = sort { $b <=> $a } rand 9, rand 9; [rand 9, $l, $s] } 1 .. 8);
sub never_after {
  my ($x, $y, $d, $l, $s) = @_;
  return $x->[0] < $y->[0] if $x->[0] != $y->[0];
  my @more = ($x->[1] + $d - $y->[1], $x->[2] + $l - $y->[2], $x->[3] + $s - $y->[3]);
  return !grep { $more[0] * $_->[0] + $more[1] * $_->[1] + $more[2] * $_->[2] > 1e-9 } @bounds;
}

sub holds { my ($bound) = @_; return !($world->{exceeds} & 1 << $bound) }

sub too_early {
  my ($me) = @_;
  return 0 if !holds(0);
  for my $you (@rank) {
    if ($you != $me && $you->{phase} =~ /^(running|capturing)$/ && $you->{incarnation} == $me->{incarnation}) {
      my ($set, $rung) = map { $_ ? $_->[0] : 0 } @$you{qw(alarm rung)};
      return 1 if $set < $me->{alarm}[0] && $rung < $me->{alarm}[0];
      return 1 if $set && never_after($you->{alarm}, $me->{alarm}, 2, 0, 0);
    }
    return 1 if holds(1) && grep { $_->{from} == $you->{r} && $_->{before} && exists_for($me, $_)
        && never_after($_->{before}, $me->{alarm}, 2, 1, 0) } @{$wire{$me->{r}}};
  }
  return 0;
}

sub too_fast {
  my ($me, $m) = @_;
  return 0 if !$m->{after} || !$me->{alarm} || !holds(0);
  return never_after($me->{alarm}, $m->{after}, 2, 0, holds(2) ? -1 : 0);
}

# ---- events ----

# Does what happens before the protocol takes its step. Returns false if it takes none.
sub happens {
  my ($me, $e, $now) = @_;
  my ($r, $p) = ($me->{r}, $me->{program});
  if ($e->{name} eq 'start') {
    start($me, $e);
  } elsif ($e->{name} eq 'down') {
    $now->{undone} = $me->{phase} eq 'restoring';
    @$me{qw(phase went_back noticed)} = ('running', 0, $world->{independent} ? $e->{incarnation} : $incarnation);
    forget_older($r, $me->{noticed}, $e->{peer}) if $world->{independent};
  } elsif ($e->{name} eq 'timer' && !$world->{clocks}) {
    $me->{timer} = 0;
  } elsif ($e->{name} eq 'timer') {
    bad('bounds') if too_early($me);
    $me->{rung} = delete $me->{alarm};
    for my $m (map { @$_ } values %wire) {
      $m->{before} //= $me->{rung} if $m->{from} == $r;
    }
  } elsif ($e->{name} eq 'send') {
    my $sent = $p->{sent}{flow($e->{peer}, $e->{comm}, $e->{tag})} //= [];
    push @$sent, content_here($p);
    $now->{message} = {from => $r, comm => $e->{comm}, tag => $e->{tag}, content => $sent->[-1],
      place => scalar @$sent, in => $me->{noticed}, line => $me->{line}, stopped => $me->{stopped},
      number => $e->{number}, after => $me->{rung}};
    $p->{next}++;
  } elsif ($e->{name} eq 'output') {
    says($me, $e->{output});
  } elsif ($e->{name} eq 'receive') {
    post($me, $e);
    return 0 if $world->{channel};
  } elsif ($e->{name} eq 'arrived') {
    my $place = (grep { $wire{$r}[$_]{number} == $e->{number} } 0 .. $#{$wire{$r}})[0];
    die "message $e->{number} is not under way\n" if !defined $place;
    $now->{message} = (splice @{$wire{$r}}, $place, 1);
    bad('bounds') if $world->{clocks} && too_fast($me, $now->{message});
  } elsif ($e->{name} eq 'control') {
    my @way = grep { $_->{from} == $e->{peer} && $_->{in} >= $me->{incarnation} && $_->{in} <= $me->{noticed} } @{$control{$r}};
    reach('control-overtakes', 1) if $world->{hazards} & 16 && !$world->{channel} && @way > 1;
    $control{$r} = [grep { $_->{number} != $e->{number} } @{$control{$r}}];
  } elsif ($e->{name} eq 'collective') {
    $p->{calls}++ if !$p->{call};
    $p->{call} = {flow => $e->{flow}, root => $e->{root}, comm => $e->{comm}, number => $e->{call}, joined => 0};
  } elsif ($e->{name} eq 'sent') {
    my $to = $script[$r][$p->{next} - 1]{peer};
    die "the send of rank $r has not ended\n" if !$p->{sending} || $me->{held}
      || grep { ($_->{number} // 0) == $p->{sending} } @{$wire{$to}}, @{$rank[$to]{program} ? $rank[$to]{program}{unexpected} : []};
    $p->{sending} = undef;
    advance($p, $r);
    return 0;
  } elsif ($e->{name} eq 'collected') {
    collect($me, $now);
  } elsif ($e->{name} eq 'captured') {
    bad('quiet-channels') if grep { exists_for($me, $_) } @{$wire{$r}},
      grep { $_->{from} == $r } map { @$_ } values %wire;
    @$me{qw(image phase closed anew line covered)} = (copy($p), 'running', $e->{closed} ? 1 : 0, 0, $e->{checkpoint} // 0, 0);
  } elsif ($e->{name} eq 'durable') {
    my ($stored) = grep { !$_->{reported} && $_->{part} eq $e->{part} } @{$me->{stored}};
    @$stored{qw(reported durable)} = (1, !$e->{early});
    commits($e->{checkpoint}, $me->{noticed}) if $world->{independent} && $e->{part} eq 'image' && !$e->{early};
    drop_old_logs($me) if $world->{independent} && $e->{part} eq 'log';
  } elsif ($e->{name} eq 'committed') {
    ($committed, $committing, $requested) = ($e->{checkpoint}, 0, 0);
    commits($committed, $incarnation);
    leaves($_, delete $_->{covered}) for grep { $_->{covered} && $_->{line} == $committed } @rank;
  }
  return $me->{phase} eq 'running';
}

# ---- the outside ----

# Notes that an output is made. An output that has left must be the same when it is made again.
sub says {
  my ($me, $number) = @_;
  my ($p, $seen) = ($me->{program}, $outside[$me->{r}]);
  push @{$p->{outputs}}, content_here($p);
  $p->{next}++;
  die "output $number, and the program has made " . @{$p->{outputs}} . "\n" if $number != @{$p->{outputs}};
  return if $number > @$seen;
  reach('output-again', 1);
  bad('output') if $seen->[$number - 1] != $p->{outputs}[-1];
}

sub leaves {
  my ($me, $last) = @_;
  my ($made, $seen) = ($me->{program}{outputs}, $outside[$me->{r}]);
  return if $last <= @$seen;
  push @$seen, @$made[@$seen .. $last - 1];
  reach('outputs', $last);
}

sub let_out {
  my ($me, $a) = @_;
  my ($last, $checkpoint) = ($a->{output} // 0, $a->{checkpoint} // 0);
  return bad('legal') if !$last || $last > @{$me->{program}{outputs}};
  return bad('legal') if $checkpoint && ($world->{independent} || $checkpoint != $me->{line});
  return if fenced($me);
  return leaves($me, $last) if $checkpoint <= $committed || !$checkpoint;
  $me->{covered} = $last;
}

# Returns whether an output waits for something else than its own rank's writes.
sub waits_for_others {
  my ($me) = @_;
  return $me->{program} && @{$outside[$me->{r}]} < @{$me->{program}{outputs} // []} && !grep { !$_->{reported} } @{$me->{stored}};
}

# ---- useful checkpoints ----

# Returns whether this image belongs to a state of all ranks in which no message is received and not
# sent. In such a state each rank is as it is now, at a stored image, or at its beginning; all
# combinations are tried.
sub is_useful {
  my ($of, $image) = @_;
  my @states = map { my $me = $_;
      $me == $of ? [$image->{program}]
        : [$me->{program}, new_program($me->{r}), map { $_->{program} } grep { $_->{part} eq 'image' } @{$me->{stored}}]
    } @rank;
  my @choice = (0) x @rank;
  while (1) {
    return 1 if is_consistent(map { $states[$_][$choice[$_]] } 0 .. $#rank);
    my $r = 0;
    $choice[$r++] = 0 while $r < @rank && $choice[$r] == $#{$states[$r]};
    return 0 if $r == @rank;
    $choice[$r]++;
  }
}

sub is_consistent {
  my @programs = @_;
  for my $r (0 .. $#programs) {
    for my $flow (keys %{$programs[$r]{given}}) {
      my ($peer, $comm, $tag) = split / /, $flow;
      return 0 if @{$programs[$r]{given}{$flow}} > @{$programs[$peer]{sent}{flow($r, $comm, $tag)} // []};
    }
  }
  return 1;
}

sub has_useless {
  my ($me) = @_;
  return grep { $_->{part} eq 'image' && !is_useful($me, $_) } @{$me->{stored}};
}

sub commits {
  my ($checkpoint, $recoveries) = @_;
  reach('commits', $checkpoint);
  reach('later', $recoveries);
}

# Notes that a rank behind checkpoint `line` receives data. Contributions are noted before the step,
# which may be refused.
sub crosses {
  my ($data, $line) = @_;
  reach($data->{line} < $line ? 'late' : 'early', $data->{line} != $line);
}

sub collect {
  my ($me, $now) = @_;
  my ($p, $call) = ($me->{program}, $me->{program}{call});
  my @contents;
  for my $peer (0 .. $#rank) {
    push @contents, content_here($p) if $peer == $me->{r} && $call->{flow} ne 'from-root';
    next if !flows_from_to($call, $peer, $me->{r});
    my ($share) = grep { $_->{from} == $peer && $_->{comm} == $call->{comm}
        && $_->{call} == $call->{number} && exists_for($me, $_) } @{$shares{$me->{r}}} or next;
    push @contents, $share->{content};
    if ($call->{flow} ne 'barrier') {
      push @{$now->{collected}}, $share;
      crosses($share, $me->{line});
    }
    $shares{$me->{r}} = [grep { $_ != $share } @{$shares{$me->{r}}}];
  }
  my $none = $call->{flow} eq 'barrier';
  $now->{message} = {comm => $call->{comm}, tag => $call->{number}, place => 0, from => $me->{root} // 0,
    content => $none ? 0 : term('all', @contents)};
}

# ---- actions ----

my %answers = (send => 'transmit|suppress', receive => 'match|deliver', arrived => 'deliver|discard',
  collective => 'join|suppress|deliver', collected => 'deliver|capture');
my %only_at = (transmit => 'send', suppress => 'send|collective', join => 'collective', match => 'receive',
  deliver => 'arrived|collected|captured', keep => 'arrived|collected|send', discard => 'arrived', force => 'choice');
my %needs = (keep => 'slot', forget => 'slot', resend => 'slot', rejoin => 'call', capture => 'checkpoint',
  commit => 'checkpoint', output => 'output');
my %repeated = map { $_ => 1 } qw(forget resend rejoin control erase output);

# Returns whether the grammar of a step refuses the actions; none is carried out then.
sub is_refused {
  my ($me, $e, @actions) = @_;
  my ($at, $given, %had) = ($e->{name}, 0);
  for my $a (@actions) {
    my $name = $a->{name};
    my $passes = $name eq 'deliver' && $a->{slot} && $world->{channel};
    my $form = $name eq 'store' ? "store $a->{part}" : $name;
    my $answers = $answers{$at} && $name =~ /^($answers{$at})$/ && (!$passes || $at eq 'collective');
    return 1 if $had{'roll-back'} || $had{$form} && !$repeated{$name} && !$passes;
    return 1 if $answers && $given || $name eq 'keep' && $given || $name eq 'discard' && $had{keep};
    return 1 if !may_stand($me, $e, $a, $passes) || !has_fields($me, $e, $a, $passes);
    return 1 if $name eq 'roll-back' && ($had{capture} || !$world->{independent} && ($had{'store image'} || $had{'store log'}));
    $given ||= $answers;
    $had{$form} = 1;
  }
  return $answers{$at} && !$given && !$had{'give-up'} && !($at eq 'arrived' && $had{keep}) && !defined $e->{cut};
}

sub may_stand {
  my ($me, $e, $a, $passes) = @_;
  my ($name, $at) = ($a->{name}, $e->{name});
  my $only = $name eq 'deliver' && $a->{slot} ? 'receive|collective' : $only_at{$name};
  return 0 if $only && $at !~ /^($only)$/ && !$passes;
  return 0 if $name eq 'capture' && $at eq 'collected' && $e->{flow} ne 'barrier';
  return $at eq 'down' && ($a->{checkpoint} // 0) == ($e->{checkpoint} // 0) if $name eq 'roll-back' && !$world->{independent};
  return !$me->{r} && !$world->{independent} if $name eq 'commit';
  return $world->{collectives} if $name eq 'rejoin';
  return $world->{reconnects} if $name eq 'open';
  return !$world->{channel} if $name eq 'drain';
  return $name ne 'output' || !$a->{checkpoint} || !$world->{independent};
}

sub has_fields {
  my ($me, $e, $a, $passes) = @_;
  my ($name, $r, $checkpoint, $peer) = ($a->{name}, $me->{r}, $a->{checkpoint} // 0, $a->{peer} // 0);
  my $request = $e->{name} =~ /^(receive|arrived)$/ ? $e->{request} // 0 : 0;
  return 0 if $needs{$name} && !$a->{$needs{$name}};
  return 0 if $a->{slot} && $name !~ /^(deliver|keep|forget|resend)$/;
  return 0 if $checkpoint && $name !~ /^(capture|store|commit|erase|roll-back|output|set-timer|stopped-logging)$/;
  return 0 if $name eq 'store' && !$checkpoint && !($world->{independent} && $a->{part} eq 'log');
  return !!$checkpoint == !!$world->{clocks} if $name eq 'set-timer';
  return 0 if $name =~ /^(match|deliver)$/ && ($a->{request} // 0) != $request;
  return 0 if $name eq 'deliver' && $e->{name} eq 'arrived' && !$world->{channel} && !$request;
  return 0 if $name eq 'force' && $e->{request} && $a->{outcome} > 1;
  return $peer >= 0 && $peer <= $#rank && $peer != $r && $a->{words} =~ /^(\d+)/ && $1 < $world->{controls} if $name eq 'control';
  return $peer >= NOBODY && $peer <= $#rank if $name eq 'match';
  return 1 if $name !~ /^(resend|drain)$/ || $name eq 'drain' && $peer == ANY;
  return $peer >= 0 && $peer <= $#rank && !$world->{strangers}{"$r $peer"};
}

sub is_open {
  my ($me, $to) = @_;
  my $you = $rank[$to];
  my $runs = $you->{phase} =~ /^(new|running|capturing)$/;
  return 0 if $me->{closed};
  return !$you->{closed} if $runs && $you->{incarnation} == $me->{incarnation};
  return !($me->{anew} && $incarnation == $me->{incarnation} && $you->{phase} ne 'dead');
}

sub acts {
  my ($me, $e, $a, $now) = @_;
  my ($r, $p, $name) = ($me->{r}, $me->{program}, $a->{name});
  if ($me->{noticed}) {
    reach('replayed', 1) if $name eq 'resend' || $name eq 'deliver' && $a->{slot};
    reach('suppressed', 1) if $name eq 'suppress' || $name eq 'discard';
    reach('forced', 1) if $name eq 'force' || $name eq 'match' && ($a->{peer} != $e->{peer} || $a->{tag} != $e->{tag});
  }
  my $kept = $me->{slots}{$a->{slot} // 0};
  if ($name eq 'transmit') {
    bad('legal') if !is_open($me, $e->{peer});
    send_off(\%wire, $e->{peer}, $now->{message});
    $p->{sending} = $now->{message}{number} // NEVER if $script[$r][$p->{next} - 1]{kind} == SEND && $script[$r][$p->{next} - 1]{count};
  } elsif ($name eq 'resend') {
    return bad('legal') if !$kept || !$kept->{place};
    send_off(\%wire, $a->{peer}, {%$kept, in => $me->{noticed}, number => $a->{number}, after => $me->{rung},
        before => undef, from => $r});
  } elsif ($name eq 'keep') {
    return bad('legal') if $kept;
    $me->{slots}{$a->{slot}} = {%{$now->{message}}, from => $e->{peer} // $e->{root}, sent => $e->{name} eq 'send'};
    @$_{qw(announced from from_tag)} = (0, $_->{peer}, $_->{tag})
      for grep { $e->{name} eq 'arrived' && $_->{request} == ($e->{request} // 0) } @{$p->{posted}};
  } elsif ($name eq 'forget') {
    return bad('legal') if !$kept;
    delete $me->{slots}{$a->{slot}};
  } elsif ($name eq 'deliver') {
    return bad('legal') if $a->{slot} && !$kept || $e->{name} eq 'captured' && !$a->{slot} && !$p->{call};
    if ($e->{name} eq 'collective') { end_call($me, $kept->{content}) }
    elsif ($a->{slot}) { hand_over($me, $a->{request}, $kept->{from}, $kept) }
    elsif ($e->{name} ne 'arrived') { end_call($me, $now->{message} && $now->{message}{content} || ()) }
    else { hand_over($me, $a->{request}, $e->{peer}, $now->{message}) }
  } elsif ($name eq 'suppress') {
    end_call($me) if $e->{name} eq 'collective';
  } elsif ($name eq 'join') {
    my $call = $p->{call};
    $call->{joined} = 1;
    for my $to (grep { flows_from_to($call, $r, $_) } 0 .. $#rank) {
      my %share = (from => $r, comm => $call->{comm}, call => $call->{number}, in => $me->{noticed},
        content => content_here($p), line => $me->{line}, stopped => $me->{stopped});
      my ($swallow) = exists_for($rank[$to], \%share) ? grep { $_->{comm} == $share{comm} && $_->{call} == $share{call}
          && $_->{root} == $r } @{$rank[$to]{rejoined}} : ();
      $rank[$to]{rejoined} = [grep { $_ != $swallow } @{$rank[$to]{rejoined}}] if $swallow;
      send_off(\%shares, $to, \%share) if !$swallow;
    }
    end_call($me) if !grep { flows_from_to($call, $_, $r) } 0 .. $#rank;
  } elsif ($name eq 'rejoin') {
    return bad('legal') if !$me->{noticed}
      || $p->{call} && $p->{call}{comm} == $a->{comm} && $p->{call}{number} <= $a->{call};
    my ($share) = grep { $_->{from} == $a->{root} && $_->{comm} == $a->{comm} && $_->{call} == $a->{call} } @{$shares{$r}};
    if ($share) { $shares{$r} = [grep { $_ != $share } @{$shares{$r}}] }
    else { push @{$me->{rejoined}}, $a }
  } elsif ($name eq 'control') {
    return bad('legal') if $a->{peer} < 0 || $a->{peer} > $#rank || $a->{peer} == $r;
    send_off(\%control, $a->{peer}, {in => $me->{noticed}, number => $a->{number}, from => $r});
  } elsif ($name eq 'match') {
    my ($posted) = grep { $_->{request} == $a->{request} } @{$p->{posted}} or return bad('legal');
    my $peer = $a->{peer} == NOBODY && $me->{incarnation} ? ANY : $posted->{peer};
    bad('legal') if !takes($peer, $posted->{tag}, $a->{peer}, $a->{tag});
    @$posted{qw(announced from from_tag)} = (1, $a->{peer}, $a->{tag});
  } elsif ($name eq 'force') {
    bad('legal') if !$me->{noticed};
    $now->{outcome} = $a->{outcome};
  } elsif ($name eq 'hold') {
    $me->{held} = 1;
  } elsif ($name eq 'release') {
    @$me{qw(held drains)} = (0, undef);
  } elsif ($name eq 'drain') {
    $me->{drains} = $a->{peer};
  } elsif ($name eq 'capture') {
    my $barrier = $e->{name} eq 'collected' && $e->{flow} eq 'barrier';
    return bad('legal') if $e->{name} ne 'safe-point' && !$barrier && !$me->{held} && !$world->{channel};
    return bad('legal') if !$barrier && $p->{call} && $p->{call}{joined};
    bad('legal') if $a->{checkpoint} <= $me->{line};
    $me->{phase} = 'capturing';
  } elsif ($name eq 'commit') {
    return if fenced($me);
    bad('legal') if $committing || $a->{checkpoint} <= $committed;
    $committing = $a->{checkpoint};
  } elsif ($name eq 'erase') {
    keep_stored($me, sub { $_->{checkpoint} != ($a->{checkpoint} // 0) || $world->{independent} && $_->{part} ne 'image' })
      if !fenced($me);
  } elsif ($name eq 'roll-back') {
    roll_back($me, $e, $a->{checkpoint} // 0);
    $now->{rolled_back} = 1;
  } elsif ($name eq 'open') {
    bad('legal') if !$me->{closed};
    $me->{closed} = 0;
  } elsif ($name eq 'set-timer' && !$world->{clocks}) {
    $me->{timer} = $me->{timed} = 1;
    $timed = 1;
  } elsif ($name eq 'set-timer') {
    my $checkpoint = $a->{checkpoint} // 0;
    return bad('legal') if $me->{alarm} || $checkpoint < ($me->{rung} ? $me->{rung}[0] : 0);
    $me->{alarm} = [$checkpoint, split /,/, $a->{after}];
    $timed = 1 if !$r;
  } elsif ($name eq 'stopped-logging') {
    my $checkpoint = $a->{checkpoint} // 0;
    $me->{stopped} = $checkpoint;
    bad('c3-1.1') if grep { $_->{phase} =~ /^(new|running|capturing)$/ && $_->{incarnation} == $me->{incarnation}
        && $_->{line} < $checkpoint } @rank;
    push @surplus, $a->{surplus} // 0;
    if (@surplus == @rank) {
      my $sum = 0;
      $sum += $_ for splice @surplus;
      bad('tokens') if $sum % 2**32;
    }
  } elsif ($name eq 'output') {
    let_out($me, $a);
  } elsif ($name eq 'give-up') {
    bad('recovers');
  } elsif ($name eq 'store') {
    store($me, $a);
  }
}

sub goes_back {
  my ($me, $checkpoint) = @_;
  bad('local-rollback');
  bad('once-per-failure') if $me->{went_back};
  bad('own-iteration') if $checkpoint != $me->{line};
  bad('no-domino') if 1 < grep { $_->{part} eq 'image' && $_->{durable} && $_->{checkpoint} > $checkpoint } @{$me->{stored}};
}

sub roll_back {
  my ($me, $e, $checkpoint) = @_;
  if (!$world->{independent}) {
    goes_back($me, $checkpoint);
    reset_rank($me, 'restoring');
    return forget_older($me->{r}, $incarnation);
  }
  return bad('legal') if $checkpoint && !($me->{image} && $me->{line} == $checkpoint)
    && !grep { $_->{part} eq 'image' && $_->{checkpoint} == $checkpoint } @{$me->{stored}};
  goes_back($me, $checkpoint);
  @$me{qw(phase held drains origin went_back)} = ('restoring', 0, undef, $checkpoint, 1);
}

sub store {
  my ($me, $a) = @_;
  my $checkpoint = $a->{checkpoint} // 0;
  return if fenced($me);
  my %record = (checkpoint => $checkpoint, part => $a->{part}, slots => {%{$me->{slots}}});
  if ($a->{part} eq 'image') {
    return bad('legal') if !$me->{image} || $me->{line} != $checkpoint;
    bad('frees-at-capture')
      if $world->{bounded} && !(grep { $_->{phase} !~ /^(new|running|capturing)$/ } @rank) && keeps_garbage($me, 1);
    $record{program} = delete $me->{image};
  }
  bad('legal') if $a->{part} eq 'log' && !$world->{independent}
    && grep { $_->{part} eq 'log' && $_->{checkpoint} == $checkpoint } @{$me->{stored}};
  keep_stored($me, sub { $_->{part} ne $a->{part} || $_->{checkpoint} != $checkpoint })
    if $a->{part} eq 'image' || !$world->{independent};
  push @{$me->{stored}}, \%record;
}

# Returns the rank's program at its recovery line; undef: it begins anew.
sub line_of {
  my ($me) = @_;
  my $line = $committed;
  ($line) = sort { $b <=> $a } map { $_->{checkpoint} } grep { $_->{part} eq 'image' && $_->{durable} } @{$me->{stored}}
    if $world->{independent};
  my $image = $line && durable($me, $line, 'image');
  return $image && $image->{program};
}

# Returns whether the rank keeps a message that is in its receiver's line, while nothing is on its
# way that could tell the rank so. A message that was sent behind one that the line lacks does not
# count at a capture.
sub keeps_garbage {
  my ($me, $captured) = @_;
  my %gap;
  return 0 if $world->{independent} && $incarnation;
  my @news = (@{$control{$me->{r}}}, $world->{channel} ? @{$wire{$me->{r}}} : ());
  for my $kept (map { $me->{slots}{$_} } sort { $a <=> $b } keys %{$me->{slots}}) {
    my ($to, $from) = $kept->{sent} ? ($rank[$kept->{from}], $me->{r}) : ($me, $kept->{from});
    my $line = line_of($to);
    my $given = $line && $line->{given}{flow($from, $kept->{comm}, $kept->{tag})};
    my $needed = !$given || $kept->{place} > @$given;
    $gap{$kept->{from}} = 1 if $captured && $kept->{sent} && $needed;
    return 1 if !$needed && !($kept->{sent} && $gap{$kept->{from}}) && !grep { $_->{from} == $kept->{from} } @news;
  }
  return 0;
}

# ---- a line of the trace ----

sub fields {
  my ($text) = @_;
  my ($name, @words) = split / /, $text;
  my %fields = (name => $name);
  for (@words) {
    if (/^([a-z]+)=(.*)$/) { $fields{$1} = $2 eq 'any' ? ANY : $2 eq 'nobody' ? NOBODY : $2 }
    elsif (/^\@(\d+)$/) { $fields{number} = $1 }
    else { $fields{$_} = 1 }
  }
  return \%fields;
}

# Returns the properties that the step violates.
sub take {
  my ($line, $broken) = @_;
  %seen = ();
  my $state = $line =~ s/ # ([0-9a-f]+)$// ? $1 : '';
  $line =~ s/^\d+ (\S+) //;
  my ($r, $event, @actions) = ($1, map { fields($_) } split / \| /, $line);
  my $me = $r eq '-' ? undef : $rank[$r];
  if ($me && $state) {
    $event->{unmoved} = $state eq ($me->{state} // '');
    $me->{state} = $state;
  }
  if ($event->{name} eq 'crash') {
    my $ends = $event->{writes} // 0;
    for (my $left = $ends; $left; $left = int $left / 3) {
      reach($left % 3 == 1 ? 'whole-writes' : 'torn-writes', 1) if $left % 3;
    }
    $ends = fails($_, $ends) for grep { $_->{r} - $r < $world->{node} && !$_->{declared} && $_->{phase} =~ /^(running|capturing|restoring)$/ } @rank[$r .. $#rank];
    return;
  }
  return found_dead($event) if $event->{name} eq 'detected';
  return end_declared($me) if $event->{name} eq 'ended';
  if ($event->{name} eq 'lie') {
    my ($m) = grep { $_->{number} == $event->{number} } @{$wire{$r}};
    if ($event->{drop}) { $wire{$r} = [grep { $_ != $m } @{$wire{$r}}] }
    else { push @{$wire{$r}}, {%$m} }
    return;
  }
  my %now = (outcome => $event->{outcome});
  bad('invariant') if $broken;
  if (!happens($me, $event, \%now)) {
    advance($me->{program}, $r) if $me->{phase} eq 'running';
    fails_within($me) if defined $event->{cut} && $me->{phase} eq 'running';
    return;
  }
  my ($stopped, $behind) = @$me{qw(stopped line)};
  if (is_refused($me, $event, @actions)) {
    %seen = (legal => 1);
    advance($me->{program}, $r) if $me->{phase} eq 'running';
    fails_within($me) if defined $event->{cut};
    return;
  }
  acts($me, $event, $_, \%now) for (grep { $_->{name} ne 'store' } @actions), grep { $_->{name} eq 'store' } @actions;
  bad('output-local') if waits_for_others($me);
  bad('legal') if !defined $event->{cut} && $now{undone} && !$now{rolled_back};
  crosses($now{message}, $behind) if $event->{name} eq 'arrived';
  for my $data ($event->{name} eq 'arrived' ? [$now{message}, 'c3-1'] : map { [$_, 'c3-2'] } @{$now{collected}}) {
    bad("$data->[1].2") if $data->[0]{stopped} > $me->{stopped};
    bad("$data->[1].3") if $stopped > $data->[0]{line};
  }
  if ($event->{name} eq 'timer' && !fenced($me) && !($world->{clocks} && $event->{checkpoint} <= $committed)) {
    my $put_off = @actions == 1 && $actions[0]{name} eq 'set-timer' && $event->{unmoved};
    $requested = 1 if !$world->{independent} && !$put_off;
  }
  chooses($me, $event, \%now) if $event->{name} eq 'choice';
  if (my $p = $me->{program}) {
    $p->{next}++ if $event->{name} eq 'safe-point' && ($event->{iteration} || !$world->{anywhere}) && !ended($p, $r);
    advance($p, $r) if $me->{phase} eq 'running';
  }
  fails_within($me) if defined $event->{cut};
}

sub fails_within {
  my ($me) = @_;
  reach('cut-steps', 1);
  fails($me, 0);
}

sub chooses {
  my ($me, $e, $now) = @_;
  my $p = $me->{program};
  my $name = $script[$me->{r}][$p->{next}]{name};
  $p->{history} = term('chose', $p->{history}, $now->{outcome});
  if (!$e->{request}) {
    $p->{next}++;
  } elsif ($now->{outcome}) {
    bad('legal') if !grep { $_->{request} == $e->{request} } @{$p->{posted}};
    $p->{posted} = [grep { $_->{request} != $e->{request} } @{$p->{posted}}];
    delete $p->{request}{$name};
  } else {
    $p->{waiting} = $name;
  }
}

# Ends each write under way as lost, whole or torn: 0, 1 or 2.
sub fails {
  my ($me, $ends) = @_;
  for (grep { !$_->{durable} } @{$me->{stored}}) {
    my $end = $ends % 3;
    $ends = int $ends / 3;
    @$_{qw(durable reported)} = (1, 1) if $end;
    $_->{torn} = 1 if $end == 2 && !($world->{independent} && $_->{part} eq 'log');
  }
  reset_rank($me, 'dead');
  $me->{noticed} = 0;
  ($wire{$me->{r}}, $shares{$me->{r}}, $control{$me->{r}}) = ([], [], []);
  keep_stored($me, sub { $_->{durable} });
  drop_old_logs($me) if $world->{independent};
  $committing = $requested = 0 if !$me->{r};
  return $ends;
}

# The process of a rank that was declared dead ends.
sub end_declared {
  my ($me) = @_;
  my ($newest) = sort { $b <=> $a } map { $_->{checkpoint} }
    grep { $_->{part} eq 'image' && $_->{durable} } @{$me->{stored}};
  reset_rank($me, 'restarting');
  $me->{origin} = $newest // 0 if $world->{independent}; # wherever it has gone back to meanwhile
  forget_older($me->{r}, $world->{independent} ? $me->{born} : $incarnation);
  $me->{noticed} = $me->{born} if $world->{independent};
}

sub drop_old_logs {
  my ($me) = @_;
  my $newest;
  $newest = $_ for grep { $_->{part} eq 'log' && $_->{durable} } @{$me->{stored}};
  keep_stored($me, sub { $_->{part} ne 'log' || !$_->{durable} || $_ == $newest });
}

sub found_dead {
  my ($e) = @_;
  ($incarnation, $target) = ($e->{incarnation}, $e->{checkpoint});
  if ($e->{falsely}) {
    reach('false-detection', 1);
    my $me = $rank[$e->{rank}];
    @$me{qw(declared born origin)} = (1, $world->{independent} ? ($incarnation, $target) : @$me{qw(born origin)});
    keep_stored($me, sub { $_->{durable} });
    return if $world->{independent};
  } elsif ($world->{independent}) {
    @{$rank[$e->{rank}]}{qw(phase born noticed origin)} = ('restarting', $incarnation, $incarnation, $target);
    return;
  }
  $committing = $requested = 0;
  for my $me (@rank) {
    keep_stored($me, sub { $_->{durable} });
    $me->{phase} = 'restarting' if $me->{phase} eq 'dead';
  }
}

# ---- whole states ----

sub waits {
  my ($ends, $commits, $requests) = @_;
  my %waits;
  for my $me (@rank) {
    $waits{$ends} = 1 if $me->{phase} !~ /^(running|capturing)$/ || !$me->{program}{over}
      || $me->{held} || $me->{declared} || behind($me);
  }
  $waits{$commits} = 1 if $requested || $world->{independent} && grep { $_->{image} && ($_->{timer} || $_->{alarm}) } @rank;
  my @set = map { $_->{timer} || $_->{alarm} ? 1 : 0 } @rank;
  my $awaited = $world->{independent} ? grep { $_->{timed} } @rank : $timed && !$requested;
  $waits{$requests} = 1 if $awaited && ($world->{independent} || $world->{clocks} ? grep { !$_ } @set : !grep { $_ } @set);
  return \%waits;
}

# Returns whether every timer that may ask for the next checkpoint only sets itself again. With
# independent recovery one timer is enough, of a rank that has no checkpoint under way; with clocks
# only the coordinator's timer counts.
sub asks_in_vain {
  my ($vain) = @_;
  my @asking = grep { $_->{timer} || $_->{alarm} } $world->{clocks} ? $rank[0] : @rank;
  return grep { $vain->{$_->{r}} && !$_->{image} } @asking if $world->{independent};
  return !$requested && @asking && !grep { !$vain->{$_->{r}} } @asking;
}

sub at_end {
  my %wrong;
  for my $me (@rank) {
    my ($r, $given) = ($me->{r}, $me->{program}{given});
    for my $flow (keys %$given) {
      my ($peer, $comm, $tag) = split / /, $flow;
      my @sent = @{$rank[$peer]{program}{sent}{flow($r, $comm, $tag)} // []};
      my @first = @sent[0 .. $#{$given->{$flow}}];
      $wrong{agreement} = 1 if @sent < @{$given->{$flow}} || "@first" ne "@{$given->{$flow}}";
    }
    my @left = @{$me->{program}{unexpected}};
    push @left, grep { exists_for($me, $_) } @{$wire{$r}} if !defined $me->{drains} && !$world->{channel};
    $wrong{'no-duplicate'} = 1
      if grep { $_->{place} <= @{$given->{flow($_->{from}, $_->{comm}, $_->{tag})} // []} } @left;
    my ($seen, $made) = ($outside[$r], $me->{program}{outputs});
    $wrong{output} = 1 if @$seen > @$made || grep { $seen->[$_] != $made->[$_] } 0 .. $#$seen;
    $wrong{'no-orphan'} = 1 if grep { exists_for($me, $_) } @{$shares{$r}};
  }
  return \%wrong;
}

# ---- what programs can end with when nothing fails ----

# A state is the programs, what is under way between each two, and what has been contributed to calls.
# undef: too many to say.
sub outcomes {
  my (%found, %known);
  local ($world->{anywhere}, $world->{channel}) = (1, 0);
  my @todo = {wire => {}, shares => {}, programs => [map { new_program($_) } 0 .. $#script]};
  while (my $state = shift @todo) {
    next if $known{describe($state)}++;
    return if keys %known > 2000;
    $found{join ' ', map { $_->{history} } @{$state->{programs}}} = 1
      if !grep { !$state->{programs}[$_]{over} } 0 .. $#script;
    push @todo, map { next_states($state, $_) } 0 .. $#script;
  }
  return \%found;
}

sub describe {
  my ($state) = @_;
  my ($wire, $shares) = @$state{qw(wire shares)};
  return join ';', (map { my $p = $_;
      join ',', $p->{next}, $p->{waiting} // '', $p->{sending} // '', $p->{history}, $p->{call} ? $p->{call}{joined} : '',
        (map { "$_->{request}" } @{$p->{posted}}), '/', map { "$_=$p->{got}{$_}" } sort keys %{$p->{got}}
    } @{$state->{programs}}),
    map { "$_:" . join ',', map { $_->{content} } @{$wire->{$_}} } sort keys %$wire;
}

# Returns a copy of the state in which the program of rank r has gone on as `how` says.
sub after {
  my ($state, $r, $how) = @_;
  my %next = (wire => {map { $_ => [@{$state->{wire}{$_}}] } keys %{$state->{wire}}},
    shares => {%{$state->{shares}}}, programs => [map { copy($_) } @{$state->{programs}}]);
  my $p = $next{programs}[$r];
  $how->($p, \%next);
  advance($p, $r);
  return \%next;
}

sub next_states {
  my ($state, $r) = @_;
  my $p = $state->{programs}[$r];
  my @next;
  for my $from (0 .. $#script) {
    my $wire = $state->{wire}{"$from $r"} // [];
    for my $place (0 .. $#$wire) {
      my @into = map { my $m = $_; (grep { takes($_->{peer}, $_->{tag}, $from, $m->{tag}) && $_->{comm} == $m->{comm} } @{$p->{posted}})[0] } @$wire[0 .. $place];
      my $posted = pop @into or next;
      next if !$world->{overtaking} && grep { $world->{fifo} || takes($posted->{peer}, $posted->{tag}, $from, $_->{tag}) && $posted->{comm} == $_->{comm} } @$wire[0 .. $place - 1];
      push @next, after($state, $r, sub {
        my ($mine, $all) = @_;
        my ($m) = splice @{$all->{wire}{"$from $r"}}, $place, 1;
        $mine->{posted} = [grep { $_->{request} != $posted->{request} } @{$mine->{posted}}];
        $mine->{got}{$_} = $m->{content} for grep { $mine->{request}{$_} == $posted->{request} } keys %{$mine->{request}};
      });
    }
  }
  return @next if defined $p->{waiting};
  if (my $sent = $p->{sending}) {
    return @next if grep { $_->{content} == $sent } map { @$_ } @{$state->{wire}}{grep /^$r /, keys %{$state->{wire}}};
    return @next, after($state, $r, sub { $_[0]{sending} = undef });
  }
  return @next if ended($p, $r);
  my $op = $script[$r][$p->{next}];
  if ($op->{kind} == SEND) {
    push @next, after($state, $r, sub {
      my ($mine, $all) = @_;
      my $content = content_here($mine);
      push @{$all->{wire}{"$r $op->{peer}"}}, {content => $content, tag => $op->{tag}, comm => $op->{comm}};
      $mine->{sending} = $op->{count} ? $content : undef;
      $mine->{next}++;
    });
  } elsif ($op->{kind} == CHOOSE) {
    for my $outcome (0 .. $op->{count} - 1) {
      push @next, after($state, $r, sub { $_[0]{history} = term('chose', $_[0]{history}, $outcome); $_[0]{next}++ });
    }
  } elsif ($op->{kind} == CANCEL && $p->{request}{$op->{name}}) {
    my $request = $p->{request}{$op->{name}};
    for my $outcome (0, grep { $request == $_->{request} } @{$p->{posted}}) {
      push @next, after($state, $r, sub {
        my ($mine) = @_;
        $mine->{history} = term('chose', $mine->{history}, $outcome ? 1 : 0);
        return $mine->{waiting} = $op->{name} if !$outcome;
        $mine->{posted} = [grep { $_->{request} != $request } @{$mine->{posted}}];
        delete $mine->{request}{$op->{name}};
      });
    }
  } elsif ($op->{kind} == RECV || $op->{kind} == IRECV || $op->{kind} == CANCEL) {
    push @next, after($state, $r, sub {
      my ($mine) = @_;
      my $name = $op->{kind} == RECV ? OWN : $op->{name};
      push @{$mine->{posted}}, {request => $mine->{request}{$name} = ++$mine->{posts}, map { $_ => $op->{$_} } qw(peer tag comm)};
      if ($op->{kind} == IRECV) { $mine->{next}++ }
      else { $mine->{waiting} = $name }
    });
  } elsif ($op->{kind} == COLLECTIVE) {
    push @next, calls($state, $r, $op);
  } else {
    push @next, after($state, $r, sub { $_[0]{next}++ });
  }
  return @next;
}

# A rank joins the call, and goes on when all data that flow to it are there.
sub calls {
  my ($state, $r, $op) = @_;
  my $p = $state->{programs}[$r];
  my $call = {flow => (qw(none from-root to-root all barrier))[$op->{flow}], root => $op->{peer}};
  if (!$p->{call}) {
    return after($state, $r, sub {
      my ($mine, $all) = @_;
      $mine->{call} = {joined => 1};
      $all->{shares}{++$mine->{calls} . " $r"} = content_here($mine);
      end_call({program => $mine}) if !grep { flows_from_to($call, $_, $r) } 0 .. $#script;
    });
  }
  my @from = grep { $_ == $r ? $call->{flow} ne 'from-root' : flows_from_to($call, $_, $r) } 0 .. $#script;
  my @contents = map { $state->{shares}{"$p->{calls} $_"} // () } @from;
  return if @contents < @from;
  return after($state, $r, sub { end_call({program => $_[0]}, $call->{flow} eq 'barrier' ? () : term('all', @contents)) });
}

# If there are too many outcomes to list, the judge believes the world.
sub wrong_outcome {
  my ($file, $saw) = @_;
  my $key = "@$world{qw(fifo overtaking)}";
  $outcomes_of{$file}{$key} = outcomes() if !exists $outcomes_of{$file}{$key};
  my $outcomes = $outcomes_of{$file}{$key};
  my $ends = join ' ', map { $_->{program}{history} } @rank;
  return {outcome => 1} if $outcomes ? !$outcomes->{$ends} : !$saw;
  return {};
}

# ---- a walk ----

my %count;    # walks in which a property was violated

sub judge_walk {
  my ($head, @lines) = @_;
  (%wire, %shares, %control, @rank, @script, @surplus, %reached, @outside) = ();
  ($incarnation, $target, $committed, $committing, $requested, $timed) = (0) x 6;
  my ($file) = $head =~ /(\S+)$/;
  $terms = $terms_of{$file} //= {};
  %$terms = %{$outcomes_of{$file} = {}} if keys %$terms > 100_000;
  my (%judged, %set);
  while (@lines) {
    my $line = shift @lines;
    last if $line eq '---';
    if ($line =~ s/^world //) { $world = {map { split /=/ } split / /, $line}; @script = map { [] } 1 .. $world->{ranks} }
    elsif ($line =~ s/^judged //) { %judged = map { $_ => 1 } qw(recovers outcome), split / /, $line }
    elsif ($line =~ /^timer (\d+)/) { $set{$1} = 1 }
    elsif ($line =~ /^stranger (\d+ \d+)/) { $world->{strangers}{$1} = 1 }
    elsif ($line =~ s/^op (\d+) //) { my %op; @op{qw(kind peer tag comm name count flow)} = split / /, $line; push @{$script[$1]}, \%op }
  }
  $world->{free} = grep { $_->{kind} == FREE } map { @$_ } @script;
  for my $r (0 .. $world->{ranks} - 1) {
    $rank[$r] = {r => $r, stored => [], born => 0, noticed => 0, origin => 0};
    reset_rank($rank[$r], 'new');
    $rank[$r]{program} = new_program($r);
    ($wire{$r}, $shares{$r}, $control{$r}, $outside[$r]) = ([], [], [], []);
    @{$rank[$r]}{qw(phase timer)} = ('running', $set{$r}) if is_free();
  }
  $timed = 1 if %set;
  my ($step, $over, %vain) = ('', 0);
  while (@lines) {
    my $line = shift @lines;
    $vain{$1} = 1, next if $line =~ /^vain (\d+)/;
    if ($line =~ s/^reached //) {
      my $shown = join ' ', map { $reached{$_} // 0 } qw(ends commits later recoveries recovered late early replayed suppressed forced falls-back
        cut-steps whole-writes torn-writes false-detection control-overtakes
        outputs output-again);
      return "the monitor saw reached $line, the judge $shown" if $line ne $shown;
      next;
    }
    my ($what, $saw, $wrong) = ('', '-', {});
    if ($line =~ /^\d/) {
      my ($broken) = @lines && $lines[0] =~ /^broken/ ? shift @lines : undef;
      $saw = $1 if @lines && $lines[0] =~ /^saw (\S+)/ and shift @lines;
      take($line, $broken);
      ($step, $wrong) = ($line, {%seen});
      $over = 1 if $saw ne '-';
    } elsif (!$over) {
      ($what, $saw) = split / /, $line;
      $wrong = $what eq 'end' ? at_end() : $what eq 'rest' ? waits('deadlock', 'commits', 'requests')
        : $what eq 'ever' ? waits(('progress') x 3) : wrong_outcome($file, $saw);
      $wrong->{requests} = 1 if $what eq 'rest' && asks_in_vain(\%vain);
      $wrong->{frees} = 1 if $what eq 'rest' && grep { keeps_garbage($_) } @rank;
      $wrong->{useful} = 1 if $what eq 'rest' && !$incarnation && grep { has_useless($_) } @rank;
      $wrong->{'output-at-rest'} = 1 if $what eq 'rest' && grep { $_->{program} && @{$outside[$_->{r}]} < @{$_->{program}{outputs} // []} } @rank;
      $wrong->{bounded} = 1 if $what eq 'rest' && grep { 2 < grep { $_->{part} eq 'image' } @{$_->{stored}} } @rank;
      $saw = $saw ? '-' : 'outcome' if $what eq 'outcome';
    } else {
      next;
    }
    my @wrong = grep { $judged{$_} } sort keys %$wrong;
    $count{$saw}++ if $saw ne '-';
    next if $saw eq '-' ? !@wrong : grep { $_ eq $saw } @wrong;
    return "$what at $step: the monitor saw $saw, the judge " . (join(' ', @wrong) || '-');
    }
  return;
}

# ---- the worlds ----

# The judge knows neither programs that test, branch, make communicators or windows, storage that a crash
# takes along, restarts that fail, nor messages outside of a topology.
my @worlds = grep { system('grep', '-qE', 'levels:|attempts:|(test|waitany|member) [a-h1-3]|if [0-9]+ \\(|rank .: window|^id: c3-outside-topology', $_) }
  sort grep { !m{/claims/long/} } glob("$root/verify/{claims,mutants}/*/*.yaml");
open my $walker, '-|', "$build/t/monitor-walks", $first, @ARGV ? 1 : $walks, 50, join(',', @properties), @worlds
  or die "monitor-walks: $!";
my (@lines, $done, @differ);

sub finish_walk {
  return if !@lines;
  $done++;
  print map { "$_\n" } @lines if @ARGV;
  my $why = eval { judge_walk(@lines) };
  $why = "the judge fails: $@" if $@;
  push @differ, "$lines[0]: $why" if $why;
}

while (my $line = <$walker>) {
  chomp $line;
  if ($line =~ /^walk /) {
    finish_walk();
    @lines = ();
  }
  push @lines, $line;
}
finish_walk();
ok(close $walker, 'the walks end');
is($done, @ARGV ? 1 : $walks, 'all of them');
is(scalar @differ, 0, 'the naive judge sees what the monitors see');
diag($_) for @differ[0 .. (@differ > 10 ? 9 : $#differ)];
note(join ', ', map { "$_ $count{$_}" } sort keys %count);
is(join(' ', grep { !$count{$_} } $ENV{RECLINE_LONG} ? grep { $_ ne 'no-domino' } @properties
    : qw(legal recovers deadlock commits)), # others are too rare in 1,000 walks; for no-domino walks are too short
  '', 'properties are violated') if !@ARGV;
done_testing;
