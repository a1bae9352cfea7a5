#include "sim/host/rank/activity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"compute", "mpi", "protocol", "checkpoint", "restart"};
enum { NOTHING = G_N_ELEMENTS(names) };

static FILE *stream;
static char *path;
static double began; /* a time in seconds, which is added to all times */
static guint8 *last; /* by rank: the activity of its last line */

static _Noreturn void fail(void)
{
  die(DIE_INPUT, "%s: cannot be written: %s, expected a folder with room", path, strerror(errno));
}

void activity_open(const char *file, int ranks, double before)
{
  began = before;
  path = g_strdup(file);
  stream = fopen(file, "we");
  if (!stream)
    fail();
  last = g_malloc((gsize)ranks);
  memset(last, NOTHING, (size_t)ranks);
  fprintf(stream, "recline-activity 1\nranks %d\n---\n", ranks);
}

void activity_note(const struct rank *r, double now)
{
  if (!stream || now <= r->since || last[r->index] == r->activity)
    return;
  last[r->index] = (guint8)r->activity;
  fprintf(stream, "%.9f %d %s\n", began + r->since, r->index, names[r->activity]);
}

void activity_back(const struct rank *r, double now, double to)
{
  if (!stream)
    return;
  fprintf(stream, "%.9f %d back to=%.9f\n", began + now, r->index, began + to);
  last[r->index] = NOTHING; /* time after this is not lost, so it gets a line of its own */
}

void activity_close(double now)
{
  if (!stream)
    return;
  fprintf(stream, "%.9f - end\n", began + now);
  bool written = !ferror(stream);
  if (fclose(stream) || !written)
    fail();
  stream = NULL;
}
