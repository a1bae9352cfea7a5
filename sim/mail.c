#include "mail.h"

#include "dispatcher.h"
#include "wire.h"

#include <math.h>

/* The clock may stop a little before the time for which it was set, in seconds. */
static const double NEARLY = 1e-12;

struct box {
  GSequence *mail;    /* struct message, by due */
  double first_due;   /* when the first of it is due; INFINITY: there is none */
  double taken;       /* until then it takes in what came */
  double left;        /* until then it sends what was posted */
  unsigned carried;   /* control messages on the way to it as transfers */
  double carried_due; /* when the first of these comes, at the earliest */
};

static struct box *boxes;  /* by rank */
static double pace = -1.0; /* by which latencies of routes are multiplied; negative: unknown */

static struct box *box_of(int rank)
{
  if (!boxes) {
    boxes = g_new0(struct box, (gsize)layer.ranks + 1);
    for (int i = 0; i <= layer.ranks; i++)
      boxes[i] = (struct box){.mail = g_sequence_new(NULL), .first_due = INFINITY};
  }
  return &boxes[rank];
}

static bool awake_by(const struct box *box, double time)
{
  return box->first_due <= time || (box->carried && box->carried_due <= time);
}

static int by_due(gconstpointer a, gconstpointer b, gpointer unused)
{
  (void)unused;
  const struct message *x = a, *y = b;
  return (x->posted.due > y->posted.due) - (x->posted.due < y->posted.due);
}

bool mail_post(struct message *message, uint64_t bytes)
{
  struct box *own = box_of(message->source), *box = box_of(message->destination);
  struct posted *posted = &message->posted;
  const char *there = dispatcher_host_of(message->destination);
  if (!there || !wire_route(there, bytes, &posted->latency, &posted->occupies))
    return false;
  own->left = posted->left = MAX(own->left, machine_now()) + posted->occupies;
  posted->due = posted->left + MAX(pace, 1.0) * posted->latency;
  if (pace > 0.0 && awake_by(box, posted->due)) {
    g_sequence_insert_sorted(box->mail, message, by_due, NULL);
    box->first_due = MIN(box->first_due, posted->due);
    return true;
  }
  box->carried_due = box->carried ? MIN(box->carried_due, posted->due) : posted->due;
  box->carried++;
  return false;
}

void mail_carried(const struct message *message)
{
  const struct posted *posted = &message->posted;
  if (posted->latency <= 0.0)
    return;
  box_of(message->destination)->carried--;
  double took = MAX(machine_now() - posted->left, 0.0) / posted->latency;
  if (pace < 0.0 || took < pace)
    pace = MAX(took, 1.0);
}

double mail_due(int rank)
{
  const struct box *box = box_of(rank);
  return isfinite(box->first_due) ? MAX(box->first_due, box->taken) : -1.0;
}

struct message *mail_take(int rank)
{
  struct box *box = box_of(rank);
  double in = MAX(box->first_due, box->taken);
  if (in > machine_now() + NEARLY)
    return NULL;
  GSequenceIter *first = g_sequence_get_begin_iter(box->mail), *next = g_sequence_iter_next(first);
  struct message *message = g_sequence_get(first);
  box->taken = in + message->posted.occupies;
  g_sequence_remove(first);
  bool more = !g_sequence_iter_is_end(next);
  box->first_due = more ? ((struct message *)g_sequence_get(next))->posted.due : INFINITY;
  return message;
}
