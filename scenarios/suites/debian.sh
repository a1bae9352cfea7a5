#!/bin/sh
# Runs programs of Debian's source packages that use the newer parts of MPI: module mpi_f08, MPI 4
# (partitioned messages, persistent collectives, sessions, large counts), shared memory of nodes and
# threads. Prints a table of docs/measurements/programs.md. None of the programs is kept here.
#
#   debian.sh FOLDER [PROGRAM...]   sources and results lie in FOLDER; by default all programs
#   RECLINE_PROTOCOLS='...'         other protocols than all that recover
#
# A program is compiled by the wrappers, run without a protocol and without failures, and then under
# each protocol with crashes of different ranks at 20, 50 and 85 per cent of that time. A run is right
# if the program ends as without a protocol: the same exit code and lines. These programs check their
# values themselves. A run that is refused ends with one line, exit code 64; the table has the line.
set -u
LC_ALL=C
export LC_ALL
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$(CDPATH='' cd "${RECLINE_BUILD:-$root/build}" && pwd) || exit 1
folder=${1:?expected a folder for sources and results}
shift
mkdir -p "$folder" && cd "$folder" || exit 1
protocols=${RECLINE_PROTOCOLS:-blocking bookmark c3 c3-envelopes chandy-lamport chandy-lamport-tree \
  event-logging event-logging-sorted event-logging-posted event-logging-paired hybrid index-based \
  lai-yang mattern message-tagging optimistic pessimistic pessimistic-wildcards uncoordinated causal \
  time-based}
cc=$build/bin/recline-cc f90=$build/bin/recline-f90

# name, package, file, number of ranks, what it uses, arguments
programs='
nonblocking_inpf08  mpich   f08/coll/nonblocking_inpf08.f90  4 f08
vw_inplacef08       mpich   f08/coll/vw_inplacef08.f90       4 f08
alltoallwf08        mpich   f08/coll/alltoallwf08.f90        7 f08
mprobef08           mpich   f08/pt2pt/mprobef08.f90          2 f08
wingetf08           mpich   f08/rma/wingetf08.f90            5 f08
dgraph_wgtf90       mpich   f08/topo/dgraph_wgtf90.f90       4 f08
ring_usempif08      openmpi examples/ring_usempif08.f90      5 f08
parrived            mpich   part/parrived.c                  2 partitioned -spart=16 -rpart=32 -tot_count=512 -iteration=5
start_pready        mpich   part/start_pready.c              2 partitioned -spart=8 -rpart=8 -tot_count=64 -range=2 -iteration=5
nonblocking_pready  mpich   part/nonblocking_pready.c        2 partitioned
p_allred            mpich   coll/p_allred.c                  4 persistent
p_alltoallw         mpich   coll/p_alltoallw.c               4 persistent
p_neighb_alltoall   mpich   coll/p_neighb_alltoall.c         4 persistent
session             mpich   init/session.c                   4 sessions
session_psets       mpich   init/session_psets.c             4 sessions
pt2pt_large         mpich   pt2pt/pt2pt_large.c              2 large
type_large          mpich   datatype/type_large.c            1 large
idup_with_info      mpich   comm/idup_with_info.c            4 infos
cmsplit_type        mpich   comm/cmsplit_type.c              4 nodes
win_shared          mpich   rma/win_shared.c                 4 nodes
fence_shm           mpich   rma/fence_shm.c                  2 nodes
win_shared_noncontig mpich  rma/win_shared_noncontig.c       4 nodes
node_comm           p4est   sc/test/test_node_comm.c         4 nodes
initth              mpich   threads/init/initth.c            1 threads
threads             mpich   threads/pt2pt/threads.c          2 threads
threaded_sr         mpich   threads/pt2pt/threaded_sr.c      2 threads
'

# ---- fetching ----

