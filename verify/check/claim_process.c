#define _DEFAULT_SOURCE
#include "verify/check/claim_process.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/breach.h"
#include "base/exit_codes.h"
#include "base/platform.h"

/* Holds what goes through the pipe: the result, or an error. */
struct answer {
  struct claim_result result;
  bool failed;
  char error[512];
};

static void write_all(int to, const void *bytes, size_t size)
{
  for (const char *at = bytes; size > 0;) {
    ssize_t n = write(to, at, size);
    if (n <= 0)
      _exit(EXIT_BREACH);
    at += n;
    size -= (size_t)n;
  }
}

/* Makes a signal end this process at its time limit, because the search does not look at the clock
 * while it makes an abstraction or moves its tables. */
static void end_late(double seconds)
{
  double late = seconds > 0 ? 1.05 * seconds + 0.5 : 0;
  const struct itimerval limit = {
      .it_value = {(time_t)late, (suseconds_t)((late - floor(late)) * 1e6)}};
  signal(SIGALRM, SIG_DFL);
  setitimer(ITIMER_REAL, &limit, NULL); /* 0 seconds mean no limit */
}

/* Explores a claim. Runs in a process of its own. */
static void work(const struct work *w, const struct scenario *claim, int to)
{
  struct claim_options options = w->options;
  struct answer answer = {0};
  char *wrong = NULL;
  g_autoptr(GError) error = NULL;
  double seconds = w->timeout > 0 && claim->limits.time > 0 ? MIN(w->timeout, claim->limits.time)
                                                            : MAX(w->timeout, claim->limits.time);
  options.seconds = seconds;
  if (w->launch->size == 1) /* several processes must end as MPI processes do */
    end_late(seconds);
  dup2(w->errors, STDERR_FILENO);
  if (w->launch->size > 1)
    options.transport = launch_connect(w->launch, &wrong);
  if (wrong)
    g_set_error(&error, SCENARIO_ERROR, 0, "recline check: %s", wrong);
  answer.failed = wrong || !claim_check(claim, &options, &answer.result, &error);
  if (answer.failed)
    g_strlcpy(answer.error, error->message, sizeof answer.error);
  if (options.transport)
    options.transport->end();
  write_all(to, &answer, sizeof answer);
  _exit(0);
}

bool worker_begin(const struct work *w, struct worker *worker, struct checked *checked)
{
  int ends[2];
  fflush(stdout);
  if (pipe(ends) != 0 || (worker->pid = fork()) < 0) {
    bad_input("recline check: no process for %s: %s", checked->claim->id, g_strerror(errno));
    return false;
  }
  if (worker->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a check that is killed leaves no process behind */
    close(ends[0]);
    work(w, checked->claim, ends[1]);
  }
  close(ends[1]);
  worker->pipe = ends[0];
  worker->checked = checked;
  worker->too_large = false;
  return true;
}

static bool read_answer(int from, struct answer *answer)
{
  size_t got = 0;
  ssize_t n;
  while (got < sizeof *answer && (n = read(from, (char *)answer + got, sizeof *answer - got)) > 0)
    got += (size_t)n;
  return got == sizeof *answer;
}

bool worker_end(struct worker *worker, int status, const struct rusage *usage)
{
  struct claim_result *result = &worker->checked->result;
  struct answer answer;
  bool answered = read_answer(worker->pipe, &answer);
  close(worker->pipe);
  worker->pid = 0;
  if (answered && answer.failed) {
    bad_input("%s", answer.error);
    return false;
  }
  if (!answered && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_INPUT)
    return false; /* the exploration has printed the reason, which is that the disk is full */
  if (answered) {
    *result = answer.result;
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    result->verdict = CLAIM_INCONCLUSIVE;
    g_strlcpy(result->bound, "timeout", sizeof result->bound);
  } else if (worker->too_large || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INCONCLUSIVE)) {
    result->verdict = CLAIM_INCONCLUSIVE;
    g_strlcpy(result->bound, "memory", sizeof result->bound);
  } else {
    result->verdict = CLAIM_BREACH;
    g_snprintf(result->text, sizeof result->text, "the explorer ended with %s %d",
               WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  worker->checked->lost = !answered;
  result->peak_rss = (uint64_t)usage->ru_maxrss * 1024;
  return true;
}

/* Returns the memory that a claim may take, in bytes: its limit, or a share of the machine's
 * memory, so that the machine stays usable. */
static uint64_t memory_limit(const struct work *w, const struct scenario *claim)
{
  uint64_t share = platform_memory() / 10 * 9 / w->options.jobs;
  return claim->limits.memory > 0 ? (uint64_t)claim->limits.memory : share;
}

pid_t workers_watch(const struct work *w, struct worker *workers, int count)
{
  g_autofree struct pollfd *ends = g_new0(struct pollfd, (gsize)count);
  g_autofree pid_t *pids = g_new0(pid_t, (gsize)count);
  nfds_t running = 0;
  for (int i = 0; i < count; i++) {
    struct worker *worker = &workers[i];
    if (!worker->pid)
      continue;
    uint64_t limit = memory_limit(w, worker->checked->claim);
    worker->too_large |= limit && platform_resident(worker->pid) > limit;
    if (worker->too_large)
      kill(worker->pid, SIGKILL);
    pids[running] = worker->pid;
    ends[running++] = (struct pollfd){.fd = worker->pipe, .events = POLLIN};
  }
  poll(ends, running, 100); /* ms */
  for (nfds_t i = 0; i < running; i++)
    if (ends[i].revents)
      return pids[i];
  return 0;
}
