#!/bin/sh
# One world explored by processes that srun starts, in a Slurm of one node that is started here.
. "$(dirname "$0")/../../protocols/t/tap.sh"
needs_layer
command -v mpicc >/dev/null && [ -e "$build/lib/librecline-transport.so" ] || {
  echo '1..0 # SKIP recline is built without MPI (packages libopenmpi-dev, openmpi-bin)'
  exit 0
}
. "$root/protocols/t/slurm.sh"
way=pmi2
! mpicc -showme >/dev/null 2>&1 || way=pmix # Open MPI
counts() { sed -n 's/^ *"\(verdict\|states\|transitions\|depth\)" : \(.*\),$/\1 \2/p' json; }
as_tasks() { # WAY ARG...
  how=$1
  shift
  SLURM_CONF=$dir/client/slurm.conf timeout 120 srun --mpi="$how" -n 4 "$recline" check hybrid-recovers "$@" </dev/null
}

"$recline" check hybrid-recovers --json >json
counts >threads
as_tasks $way --json >json 2>err
is "$?" 0 'four tasks' err
counts >tasks
same threads tasks 'end with the counts of threads'
as_tasks none >out 2>err
is "$?:$(grep -c 'none can find the others, expected' err)" 64:1 'tasks without MPI are refused' err
stop_slurm
finish