fetch() { # PACKAGE
  [ ! -d "$1" ] || return 0
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "deb-src [signed-by=$keys] http://deb.debian.org/debian $release main" >sources.list
  mkdir -p lists/partial "$1.fetched"
  set -- "$1" -o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o "Dir::State::lists=$PWD/lists"
  package=$1
  shift
  [ -e lists/updated ] || { apt-get "$@" update && : >lists/updated; } >fetch.log 2>&1
  (cd "$package.fetched" && apt-get "$@" source --download-only "$package" &&
    tar xf "$package"_*.orig.tar.*) >>fetch.log 2>&1 || return 1
  mv "$package.fetched"/"$package"-*/ "$package"
}

# ---- building ----

# Builds MPICH's tests with the utilities that they share, without MPICH's own configure.
prepare_mpich() {
  [ ! -e mpich.built ] || return 0
  mkdir -p mpich.built
  for have in STRING_H UNISTD_H STDARG_H STDLIB_H SYS_TIME_H LONG_DOUBLE LONG_LONG MPI_WIN_CREATE \
    MPI_INIT_THREAD; do
    echo "#define HAVE_$have 1"
  done >mpich.built/mpitestconf.h
  echo '#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX' >>mpich.built/mpitestconf.h
  for unit in mtest mtest_common mtest_thread; do
    "$cc" -O1 -w -Impich.built -Impich/test/mpi/include -c "mpich/test/mpi/util/$unit.c" \
      -o "mpich.built/$unit.o" || return 1
  done
  "$f90" -O1 -w -c mpich/test/mpi/util/mtest_f08.f90 -o mpich.built/mtest_f08.o
}

prepare_p4est() {
  [ ! -e p4est.built ] || return 0
  mkdir -p p4est.built
  (cd p4est/sc && autoreconf -i) && (cd p4est.built && ../p4est/sc/configure --enable-mpi \
    --disable-shared --without-blas CC="$cc" CXX="$build/bin/recline-c++" FC="$f90" \
    F77="$build/bin/recline-ff" CFLAGS=-O1 && make -j2 src/libsc.la)
}

build_program() { # NAME PACKAGE FILE
  case $2:$3 in
  mpich:*.f90) "$f90" -O1 -w "mpich/test/mpi/$3" mpich.built/mtest_f08.o -o "$1" ;;
  mpich:*) "$cc" -O1 -w -Impich.built -Impich/test/mpi/include "mpich/test/mpi/$3" \
    mpich.built/mtest*n.o mpich.built/mtest.o mpich.built/mtest_thread.o -lpthread -lm -o "$1" ;;
  p4est:*) "$cc" -O1 -w -Ip4est.built/src -Ip4est/sc/src "p4est/$3" \
    p4est.built/src/.libs/libsc.a -lz -lm -o "$1" ;;
  *.f90) "$f90" -O1 -w "$2/$3" -o "$1" ;;
  *) "$cc" -O1 -w "$2/$3" -o "$1" ;;
  esac
}

# ---- running ----

simulate() { # OUT WORD...
  out=$1
  shift
  timeout 120 "$build/bin/recline" run scenario.yaml --no-trace --json --out "$out" "$@" \
    >"$out.json" 2>"$out.err"
}
value() { # FILE KEY
  sed -n "s/^ *\"$2\": \"*\([^\",]*\)\"*,*\$/\1/p" "$1" | head -1
}

# Writes the line with which a run was refused. For other runs writes the verdict, the first line of an
# error, and the output of the program.
outcome() { # OUT CODE
  if [ "$2" = 64 ]; then
    sed -n '1s/^recline[a-z ]*: //; 1s/rank [0-9]*/a rank/; 1s/; the program.s last lines:$//; 1p
      2s/^ *|\(.*\)/ (\1 )/p' "$1.err" | tr -d '\n' | tr '|' '/'
  else
    echo "exit $2: $(value "$1.json" verdict) $(head -1 "$1.err") $(head -1 "$1/program.out")"
  fi
}

