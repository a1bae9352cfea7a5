#!/usr/bin/env perl
# recline report: pages of a run, a check, a campaign and a replication in a headless Chromium; and
# folders that are none of these. These pages, those of recline play and of the site, and pictures of
# recline draw are looked at (looks.js). axe-core looks at the pages, too: RECLINE_AXE is its file axe.min.js, or else npm fetches it. RECLINE_LONG=1: 64 ranks with
# 1,000,000 events.
use strict;
use warnings;
use Cwd qw(realpath);
use File::Copy;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use IO::Uncompress::Gunzip qw(gunzip);
use JSON::PP;
use MIME::Base64;
use Test::More;

my $root = realpath("$FindBin::Bin/../..");
my $build = $ENV{RECLINE_BUILD} // "$root/build";
plan skip_all => 'the layer is not part of this build' if !-e "$build/lib/librecline_mpi.so";
my $dir = tempdir(CLEANUP => 1);
$ENV{TMPDIR} = "$dir/tmp";
make_path("$dir/tmp");
chdir $dir or BAIL_OUT($!);

sub slurp { my ($file) = @_; open my $in, '<', $file or BAIL_OUT("$file: $!"); local $/; return scalar <$in> }
sub spew { my ($file, $text) = @_; open my $out, '>', $file or BAIL_OUT("$file: $!"); print $out $text; close $out }
sub recline { my ($words) = @_; my $out = qx($build/bin/recline $words 2>err); return ($out, $? >> 8, slurp('err')) }

# ---- a run that takes no time ----

spew('silent.c', <<'END');
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  puts("here");
  return MPI_Finalize();
}
END
system("$build/bin/recline-cc", 'silent.c', '-o', 'silent') and BAIL_OUT('silent.c is not built');
spew('silent.yaml', "program: {binary: ./silent, ranks: 2}\nplatform: {file: clan.xml}\nprotocol: {name: none}\n");
recline('run silent.yaml --out silent-run');
is(decode_json(slurp('silent-run/result.json'))->{simulated_s}, 0, 'a run takes no time');
my ($said, $ended, $why) = recline('report silent-run -o silent.html');
is("$ended:$why:" . (-s 'silent.html' ? 1 : 0), '0::1', 'it has a page');

# ---- folders that cannot be shown ----

