#define _GNU_SOURCE /* prctl */
#include "verify/walk/crew.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/glib/signals.h"
#include "base/glib/terminal.h"

struct member {
  pid_t pid; /* the member's process, or 0 if it has none */
  int pipe;
};

/* ---- a process ---- */

/* Takes all walks of this member. A record is so short that a pipe takes it in one piece. */
static void work(const struct crew *crew, unsigned self, int to)
{
  for (uint64_t number = self; number < crew->until; number += crew->workers) {
    struct walked walked = {.number = number};
    crew->walk(crew->data, number, &walked);
    if (write(to, &walked, sizeof walked) != sizeof walked)
      break;
    if (walked.ending == ENDING_VIOLATED)
      break;
  }
  _exit(EXIT_FINE);
}

static bool start(const struct crew *crew, struct member *members, unsigned self)
{
  int ends[2];
  pid_t parent = getpid();
  if (pipe(ends) != 0)
    return false;
  fflush(NULL);
  members[self].pid = fork();
  if (members[self].pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(EXIT_FINE);
    signals_ignore(); /* the first process ends the other processes */
    for (unsigned i = 0; i < self; i++)
      close(members[i].pipe);
    close(ends[0]);
    work(crew, self, ends[1]);
  }
  close(ends[1]);
  members[self].pipe = ends[0];
  if (members[self].pid > 0)
    return true;
  members[self].pid = 0;
  close(ends[0]);
  return false;
}

static void end_all(struct member *members, unsigned count)
{
  for (unsigned i = 0; i < count; i++) {
    kill(members[i].pid, SIGKILL);
    close(members[i].pipe);
  }
  for (unsigned i = 0; i < count; i++)
    while (waitpid(members[i].pid, NULL, 0) < 0 && errno == EINTR)
      continue;
}

/* ---- reading ---- */

/* Reads the record of a member, and waits for it until `deadline`. Returns 1 if it has the record,
 * 0 if the time is over or a signal came, and -1 if the process has ended. */
static int read_record(int from, gint64 deadline, struct walked *walked)
{
  struct pollfd end = {.fd = from, .events = POLLIN};
  for (;;) {
    gint64 left = deadline ? (deadline - g_get_monotonic_time()) / 1000 + 1 : 100;
    if (signals_caught() || (deadline && left <= 0))
      return 0;
    int ready = poll(&end, 1, (int)MIN(left, 100));
    if (ready < 0 && errno != EINTR)
      return -1;
    if (ready > 0)
      return read(from, walked, sizeof *walked) == sizeof *walked ? 1 : -1;
  }
}

static enum crew_end read_all(const struct crew *crew, struct member *members, const char *what,
                              struct tally *tally, struct walked *last)
{
  gint64 began = g_get_monotonic_time();
  gint64 deadline = crew->seconds > 0 ? began + (gint64)(crew->seconds * G_USEC_PER_SEC) : 0;
  bool shown = false;
  enum crew_end end = CREW_DONE;
  for (uint64_t number = 0; number < crew->until && end == CREW_DONE; number++) {
    int got = read_record(members[number % crew->workers].pipe, deadline, last);
    if (got < 0) {
      *last = (struct walked){.number = number};
      end = CREW_LOST;
    }
    if (got == 0)
      end = signals_caught() ? CREW_STOPPED : CREW_DONE;
    if (got <= 0)
      break;
    tally_add(tally, last);
    if (last->ending == ENDING_VIOLATED)
      end = CREW_VIOLATED;
    if (number % 64 == 0) {
      g_autofree char *line = g_strdup_printf("%s: %" PRIu64 " walks, %" PRIu64 " steps", what,
                                              tally->all.walks, tally->all.steps);
      shown |= progress_line(began, line);
    }
  }
  progress_clear(shown);
  return end;
}

enum crew_end crew_walk(const struct crew *crew, const char *what, struct tally *tally,
                        struct walked *last)
{
  g_autofree struct member *members = g_new0(struct member, crew->workers);
  unsigned started = 0;
  enum crew_end end = CREW_NONE;
  signals_catch();
  while (started < crew->workers && start(crew, members, started))
    started++;
  int problem = errno;
  if (started == crew->workers)
    end = read_all(crew, members, what, tally, last);
  end_all(members, started);
  signals_restore();
  errno = problem;
  return end;
}