crashes() { # SECONDS RANKS
  awk -v all="$1" -v ranks="$2" 'BEGIN {
    split("0.20 0.50 0.85", at)
    for (i = 1; i <= 3; i++)
      printf("%s{rank: %d, at: %.9fs, repair: 1ms}", (i > 1 ? ", " : ""), (i * 3) % ranks, at[i] * all) }'
}

scenario() { # NAME RANKS ARGUMENTS...
  name=$1 ranks=$2
  shift 2
  list=$(printf '"%s", ' "$@")
  [ $# -gt 0 ] || list=
  cat >scenario.yaml <<END
program:    {binary: ./$name, args: [${list%, }], ranks: $ranks}
platform:   {file: clan.xml, placement: block, per_node: 2}
protocol:   {name: none}
detection:  1ms
clocks:     {deviation: 10us, longest: 1ms}
limits:     {simulated: 60s}
END
}

# Prints right and refused runs of a program under all protocols, and what was wrong.
run_crashed() { # NAME RANKS SECONDS
  right=0 late=0 refusals='' wrong=''
  every=$(awk -v s="$3" 'BEGIN { printf("%.9fs", (s / 6 > 2e-6 ? s / 6 : 2e-6)) }')
  for protocol in $protocols; do
    period=$every
    [ "$protocol" != time-based ] || period=$(awk -v s="${every%s}" \
      'BEGIN { printf("%.9fs", (s > 0.0022 ? s : 0.0022)) }')
    simulate "$1.out" --set "protocol.name=$protocol" \
      --set "checkpoint={every: $period, storage: local, bytes: 10kB}" \
      --set "failures=[$(crashes "$3" "$2")]"
    code=$?
    verdict=$(value "$1.out.json" verdict)
    if [ "$code" = 64 ]; then
      refusals="$refusals$protocol: $(outcome "$1.out" $code | sed 's/ (.*//')
"
    elif ! sort "$1.out/program.out" | cmp -s - "$1.lines" || [ "$code" != 0 ]; then
      wrong="$wrong$protocol: $(outcome "$1.out" $code)
"
    elif [ "$verdict" = recovered ]; then
      right=$((right + 1))
    else
      late=$((late + 1))
    fi
  done
  printf '| %s | %s | %s | %s |\n' "$1" "$uses" "$right" \
    "$([ $late = 0 ] || echo "$late ended before a crash; ")$(printf '%s%s' "$refusals" "$wrong" |
      sed 's/^[^:]*: //; s/ under [a-z-]*,/,/' | sort | uniq -c | awk '{ n = $1; $1 = ""; printf("%s%d:%s", (NR > 1 ? "; " : ""), n, $0) }')"
  printf '%s%s' "$refusals" "$wrong" >"$1.notes"
}

run_program() { # NAME PACKAGE FILE RANKS USES ARGUMENT...
  name=$1 package=$2 file=$3 ranks=$4 uses=$5
  shift 5
  fetch "$package" && { ! command -v "prepare_$package" >/dev/null || "prepare_$package"; } \
    >"$name.log" 2>&1 && build_program "$name" "$package" "$file" >>"$name.log" 2>&1 || {
    printf '| %s | %s | | not built: %s |\n' "$name" "$uses" "$(grep -m 1 -i error "$name.log")"
    return
  }
  scenario "$name" "$ranks" "$@"
  simulate "$name.none"
  code=$?
  [ $code = 0 ] || {
    printf '| %s | %s | | without a protocol: %s |\n' "$name" "$uses" "$(outcome "$name.none" $code)"
    return
  }
  sort "$name.none/program.out" >"$name.lines"
  run_crashed "$name" "$ranks" "$(value "$name.none.json" simulated_s)"
}

echo '| program | uses | right | else |'
echo '|---|---|---|---|'
echo "$programs" | while read -r name rest; do
  [ -n "$name" ] || continue
  case " $* " in
  "  " | *" $name "*)
    # shellcheck disable=SC2086 # a list
    run_program "$name" $rest
    ;;
  esac
done
