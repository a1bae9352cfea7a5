#include "sim/host/rank/accounting.h"

#include "sim/host/rank/node_memory.h"
#include "sim/host/rank/rank.h"
#include "sim/host/rank/shadow.h"

#include <string.h>

enum { STARTED = 1, SURVIVORS_TOO = 2 };
static GByteArray *went_back;

void accounting_rollback(uint32_t incarnation, bool survivor)
{
  if (!went_back)
    went_back = g_byte_array_new();
  guint old = went_back->len;
  if (incarnation >= old) {
    g_byte_array_set_size(went_back, incarnation + 1);
    memset(went_back->data + old, 0, went_back->len - old);
  }
  went_back->data[incarnation] |= (guint8)(survivor ? STARTED | SURVIVORS_TOO : STARTED);
}

void accounting_report(void)
{
  for (guint i = 0; went_back && i < went_back->len; i++)
    if (went_back->data[i] & SURVIVORS_TOO)
      layer.result.rollbacks_global++;
    else if (went_back->data[i] & STARTED)
      layer.result.rollbacks_local++;
}

static int absent; /* number of ranks that are absent */

static enum activity waits_for(const struct rank *r)
{
  bool held = shadow_rank(r->index)->held || sharing_stops(r);
  return r->recovers || (held && absent > 0) ? ACTIVITY_RESTART : ACTIVITY_CHECKPOINT;
}

void accounting_absent(struct rank *r, bool now)
{
  if (r->absent == now)
    return;
  r->absent = now;
  absent += now ? 1 : -1;
  bool first_or_last = absent == (now ? 1 : 0);
  for (int i = 0; first_or_last && i < layer.ranks; i++)
    if (layer.rank[i].stopped && !layer.rank[i].absent)
      rank_switch(&layer.rank[i], waits_for(&layer.rank[i]));
}

void accounting_stop(struct rank *r)
{
  r->stopped = true;
  rank_switch(r, waits_for(r));
}

void accounting_go_on(struct rank *r, enum activity activity)
{
  r->stopped = false;
  rank_switch(r, activity);
}
