#define _POSIX_C_SOURCE 200809L /* sigaction */
#include "base/glib/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};

enum { STOPPING = sizeof stopping / sizeof *stopping };

static struct sigaction before[STOPPING];
static volatile sig_atomic_t caught;

static void note_signal(int signal)
{
  caught = signal;
}

void signals_catch(void)
{
  const struct sigaction noted = {.sa_handler = note_signal};
  caught = 0;
  for (size_t i = 0; i < STOPPING; i++)
    if (sigaction(stopping[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
      sigaction(stopping[i], &noted, NULL);
}

int signals_caught(void)
{
  return caught;
}

void signals_restore(void)
{
  for (size_t i = 0; i < STOPPING; i++)
    sigaction(stopping[i], &before[i], NULL);
}

static const char *told;
static pid_t teller;

/* Does only what a signal handler may do. */
static void tell_and_end(int signal_)
{
  if (getpid() == teller && write(STDERR_FILENO, told, strlen(told)) < 0)
    told = ""; /* nobody reads standard error any more */
  signal(signal_, SIG_DFL);
  raise(signal_);
}

void signals_tell(const char *text)
{
  const struct sigaction telling = {.sa_handler = tell_and_end};
  struct sigaction now;
  told = text;
  teller = getpid();
  for (size_t i = 0; i < STOPPING; i++)
    if (sigaction(stopping[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaction(stopping[i], &telling, NULL);
}

void signals_ignore(void)
{
  for (size_t i = 0; i < STOPPING; i++)
    signal(stopping[i], SIG_IGN);
}
