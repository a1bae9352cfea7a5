#include "sim/net/placement.h"

#include <glib.h>

static int ranks;
static const char **node; /* by rank: the interned name of the rank's node */
static const char *service;
/* The interned names of spare nodes that are up, beginning with the one to be used next. */
static GQueue spares = G_QUEUE_INIT;
/* Maps the interned name of each node that has failed and is not repaired to the node on which its
 * ranks go on: the failed node itself, or a spare. A spare serves only one failed node. */
static GHashTable *failed;
static GHashTable *gone; /* set of interned names of nodes that never come back */

void node_begin(int count)
{
  ranks = count;
  node = g_new0(const char *, (gsize)ranks + 1);
  failed = g_hash_table_new(NULL, NULL);
  gone = g_hash_table_new(NULL, NULL);
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

static bool carries_ranks(const char *name)
{
  for (int rank = 0; rank < ranks; rank++)
    if (node[rank] == name)
      return true;
  return false;
}

/* Counts the ranks that run on a node, or will run there. */
static int load_of(const char *name)
{
  int load = 0;
  for (int rank = 0; rank < ranks; rank++) {
    const char *next = g_hash_table_lookup(failed, node[rank]);
    load += (next ? next : node[rank]) == name;
  }
  return load;
}

/* Returns the node with the fewest ranks among all nodes that are up or come back, or NULL if there
 * is none. */
static const char *least_loaded(void)
{
  const char *best = NULL;
  for (int rank = 0; rank < ranks; rank++) {
    bool up = !g_hash_table_contains(failed, node[rank]);
    if ((up || g_hash_table_lookup(failed, node[rank]) == node[rank]) &&
        !g_hash_table_contains(gone, node[rank]) && (!best || load_of(node[rank]) < load_of(best)))
      best = node[rank];
  }
  return best;
}

/* Returns the node on which the ranks of that node go on. It is a spare if there is one. Otherwise
 * it is the node itself or, if that node does not come back, another node. */
static const char *successor(const char *name)
{
  const char *spare = carries_ranks(name) ? g_queue_pop_head(&spares) : NULL;
  if (!spare && carries_ranks(name) && g_hash_table_contains(gone, name))
    spare = least_loaded();
  return spare ? spare : name;
}

bool node_fail(const char *name, bool returns)
{
  const char *old = g_intern_string(name);
  GHashTableIter iter;
  gpointer node_down, next;
  g_queue_remove(&spares, old);
  if (!returns)
    g_hash_table_add(gone, (gpointer)old);
  if (!g_hash_table_contains(failed, old))
    g_hash_table_insert(failed, (gpointer)old, (gpointer)old);
  g_hash_table_iter_init(&iter, failed);
  while (g_hash_table_iter_next(&iter, &node_down, &next))
    if (next == old)
      g_hash_table_iter_replace(&iter, (gpointer)successor(node_down));
  return g_hash_table_lookup(failed, old) != old;
}

bool node_is_gone(const char *name)
{
  return g_hash_table_contains(gone, g_intern_string(name));
}

void node_return(const char *name)
{
  const char *back = g_intern_string(name);
  if (node_is_gone(back))
    return;
  if (g_hash_table_remove(failed, back) && !carries_ranks(back))
    g_queue_push_tail(&spares, (gpointer)back);
}

void node_replace(const char *name)
{
  const char *old = g_intern_string(name), *next = g_hash_table_lookup(failed, old);
  if (!next)
    return;
  for (int rank = 0; rank < ranks; rank++)
    if (node[rank] == old)
      node_set(rank, next);
  node_return(old);
}
