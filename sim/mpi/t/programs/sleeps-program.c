/* Tests that all calls that sleep or wait for a time, and all clocks, use simulated time. */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int rank, wrong;
static double began;

static void begin(void)
{
  began = MPI_Wtime();
}

static void near(const char *what, double found, double right)
{
  if (fabs(found - right) <= 1e-3)
    return;
  wrong++;
  printf("rank %d: %s takes %g s, expected %g\n", rank, what, found, right);
}

/* Tests that `seconds` have passed since the last call of begin() or took(). */
static void took(const char *what, double seconds)
{
  near(what, MPI_Wtime() - began, seconds);
  begin();
}

static void holds(const char *what, int it_does)
{
  if (it_does)
    return;
  wrong++;
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

static void test_sleeps(void)
{
  struct timespec wanted = {0, 200000000}, left = {7, 8}, bad = {0, 2000000000};
  begin();
  sleep(1);
  took("sleep", 1);
  usleep(100000);
  took("usleep", 0.1);
  nanosleep(&wanted, NULL);
  took("nanosleep", 0.2);
  nanosleep(&wanted, &left);
  took("nanosleep with a rest", 0.2);
  holds("a sleep to its end leaves the rest alone", left.tv_sec == 7 && left.tv_nsec == 8);
  while (nanosleep(&wanted, &wanted) == -1 && errno == EINTR)
    continue;
  took("nanosleep with one argument for both", 0.2);
  holds("nanosleep refuses what is no time", nanosleep(&bad, NULL) == -1 && errno == EINVAL);
  wanted = (struct timespec){0, 200000000};
  thrd_sleep(&wanted, &wanted);
  took("thrd_sleep", 0.2);
  const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};
  for (int i = 0; i < 3; i++) {
    wanted = (struct timespec){0, 150000000};
    clock_nanosleep(clocks[i], 0, &wanted, &wanted);
    took("clock_nanosleep", 0.15);
    struct timespec until = in(clocks[i], 250);
    clock_nanosleep(clocks[i], TIMER_ABSTIME, &until, NULL);
    took("clock_nanosleep until a time", 0.25);
    clock_nanosleep(clocks[i], TIMER_ABSTIME, &until, NULL);
    took("clock_nanosleep until a time that is past", 0);
  }
  holds("clock_nanosleep refuses what is no time",
        clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == EINVAL);
}

static void test_descriptors(void)
{
  int ends[2], epoll = epoll_create1(0);
  fd_set set;
  struct timespec some = {0, 60000000};
  struct timeval time = {0, 50000};
  holds("a pipe is made", pipe(ends) == 0);
  struct pollfd file = {.fd = ends[0], .events = POLLIN};
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
  begin();
  holds("select of nothing", select(0, NULL, NULL, NULL, &time) == 0);
  took("select", 0.05);
  holds("select tells that no time is left", time.tv_sec == 0 && time.tv_usec == 0);
  time = (struct timeval){0, 50000};
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  holds("nothing to read", select(ends[0] + 1, &set, NULL, NULL, &time) == 0);
  holds("nor in the set", !FD_ISSET(ends[0], &set));
  took("select of a pipe", 0.05);
  holds("pselect of nothing", pselect(0, NULL, NULL, NULL, &some, NULL) == 0);
  took("pselect", 0.06);
  holds("poll of nothing", poll(NULL, 0, 70) == 0);
  took("poll", 0.07);
  holds("poll of an empty pipe", poll(&file, 1, 70) == 0);
  took("poll of a pipe", 0.07);
  holds("ppoll of an empty pipe", ppoll(&file, 1, &some, NULL) == 0);
  took("ppoll", 0.06);
  holds("epoll_wait of an empty pipe", epoll_wait(epoll, &event, 1, 80) == 0);
  took("epoll_wait", 0.08);
  holds("epoll_pwait of an empty pipe", epoll_pwait(epoll, &event, 1, 80, NULL) == 0);
  took("epoll_pwait", 0.08);
  holds("a byte is written", write(ends[1], "x", 1) == 1);
  time = (struct timeval){5, 0};
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  holds("something to read", select(ends[0] + 1, &set, NULL, NULL, &time) == 1);
  holds("and all of the time left", time.tv_sec == 5);
  holds("poll finds it", poll(&file, 1, 5000) == 1 && file.revents == POLLIN);
  holds("epoll_wait finds it", epoll_wait(epoll, &event, 1, 5000) == 1);
  took("what is there at once", 0);
  holds("poll without waiting", poll(NULL, 0, 0) == 0);
  took("poll without waiting", 0);
  close(ends[0]);
  close(ends[1]);
  close(epoll);
}

