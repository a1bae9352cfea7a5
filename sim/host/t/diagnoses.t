#!/bin/sh
# If a run cannot be as its scenario asks, one line says why; before the start, where that can be known.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

# ---- platforms without a way from one host of the run to another ----

platform() { # ELEMENT...: three nodes and the dispatcher's host, joined by these elements
  cat <<XML
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="main" routing="Full">
    <host id="n0" speed="1Gf"/>
    <host id="n1" speed="1Gf"/>
    <host id="n2" speed="1Gf"/>
    <host id="service-0" speed="1Gf"><disk id="d" read_bw="10MBps" write_bw="10MBps"/></host>
    <link id="bus" bandwidth="100MBps" latency="10us"/>
    $*
  </zone>
</platform>
XML
}

way() { # FROM TO [ATTRIBUTE]
  echo "<route src=\"$1\" dst=\"$2\" $3><link_ctn id=\"bus\"/></route>"
}

served=$(way n0 service-0)$(way n1 service-0)
platform "$served" "$(way n2 service-0)" "$(way n0 n1)" "$(way n0 n2)" "$(way n1 n2)" >whole.xml
platform "$served" "$(way n0 n1)" >no-spare.xml
platform "$served" "$(way n2 service-0)" "$(way n0 n2)" "$(way n1 n2)" >no-peer.xml
platform "$served" "$(way n0 n1 'symmetrical="NO"')" >one-way.xml
platform "$(way n0 n1)" "$(way n1 service-0)" >no-server.xml
cat >zones.xml <<'XML'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="nodes" prefix="n" suffix="" radical="0-5" speed="2Gf" bw="1GBps" lat="5us"/>
    <cluster id="service" prefix="service-" suffix="" radical="0-0" speed="2Gf" bw="1GBps" lat="5us"/>
  </zone>
</platform>
XML
cat >ring.yaml <<'YAML'
program:    {binary: ring, args: [1024, 3], ranks: 2}
protocol:   {name: c3}
platform:   {file: whole.xml}
YAML

refuses() { # PLATFORM FROM TO [OPTION]...
  xml=$1 way="from $2 to $3"
  shift 3
  timeout 60 "$recline" run ring.yaml --set "platform.file=$xml" --out out "$@" >stdout 2>stderr
  is "$?-$(wc -c <stdout)-$(wc -l <stderr)-$(test -e out && echo left)-$(cut -d, -f1 stderr)" \
    "64-0-1--ring.yaml:3: platform.file: $xml has no route $way" \
    "$xml: no route $way, found before the start" stdout stderr
}

refuses no-peer.xml n1 n0
refuses one-way.xml n1 n0
refuses no-server.xml n0 service-0
refuses zones.xml n0 service-0
refuses no-spare.xml n2 service-0 --set platform.spares=1
timeout 60 "$recline" run ring.yaml --set platform.file=no-spare.xml >stdout 2>stderr
is "$?" 0 'a host that the run cannot use needs no route' stdout stderr
timeout 60 "$recline" run ring.yaml --set platform.spares=1 >stdout 2>stderr
is "$?" 0 'with all routes it runs' stdout stderr
timeout 60 "$recline" run ring.yaml --set program.ranks=4 --set platform.per_node=2 >stdout 2>stderr
is "$?" 0 'so do several ranks of a node' stdout stderr

cat >star.xml <<'XML'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Cluster">
    <host id="n0" speed="1Gf"/>
    <host id="n1" speed="1Gf"/>
    <host id="service-0" speed="1Gf"/>
    <link id="l0" bandwidth="1GBps" latency="1us"/>
    <link id="l1" bandwidth="1GBps" latency="1us"/>
    <link id="l2" bandwidth="1GBps" latency="1us"/>
    <host_link id="n0" up="l0" down="l0"/>
    <host_link id="n1" up="l1" down="l1"/>
    <host_link id="service-0" up="l2" down="l2"/>
  </zone>
