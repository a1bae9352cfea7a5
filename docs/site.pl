#!/usr/bin/perl
# site.pl RECLINE FOLDER: the documents as plain HTML, with a playground. A page for each Markdown
# file; other files that they lead to are copied, links to folders become text. Needs cmark-gfm.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Path 'make_path';

die "usage: site.pl RECLINE FOLDER\n" unless @ARGV == 2;
my ($recline, $site) = (abs_path($ARGV[0]), $ARGV[1]);
my $root = abs_path(dirname($0) . '/..');
make_path($site);
$site = abs_path($site);
chdir $root or die "$root: $!\n";

my @pages = ('README.md', sort(glob 'docs/*.md'), sort(glob 'docs/*/*.md'));
my %is_page = map { $_ => 1 } @pages;
my $playground = 'docs/playground.html';

sub read_file { my ($file) = @_; open my $in, '<', $file or die "$file: $!\n"; local $/; return scalar <$in> }

# Without "." and "..".
sub plain
{
  my @parts;
  for my $part (split m{/}, $_[0]) {
    if ($part eq '..') { pop @parts } elsif ($part ne '.' && $part ne '') { push @parts, $part }
  }
  return join '/', @parts;
}

sub html_name { my ($page) = @_; return $page eq 'README.md' ? 'index.html' : $page =~ s/\.md$/.html/r }

# From a page to another path of the site.
sub path_to { my ($from, $to) = @_; return '../' x ($from =~ tr{/}{}) . $to }

# As GitHub makes them of headings.
sub anchor
{
  my $text = lc $_[0] =~ s/<[^>]*>//gr;
  $text =~ s/&(amp|lt|gt|quot);//g;
  return $text =~ s/[^\w\s-]//gr =~ s/ /-/gr;
}

sub link_of
{
  my ($page, $url, $inside) = @_;
  return qq(<a href="$url">$inside</a>) if $url =~ /^(https?:|#)/;
  my ($path, $anchor) = $url =~ /^([^#]*)(#.*)?$/;
  my $target = plain(dirname($page) . "/$path");
  return $inside if -d $target;
  return qq(<a href=") . path_to($page, html_name($target)) . ($anchor // '') . qq(">$inside</a>) if $is_page{$target};
  fetch($target);
  return qq(<a href=") . path_to($page, $target) . qq(">$inside</a>);
}

sub fetch
{
  my ($file) = @_;
  make_path(dirname("$site/$file"));
  copy($file, "$site/$file") or die "$file: $!\n";
}

my $style = <<'END';
:root { color-scheme: light dark }
body { margin: 0; font: 16px/1.5 sans-serif; display: grid; grid-template-columns: 14rem minmax(0, 60rem) }
nav { padding: 1rem; font-size: 0.9em } nav a { display: block } nav .in { padding-left: 1em }
main { padding: 1rem 2rem } pre, table { overflow-x: auto; display: block }
pre { padding: 0.7rem; border: 1px solid #8886; border-radius: 4px }
td, th { border: 1px solid #8886; padding: 0.2rem 0.5rem; text-align: left } table { border-collapse: collapse }
img { max-width: 100%; background: #fff } iframe { width: 100%; height: 80vh; border: 1px solid #8886 }
@media (max-width: 60rem) { body { display: block } }
END

my %title = map { $_ => read_file($_) =~ /^# (.+)$/m ? $1 =~ s/`//gr : $_ } @pages;

sub navigation
{
  my ($page) = @_;
  my $text = '';
  for my $other (@pages) {
    my ($current, $in) = ($other eq $page ? ' aria-current="page"' : '', $other =~ m{^docs/protocols/} ? ' class="in"' : '');
    $text .= qq(<a$in$current href=") . path_to($page, html_name($other)) . qq(">$title{$other}</a>\n);
  }
  return qq(<nav aria-label="Pages">\n$text</nav>);
}

for my $page (@pages) {
  open my $from, '-|', 'cmark-gfm', '-e', 'table', $page or die "cmark-gfm: $!\n";
  my $body = do { local $/; <$from> };
  close $from or die "cmark-gfm failed on $page\n";
  my %used;
  $body =~ s{<h([1-6])>(.*?)</h\1>}{my $id = anchor($2); $id .= "-$used{$id}" if $used{$id}++; qq(<h$1 id="$id">$2</h$1>)}ge;
  $body =~ s{<img src="([^":]+)"}{my $file = plain(dirname($page) . "/$1"); fetch($file); qq(<img src=") . path_to($page, $file) . '"'}ge;
  $body =~ s{<a href="([^"]*)">(.*?)</a>}{link_of($page, $1, $2)}gse;
  $body .= qq(<iframe title="Playground" src="playground.html"></iframe>\n) if $page eq 'docs/play.md';
  my $file = "$site/" . html_name($page);
  make_path(dirname($file));
  open my $to, '>', $file or die "$file: $!\n";
  print $to qq(<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n),
    qq(<meta name="viewport" content="width=device-width">\n<title>$title{$page}), ($page eq 'README.md' ? '' : ' - recline'),
    qq(</title>\n<style>\n$style</style>\n</head>\n<body>\n), navigation($page), "\n<main>\n$body</main>\n</body>\n</html>\n";
  close $to or die "$file: $!\n";
}
system($recline, 'play', 'c3-no-suppress', '-o', "$site/$playground") == 0 or die "no playground\n";