static void test_locks(void)
{
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, taken = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  sigset_t signals;
  struct timespec some = {0, 90000000}, until;
  sem_init(&semaphore, 0, 1);
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&taken);
  begin();
  holds("no signal comes", sigtimedwait(&signals, NULL, &some) == -1 && errno == EAGAIN);
  took("sigtimedwait", 0.09);
  until = in(CLOCK_REALTIME, 110);
  holds("nobody signals", pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  took("pthread_cond_timedwait", 0.11);
  until = in(CLOCK_MONOTONIC, 110);
  holds("nobody signals by another clock",
        pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  took("pthread_cond_clockwait", 0.11);
  until = in(CLOCK_REALTIME, 120);
  holds("a lock that is taken", pthread_mutex_timedlock(&taken, &until) == ETIMEDOUT);
  took("pthread_mutex_timedlock", 0.12);
  until = in(CLOCK_MONOTONIC, 120);
  holds("a lock that is taken, by another clock",
        pthread_mutex_clocklock(&taken, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
  took("pthread_mutex_clocklock", 0.12);
  pthread_mutex_unlock(&taken);
  until = in(CLOCK_REALTIME, 120);
  holds("a lock that is free", pthread_mutex_timedlock(&taken, &until) == 0);
  holds("a semaphore that is up", sem_timedwait(&semaphore, &until) == 0);
  took("what is there at once", 0);
  until = in(CLOCK_REALTIME, 130);
  holds("a semaphore that is down", sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
  took("sem_timedwait", 0.13);
  until = in(CLOCK_MONOTONIC, 130);
  holds("a semaphore that is down, by another clock",
        sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
  took("sem_clockwait", 0.13);
  pthread_mutex_unlock(&taken);
  pthread_mutex_unlock(&mutex);
}

static double of_timeval(struct timeval time)
{
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static double of_clock(clockid_t clock)
{
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

enum { CLOCKS = 13 };

static void read_clocks(double now[CLOCKS])
{
  const clockid_t clocks[] = {
      CLOCK_REALTIME,      CLOCK_MONOTONIC,       CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
      CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE,   CLOCK_BOOTTIME};
  struct timeval time;
  struct timespec exact;
  struct tms ticks;
  struct rusage usage;
  int at = 0;
  for (; at < 8; at++)
    now[at] = of_clock(clocks[at]);
  gettimeofday(&time, NULL);
  now[at++] = of_timeval(time);
  timespec_get(&exact, TIME_UTC);
  now[at++] = (double)exact.tv_sec + 1e-9 * (double)exact.tv_nsec;
  now[at++] = (double)clock() / CLOCKS_PER_SEC;
  now[at++] = (double)times(&ticks) / (double)sysconf(_SC_CLK_TCK);
  getrusage(RUSAGE_SELF, &usage);
  now[at++] = of_timeval(usage.ru_utime);
}

static void test_clocks(void)
{
  static const char *const names[CLOCKS] = {"CLOCK_REALTIME",
                                            "CLOCK_MONOTONIC",
                                            "CLOCK_PROCESS_CPUTIME_ID",
                                            "CLOCK_THREAD_CPUTIME_ID",
                                            "CLOCK_MONOTONIC_RAW",
                                            "CLOCK_REALTIME_COARSE",
                                            "CLOCK_MONOTONIC_COARSE",
                                            "CLOCK_BOOTTIME",
                                            "gettimeofday",
                                            "timespec_get",
                                            "clock",
                                            "times",
                                            "getrusage"};
  double before[CLOCKS], after[CLOCKS];
  time_t seconds = time(NULL);
  read_clocks(before);
  usleep(3000000);
  read_clocks(after);
  for (int i = 0; i < CLOCKS; i++)
    near(names[i], after[i] - before[i], 3);
  holds("time goes on", time(NULL) == seconds + 3);
}

int main(int argc, char **argv)
{
  int all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  test_sleeps();
  test_descriptors();
  test_locks();
  test_clocks();
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    puts(all ? "WRONG" : "all are right");
  MPI_Finalize();
  return all != 0;
}
