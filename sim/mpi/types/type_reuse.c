#include "sim/mpi/types/type_reuse.h"

#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"

/* ---- datatypes ---- */

/* Describes a freed type that the rank may get again. This struct lies in the rank's arena, so that
 * a rollback restores it. */
struct freed_type {
  MPI_Datatype type;
  struct freed_type *next;
};

/* number of freed types that are looked at, beginning with the one freed last */
enum { LOOKED_AT_MOST = 256 };

static bool same(const void *one, const void *other, size_t bytes)
{
  return bytes == 0 || memcmp(one, other, bytes) == 0;
}

static bool is_made_by(MPI_Datatype type, const struct typemap_recipe *by)
{
  const struct typemap *map = typemap_of(type);
  return map->combiner == by->combiner && map->integers == by->integers &&
         map->addresses == by->addresses && map->types == by->types &&
         same(map->integer, by->integer, (size_t)by->integers * sizeof *by->integer) &&
         same(map->address, by->address, (size_t)by->addresses * sizeof *by->address) &&
         same(map->type, by->type, (size_t)by->types * sizeof *by->type);
}

bool type_again(struct rank *r, const struct typemap_recipe *by, MPI_Datatype *made)
{
  struct freed_type **each = &r->mpi->freed_types, *again;
  for (int looked = 0; *each && looked < LOOKED_AT_MOST && !is_made_by((*each)->type, by); looked++)
    each = &(*each)->next;
  again = *each;
  if (!again || !is_made_by(again->type, by))
    return false;
  *made = again->type;
  *each = again->next;
  rank_free(again);
  PMPI_Type_set_name(*made, "");
  return true;
}

void type_release(struct rank *r, MPI_Datatype type)
{
  if (typemap_of(type)->combiner == MPI_COMBINER_NAMED)
    return;
  struct freed_type *freed = rank_alloc(r, sizeof *freed);
  *freed = (struct freed_type){type, r->mpi->freed_types};
  r->mpi->freed_types = freed;
}

/* ---- groups ---- */

static GHashTable *groups; /* GBytes with ranks of the program -> the group of these ranks */

static GBytes *members_of(MPI_Group group)
{
  int size;
  PMPI_Group_size(group, &size);
  int *ranks = g_new(int, (gsize)size + 1);
  ranks_in_group(group, size, ranks);
  return g_bytes_new_take(ranks, (gsize)size * sizeof *ranks);
}

int group_keep(int result, MPI_Group *made)
{
  if (result != MPI_SUCCESS || *made == MPI_GROUP_NULL || *made == MPI_GROUP_EMPTY)
    return result;
  if (!groups)
    groups =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  GBytes *members = members_of(*made);
  MPI_Group known = g_hash_table_lookup(groups, members), fresh = *made;
  if (!known) {
    g_hash_table_insert(groups, members, *made);
    return result;
  }
  g_bytes_unref(members);
  if (known != fresh)
    PMPI_Group_free(&fresh);
  *made = known;
  return result;
}

int group_of_ranks(int count, const int *ranks, MPI_Group *group)
{
  MPI_Group world;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int result = group_keep(PMPI_Group_incl(world, count, ranks, group), group);
  PMPI_Group_free(&world);
  return result;
}

#define KEPT_GROUP_CALL(NAME, ARGUMENTS)                                                           \
  LOOK_UP_CALL(NAME, ARGUMENTS, ((void)r, group_keep(PMPI_##NAME ARGUMENTS, made)))

KEPT_GROUP_CALL(Group_incl, (group, count, ranks, made))
KEPT_GROUP_CALL(Group_range_incl, (group, count, ranges, made))
KEPT_GROUP_CALL(Group_range_excl, (group, count, ranges, made))
KEPT_GROUP_CALL(Group_union, (one, other, made))
KEPT_GROUP_CALL(Group_difference, (one, other, made))

/* Makes the group of those members of `group` that are in `other` and not among the ranks in `out`.
 * SMPI's own calls cannot be used: they make no new group if no member is left out, or take the
 * order of the other group.
 */
static int members_left(MPI_Group group, MPI_Group other, int count, const int *out,
                        MPI_Group *made)
{
  int size, left = 0;
  PMPI_Group_size(group, &size);
  int *stays = g_new(int, (gsize)size + 1), *ranks = g_new(int, (gsize)size + 1);
  for (int i = 0; i < size; i++)
    stays[i] = MPI_GROUP_NULL == other ? i : MPI_UNDEFINED;
  if (other != MPI_GROUP_NULL)
    for (int i = 0; i < size; i++)
      PMPI_Group_translate_ranks(group, 1, &i, other, &stays[i]);
  for (int i = 0; i < count; i++)
    if (out[i] >= 0 && out[i] < size)
      stays[out[i]] = MPI_UNDEFINED;
  for (int i = 0; i < size; i++)
    if (stays[i] != MPI_UNDEFINED)
      ranks[left++] = i;
  int result = group_keep(PMPI_Group_incl(group, left, ranks, made), made);
  g_free(stays);
  g_free(ranks);
  return result;
}

LOOK_UP_CALL(Group_excl, (group, count, ranks, made),
             ((void)r, members_left(group, MPI_GROUP_NULL, count, ranks, made)))
LOOK_UP_CALL(Group_intersection, (one, other, made),
             ((void)r, members_left(one, other, 0, NULL, made)))
