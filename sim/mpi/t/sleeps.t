#!/bin/sh
# Tests that every call that sleeps or waits for a time takes simulated time, and that every clock
# tells this time, in C, C++ and Fortran; also if all ranks go back to a checkpoint in the middle of
# a sleep. A message says what is not simulated.
. "$(dirname "$0")/../../../protocols/t/tap.sh"
needs_layer
cd "$dir" || exit 1

"$build/bin/recline-cc" -std=gnu11 -O1 -Wall -Wextra "$here/programs/sleeps-program.c" -o in-c -lm
"$build/bin/recline-cc" -std=gnu11 -O2 -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -Wall -Wextra \
  "$here/programs/sleeps-waits.c" -o in-waits -lm
"$build/bin/recline-c++" -std=c++17 -O1 -Wall -Wextra "$here/programs/sleeps-program.cc" -o in-c++
"$build/bin/recline-f90" -O1 -Wall "$here/programs/sleeps-program.f90" -o in-fortran

right() { # PROGRAM PROTOCOL FAILURE VERDICT
  cat >scenario.yaml <<END
program:    {binary: ./$1, ranks: 2}
platform:   {file: $root/platforms/clan.xml}
protocol:   {name: $2}
checkpoint: {every: 300ms, storage: local, bytes: 10kB}
detection:  1ms
failures:   [$3]
END
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --out out >stdout 2>stderr
  is "$?-$(value out/result.json verdict)-$(tail -n 1 out/program.out)" "0-$4-all are right" \
    "$1, $2${3:+, a crash}" out/program.out stderr
}

for program in in-c in-waits in-c++ in-fortran; do
  right $program none '' completed
  right $program pessimistic '' completed
  right $program bookmark '{rank: 0, at: 1900ms, repair: 1ms}' recovered
done

# The layer replaces all calls of libc that wait, except waits without end for others, waits of
# libc's own threads (aio, gai), and obsolete names.
libc=$(ldd "$build/bin/recline" | sed -n 's/.*=> \(.*libc\.so[^ ]*\).*/\1/p')
nm -D --defined-only "$libc" | sed 's/.* //; s/@.*//' |
  grep -E 'timed|clock(lock|wait|join|rd|wr)|sleep|poll|select|suspend|sigwait|pause|alarm|semtimed' |
  grep -Ev '^__(poll|select|nanosleep|sig|xpg|rpc)|^svc_|^(aio|gai)_|^sigpause|^epoll_c' |
  sort -u >waits
nm -D --defined-only "$build"/lib*/librecline_mpi.so "$build"/librecline_mpi.so 2>/dev/null |
  sed 's/.* //' | sort -u >defined
comm -23 waits defined >missing
[ "$(wc -l <waits)" -gt 30 ] && [ ! -s missing ]
report $? "each of libc's calls that wait until a time is the layer's" missing

refuses() { # CALL STATEMENT
  cat >program.c <<END
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  timer_t timer;
  MPI_Init(&argc, &argv);
  (void)timer;
  $2
  MPI_Finalize();
  return 0;
}
END
  "$build/bin/recline-cc" -std=gnu11 -Wall -Wextra program.c -o program
  sed -i 's/binary: [^,]*/binary: .\/program/' scenario.yaml
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --set 'failures=[]' --out out >stdout 2>stderr
  is "$?-$(grep -c "no signal will come from $1: it is not simulated" stderr)" 0-1 \
    "$1 is said not to be simulated" stderr
}

refuses alarm 'alarm(1);'
refuses ualarm 'ualarm(1, 0);'
refuses setitimer 'setitimer(ITIMER_REAL, &(struct itimerval){{0, 1}, {0, 1}}, NULL);'
refuses timer_create 'if (timer_create(CLOCK_MONOTONIC, NULL, &timer) != -1) return 1;'
refuses timerfd_create 'if (timerfd_create(CLOCK_MONOTONIC, 0) != -1) return 1;'

waits_for_ever() { # CALL STATEMENT
  cat >program.c <<END
#include <mpi.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  sigset_t set;
  int signal;
  siginfo_t info;
  MPI_Init(&argc, &argv);
  sigemptyset(&set);
  (void)signal, (void)info;
  $2;
  MPI_Finalize();
  return 0;
}
END
  "$build/bin/recline-cc" -std=gnu11 -Wall -Wextra program.c -o program
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --set 'failures=[]' --out out >stdout 2>stderr
  is "$?-$(grep -c "waits in $1 for a signal, expected a wait until a time" stderr)" 64-1 \
    "$1 is refused" stderr
}

