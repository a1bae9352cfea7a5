#include "sim/net/placement.h"

#include <glib.h>

static int ranks;
static const char **node; /* by rank; interned */
static const char *service;
static GQueue spares = G_QUEUE_INIT; /* interned names of nodes that are up, the next one first */
static GHashTable *failed;           /* nodes that have failed and are not repaired */

void node_begin(int count)
{
  ranks = count;
  node = g_new0(const char *, (gsize)ranks + 1);
  failed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void node_set_service(const char *name)
{
  service = name;
}

const char *node_service(void)
{
  return service;
}

const char *node_of(int rank)
{
  return node[rank];
}

void node_set(int rank, const char *name)
{
  node[rank] = g_intern_string(name);
}

void node_set_spares(char *const *name, int count)
{
  g_queue_clear(&spares);
  for (int i = 0; i < count; i++)
    g_queue_push_tail(&spares, (gpointer)g_intern_string(name[i]));
  g_hash_table_remove_all(failed);
}

void node_fail(const char *name)
{
  g_hash_table_add(failed, g_strdup(name));
  g_queue_remove(&spares, g_intern_string(name));
}

static bool carries_ranks(const char *name)
{
  for (int rank = 0; rank < ranks; rank++)
    if (node[rank] == name)
      return true;
  return false;
}

void node_return(const char *name)
{
  const char *back = g_intern_string(name);
  if (g_hash_table_remove(failed, back) && !carries_ranks(back))
    g_queue_push_tail(&spares, (gpointer)back);
}

void node_replace(const char *name)
{
  const char *old = g_intern_string(name);
  if (!g_hash_table_contains(failed, old))
    return;
  const char *next = g_queue_pop_head(&spares);
  for (int rank = 0; next && rank < ranks; rank++)
    if (node[rank] == old)
      node_set(rank, next);
  node_return(old);
}
