#!/bin/sh
# Tests docs/replication.md and its pages: each published value is there once, counts are the counts
# of rows, and rows and constants that take seconds to make are what `recline replicate` makes now.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1
pages=$root/docs/replication

# ---- each published value, once ----

sed '1d; s/,.*//' "$root/scenarios/replication/published.csv" | sort >ids
sed -n 's/^| `\([^`]*\)` | [^|]* | [^|]* | [^|]* | [^|]* |$/\1/p' "$pages"/*-*.md | sort >shown
same shown ids 'each published value is on a page, once'

# ---- counts ----

# Prints for each page, and for all, the counts of its rows, as the pages say them.
cat >count.pl <<'END'
my (%in, %of, %all_in, %all_of);
sub told {
  my ($in, $of) = @_;
  my $n = sub { ($in->{$_[0]} // 0) . ' of ' . ($of->{$_[0]} // 0) };
  return $n->('') . ' informative; ' . join ', ', map { "$_ " . $n->($_) } qw(zero derived shared claim);
}
for my $page (@ARGV) {
  open my $file, '<', $page or die;
  my (%in, %of);
  while (<$file>) {
    my ($published, $verdict, $kind) =
      /^\| `[^`]*` \| ([^|]*) \| [^|]* \| [^|]* \| (\w+)(?:, (\w+))? \|$/ or next;
    next if $verdict eq 'input';
    $kind = $published eq 'claim' ? 'claim' : $kind // '';
    $_->{$kind}++ for \%of, \%all_of;
    $verdict =~ /^(within|true)$/ and $_->{$kind}++ for \%in, \%all_in;
  }
  print told(\%in, \%of), "\n";
}
print told(\%all_in, \%all_of), "\n";
END
# Reads the same counts from the sentences of the index.
cat >sentences.pl <<'END'
while (<>) {
  my ($in, $of) = /(\d+) of (\d+) informative results within/ or next;
  my %n = ('zero' => '0 of 0', 'derived' => '0 of 0', 'shared' => '0 of 0', 'claim' => '0 of 0');
  $n{zero} = $1 if /(\d+ of \d+) published as zero/;
  $n{derived} = $1 if /(\d+ of \d+) that an input decides/;
  $n{shared} = $1 if /(\d+ of \d+) of one shared constant/;
  $n{claim} = $1 if /(\d+ of \d+) claims? true/;
  print "$in of $of informative; ", join(', ', map { "$_ $n{$_}" } qw(zero derived shared claim)), "\n";
}
END
set --
for page in $(sed -n 's#^.*](replication/\([a-z0-9-]*\)\.md) | [0-9].*#\1#p' "$root/docs/replication.md"); do
  set -- "$@" "$pages/$page.md"
done
perl count.pl "$@" >counted
perl sentences.pl "$root/docs/replication.md" >said
same said counted 'the index counts what the pages show'
for page; do
  perl sentences.pl "$page"
done >said
sed '$d' counted >each
same said each 'and so does each page'

# ---- what takes seconds ----

"$recline" replicate bookmark.t1a --out made >stdout 2>stderr
is "$?" 0 'Table 1(a) is simulated' stderr
rows() { grep -h '^| `bookmark.t1a' "$@"; }
rows made/replication/hursey-et-al-hpdc-2009.md >rows
rows "$pages/hursey-et-al-hpdc-2009.md" >page
same page rows 'its rows are those of the page'
same "$pages/constants.md" made/replication/constants.md 'the constants are those of the platforms'
finish 6