recline("run $root/scenarios/demo.yaml --out run");
sub refuses {
  my ($name, $folder, $part) = @_;
  my ($out, $code, $err) = recline("report -o page.html $folder");
  is("$code:$out:" . ($err =~ tr/\n//) . ':' . ($err =~ /\Q$part\E/ ? 'told' : $err) . ':' . ($err =~ /expected/ ? 1 : 0)
    . ':' . join(' ', grep { -e } glob 'page.* .recline-*'), "64::1:told:1:", $name);
}

sub damaged {
  my ($file, $change) = @_;
  make_path('bad');
  unlink glob 'bad/*';
  copy($_, 'bad') for glob 'run/*';
  my $text = slurp("bad/$file");
  $change->($text) for $text;
  spew("bad/$file", $text);
  return 'bad';
}

refuses('no folder', '', 'no folder');
refuses('three folders', 'run run run', 'more than two');
refuses('a run beside none', 'run tmp', 'tmp: no run with its trace');
refuses('a run beside a folder that is not there', 'run none', 'none: there is none');
refuses('a folder that is not there', 'none', 'none: there is none');
refuses('a file', 'run/result.json', 'result.json: no folder');
refuses('a folder with nothing in it', 'tmp', 'tmp: no result');
refuses('a result of another version', damaged('result.json', sub { $_[0] =~ s/"version": "[^"]*"/"version": "0.0.9"/ }),
  'bad/result.json: written by recline 0.0.9');
refuses('a result that is cut off', damaged('result.json', sub { $_[0] = substr $_[0], 0, 300 }), 'bad/result.json');
refuses('a result without a value', damaged('result.json', sub { $_[0] =~ s/"crashes": 1,// }), 'bad/result.json: crashes');
make_path('claims');
spew('claims/check.json', '{"claims": [1]}');
refuses('a check that is none', 'claims', 'claims/check.json: not claims');
spew('claims/check.json', '{"version": "0.0.9", "claims": []}');
refuses('a check of another version', 'claims', 'claims/check.json: written by recline 0.0.9');
refuses('a trace with a wrong line', damaged('trace.txt', sub { $_[0] =~ s/(\n0\.003\S* \d) send/$1 SEND/ }), 'bad/trace.txt:');
refuses('activities of another number of ranks', damaged('activity.txt', sub { $_[0] =~ s/ranks 8/ranks 9/ }), 'bad/activity.txt:1');
refuses('activities with a wrong line', damaged('activity.txt', sub { $_[0] =~ s/ 3 mpi/ 3 sleep/ }), 'bad/activity.txt:');
refuses('activities that are cut off', damaged('activity.txt', sub { $_[0] =~ s/\S+ - end\n// }), 'bad/activity.txt:');
SKIP: {
  skip 'root reads everything', 1 if $> == 0;
  chmod 0, damaged('scenario.yaml', sub { }) . '/scenario.yaml';
  refuses('a scenario that cannot be read', 'bad', 'bad/scenario.yaml: cannot be read');
}
spew('blocked', '');
my ($out, $code, $err) = recline('report run -o blocked/page.html');
is("$code:$out:" . ($err =~ tr/\n//), '64::1', 'a page that cannot be written');

# ---- pages ----

is(join('|', recline('report run')), "run.html\n|0|", 'a page is written');
my $page = slurp('run.html');
my ($packed) = $page =~ /id="scripts">([^<]*)</;
gunzip(\decode_base64($packed // ''), \my $scripts);
like($scripts, qr/^class Timeline\b/m, 'its scripts are packed');
unlike($scripts . $page =~ s/<script type="text\/plain".*?<\/script>//gsr, qr{(?:src|href)="|\burl\(|\bimport\b|XMLHttpRequest|\bfetch\(}, 'it names nothing to fetch');
cmp_ok(-s 'run.html', '<', 2_000_000, 'it takes less than 2 MB');
make_path('kept');
copy($_, 'kept') for glob "run/result.json run/scenario.yaml $FindBin::Bin/pictures/{trace,activity}.txt";
recline('report kept');
recline("run $root/scenarios/demo.yaml --no-trace --out bare");
recline('report bare');
recline("run $root/scenarios/demo.yaml --set protocol.name=bookmark --out other");
is(join('|', recline('report run other')), "run-other.html\n|0|", 'a page of two runs');
refuses('two runs for another tool', 'run other -o page.json', 'two runs for another tool');
recline('check lie-c3-drop c3-second-crash bookmark-until-equal --out check');
recline('report check');
recline('check c3-no-suppress --out flaw');
recline('report flaw');
spew('interval.yaml', "program: {binary: halo, args: ['1000', '240', '18000000000000'], ranks: 4}\nplatform: {nodes: 6, spares: 2, speed: 10Gf, "
  . "memory: 10GBps, network: {bandwidth: 1.25GBps, latency: 5us}, storage: {bandwidth: 2GBps}, mtbf: 20d}\nprotocol: {name: bookmark}\n"
  . "checkpoint: {every: 3h, storage: nfs, writes: foreground, bytes: 4GB}\nfailures: [{law: exponential, repair: 10min}]\ndetection: 10s\n");
recline('interval interval.yaml --runs 2 --out interval');
recline('report interval');
spew('campaign.yaml', "program: {binary: ring, args: ['20', '20'], ranks: 4}\nplatform: {file: clan.xml}\nprotocol: {name: c3}\n"
  . "failures: [{of: node, law: exponential, mtbf: 1h}]\n");
recline('campaign campaign.yaml --runs 3 --sweep protocol.name=c3,bookmark --out campaign');
recline('report campaign');
make_path('replication/replication');
copy("$root/docs/replication.md", 'replication');
copy($_, 'replication/replication') for glob "$root/docs/replication/*.md";
spew('replication/one.svg', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>document.title = 1</script></svg>');
is(join('|', recline('report replication')), "replication.html\n|0|", 'a page of a replication');

is(join('|', recline('report run -o run.csv')), "|64|run.csv: not a kind of file that a report can be, expected one that ends in .html, .paje, .json or .otf2\n", 'a name of no kind is refused');
ok(!-e 'run.csv', 'and nothing is written');

# ---- for other tools ----

recline('report run -o run.json');
my ($events, %spent) = (decode_json(slurp('run.json'))->{traceEvents});
my $result = decode_json(slurp('run/result.json'));
$spent{$_->{name}} += $_->{dur} / 8e6 for grep { $_->{ph} eq 'X' } @$events;
is(join(' ', grep { abs(($spent{$_} // 0) - $result->{time_s}{$_}) > 1e-8 } keys %{$result->{time_s}}), '', 'JSON: periods add up to the time of the result');
my (%open, $wrong);
for (@$events) {
  $open{$_->{id}} = $_->{ts} if $_->{ph} eq 's';
  $wrong++ if $_->{ph} eq 'f' && (delete $open{$_->{id}} // 1e18) > $_->{ts};
}
is(($wrong // 0) . ':' . keys %open, '0:0', 'each message is received after it is sent');
is(scalar(grep { $_->{ph} eq 'f' && $_->{name} eq 'late' } @$events), $result->{messages}{late}, 'late messages');
is(join(' ', map { "$_->{tid} $_->{ts}" } grep { $_->{name} eq 'crash' } @$events),
  join(' ', map { /^(\S+) (\d+) crash/ ? "$2 " . $1 * 1e6 : () } split /\n/, slurp('run/trace.txt')), 'the crash');
refuses('a trace for other tools of a run without one', 'bare -o page.json', 'bare: no trace.txt');

SKIP: {
  skip 'pj_dump is missing (package pajeng)', 3 if !grep { -x "$_/pj_dump" } split /:/, $ENV{PATH};
  recline('report run -o run.paje');
  my @read = map { [split /, */] } split /\n/, qx(pj_dump --float-precision=9 run.paje 2>pj.err);
  is($? . slurp('pj.err'), '0', 'pj_dump reads Paje');
  my %in;
  $in{$_->[7]} += $_->[5] / 8 for grep { $_->[0] eq 'State' } @read;
  is(join(' ', grep { abs(($in{$_} // 0) - $result->{time_s}{$_}) > 1e-8 } keys %{$result->{time_s}}), "", 'Paje: periods add up to the time of the result')
    or diag(explain(\%in));
  is(scalar(grep { $_->[0] eq 'Link' } @read), scalar(grep { $_->{ph} eq 'f' } @$events), 'as many messages as in JSON');
}

SKIP: {
  skip 'otf2-print is missing (package otf2-tools)', 5 if !grep { -x "$_/otf2-print" } split /:/, $ENV{PATH};
  is(join('|', recline('report run -o run.otf2')), "run.otf2\n|0|", 'OTF2 is written');
  my $read = qx(otf2-print run.otf2/traces.otf2 2>otf2.err);
  is($? . slurp('otf2.err'), '0', 'otf2-print reads it');
  my (%in, %since, %count);
  for (split /\n/, $read) {
    next if !/^(\w+) +(\d+) +(\d+) +(.*)/;
    my ($what, $rank, $time, $rest) = ($1, $2, $3, $4);
    $count{$what}++;
    $since{$rank} = $time if $what eq 'ENTER';
    $in{$1} += ($time - $since{$rank}) / 8e9 if $what eq 'LEAVE' && $rest =~ /"(\w+)"/;
  }
  is(join(' ', grep { abs(($in{$_} // 0) - $result->{time_s}{$_}) > 1e-8 } keys %{$result->{time_s}}), '', 'OTF2: periods add up to the time of the result')
    or diag(explain(\%in, $read =~ /(.{0,2000})/s));
  my $messages = grep { $_->{ph} eq 'f' } @$events;
  is("$count{MPI_SEND} $count{MPI_RECV}", "$messages $messages", 'as many messages as in JSON');
  refuses('an archive that is there', 'run -o run.otf2', 'run.otf2: there is one already');
}

sub in_browser {
  my ($name, $script, @words) = @_;
  my $said = qx(node $FindBin::Bin/$script $dir @words 2>&1);
  is($?, 0, "$name: it ends") or diag($said);
  subtest $name => sub { /^(not )?ok \d+ - (.*)/ ? ok(!$1, $2) : /^1\.\./ ? 1 : diag($_) for split /\n/, $said };
}

# Pictures of a counterexample, of a part of a run, of the states of a protocol and of machines.
sub draw {
  recline("draw $_") for 'flaw/c3-no-suppress.trace -o flaw.svg', 'flaw/c3-no-suppress.trace --dependencies -o deps.svg',
    'run/trace.txt --from 125ms --to 145ms -o part.svg', 'c3 -o states.svg', map { "$_ -o $_.svg" } qw(sif hnoc cirrus);
}

# A run of 64 ranks with 1,000,000 events.
sub large {
  spew('large.yaml', "program: {binary: halo, args: ['512', '1100'], ranks: 64}\nplatform: {file: flat.xml}\nprotocol: {name: c3}\n"
    . "checkpoint: {every: 20ms, storage: nfs, bytes: 64KiB}\ndetection: 100us\nfailures: [{rank: 33, at: 75ms, repair: 100us}]\n");
  recline('run large.yaml --out large');
  recline('report large');
  my $steps = () = slurp('large/trace.txt') =~ /^\d/mg;
  cmp_ok($steps, '>=', 1_000_000, 'a run of 1,000,000 events');
  cmp_ok(-s 'large.html', '<', 30_000_000, 'its page takes less than 30 MB');
  in_browser('a large page in a browser', 'large.js');
}

SKIP: {
  skip 'node or chromium is missing', 1 if 2 > grep { my $tool = $_; grep { -x "$_/$tool" } split /:/, $ENV{PATH} } qw(node chromium);
  in_browser('the page in a browser', 'clicks.js');
  large() if $ENV{RECLINE_LONG};
  my @played = -e "$build/play/page.html" ? qw(claim played at) : ();
  recline('play c3-recovers -o claim.html') if @played;
  recline('play flaw/c3-no-suppress.trace -o played.html') if @played;
  recline('play run/trace.txt --at 150ms -o at.html') if @played;
  my @site = qx(cmark-gfm --version 2>&1) && @played && !system("$root/docs/site.pl $build/bin/recline site >site.out 2>&1")
    ? qw(site/index site/docs/check site/docs/protocols/matrix site/docs/how-sure) : ();
  draw();
  # What depends on the version of SimGrid is not compared with a kept picture.
  in_browser('how pages and pictures look', 'looks.js', "$FindBin::Bin/pictures/pages", map({ "+$_.html" } qw(kept check flaw campaign replication)),
    map({ /^at$|how-sure/ ? "$_.html" : "+$_.html" } @played, @site), qw(run.html run-other.html interval.html +flaw.svg +states.svg +sif.svg part.svg deps.svg hnoc.svg cirrus.svg));
  my $axe = $ENV{RECLINE_AXE} // "$dir/axe/node_modules/axe-core/axe.min.js";
  qx(timeout 60 npm install --prefix axe axe-core\@4 --no-audit --no-fund 2>&1) if !$ENV{RECLINE_AXE};
  skip 'npm has not fetched axe-core', 1 if !-e $axe;
  in_browser('axe-core', 'axe.js', $axe, map { "$_.html" } qw(run run-other check flaw campaign interval replication),
    $ENV{RECLINE_LONG} ? 'large' : (), @played, @site);
}
done_testing();
