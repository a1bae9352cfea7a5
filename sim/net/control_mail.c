#include "sim/net/control_mail.h"

#include "sim/net/machine.h"
#include "sim/net/placement.h"
#include "sim/net/wire.h"

#include <glib.h>

/* When an actor waits until a time, the clock may stop up to NEARLY seconds before that time. */
static const double NEARLY = 1e-12;

/* Holds the mail of a rank. `mail` is a binary heap of the messages in transit to the rank, ordered
 * by due time and then by order of posting. The heap contains the letters themselves, because
 * pointers would cost a cache miss at each look. */
struct box {
  /* routes from the rank to each receiver, which are set when they are needed */
  struct route *routes;
  struct letter *mail;
  unsigned letters, room;
  uint32_t posted; /* number of letters so far */
  double taken;    /* the time until which the rank takes in earlier messages */
  double left;     /* the time until which the rank sends earlier messages */
  /* number of control messages that are on their way to the rank as transfers */
  unsigned carried;
  double carried_due; /* no carried message arrives before this time */
};

static int ranks;
static struct box *boxes; /* by rank; the last one is the dispatcher's */
/* the pace, a factor for latencies of routes, or a negative number if it is unknown */
static double pace = -1.0;

void control_mail_begin(int count)
{
  ranks = count;
  boxes = g_new0(struct box, (gsize)ranks + 1);
}

static const struct letter *first_due(const struct box *box)
{
  return box->letters > 0 ? &box->mail[0] : NULL;
}

/* ---- the heap ---- */

static bool is_before(const struct letter *a, const struct letter *b)
{
  return a->due < b->due || (a->due == b->due && a->number < b->number);
}

static void heap_add(struct box *box, struct letter letter)
{
  if (box->letters == box->room) {
    box->room = box->room ? 2 * box->room : 4;
    box->mail = g_renew(struct letter, box->mail, box->room);
  }
  letter.number = box->posted++;
  struct letter *heap = box->mail;
  unsigned at = box->letters++;
  for (; at > 0 && is_before(&letter, &heap[(at - 1) / 2]); at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = letter;
}

static struct letter heap_take(struct box *box)
{
  struct letter *heap = box->mail, letter = heap[0];
  const struct letter *last = &heap[--box->letters];
  unsigned at = 0;
  for (;;) {
    unsigned next = 2 * at + 1;
    if (next + 1 < box->letters && is_before(&heap[next + 1], &heap[next]))
      next++;
    if (next >= box->letters || !is_before(&heap[next], last))
      break;
    heap[at] = heap[next];
    at = next;
  }
  heap[at] = *last;
  return letter;
}

/* ---- sending and receiving ---- */

static bool awake_by(const struct box *box, double time)
{
  return (first_due(box) && first_due(box)->due <= time) ||
         (box->carried && box->carried_due <= time);
}

/* Returns the route to a rank, or NULL if it takes no time. */
static const struct route *route_to(struct box *own, int rank)
{
  const char *there = node_of(rank);
  if (!own->routes)
    own->routes = g_new0(struct route, (gsize)ranks + 1);
  struct route *route = &own->routes[rank];
  if (there && (route->to != there || route->from != machine_host()))
    *route = wire_route(there);
  return there && route->latency > 0.0 ? route : NULL;
}

bool control_mail_post(struct message *message)
{
  struct box *own = &boxes[message->source], *box = &boxes[message->destination];
  struct posted *posted = &message->posted;
  const struct route *route = route_to(own, message->destination);
  if (!route)
    return false;
  posted->latency = route->latency;
  double occupies = wire_seconds(route, message->wire_bytes);
  own->left = posted->left = MAX(own->left, machine_now()) + occupies;
  double due = posted->left + MAX(pace, 1.0) * posted->latency;
  if (pace > 0.0 && awake_by(box, due)) {
    struct letter letter = message_fold(message);
    letter.due = due;
    letter.latency = route->latency;
    letter.occupies = occupies;
    heap_add(box, letter);
    return true;
  }
  box->carried_due = box->carried ? MIN(box->carried_due, due) : due;
  box->carried++;
  return false;
}

void control_mail_carried(const struct message *message)
{
  const struct posted *posted = &message->posted;
  if (posted->latency <= 0.0)
    return;
  boxes[message->destination].carried--;
  double took = MAX(machine_now() - posted->left, 0.0) / posted->latency;
  if (pace < 0.0 || took < pace)
    pace = MAX(took, 1.0);
}

/* Returns the time at which the rank can take the next message. By then, the message is due, and
 * the rank has taken in all earlier messages. */
static double comes_in(const struct box *box)
{
  return MAX(first_due(box)->due, box->taken);
}

/* Returns when to wake a waiting rank. Many messages come at once, so the rank is woken once for
 * all messages that are on their way. But it is woken at most one latency after the time at which
 * it could take the first message. */
double control_mail_due(int rank)
{
  const struct box *box = &boxes[rank];
  if (!first_due(box))
    return -1.0;
  const struct letter *first = first_due(box);
  return comes_in(box) + MIN((box->letters - 1) * first->occupies, first->latency);
}

struct message *control_mail_take(int rank)
{
  struct box *box = &boxes[rank];
  if (!first_due(box) || comes_in(box) > machine_now() + NEARLY)
    return NULL;
  box->taken = comes_in(box) + first_due(box)->occupies;
  struct letter letter = heap_take(box);
  return message_unfold(&letter, rank);
}
