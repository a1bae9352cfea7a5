#!/usr/bin/perl
# The site (docs/site.pl): a page for each document, whose links, pictures and headings are there.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Find 'find';
use File::Temp 'tempdir';

my $root = abs_path(dirname($0) . '/../..');
my $build = abs_path($ENV{RECLINE_BUILD} || "$root/build");
if (system('cmark-gfm --version >/dev/null 2>&1') != 0) {
  print "1..0 # SKIP cmark-gfm is not installed\n";
  exit 0;
}
my ($said, $wrong) = (0, 0);
sub ok
{
  my ($good, $name, @more) = @_;
  $said++;
  $wrong++ unless $good;
  print $good ? '' : 'not ', "ok $said - $name\n", map { "# $_\n" } $good ? () : @more;
}
sub read_file { my ($file) = @_; open my $in, '<', $file or die "$file: $!"; local $/; return scalar <$in> }

my $site = tempdir(CLEANUP => 1);
my $began = time;
my $printed = `$root/docs/site.pl $build/bin/recline $site 2>&1`;
ok($? == 0 && $printed =~ tr/\n// == 1, 'the site is made', $printed);
ok(time - $began < 60, 'in less than a minute');
my @pages;
find({ no_chdir => 1, wanted => sub { push @pages, $_ if /\.html$/ && !/playground/ } }, $site);
my @documents = glob "$root/README.md $root/docs/*.md $root/docs/*/*.md";
ok(@pages == @documents && @documents > 30, 'a page for each document', scalar @pages);
my ($links, %ids, @bad) = (0);
for my $page (@pages) {
  my $text = read_file($page);
  $ids{$page} = { map { $_ => 1 } $text =~ / id="([^"]*)"/g };
  push @bad, "$page: no title" unless $text =~ m{<title>[^<]+</title>};
  push @bad, "$page: Markdown is left" if $text =~ s{<(pre|code)\b.*?</\1>}{}gsr =~ /\]\(|^#+ |^\|/m;
}
ok(!@bad, 'each has a title and is HTML', @bad);
@bad = ();
for my $page (@pages) {
  for my $url (read_file($page) =~ / (?:href|src)="([^"]*)"/g) {
    next if $url =~ /^https?:/;
    $links++;
    my ($file, $anchor) = $url =~ /^([^#]*)(?:#(.*))?$/;
    my $path = abs_path($file eq '' ? $page : dirname($page) . "/$file") // '';
    if (!-f $path || index($path, abs_path($site)) != 0) {
      push @bad, "$page: $url";
    } elsif (defined $anchor && !$ids{$path}{$anchor}) {
      push @bad, "$page: $url: no such heading";
    }
  }
}
ok($links > 1000 && !@bad, "$links links lead to files and headings of the site", @bad);
ok(read_file("$site/docs/play.html") =~ /<iframe[^>]*src="playground\.html"/ && -s "$site/docs/playground.html" > 100_000,
  'the playground is in it');

# ---- navigation, contents, colours, search ----

my $index = read_file("$site/index.html");
my @order = map { $index =~ m{<h2>\Q$_\E</h2>(.*?)(?:<h2>|</nav>)}s ? $1 : '' } 'Use it', 'Extend it', 'Understand it', 'See results';
ok($order[0] =~ /^\s*<ul>\s*<li><a href="docs\/tutorial\.html"/ && $order[1] =~ /add-a-protocol/ && $order[2] =~ /architecture/
  && $order[3] =~ /how-sure.*reality/s, 'pages are in the order of the tasks of README.md', @order);
ok($index =~ m{<nav.*<a href="docs/playground\.html">.*</nav>}s, 'the playground is linked');
my $check = read_file("$site/docs/check.html");
ok($check =~ m{<details class="contents".*<a href="#verdicts">Verdicts</a>.*</details>}s, 'a page has its contents');
my $matrix = read_file("$site/docs/protocols/matrix.html");
my %cells;
$cells{"$1 $2"}++ while $matrix =~ m{<td class="(\w+)">([\w-]+)}g;
ok($cells{'holds holds'} > 100 && $cells{'violated deadlock'} && $cells{'refused refused'} && !grep({ /^holds/ && $_ ne 'holds holds' } keys %cells),
  'the verdict matrix has colours', map { "$_ $cells{$_}" } sort keys %cells);
ok(4 == (() = $matrix =~ /<span class="key \w+">/g), 'and says what they mean');

if (2 > grep { my $tool = $_; grep { -x "$_/$tool" } split /:/, $ENV{PATH} } qw(node chromium)) {
  print "# node or chromium is missing\n";
} else {
  my @lines = split /\n/, `node $root/docs/t/site-clicks.js $site 2>&1`;
  ok($? == 0 && @lines > 3, 'a browser has tried it', @lines);
  for (@lines) { ok(!$1, "in a browser: $2", @lines) if /^(not )?ok \d+ - (.*)/ }
}
print "1..$said\n";
exit($wrong > 0);
