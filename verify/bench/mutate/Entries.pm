# Reads files of changes. Each line is FILE [FUNCTION] ||| [LINE BEFORE // ]LINE ||| CHANGED LINE
# ||| WHAT, where WHAT is a reason (mutate-known.txt), or names the detector that must notice the
# change (mutate-noticed.txt).
package Entries;
use strict;
use warnings;
use Changes;
use Tree;

sub trim { return $_[0] =~ s{/\*.*?\*/}{}gr =~ s/^\s+|\s+$//gr }

# Returns the entries of a file, each as {at, file, function, from, to, what, lines}; `lines` has
# the numbers of the lines of the source that the entry fits, from 0. If there is none in that
# function, the program ends with exit code 64.
sub read_entries {
  my ($root, $path) = @_;
  my @entries;
  my $number = 0;
  for (split /\n/, read_file($path)) {
    $number++;
    next if /^#|^\s*$/;
    my ($place, $from, $to, $what) = split /\s*\|\|\|\s*/;
    my ($file, $function) = split / /, $place;
    my $at = "$path:$number";
    $what && -e "$root/$file" or refuse("$at: found '$_', expected FILE ||| LINE ||| CHANGED LINE ||| WHAT");
    my @raw = split /\n/, read_file("$root/$file"), -1;
    my @lines = map { trim($_) } @raw;
    my @places = grep { !$function || function_at(\@raw, $_) eq $function }
      grep { $lines[$_] eq $from || $_ && "$lines[$_ - 1] // $lines[$_]" eq $from } 0 .. $#lines;
    @places or refuse("$at: $file has no line '$from'" . ($function ? " in $function()" : '') . ', expected one');
    push @entries, {at => $at, file => $file, function => $function, from => $from, to => $to, what => $what,
      lines => \@places};
  }
  return @entries;
}

sub refuse { print STDERR "$_[0]\n"; exit 64 }

# Returns the entry for the change of line `i` of `file` to `to`; nothing if there is none.
sub entry_of {
  my ($entries, $file, $i, $to) = @_;
  my ($entry) = grep { $_->{file} eq $file && $_->{to} eq trim($to) && grep { $_ == $i } @{$_->{lines}} } @$entries;
  return $entry;
}

1;
