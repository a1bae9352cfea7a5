#define _GNU_SOURCE /* prctl */
#include "command/campaign/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/glib/signals.h"

struct slot {
  pid_t child; /* the process in this slot, or 0 if the slot is free */
  uint64_t job;
  char *out, *err;
};

struct pool {
  unsigned slots, busy;
  struct slot *slot;
  void (*tick)(void *data); /* or NULL */
  void *data;
};

struct pool *pool_new(unsigned slots, const char *folder)
{
  struct pool *pool = g_new0(struct pool, 1);
  pool->slots = slots;
  pool->slot = g_new0(struct slot, slots);
  for (unsigned i = 0; i < slots; i++) {
    pool->slot[i].out = g_strdup_printf("%s/.out-%u", folder, i);
    pool->slot[i].err = g_strdup_printf("%s/.err-%u", folder, i);
  }
  signal(SIGCHLD, SIG_DFL); /* if SIG_IGN were inherited, the status of children would be lost */
  signals_catch();
  return pool;
}

static void wake(int unused)
{
  (void)unused; /* the signal alone ends a wait */
}

/* Lets SIGALRM end waits every `seconds`, or no longer with 0. exec clears timer and handler of
 * children. */
static void wake_every(time_t seconds)
{
  const struct sigaction action = {.sa_handler = seconds ? wake : SIG_DFL};
  const struct itimerval every = {{seconds, 0}, {seconds, 0}};
  if (seconds)
    sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
  if (!seconds)
    sigaction(SIGALRM, &action, NULL);
}

void pool_tick(struct pool *pool, void (*tick)(void *data), void *data)
{
  pool->tick = tick;
  pool->data = data;
  wake_every(1);
}

void pool_free(struct pool *pool)
{
  if (!pool)
    return;
  if (pool->tick)
    wake_every(0);
  for (unsigned i = 0; i < pool->slots; i++)
    if (pool->slot[i].child)
      kill(pool->slot[i].child, SIGTERM);
  for (unsigned i = 0; i < pool->slots; i++) {
    struct slot *slot = &pool->slot[i];
    while (slot->child && waitpid(slot->child, NULL, 0) < 0 && errno == EINTR)
      ;
    unlink(slot->out);
    unlink(slot->err);
    g_free(slot->out);
    g_free(slot->err);
  }
  signals_restore();
  g_free(pool->slot);
  g_free(pool);
}

bool pool_is_full(const struct pool *pool)
{
  return pool->busy == pool->slots;
}

bool pool_is_empty(const struct pool *pool)
{
  return pool->busy == 0;
}

static bool redirect(const char *file, int flags, int to)
{
  int from = open(file, flags | O_CLOEXEC, 0644);
  return from >= 0 && dup2(from, to) == to;
}

/* Runs in the child, so this function does only what a signal handler may do. exec resets the
 * handlers of signals. */
static void become(const struct slot *slot, char *const *words, pid_t parent)
{
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && redirect("/dev/null", O_RDONLY, STDIN_FILENO) &&
      redirect(slot->out, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO) &&
      redirect(slot->err, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO))
    execv(words[0], words);
  _exit(127);
}

bool pool_start(struct pool *pool, char *const *words, uint64_t job, GError **error)
{
  struct slot *slot = pool->slot;
  while (slot->child)
    slot++;
  pid_t parent = getpid();
  slot->job = job;
  slot->child = fork();
  if (slot->child == 0)
    become(slot, words, parent);
  if (slot->child > 0) {
    pool->busy++;
    return true;
  }
  slot->child = 0;
  g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), "fork: %s", g_strerror(errno));
  return false;
}

int pool_wait(struct pool *pool, struct ended *ended)
{
  *ended = (struct ended){0};
  for (;;) {
    int status = 0;
    pid_t child = signals_caught() ? -1 : waitpid(-1, &status, 0);
    if (signals_caught())
      return signals_caught();
    if (child < 0 && pool->tick)
      pool->tick(pool->data);
    for (unsigned i = 0; child > 0 && i < pool->slots; i++) {
      struct slot *slot = &pool->slot[i];
      if (slot->child != child)
        continue;
      slot->child = 0;
      pool->busy--;
      ended->job = slot->job;
      ended->status = status;
      g_file_get_contents(slot->out, &ended->out, NULL, NULL);
      g_file_get_contents(slot->err, &ended->err, NULL, NULL);
      return 0;
    }
  }
}

int pool_pause(const struct pool *pool, unsigned milliseconds)
{
  (void)pool; /* the argument shows that a pool exists, because the pool notes signals */
  const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  if (!signals_caught() && milliseconds > 0)
    nanosleep(&pause, NULL);
  return signals_caught();
}
