# Handles a build by ninja, and a copy of that build in which one source is changed.
package Tree;
use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::MD5 qw(md5_hex);
use Exporter 'import';
use Fcntl qw(:flock);
use File::Basename;
use File::Path qw(make_path remove_tree);

our @EXPORT = qw(read_file write_file);

sub read_file { open my $in, '<', $_[0] or die "$_[0]: $!\n"; local $/; return scalar <$in> }
sub write_file { open my $out, '>', $_[0] or die "$_[0]: $!\n"; print $out $_[1]; close $out }

# Reads how ninja builds the sources of `root` in `build`. Ends with exit code 64 if `build` is no
# build by ninja.
sub new {
  my ($class, $root, $build) = @_;
  my $self = bless {root => $root, build => abs_path($build) // '', compile => {}, link => {}}, $class;
  chdir $self->{build} && -e 'build.ninja' or refuse("$build: no such build, expected one by ninja");
  for (`ninja -t commands`) {
    chomp;
    if (m{ -o (\S+) -c \Q$root\E/(\S+)$}) {
      $self->{compile}{$2} = $_;
      $self->{object}{$2} = $1;
    } elsif (m{^: && (.*? -o (\S+) .*) && :$}) {
      $self->{link}{$2} = $1;
    } elsif (m{ar qc (lib/\S+\.a)\s+(.*?) && }) {
      $self->{library}{$1} = [split ' ', $2];
    }
  }
  $self->{kept} = "$self->{build}/mutate";
  make_path($self->{kept});
  open $self->{lock}, '>>', "$self->{kept}/lock" or die "$self->{kept}/lock: $!\n";
  flock $self->{lock}, LOCK_EX | LOCK_NB or refuse("$self->{kept}/lock: locked by another mutate.pl, expected one for a build");
  my @libraries = sort glob "lib/librecline-*.a";
  $self->{digest} = md5_hex(map { read_file($_) } @libraries);
  $self->{digest_of_judge} = md5_hex(map { read_file($_) } grep { !m{-protocols\.a$} } @libraries);
  $self->work_in(0);
  return $self;
}

sub refuse { print STDERR "mutate: $_[0]\n"; exit 64 }

# Gives a job a folder of its own for the files that it makes.
sub work_in {
  my ($self, $job) = @_;
  $self->{work} = "$self->{kept}/$job";
  $self->{copy} = "$self->{work}/build";
  $self->copy_to($self->{copy});
}

# Copies the build as links, so that programs of the copy can be replaced.
sub copy_to {
  my ($self, $copy) = @_;
  remove_tree($copy);
  make_path("$copy/bin", "$copy/t");
  for (glob '* bin/* t/*') { symlink "$self->{build}/$_", "$copy/$_" unless -e "$copy/$_" }
}

# Forgets the programs that were linked for the last change; they will be linked anew.
sub forget_programs {
  my ($self) = @_;
  for (keys %{delete $self->{linked} // {}}) {
    unlink "$self->{copy}/$_";
    symlink "$self->{build}/$_", "$self->{copy}/$_";
  }
}

# Returns the files of the project that `file` includes, also through other files.
sub includes {
  my ($self, $file) = @_;
  return $self->{includes}{$file} //= do {
    my %all;
    for (grep { -e "$self->{root}/$_" } read_file("$self->{root}/$file") =~ m{^#include "([^"]*)"}gm) {
      $all{$_} = 1;
      $all{$_} = 1 for keys %{$self->includes($_)};
    }
    \%all;
  };
}

# Returns the sources, among those given, that must be compiled anew when `file` changes.
sub sources_of {
  my ($self, $file, @among) = @_;
  return $file if $file =~ /\.c$/;
  return grep { $self->{compile}{$_} && $self->includes($_)->{$file} } @among;
}

# Puts `text` in the place of `file`.
sub change {
  my ($self, $file, $text) = @_;
  remove_tree("$self->{work}/source"); # no other changed source may be found before the real one
  make_path(dirname "$self->{work}/source/$file");
  write_file("$self->{work}/source/$file", $text);
  $self->forget_programs;
}

sub object { my ($self, $source) = @_; return "$self->{work}/" . basename($source) . '.o' }

# Returns the machine code of `source` with the change; nothing if it does not compile.
sub compile {
  my ($self, $source) = @_;
  $self->compile_with($source, $self->object($source), '') or return;
  my $object = $self->object($source);
  return `objdump -d -r -s -j .text -j .text.unlikely -j .rodata -j .data.rel.ro -j .data.rel.ro.local $object 2>/dev/null | tail -n +4`;
}

# Compiles `source`, with the change, into `object`. Returns false if it does not compile.
sub compile_with {
  my ($self, $source, $object, $options) = @_;
  my $work = $self->{work};
  my $command = $self->{compile}{$source} // die "mutate: $source is not built\n";
  $command =~ s{^\S*ccache }{};
  $command =~ s{ -o \S+}{ -o $object};
  $command =~ s{ -M[TF] \S+}{}g;
  $command =~ s{ -MD\b| -g\b}{}g;
  my $from = -e "$work/source/$source" ? "$work/source/$source" : "$self->{root}/$source";
  $command =~ s{ -c \S+}{ -w -iquote $work/source -c $from};
  $command .= " $options";
  return system("$command 2>$work/cc.log") == 0;
}

# Links the program of the copy with the objects of `sources` in place of those in the libraries. As
# these objects define all that a member of a library defines, the linker does not take that member.
# Returns the program's path.
sub link_with {
  my ($self, $program, @sources) = @_;
  my $at = "$self->{copy}/$program";
  return $at if $self->{linked}{$program}++;
  my $objects = join ' ', map { $self->object($_) } @sources;
  unlink $at;
  (my $command = $self->{link}{$program}) =~ s{ -o \Q$program\E }{ -s -o $at $objects };
  system("$command 2>$self->{work}/ld.log") == 0 or die "mutate: cannot link, see $self->{work}/ld.log\n";
  return $at;
}

my $sanitized = '-fsanitize=address,undefined -fno-sanitize-recover=undefined';

# Links the same program once more, beside it. Only the changed sources are compiled with the
# sanitizers.
sub link_sanitized {
  my ($self, $program, @sources) = @_;
  my $at = "$self->{copy}/$program-sanitized";
  my @objects = map { $self->object($_) . '.sanitized.o' } @sources;
  for (0 .. $#sources) { $self->compile_with($sources[$_], $objects[$_], $sanitized) or die "mutate: cannot compile $sources[$_]\n" }
  (my $command = $self->{link}{$program}) =~ s{ -o \Q$program\E }{ $sanitized -o $at @objects };
  system("$command 2>$self->{work}/ld.log") == 0 or die "mutate: cannot link, see $self->{work}/ld.log\n";
  return $at;
}

# ---- what is kept between calls: lines of fields ----

# Appends a line in one write, so that lines of other jobs do not mix with it.
sub keep {
  my ($self, $name, @fields) = @_;
  open my $out, '>>', "$self->{kept}/$name" or die "$self->{kept}/$name: $!\n";
  syswrite $out, join("\t", @fields) . "\n";
}

sub kept {
  my ($self, $name) = @_;
  open my $in, '<', "$self->{kept}/$name" or return;
  return map { chomp; [split /\t/] } <$in>;
}

1;
