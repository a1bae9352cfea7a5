# Files of changes, a line each: FILE [FUNCTION] ||| [LINE BEFORE // ]LINE ||| CHANGED LINE ||| WHAT,
# where WHAT is a reason (mutate-known.txt), or names what is to notice it (mutate-noticed.txt).
package Entries;
use strict;
use warnings;
use Changes;
use Tree;

sub trim { return $_[0] =~ s{/\*.*?\*/}{}gr =~ s/^\s+|\s+$//gr }

# Those of a file, each {file, function, from, to, what, line}, `line` being where its source has it,
# from 0. One of which the source has no such line, or several, in that function, ends the program
# with exit code 64.
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

# The entry of a change of line `i` of `file` to `to`; nothing when there is none.
sub entry_of {
  my ($entries, $file, $i, $to) = @_;
  my ($entry) = grep { $_->{file} eq $file && $_->{to} eq trim($to) && grep { $_ == $i } @{$_->{lines}} } @$entries;
  return $entry;
}

1;
