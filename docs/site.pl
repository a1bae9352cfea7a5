#!/usr/bin/perl
# site.pl RECLINE FOLDER: makes plain HTML of the documents, with a playground and a search. Each
# Markdown file becomes a page, in the order of the tasks in README.md. Other files to which
# documents link are copied, and links to folders become text. Pages are made by several processes.
# Needs cmark-gfm.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename qw(basename dirname);
use File::Copy 'copy';
use File::Path 'make_path';
use JSON::PP;

die "usage: site.pl RECLINE FOLDER\n" unless @ARGV == 2;
my ($recline, $site) = (abs_path($ARGV[0]), $ARGV[1]);
my $root = abs_path(dirname($0) . '/..');
make_path($site);
$site = abs_path($site);
chdir $root or die "$root: $!\n";

my @pages = ('README.md', sort(glob 'docs/*.md'), sort(glob 'docs/*/*.md'));
my %is_page = map { $_ => 1 } @pages;
my $playground = 'docs/playground.html';
my $matrix = 'docs/protocols/matrix.md';

sub read_file { my ($file) = @_; open my $in, '<', $file or die "$file: $!\n"; local $/; return scalar <$in> }
sub write_file { my ($file, $text) = @_; make_path(dirname($file)); open my $out, '>', $file or die "$file: $!\n"; print $out $text; close $out or die "$file: $!\n" }

# Returns the path without "." and "..".
sub plain
{
  my @parts;
  for my $part (split m{/}, $_[0]) {
    if ($part eq '..') { pop @parts } elsif ($part ne '.' && $part ne '') { push @parts, $part }
  }
  return join '/', @parts;
}

sub html_name { my ($page) = @_; return $page eq 'README.md' ? 'index.html' : $page =~ s/\.md$/.html/r }

# Returns the way from a page to another path of the site.
sub path_to { my ($from, $to) = @_; return '../' x ($from =~ tr{/}{}) . $to }

# Makes the anchor of a heading, as GitHub does.
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

# ---- navigation: the tasks of README.md, and the pages of each ----

