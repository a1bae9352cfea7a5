/* Tests seldom used calls that wait until a given time. In the thread of a rank they use simulated
 * time, in other threads the time of the machine. */
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <mpi.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int rank, wrong;
static double began;

static void took(const char *what, double seconds)
{
  double found = MPI_Wtime() - began;
  if (fabs(found - seconds) > 1e-3) {
    wrong++;
    printf("rank %d: %s takes %g s, expected %g\n", rank, what, found, seconds);
  }
  began = MPI_Wtime();
}

static void holds(const char *what, int it_does)
{
  wrong += !it_does;
  if (!it_does)
    printf("rank %d: not so: %s\n", rank, what);
}

static struct timespec in(clockid_t clock, long milliseconds)
{
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += milliseconds * 1000000;
  time.tv_sec += time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

/* A thread holds these locks, which the rank cannot get, until the rank posts `enough`. */
static struct {
  pthread_mutex_t mutex;
  mtx_t c_mutex;
  pthread_rwlock_t lock;
  sem_t taken, enough;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_RWLOCK_INITIALIZER};

static void *keep(void *unused)
{
  pthread_mutex_lock(&kept.mutex);
  mtx_lock(&kept.c_mutex);
  pthread_rwlock_wrlock(&kept.lock);
  sem_post(&kept.taken);
  sem_wait(&kept.enough);
  pthread_rwlock_unlock(&kept.lock);
  mtx_unlock(&kept.c_mutex);
  pthread_mutex_unlock(&kept.mutex);
  return unused;
}

static void test_locks(void)
{
  pthread_t thread;
  mtx_init(&kept.c_mutex, mtx_timed);
  sem_init(&kept.taken, 0, 0);
  sem_init(&kept.enough, 0, 0);
  pthread_create(&thread, NULL, keep, NULL);
  sem_wait(&kept.taken);
  began = MPI_Wtime();
  struct timespec until = in(CLOCK_REALTIME, 100);
  holds("a mutex is held", mtx_timedlock(&kept.c_mutex, &until) == thrd_timedout);
  took("mtx_timedlock", 0.1);
  until = in(CLOCK_REALTIME, 110);
  holds("no reader enters", pthread_rwlock_timedrdlock(&kept.lock, &until) == ETIMEDOUT);
  took("pthread_rwlock_timedrdlock", 0.11);
  until = in(CLOCK_REALTIME, 120);
  holds("no writer enters", pthread_rwlock_timedwrlock(&kept.lock, &until) == ETIMEDOUT);
  took("pthread_rwlock_timedwrlock", 0.12);
  until = in(CLOCK_MONOTONIC, 130);
  holds("no reader enters", pthread_rwlock_clockrdlock(&kept.lock, CLOCK_MONOTONIC, &until));
  took("pthread_rwlock_clockrdlock", 0.13);
  until = in(CLOCK_MONOTONIC, 140);
  holds("no writer enters", pthread_rwlock_clockwrlock(&kept.lock, CLOCK_MONOTONIC, &until));
  took("pthread_rwlock_clockwrlock", 0.14);
  until = in(CLOCK_REALTIME, 20);
  holds("a thread lives", pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
  took("pthread_timedjoin_np", 0.02);
  until = in(CLOCK_MONOTONIC, 30);
  holds("a thread lives", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  took("pthread_clockjoin_np", 0.03);
  sem_post(&kept.enough);
  until = in(CLOCK_REALTIME, 50000);
  holds("a thread ends", pthread_timedjoin_np(thread, NULL, &until) == 0);
  holds("a reader enters", pthread_rwlock_timedrdlock(&kept.lock, &until) == 0);
  pthread_rwlock_unlock(&kept.lock);
  took("what is there", 0);
}

static void test_queues(void)
{
  char name[32], text[8] = "text";
  struct mq_attr shape = {.mq_maxmsg = 1, .mq_msgsize = sizeof text};
  struct sembuf down = {.sem_op = -1}, down_now = {.sem_op = -1, .sem_flg = IPC_NOWAIT};
  struct timespec some = {0, 150000000}, until;
  int semaphores = semget(IPC_PRIVATE, 1, 0600);
  began = MPI_Wtime();
  holds("a semaphore is down", semtimedop(semaphores, &down, 1, &some) < 0 && errno == EAGAIN);
  took("semtimedop", 0.15);
  holds("at once", semtimedop(semaphores, &down_now, 1, &some) < 0 && errno == EAGAIN);
  took("semtimedop that does not wait", 0);
  semctl(semaphores, 0, IPC_RMID);
  snprintf(name, sizeof name, "/recline-sleeps-%d-%ld", rank, (long)syscall(SYS_getpid));
  mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &shape);
  mq_unlink(name);
  if (queue < 0)
    return; /* the machine has no message queues */
  until = in(CLOCK_REALTIME, 160);
  began = MPI_Wtime();
  holds("nothing in the queue", mq_timedreceive(queue, text, sizeof text, NULL, &until) < 0);
  took("mq_timedreceive", 0.16);
  until = in(CLOCK_REALTIME, 170);
  holds("there is room", mq_timedsend(queue, text, sizeof text, 0, &until) == 0);
  took("mq_timedsend with room", 0);
  holds("there is no room", mq_timedsend(queue, text, sizeof text, 0, &until) < 0);
  took("mq_timedsend", 0.17);
  until = in(CLOCK_REALTIME, 160);
  holds("text comes", mq_timedreceive(queue, text, sizeof text, NULL, &until) == sizeof text);
  took("mq_timedreceive of a text", 0);
  mq_close(queue);
}

static void test_system_calls(void)
{
  uint32_t word = 7;
  int ends[2], sockets[2], poll_of = epoll_create1(0);
  struct timespec some = {0, 180000000}, now, until = in(CLOCK_MONOTONIC, 190);
  struct epoll_event event;
  holds("a pipe is made", pipe(ends) == 0);
  struct pollfd files[1] = {{.fd = ends[0], .events = POLLIN}};
  began = MPI_Wtime();
  holds("a word stays",
        syscall(SYS_futex, &word, FUTEX_WAIT, 7, &some, NULL, 0) == -1 && errno == ETIMEDOUT);
  took("futex for a time", 0.18);
  holds("a word is another",
        syscall(SYS_futex, &word, FUTEX_WAIT, 8, &some, NULL, 0) == -1 && errno == EAGAIN);
  took("futex at once", 0);
  until = in(CLOCK_MONOTONIC, 190);
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 7, &until, NULL, FUTEX_BITSET_MATCH_ANY);
  took("futex until a time", 0.19);
  syscall(SYS_nanosleep, &some, NULL);
  took("a system call's nanosleep", 0.18);
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &some, NULL);
  took("a system call's clock_nanosleep", 0.18);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  holds("a system call's clock",
        fabs((double)now.tv_sec + 1e-9 * (double)now.tv_nsec - MPI_Wtime()) < 1e-3);
  began = MPI_Wtime();
  holds("nothing", epoll_pwait2(poll_of, &event, 1, &some, NULL) == 0);
  took("epoll_pwait2", 0.18);
  /* the compiler does not know this value, so it makes the fortified call */
  volatile nfds_t count = 1;
  holds("nothing", poll(files, count, 70) == 0);
  took("fortified poll", 0.07);
  holds("nothing", ppoll(files, count, &some, NULL) == 0);
  took("fortified ppoll", 0.18);
  struct timeval time = {.tv_usec = 1000};
  holds("sockets are made", socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  holds("sockets wait for no time",
        setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == -1);
  for (int i = 0; i < 2; i++)
    close(ends[i]), close(sockets[i]);
  close(poll_of);
}

/* Tests that the clocks of a thread go on while simulated time does not. */
static void *wait_in_thread(void *result)
{
  pthread_condattr_t attributes;
  pthread_cond_t condition;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&condition, &attributes);
  struct timespec now, until = in(CLOCK_MONOTONIC, 5);
  double before = MPI_Wtime();
  pthread_mutex_lock(&mutex);
  int in_time = pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT;
  pthread_mutex_unlock(&mutex);
  until = in(CLOCK_REALTIME, 5);
  do
    clock_gettime(CLOCK_REALTIME, &now);
  while (now.tv_sec < until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
  *(int *)result = in_time && MPI_Wtime() - before >= 0.009;
  return NULL;
}

int main(int argc, char **argv)
{
  int all, in_time = 0;
  pthread_t thread;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  test_locks();
  test_queues();
  test_system_calls();
  began = MPI_Wtime();
  pthread_create(&thread, NULL, wait_in_thread, &in_time);
  pthread_join(thread, NULL);
  holds("a thread waits by clocks that go on", in_time);
  took("what a thread does", 0);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    puts(all ? "WRONG" : "all are right");
  MPI_Finalize();
  return all != 0;
}
