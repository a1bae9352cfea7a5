#define _POSIX_C_SOURCE 200809L
#include "base/glib/terminal.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* SILENT is the number of seconds before a line is shown, BETWEEN the number between two lines of a
 * file. */
enum { SILENT = 2, BETWEEN = 30, LINE_MAX_BYTES = 200 };

static bool is_terminal(int descriptor)
{
  const char *term = g_getenv("TERM");
  return isatty(descriptor) && !(term && !strcmp(term, "dumb"));
}

struct look terminal_look(void)
{
  const char *none = g_getenv("NO_COLOR");
  if (!is_terminal(STDOUT_FILENO) || (none && *none))
    return (struct look){"", "", "", ""};
  return (struct look){"\033[1m", "\033[1;32m", "\033[1;31m", "\033[0m"};
}

bool terminal_shows_progress(void)
{
  return is_terminal(STDERR_FILENO);
}

bool progress_line(gint64 began, const char *what)
{
  char line[LINE_MAX_BYTES];
  gint64 seconds = (g_get_monotonic_time() - began) / G_USEC_PER_SEC;
  if (seconds < SILENT || !terminal_shows_progress())
    return false;
  int length = snprintf(line, sizeof line, "\r\033[K%s, %" G_GINT64_FORMAT " s", what, seconds);
  return write(STDERR_FILENO, line, MIN((size_t)length, sizeof line - 1)) > 0;
}

gint64 progress_tell(gint64 began, gint64 told, const char *what)
{
  gint64 seconds = (g_get_monotonic_time() - began) / G_USEC_PER_SEC;
  if (terminal_shows_progress() || seconds < told + BETWEEN)
    return told;
  g_printerr("%s, %" G_GINT64_FORMAT " s\n", what, seconds);
  return seconds;
}

void progress_clear(bool there)
{
  if (there && write(STDERR_FILENO, "\r\033[K", 4) < 0)
    return; /* the terminal is gone */
}

/* ---- by a thread ---- */

static struct {
  GThread *thread; /* the thread that writes, or NULL if there is none */
  GMutex lock;
  GCond ended;
  const char *what; /* what is being done, or NULL if the thread is to end */
} shown;

static void *show(void *began)
{
  bool there = false;
  g_mutex_lock(&shown.lock);
  while (shown.what) {
    gint64 next = g_get_monotonic_time() + G_USEC_PER_SEC / 5;
    there |= progress_line(*(gint64 *)began, shown.what);
    while (shown.what && g_cond_wait_until(&shown.ended, &shown.lock, next))
      ;
  }
  g_mutex_unlock(&shown.lock);
  progress_clear(there);
  g_free(began);
  return NULL;
}

void progress_begin(const char *what)
{
  if (!terminal_shows_progress())
    return;
  gint64 *began = g_new(gint64, 1);
  *began = g_get_monotonic_time();
  shown.what = what;
  shown.thread = g_thread_new("progress", show, began);
}

void progress_end(void)
{
  if (!shown.thread)
    return;
  g_mutex_lock(&shown.lock);
  shown.what = NULL;
  g_cond_signal(&shown.ended);
  g_mutex_unlock(&shown.lock);
  g_thread_join(shown.thread);
  shown.thread = NULL;
}