my %title = map { $_ => read_file($_) =~ /^# (.+)$/m ? $1 =~ s/`//gr : $_ } @pages;

sub groups
{
  my (@groups, %listed);
  for my $line (split /\n/, read_file('README.md')) {
    my ($task, $links) = $line =~ /^\| ([a-z][a-z ]+) \| (\[.*) \|$/ or next;
    my @listed = grep { $is_page{$_} && !$listed{$_}++ && m{^docs/[^/]+\.md$} } $links =~ /\]\(([^)#]+)\)/g;
    push @groups, [ucfirst $task, @listed];
  }
  die "README.md has no table of documents\n" unless @groups;
  my @others = grep { !$listed{$_} && m{^docs/[^/]+\.md$} } @pages;
  push @groups, ['More', @others] if @others;
  return @groups;
}

my @groups = groups();

sub entry
{
  my ($page, $other) = @_;
  my $current = $other eq $page ? ' aria-current="page"' : '';
  return qq(<a$current href=") . path_to($page, html_name($other)) . qq(">$title{$other}</a>);
}

sub navigation
{
  my ($page) = @_;
  my $text = '<ul><li>' . entry($page, 'README.md') . qq(</li>\n<li><a href=") . path_to($page, $playground) . qq(">Playground: a world to take move by move</a></li></ul>\n);
  for my $group (@groups) {
    my ($task, @listed) = @$group;
    $text .= "<h2>$task</h2>\n<ul>\n";
    for my $other (@listed) {
      my @below = grep { m{^\Q${\($other =~ s/\.md$//r)}\E/} } @pages;
      my $open = grep({ $_ eq $page } $other, @below) ? ' open' : '';
      $text .= '<li>' . entry($page, $other);
      $text .= "<details$open aria-label=\"Below $title{$other}\"><summary>" . @below . " more</summary>\n<ul>" . join('', map { '<li>' . entry($page, $_) . "</li>\n" } @below) . '</ul></details>' if @below;
      $text .= "</li>\n";
    }
    $text .= "</ul>\n";
  }
  return qq(<nav class="pages" id="pages" aria-label="Pages">\n$text</nav>);
}

# ---- a page ----

# Gives headings their anchors. Returns the list [level, anchor, HTML of the heading].
sub name_headings
{
  my ($body) = @_;
  my (%used, @headings);
  $$body =~ s{<h([1-6])>(.*?)</h\1>}{
    my ($level, $inside) = ($1, $2);
    my $id = anchor($inside);
    $id .= "-$used{$id}" if $used{$id}++;
    push @headings, [$level, $id, $inside];
    qq(<h$level id="$id">$inside</h$level>)}ge;
  return @headings;
}

sub contents
{
  my @headings = grep { $_->[0] == 2 || $_->[0] == 3 } @_;
  return '' if @headings < 3;
  my ($text, $deep) = ('', 0);
  for my $heading (@headings) {
    my ($level, $id, $inside) = @$heading;
    $text .= '<ul>' x ($level - 2 - $deep) if $level - 2 > $deep;
    $text .= '</ul>' if $level - 2 < $deep;
    $deep = $level - 2;
    $text .= qq(<li><a href="#$id">) . ($inside =~ s/<a [^>]*>|<\/a>//gr) . "</a></li>\n";
  }
  my $open = @headings <= 12 ? ' open' : '';
  return qq(<details class="contents" aria-label="On this page"$open><summary>On this page</summary>\n<ul>\n$text) . ('</ul>' x $deep) . "</ul>\n</details>\n";
}

# Colours the cells of the verdict matrix, and says what colours mean.
sub colour_matrix
{
  my ($body) = @_;
  my $kind = sub { my $text = $_[0] =~ s/<[^>]*>//gr; $text eq 'holds' ? 'holds' : $text =~ /^(vacuous|refused)/ ? $1 : 'violated' };
  $$body =~ s{(<tr>\n<td>.*?</td>\n)(.*?)(</tr>)}{
    my ($first, $cells, $end) = ($1, $2, $3);
    $cells =~ s{<td>(.*?)</td>}{my $text = $1; '<td class="' . $kind->($text) . qq(">$text</td>)}gse;
    "$first$cells$end"}gse;
  my %name = (holds => 'holds', violated => 'violates the property that is named', vacuous => 'vacuous', refused => 'refused');
  my $key = '<p>' . join(' ', map { qq(<span class="key $_">$name{$_}</span>) } qw(holds violated vacuous refused)) . "</p>\n";
  $$body =~ s{(<div class="table)"}{$key$1 matrix"};
}

# Lets tables and programs scroll by themselves, with the keyboard, too.
sub make_scrollable
{
  my ($body) = @_;
  my $under = 'the page';
  $$body =~ s{(<h[1-6] id="[^"]*">(.*?)</h[1-6]>)|(<table>.*?</table>)|<pre>}{
    my ($heading, $inside, $table) = ($1, $2, $3);
    if (defined $heading) { $under = $inside =~ s/<[^>]*>//gr =~ s/"/&quot;/gr; $heading }
    elsif (defined $table) { qq(<div class="table" tabindex="0" role="group" aria-label="Table of $under">$table</div>) }
    else { qq(<pre tabindex="0">) }}gse;
}

# Adds the sections of a page to the index of the search: [page, title, anchor, heading, text].
sub sections
{
  my ($page, $body) = @_;
  my @sections;
  for my $part (split /(?=<h[1-6] id=)/, $body) {
    my ($id, $heading) = $part =~ /^<h[1-6] id="([^"]*)">(.*?)<\/h/;
    my $text = $part =~ s/^<h[1-6].*?<\/h[1-6]>//r;
    s/<[^>]*>/ /g, s/&lt;/</g, s/&gt;/>/g, s/&quot;/"/g, s/&amp;/&/g, s/\s+/ /g, s/^ | $//g for $text, $heading //= '';
    push @sections, [html_name($page), $title{$page}, $id // '', $heading, $text] if $text ne '' || $heading ne '';
  }
  return @sections;
}

sub make_page
{
  my ($page) = @_;
  open my $from, '-|', 'cmark-gfm', '-e', 'table', $page or die "cmark-gfm: $!\n";
  my $body = do { local $/; <$from> };
  close $from or die "cmark-gfm failed on $page\n";
  my @headings = name_headings(\$body);
  $body =~ s{<img src="([^":]+)"}{my $file = plain(dirname($page) . "/$1"); fetch($file); qq(<img src=") . path_to($page, $file) . '"'}ge;
  $body =~ s{<a href="([^"]*)">(.*?)</a>}{link_of($page, $1, $2)}gse;
  my @sections = sections($page, $body);
  make_scrollable(\$body);
  colour_matrix(\$body) if $page eq $matrix;
  my $contents = contents(@headings);
  $body =~ s{(</h1>\n)}{$1$contents};
  $body .= qq(<iframe title="Playground" src="playground.html"></iframe>\n) if $page eq 'docs/play.md';
  my $up = path_to($page, '');
  write_file("$site/" . html_name($page), join '', qq(<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n),
    qq(<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>$title{$page}), ($page eq 'README.md' ? '' : ' - recline'),
    qq(</title>\n<link rel="stylesheet" href="${up}site.css">\n</head>\n<body data-root="$up">\n<header>\n<strong><a href="${up}index.html">recline</a></strong>\n),
    qq(<form role="search"><input id="search" type="search" aria-label="Search all pages" placeholder="Search all pages ( / )" autocomplete="off"><div id="results" role="status" aria-live="polite" hidden></div></form>\n),
    qq(<a class="menu" href="#pages">All pages</a>\n</header>\n<main>\n$body</main>\n), navigation($page),
    qq(\n<script src="${up}site.js"></script>\n</body>\n</html>\n));
  return @sections;
}

# ---- the whole ----

# Makes each process's share of the pages. A share's sections come back as JSON, in the order of pages.
sub make_pages
{
  chomp(my $processes = qx(nproc) || 1);
  my @from;
  for my $own (0 .. $processes - 1) {
    my $child = open(my $out, '-|') // die "fork: $!\n";
    if (!$child) {
      my %made = map { $_ => [make_page($pages[$_])] } grep { $_ % $processes == $own } 0 .. $#pages;
      print JSON::PP->new->encode(\%made);
      close STDOUT or die "$!\n";
      exit 0;
    }
    push @from, $out;
  }
  my %made;
  for my $out (@from) {
    my $text = do { local $/; <$out> };
    close $out or die "a process that makes pages failed\n";
    %made = (%made, %{JSON::PP->new->decode($text)});
  }
  return map { @{$made{$_}} } 0 .. $#pages;
}

my @index = make_pages();
write_file("$site/search-index.js", 'globalThis.searchIndex = ' . JSON::PP->new->encode(\@index) . ";\n");
copy("docs/$_", "$site/$_") or die "$_: $!\n" for qw(site.css site.js);
system($recline, 'play', 'c3-no-suppress', '-o', "$site/$playground") == 0 or die "no playground\n";