waits_for_ever pause 'pause()'
waits_for_ever sigsuspend 'sigsuspend(&set)'
waits_for_ever sigwait 'sigwait(&set, &signal)'
waits_for_ever sigwaitinfo 'sigwaitinfo(&set, &info)'

# Tests a handler that a timer would call, set before the timer or after it.
handles() { # CALL STATEMENT
  cat >program.c <<END
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>
static volatile int come;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c_mutex;
static void handle(int number)
{
  come = number;
}
static void *keep(void *unused)
{
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&lock);
  mtx_lock(&c_mutex);
  return unused;
}
static void end_thread(void)
{
  pthread_t thread;
  mtx_init(&c_mutex, mtx_plain);
  pthread_create(&thread, NULL, keep, NULL);
  pthread_join(thread, NULL);
}
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  (void)handle, (void)end_thread;
  $2;
  MPI_Finalize();
  return 0;
}
END
  "$build/bin/recline-cc" -std=gnu11 -Wall -Wextra -pthread program.c -o program
  rm -rf out
  timeout 60 "$recline" run scenario.yaml --set 'failures=[]' --out out >stdout 2>stderr
  is "$?-$(grep -c "$1" stderr)" "${3:-64}-1" "$1" stderr
}
till='while (!come) { }'
handles 'alarm: no signal is simulated, expected a program without a handler for SIGALRM' \
  "signal(SIGALRM, handle); alarm(1); $till"
handles 'signal: no signal is simulated' "alarm(1); signal(SIGALRM, handle); $till"
handles 'sigaction: no signal is simulated' \
  "ualarm(1, 0); sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle}, NULL); $till"
handles 'setitimer: .*for SIGPROF' \
  "signal(SIGPROF, handle); setitimer(ITIMER_PROF, &(struct itimerval){{0, 1}, {0, 1}}, NULL); $till"
handles 'no signal will come from alarm' \
  'signal(SIGALRM, handle); alarm(0); signal(SIGALRM, SIG_DFL); alarm(9); signal(SIGUSR1, handle)' 0

# Each timer of a process is separate from the others, whichever call begins or ends it.
set_timer() { # WHICH SECONDS
  echo "setitimer($1, &(struct itimerval){{0, 0}, {$2, 0}}, NULL);"
}
real="alarm(9); $(set_timer ITIMER_REAL 9)"
virtual=$(set_timer ITIMER_VIRTUAL 9)
prof=$(set_timer ITIMER_PROF 9)
no_real=$(set_timer ITIMER_REAL 0)
no_virtual=$(set_timer ITIMER_VIRTUAL 0)
no_prof=$(set_timer ITIMER_PROF 0)
handles 'signal: .*for SIGALRM' "$real $virtual $no_virtual $prof $no_prof signal(SIGALRM, handle)"
handles 'signal: .*for SIGVTALRM' "$virtual $prof $no_prof alarm(9); alarm(0); signal(SIGVTALRM, handle)"
handles 'signal: .*for SIGPROF' "$prof $real $no_real $virtual $no_virtual signal(SIGPROF, handle)"
handles 'no signal will come from alarm' \
  "$real $virtual $no_virtual signal(SIGVTALRM, handle); signal(SIGPROF, handle)" 0
handles 'no signal will come from alarm' "$real $no_real $virtual signal(SIGALRM, handle)" 0
handles 'no signal will come from ualarm' \
  "ualarm(9, 0); if (setitimer(7, &(struct itimerval){0}, NULL) != -1) return 1" 0
for call in __sysv_signal sysv_signal bsd_signal ssignal sigset; do
  handles "$call: .*for SIGALRM" \
    "void (*$call(int, void (*)(int)))(int); alarm(9); $call(SIGALRM, handle)"
done
handles 'no signal will come from alarm' \
  'void (*sigset(int, void (*)(int)))(int); alarm(9); sigset(SIGALRM, (void (*)(int))2)' 0

# The next programs wait for locks that nobody gives back.
handles 'pthread_mutex_lock waits for a lock that a thread had when it ended' \
  'end_thread(); pthread_mutex_lock(&mutex)'
handles 'pthread_mutex_lock waits for a lock that its own thread has' \
  'pthread_mutex_lock(&mutex); MPI_Barrier(MPI_COMM_WORLD); pthread_mutex_lock(&mutex)'
handles 'pthread_rwlock_rdlock waits for a lock' 'end_thread(); pthread_rwlock_rdlock(&lock)'
handles 'pthread_rwlock_wrlock waits for a lock' 'end_thread(); pthread_rwlock_wrlock(&lock)'
handles 'pthread_mutex_lock waits for a lock' 'end_thread(); mtx_lock(&c_mutex)'
finish 44
