#include "sim/net/placement.h"

#include <glib.h>

static int ranks;
static const char **node; /* by rank; interned */
static const char *service;
static char *const *spare;
static int spares, spares_used;
static GHashTable *failed; /* nodes that have failed and are not repaired */

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
  spare = name;
  spares = count;
  spares_used = 0;
  g_hash_table_remove_all(failed);
}

void node_fail(const char *name)
{
  g_hash_table_add(failed, g_strdup(name));
}

void node_replace(const char *name)
{
  const char *old = g_intern_string(name);
  if (!g_hash_table_remove(failed, old) || spares_used == spares)
    return;
  const char *next = spare[spares_used++];
  for (int rank = 0; rank < ranks; rank++)
    if (node[rank] == old)
      node_set(rank, next);
}
