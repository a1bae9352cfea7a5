#include "sim/host/rank/agenda.h"

#include "sim/host/rank/shadow.h"

static GQueue agenda; /* struct entry */
static uint64_t entries;
/* the dispatcher's bell, or NULL as long as the dispatcher does not run */
static struct bell *bell;

static int by_time(gconstpointer a, gconstpointer b, gpointer unused)
{
  (void)unused;
  const struct entry *x = a, *y = b;
  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  return x->order < y->order ? -1 : 1;
}

/* Rings the bell last. Ringing lets the dispatcher run, so the entry must be complete before the
 * bell rings, and may be gone after that. */
void agenda_add(const struct entry *what)
{
  struct entry *entry = g_memdup2(what, sizeof *what);
  entry->order = entries++;
  g_queue_insert_sorted(&agenda, entry, by_time, NULL);
  bell_ring(bell);
}

void agenda_tell(int rank, const struct message *notice)
{
  struct entry entry = {
      .time = machine_now(), .kind = ENTRY_NOTICE, .rank = rank, .notice = *notice};
  entry.notice.incarnation = shadow_global()->incarnation;
  entry.notice.for_life = layer.rank[rank].life;
  agenda_add(&entry);
}

void agenda_repair_at(double time, uint32_t repair)
{
  agenda_add(&(struct entry){.time = time, .kind = ENTRY_REPAIRED, .repair = repair});
}

void agenda_wake(void)
{
  bell_ring(bell);
}

bool agenda_has_failure(void)
{
  for (const GList *item = agenda.head; item; item = item->next) {
    const struct entry *entry = item->data;
    bool by_law = entry->kind == ENTRY_CRASH && entry->rank < 0;
    if (!by_law && entry->kind != ENTRY_NOTICE && entry->kind != ENTRY_RETURN &&
        entry->kind != ENTRY_LIMIT)
      return true;
  }
  return false;
}

void agenda_begin(void)
{
  bell = bell_new();
}

struct entry *agenda_take(void)
{
  const struct entry *first = g_queue_peek_head(&agenda);
  return first && first->time <= machine_now() ? g_queue_pop_head(&agenda) : NULL;
}

void agenda_wait(void)
{
  const struct entry *first = g_queue_peek_head(&agenda);
  bell_wait(bell, first ? first->time : -1.0);
}