</platform>
XML
timeout 60 "$recline" run ring.yaml --set platform.file=star.xml >stdout 2>stderr
is "$?" 0 'hosts of a Cluster zone with their links' stdout stderr
for host in n1 service-0; do
  sed "/host_link id=\"$host\"/d" star.xml >bare.xml
  timeout 60 "$recline" run ring.yaml --set platform.file=bare.xml >stdout 2>stderr
  is "$?-$(wc -c <stdout)-$(sed 's/, expected.*//' stderr)" \
    "64-0-ring.yaml:3: platform.file: bare.xml:$(grep -n "host id=\"$host\"" bare.xml | cut -d : -f 1): host \"$host\" has no <host_link>" \
    "$host of a Cluster zone without its link" stdout stderr
done

# ---- programs that fail ----

check 'the program is built' "$build/bin/recline-cc" -Wall -Wextra -Werror -pthread -fopenmp \
  "$here/programs/diagnoses-program.c" -o diagnoses
cat >fails.yaml <<YAML
program:    {binary: ./diagnoses, args: [], ranks: 2}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: c3}
checkpoint: {every: 2ms, storage: local, bytes: 1kB}
detection:  100us
YAML

fails() { # HOW LINE: the run ends at once with this line, and has no result
  timeout 60 "$recline" run fails.yaml --set "program.args=[$1]" >stdout 2>stderr
  is "$?-$(head -1 stderr)" "64-recline run: $2; the program's last lines:" "$1" stdout stderr
}

segv='was ended by signal 11 (SIGSEGV: Segmentation fault)'
fails never 'rank 0 has ended without a call of MPI_Init, expected an MPI program'
fails never-exit 'rank 0 has ended without a call of MPI_Init, expected an MPI program'
fails early "rank 0 $segv"
fails segv "rank 1 $segv"
fails MPI_Send "rank 1 $segv in its call of MPI_Send, at address 0x8"
fails MPI_Comm_size "rank 1 $segv in its call of MPI_Comm_size, at address 0x8"
for call in MPI_Open_port MPI_Publish_name MPI_Pack_external_size; do
  fails $call "SimGrid has no $call, expected a program without this call"
done
fails words "rank 1 $segv" # a program that prints words of SimGrid has not made the call
fails thread-segv "a thread of the program $segv"
for call in Comm_rank Sendrecv; do
  fails "thread$([ $call = Sendrecv ] || echo -rank)" \
    "a thread of the program has called MPI_$call, expected calls of MPI in the thread of MPI_Init \
alone (MPI_THREAD_FUNNELED)"
done

for call in MPI_Barrier smpi_execute smpi_usleep; do
  fails region-$call "rank 1 has called $call in a parallel region of OpenMP, expected such calls \
between regions, or OMP_NUM_THREADS=1"
done

# After a rollback the recovery may be to blame, so the run is lost and has a result.
loses() { # HOW WHY
  timeout 60 "$recline" run fails.yaml --set "program.args=[$1]" --out lost \
    --set 'failures=[{rank: 0, at: 5ms, repair: 100us}]' >stdout 2>stderr
  is "$?-$(value lost/result.json verdict)-$(value lost/result.json gave_up)" \
    "1-lost-rank 1 $2, after a rollback" "$1 after a rollback" stdout stderr
  rm -rf lost
}

loses segv "$segv"
loses abort 'was ended by signal 6 (SIGABRT: Aborted)'
loses raise 'was ended by signal 15 (SIGTERM: Terminated)'
loses exit 'has called exit(3) before MPI_Finalize'
loses _exit 'has called _exit(3)'
loses MPI_Abort 'has called MPI_Abort(9)'

# ---- programs that wait for ever ----

