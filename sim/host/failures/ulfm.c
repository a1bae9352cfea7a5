#include "sim/host/failures/ulfm.h"

#include "sim/host/rank/agenda.h"
#include "sim/net/transport.h"

/* The next four variables describe the repair under way. */
static GArray *dead;     /* struct dead, for each rank that will be started */
static uint32_t repairs; /* number of repairs so far, and so the number of this repair */
static double began;     /* time when all ranks could know of the failure */
static double ready;     /* time when the nodes of the dead ranks can be used again */

bool ulfm_is_modelled(void)
{
  return layer.scenario->recovery.runtime == RUNTIME_ULFM && !layer.repairs;
}

/* Returns the number of rounds that a message along a tree takes to reach all ranks. */
static double tree_rounds(void)
{
  double rounds = 0.0;
  for (int reached = 1; reached < layer.ranks; reached *= 2)
    rounds++;
  return rounds;
}

double ulfm_detection(void)
{
  return layer.scenario->detection +
         (ulfm_is_modelled() ? tree_rounds() * layer.scenario->recovery.revoke : 0.0);
}

static bool all_are_here(void)
{
  for (int i = 0; i < layer.ranks; i++)
    if (layer.rank[i].presence == PRESENCE_AWAITED && !layer.rank[i].dead)
      return false;
  return true;
}

static void begin_repair(void)
{
  double agree = tree_rounds() * layer.scenario->recovery.agree;
  double rebuild = tree_rounds() * layer.scenario->recovery.rebuild;
  double spawn = layer.scenario->recovery.spawn + MAX(ready - machine_now() - agree, 0.0);
  layer.result.repair.notice += machine_now() - began;
  layer.result.repair.agree += agree;
  layer.result.repair.spawn += spawn;
  layer.result.repair.rebuild += rebuild;
  agenda_repair_at(machine_now() + agree + spawn + rebuild, repairs);
}

void ulfm_await(struct rank *r)
{
  if (r->presence == PRESENCE_NONE)
    r->presence = PRESENCE_AWAITED;
}

/* Counts a detection in the result. Ranks that are found dead at the same time count as one
 * detection. */
static void count_detection(void)
{
  if (began == machine_now())
    return;
  began = machine_now();
  layer.result.repair.detect += layer.scenario->detection;
  layer.result.repair.revoke += ulfm_detection() - layer.scenario->detection;
}

void ulfm_add_failed(int rank, uint32_t life, double node_is_ready)
{
  if (!dead)
    dead = g_array_new(FALSE, FALSE, sizeof(struct dead));
  g_array_append_val(dead, ((struct dead){rank, life}));
  count_detection();
  ready = MAX(ready, node_is_ready);
  repairs++;
  if (all_are_here())
    begin_repair();
}

const GArray *ulfm_repaired(uint32_t repair)
{
  return repair == repairs ? dead : NULL;
}

void ulfm_release(void)
{
  g_array_set_size(dead, 0);
  for (int i = 0; i < layer.ranks; i++)
    if (layer.rank[i].presence == PRESENCE_HERE)
      agenda_tell(i, &(struct message){.notice = NOTICE_REPAIRED});
}

/* Returns whether the notice of the end of the repair has come. If so, takes the notice out of the
 * inbox. Other messages stay in the inbox. */
static bool is_repaired(struct rank *r)
{
  for (GList *item = r->inbox.head; item; item = item->next) {
    struct message *message = item->data;
    if (message->kind != MESSAGE_NOTICE || message->notice != NOTICE_REPAIRED ||
        message->for_life != r->life)
      continue;
    g_queue_delete_link(&r->inbox, item);
    message_free(message);
    return true;
  }
  return false;
}

void ulfm_join(struct rank *r)
{
  if (r->presence != PRESENCE_AWAITED || r->dead)
    return;
  r->presence = PRESENCE_HERE;
  enum activity before = rank_switch(r, ACTIVITY_RESTART);
  if (all_are_here())
    begin_repair();
  while (!r->dead && !is_repaired(r))
    transport_wait(r->transport, &r->inbox, G_MAXUINT, -1.0);
  r->presence = PRESENCE_NONE;
  if (!r->dead)
    rank_switch(r, before);
}
