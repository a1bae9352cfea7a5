# A Slurm of one node for tests in sh, private to the test: without system services, with all sockets on
# a loopback address. A test sources this file after tap.sh. The test is skipped if there is no
# Slurm, or if one of Slurm's daemons gives up. Slurm then runs in $dir, which is also the test's
# folder. stop_slurm() ends it, as the end of the test does.

PATH=$PATH:/usr/sbin
for tool in slurmctld slurmd sbatch squeue; do
  command -v $tool >/dev/null || {
    echo "1..0 # SKIP $tool is missing (packages slurmctld, slurmd, slurm-client)"
    exit 0
  }
done
cd "$dir" || exit 1

host=$(hostname -s) user=$(id -un)
address=$(getent ahostsv4 "$host" | sed -n '1s/ .*//p') # Slurm listens there only
case $address in
  127.*) ;;
  *)
    echo "1..0 # SKIP the name of this machine, $host, has no loopback address (/etc/hosts)"
    exit 0
    ;;
esac
mkdir state spool run log bin bad
# shellcheck disable=SC2046 # two words
set -- $(perl -MIO::Socket::INET -e '
  my @sockets = map { IO::Socket::INET->new(Listen => 1, LocalAddr => $ARGV[0]) } 1, 2;
  print join " ", map { $_->sockport } @sockets' "$address")
cat >slurm.conf <<EOF
ClusterName=recline
SlurmctldHost=$host($address)
SlurmctldPort=$1
SlurmdPort=$2
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
InactiveLimit=0
KillWait=2
MailProg=/bin/true
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=$address CPUs=4 RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF
# This plugin looks for cgroups only when they are used, as a chroot may have none.
case $(slurmd -V) in
  *' 22.'*) plugin=cgroup/v1 ;;
  *) plugin=disabled ;;
esac
echo CgroupPlugin=$plugin >cgroup.conf
export SLURM_CONF="$dir/slurm.conf"

# For srun: it would listen on the address of this machine's name, but is called back on the address
# from which its own calls come. As these can differ (127.0.1.1 and 127.0.0.1), it listens on all.
mkdir client
sed '/^CommunicationParameters/d' slurm.conf >client/slurm.conf
cp cgroup.conf client

# Waits up to 60 s until a command succeeds.
wait_for() {
  end=$(($(date +%s) + 60))
  until "$@"; do
    [ "$(date +%s)" -lt "$end" ] || return 1
    sleep 0.1
  done
}
# Without a controller the daemons would try again for minutes.
is_idle() { [ "$(timeout 10 sinfo -h -o %t 2>/dev/null)" = idle ]; }
is_quiet() { jobs=$(timeout 10 squeue -h 2>/dev/null) && [ -z "$jobs" ]; }

controller='' node=''
stop_slurm() {
  [ -n "$controller" ] || return 0
  timeout 10 scancel -u "$user" 2>/dev/null
  wait_for is_quiet
  end_slurm
}
end_slurm() {
  kill "$node" "$controller" 2>/dev/null
  wait "$node" "$controller" 2>/dev/null
  controller=
}
trap 'stop_slurm; rm -rf "$dir"' EXIT
slurmctld -D -i >log/out 2>&1 &
controller=$!
slurmd -D >>log/out 2>&1 &
node=$!
has_ended() { ! kill -0 "$1" 2>/dev/null; }
is_decided() { is_idle || has_ended "$controller" || has_ended "$node"; }
wait_for is_decided
if ! is_idle; then
  daemon=
  ! has_ended "$node" || daemon=slurmd
  ! has_ended "$controller" || daemon=slurmctld
  end_slurm
  [ -z "$daemon" ] || {
    why=$(sed -n 's/^\(\[[^]]*\] \)*\(error\|fatal\): //p' log/$daemon.log | tail -n 2 | paste -sd ';')
    echo "1..0 # SKIP $daemon gives up: $why"
    exit 0
  }
  not_ok 'Slurm starts' log/slurmctld.log log/slurmd.log
  finish
fi
