# A Slurm of one node for tests in sh, private to the test: no system service, all sockets on
# 127.0.0.1. Sourced behind tap.sh; the test is skipped where there is no Slurm. It is up from here
# on, in $dir, where the test then stands; stop_slurm() ends it, as the end of the test does.

PATH=$PATH:/usr/sbin
for tool in slurmctld slurmd sbatch squeue; do
  command -v $tool >/dev/null || {
    echo "1..0 # SKIP $tool is missing (packages slurmctld, slurmd, slurm-client)"
    exit 0
  }
done
cd "$dir" || exit 1

host=$(hostname -s) user=$(id -un)
mkdir state spool run log bin bad
# shellcheck disable=SC2046 # two words
set -- $(perl -MIO::Socket::INET -e '
  my @sockets = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") } 1, 2;
  print join " ", map { $_->sockport } @sockets')
cat >slurm.conf <<EOF
ClusterName=recline
SlurmctldHost=$host(127.0.0.1)
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
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF="$dir/slurm.conf"

# Waits up to 60 s until a command succeeds.
wait_for() {
  tries=600
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.1
  done
}
is_idle() { [ "$(sinfo -h -o %t 2>/dev/null)" = idle ]; }
is_quiet() { [ -z "$(squeue -h 2>/dev/null)" ]; }

controller='' node=''
stop_slurm() {
  [ -n "$controller" ] || return 0
  scancel -u "$user" 2>/dev/null
  wait_for is_quiet
  kill "$node" "$controller"
  wait "$node" "$controller" 2>/dev/null
  controller=
}
trap 'stop_slurm; rm -rf "$dir"' EXIT
slurmctld -D -i >log/out 2>&1 &
controller=$!
slurmd -D >>log/out 2>&1 &
node=$!
wait_for is_idle || {
  not_ok 'Slurm starts' log/slurmctld.log log/slurmd.log
  finish
  exit
}