cat >waits <<'EOF'
rank 0 waits in MPI_Recv, for a message from rank any with tag 5 in copy
rank 1 waits in MPI_Ssend, to send to rank 4 with tag 6 in MPI_COMM_WORLD
rank 2 waits in MPI_Waitany, for a message from rank 3 with tag 7 in MPI_COMM_WORLD or one of 1 others
rank 3 waits in MPI_Probe, for a message from rank 2 with tag 8 in MPI_COMM_WORLD
rank 4 waits in MPI_Bcast, for rank 3 of MPI_COMM_WORLD
rank 5 waits in MPI_Wait, for a message from rank 5 with tag 9 in copy
rank 6 waits in MPI_Finalize
EOF
for run in 'none []' 'c3 []' 'c3 [{rank: 3, at: 5ms, repair: 1ms}]'; do
  protocol=${run%% *} failures=${run#* }
  timeout 60 "$recline" run fails.yaml --set 'program.args=[wait]' --set program.ranks=7 \
    --set protocol.name=$protocol --set "failures=$failures" --out wait >stdout 2>stderr
  is "$?-$(value wait/result.json verdict)" 1-lost "$run: a deadlock" stdout stderr
  jq -r '.notes[]' wait/result.json | grep '^rank' >said
  sed 's/ since [0-9.]* s//; s/, held by the protocol//' said >found
  same found waits "$run: in which call each rank waits, and for what"
  is "$(grep -c ' since 0\.0[01][0-9]* s' said)" 7 "$run: since when"
done

# ---- profiles of hosts and links, and a speed that nobody has set ----

printf '0.00001 0\n2.5 1\n' >off.txt
printf '0 0.5\n' >half.txt
printf '0 50e6\n' >slow.txt
printf '0 1e-3\n' >late.txt
profile() { # SED-EXPRESSION OF whole.xml
  sed "$1" whole.xml >profile.xml
}

switches() { # LINE WHAT
  timeout 60 "$recline" run ring.yaml --set platform.file=profile.xml --out out >stdout 2>stderr
  is "$?-$(wc -c <stdout)-$(test -e out && echo left)-$(sed 's/ (from --set)$//' stderr)" \
    "64-0--ring.yaml:3: platform.file: profile.xml:$1: $2, expected none, as nodes fail by the \
scenario's failures" "$2 is refused" stdout stderr
}

profile 's/"n1" speed="1Gf"/& state_file="off.txt"/'
switches 6 'state_file of <host>'
profile 's/latency="10us"/& state_file="off.txt"/'
switches 9 'state_file of <link>'
for kind in HOST LINK; do
  profile "s|</zone>|<trace_connect kind=\"${kind}_AVAIL\" trace=\"off\" element=\"n1\"/></zone>|"
  switches "$(grep -n trace_connect profile.xml | cut -d: -f1)" "${kind}_AVAIL of <trace_connect>"
done

cat >times.c <<'C'
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <string.h>

/* Prints the milliseconds of a computation, a transfer and smpi_execute(). */
int main(int argc, char **argv)
{
  static char data[1 << 20];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double begin = MPI_Wtime();
  smpi_execute_flops(1e7);
  double computed = MPI_Wtime();
  if (rank == 0)
    MPI_Send(data, sizeof data, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(data, sizeof data, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double sent = MPI_Wtime();
  if (argc > 1)
    smpi_execute(0.01);
  if (rank == 1)
    printf("%.0f %.0f %.1f\n", 1e3 * (computed - begin), 1e3 * (sent - computed),
           1e3 * (MPI_Wtime() - sent));
  MPI_Finalize();
  return 0;
}
C
check 'a program that measures is built' "$build/bin/recline-cc" times.c -o times
takes() { # EXPECTED DESCRIPTION [OPTION]...
  expected=$1 what=$2
  shift 2
  timeout 60 "$recline" run ring.yaml --set program.binary=./times --set 'program.args=[]' \
    --set platform.file=profile.xml --out out "$@" >stdout 2>stderr
  is "$(cat out/program.out)" "$expected" "$what" stdout stderr
}

profile ''
takes '10 12 0.0' 'without profiles'
profile 's/"n1" speed="1Gf"/& speed_file="half.txt"/'
takes '20 12 0.0' 'a profile of the speed of a host'
profile 's/latency="10us"/& bandwidth_file="slow.txt"/'
takes '10 24 0.0' 'a profile of the bandwidth of a link'
profile 's/latency="10us"/& latency_file="late.txt"/'
takes '10 23 0.0' 'a profile of the latency of a link'

profile ''
takes '10 12 0.0' 'smpi_execute() by a speed that nobody has set' --set 'program.args=[execute]'
is "$(jq -r '.notes[]' out/result.json | grep host-speed)" \
  "platform.file: no smpi/host-speed, by which smpi_execute() computes, taken as SimGrid's 20000 \
flop/s" 'is noted' out/result.json
profile 's|<zone |<config><prop id="smpi/host-speed" value="1Gf"/></config>&|'
takes '10 12 10.0' 'and by one that the platform sets' --set 'program.args=[execute]'
is "$(grep -c host-speed out/result.json)" 0 'which needs no note' out/result.json

# ---- checkpoints that were lost with the storage on which they lay ----

cat >lost.yaml <<YAML
program:    {binary: cg, args: [S], ranks: 4}
platform:   {file: $root/platforms/clan.xml, spares: 2}
protocol:   {name: pessimistic}
checkpoint: {every: 20ms, storage: local, bytes: 64KiB}
detection:  1ms
failures:
  - {rank: 1, kills: node, at: 150ms, repair: 1ms, returns: never}
YAML

lay() { # WHERE DESCRIPTION [OPTION]...
  where=$1 what=$2
  shift 2
  timeout 60 "$recline" run lost.yaml --out out "$@" >stdout 2>stderr
  is "$?-$(value out/result.json verdict)-$(value out/result.json gave_up | cut -d, -f1)" \
    "1-lost-rank 1 has lost what it would start from: it was $where" "$what" stdout stderr
}

for protocol in pessimistic uncoordinated; do
  lay 'on the disk of its node' "$protocol: with a node" --set "protocol.name=$protocol"
done
lay 'in the memory of its node (checkpoint.storage: memory)' 'with the memory of a node' \
  --set checkpoint.storage=memory
timeout 60 "$recline" run lost.yaml --set checkpoint.storage=nfs >stdout 2>stderr
is "$?" 0 'on the file server they stay' stdout stderr

# ---- campaigns on platforms that leave out what times depend on ----

sed 's/<disk [^>]*>//' whole.xml >diskless.xml
cat >bare.yaml <<'YAML'
program:
  ranks: 2
  script: |
    rank 0: repeat 20 (compute 10ms, checkpoint)
    rank 1: repeat 20 (compute 10ms, checkpoint)
platform:   {file: diskless.xml}
protocol:   {name: bookmark}
checkpoint: {every: 50ms, storage: nfs, writes: foreground, places: program, bytes: 1MB}
detection:  0
failures:   [{law: exponential, mtbf: 1s, of: platform, repair: 1ms}]
YAML
warnings='warning: platform.file: no disk where checkpoints are stored, taken as one that takes no time
warning: platform.file: no memory_copy_bw, taken as 500 MB/s'
timeout 120 "$recline" campaign bare.yaml --runs 2 >stdout 2>stderr
is "$(sed -n 1,2p stdout | sort)" "$warnings" 'recline campaign warns first' stdout stderr
timeout 120 "$recline" campaign bare.yaml --runs 2 --json >stdout 2>stderr
is "$(jq -r '.warnings[]' stdout | sed 's/^/warning: /' | sort)" "$warnings" 'also in JSON' stdout
timeout 120 "$recline" interval bare.yaml --runs 2 >stdout 2>stderr
is "$(sed -n 1,2p stdout | sort)" "$warnings" 'recline interval warns first' stdout stderr
sed 's|<host id="n0"|<prop id="memory_copy_bw" value="1e9"/>&|' whole.xml >stated.xml
for command in campaign interval; do
  timeout 120 "$recline" $command bare.yaml --runs 2 --set platform.file=stated.xml >stdout 2>stderr
  is "$(grep -c ^checkpoint stdout)$(grep -c '^simulated_s, mean' stdout)-$(grep -c warning stdout)" \
    "$([ $command = interval ] && echo 10 || echo 01)-0" "$command: not where all is stated" stdout stderr
done

finish 65
