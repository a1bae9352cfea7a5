#include "sim/net/parked.h"

/* Counts the messages with one envelope. */
struct envelope {
  gint64 key;
  uint32_t last; /* serial of the last message */
  unsigned count;
};

struct parked {
  GQueue all;            /* struct message */
  GHashTable *from;      /* source -> GQueue of links in `all`, by serial */
  GHashTable *envelopes; /* set of struct envelope */
};

struct parked *parked_new(void)
{
  return g_new0(struct parked, 1);
}

const GList *parked_all(const struct parked *parked)
{
  return parked->all.head;
}

static gint64 key_of(enum message_kind kind, int source, int comm, int32_t tag)
{
  guint32 channel = (guint32)source << 16 | (guint32)(kind == MESSAGE_BYPASS) << 15 | (guint32)comm;
  return (gint64)((guint64)channel << 32 | (guint32)tag);
}

static struct envelope *envelope_of(const struct parked *parked, gint64 key)
{
  return parked->envelopes ? g_hash_table_lookup(parked->envelopes, &key) : NULL;
}

uint32_t parked_last(const struct parked *parked, enum message_kind kind, int source, int comm,
                     int32_t tag)
{
  const struct envelope *envelope = envelope_of(parked, key_of(kind, source, comm, tag));
  return envelope ? envelope->last : 0;
}

static void note(struct parked *parked, const struct message *message)
{
  gint64 key = key_of(message->kind, message->source, message->comm, message->tag);
  struct envelope *envelope = envelope_of(parked, key);
  if (!envelope) {
    envelope = g_new0(struct envelope, 1);
    envelope->key = key;
    g_hash_table_add(parked->envelopes, envelope);
  }
  envelope->last = message->serial;
  envelope->count++;
}

void parked_add(struct parked *parked, struct message *message)
{
  if (!parked->envelopes) {
    parked->envelopes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    parked->from =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)(void (*)(void))g_queue_free);
  }
  GQueue *own = g_hash_table_lookup(parked->from, GINT_TO_POINTER(message->source));
  if (!own) {
    own = g_queue_new();
    g_hash_table_insert(parked->from, GINT_TO_POINTER(message->source), own);
  }
  g_queue_push_tail(&parked->all, message);
  g_queue_push_tail(own, parked->all.tail);
  note(parked, message);
}

static void move_first(struct parked *parked, GQueue *own, GQueue *to)
{
  GList *link = g_queue_pop_head(own);
  struct message *message = link->data;
  gint64 key = key_of(message->kind, message->source, message->comm, message->tag);
  g_queue_unlink(&parked->all, link);
  g_queue_push_tail_link(to, link);
  struct envelope *envelope = envelope_of(parked, key);
  if (--envelope->count == 0)
    g_hash_table_remove(parked->envelopes, &key);
}

static GQueue *queue_of(const struct parked *parked, int source)
{
  return parked->from ? g_hash_table_lookup(parked->from, GINT_TO_POINTER(source)) : NULL;
}

void parked_take_from(struct parked *parked, int source, uint32_t serial, GQueue *to)
{
  GQueue *own = queue_of(parked, source);
  while (own && own->head &&
         ((const struct message *)((GList *)own->head->data)->data)->serial <= serial)
    move_first(parked, own, to);
}

/* Takes messages out, in one pass over all messages. The messages of a source are sorted by serial.
 */
void parked_take(struct parked *parked, const uint32_t *serials, GQueue *to)
{
  for (GList *link = parked->all.head, *next; link; link = next) {
    const struct message *message = link->data;
    next = link->next;
    if (message->serial <= serials[message->source])
      move_first(parked, queue_of(parked, message->source), to);
  }
}
