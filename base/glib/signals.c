#define _POSIX_C_SOURCE 200809L /* sigaction */
#include "base/glib/signals.h"

#include <signal.h>
#include <stddef.h>

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

void signals_ignore(void)
{
  for (size_t i = 0; i < STOPPING; i++)
    signal(stopping[i], SIG_IGN);
}
