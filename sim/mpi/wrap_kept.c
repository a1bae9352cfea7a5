#include "sim/mpi/kept.h"

#include "sim/mpi/comm.h"
#include "sim/mpi/wrap.h"

/* ---- datatypes ---- */

/* Of a rank, in its arena, so that a rollback puts it back: a type that it may have again. */
struct freed_type {
  MPI_Datatype type;
  struct freed_type *next;
};

enum { LOOKED_AT_MOST = 256 }; /* the last that were freed */

static GHashTable *recipes; /* type -> GBytes: what it was made from, and by which call */
static GBytes *asked_for;   /* by the last type_again() */

static GBytes *recipe(const char *call, const struct ingredient *ingredients, int count)
{
  GByteArray *bytes = g_byte_array_new();
  g_byte_array_append(bytes, (const guint8 *)call, (guint)strlen(call) + 1);
  for (int i = 0; i < count; i++)
    g_byte_array_append(bytes, ingredients[i].bytes, (guint)ingredients[i].size);
  return g_byte_array_free_to_bytes(bytes);
}

/* Where the list has one made by that recipe; NULL: it has none. */
static struct freed_type **find_freed(struct rank *r, GBytes *by)
{
  struct freed_type **each = &r->mpi->freed_types;
  for (int looked = 0; *each && looked < LOOKED_AT_MOST; looked++, each = &(*each)->next)
    if (g_bytes_equal(g_hash_table_lookup(recipes, (*each)->type), by))
      return each;
  return NULL;
}

bool type_again(struct rank *r, const char *call, const struct ingredient *ingredients, int count,
                MPI_Datatype *made)
{
  g_clear_pointer(&asked_for, g_bytes_unref);
  asked_for = recipe(call, ingredients, count);
  struct freed_type **place = find_freed(r, asked_for), *again = place ? *place : NULL;
  if (!again)
    return false;
  *made = again->type;
  *place = again->next;
  rank_free(again);
  PMPI_Type_set_name(*made, "");
  return true;
}

int type_keep(int result, const MPI_Datatype *made)
{
  if (!recipes)
    recipes = g_hash_table_new(NULL, NULL);
  if (result == MPI_SUCCESS)
    g_hash_table_insert(recipes, *made, g_bytes_ref(asked_for));
  return result;
}

void type_release(struct rank *r, MPI_Datatype type)
{
  if (!recipes || !g_hash_table_contains(recipes, type))
    return;
  struct freed_type *freed = rank_alloc(r, sizeof *freed);
  *freed = (struct freed_type){type, r->mpi->freed_types};
  r->mpi->freed_types = freed;
}

#define INGREDIENTS(...)                                                                           \
  (const struct ingredient[])                                                                      \
  {                                                                                                \
    __VA_ARGS__                                                                                    \
  }

/* The arguments are named as the ingredients below name them; the last is `made`. */
#define KEPT_TYPE_CALL(NAME, ARGUMENTS, ...)                                                       \
  LOOK_UP_CALL(                                                                                    \
      NAME, ARGUMENTS,                                                                             \
      type_again(r, #NAME, INGREDIENTS(__VA_ARGS__), G_N_ELEMENTS(INGREDIENTS(__VA_ARGS__)), made) \
          ? MPI_SUCCESS                                                                            \
          : type_keep(PMPI_##NAME ARGUMENTS, made))

#define STRIDED ITEM(count), ITEM(length), ITEM(stride), ITEM(old)
#define BLOCKS LIST(lengths, count), LIST(places, count), ITEM(old)
#define EQUAL_BLOCKS ITEM(length), LIST(places, count), ITEM(old)
#define FIELDS LIST(lengths, count), LIST(places, count), LIST(types, count)

KEPT_TYPE_CALL(Type_contiguous, (count, old, made), ITEM(count), ITEM(old))
KEPT_TYPE_CALL(Type_vector, (count, length, stride, old, made), STRIDED)
KEPT_TYPE_CALL(Type_hvector, (count, length, stride, old, made), STRIDED)
KEPT_TYPE_CALL(Type_create_hvector, (count, length, stride, old, made), STRIDED)
KEPT_TYPE_CALL(Type_indexed, (count, lengths, places, old, made), BLOCKS)
KEPT_TYPE_CALL(Type_create_indexed, (count, lengths, places, old, made), BLOCKS)
KEPT_TYPE_CALL(Type_hindexed, (count, lengths, places, old, made), BLOCKS)
KEPT_TYPE_CALL(Type_create_hindexed, (count, lengths, places, old, made), BLOCKS)
KEPT_TYPE_CALL(Type_create_indexed_block, (count, length, places, old, made), EQUAL_BLOCKS)
KEPT_TYPE_CALL(Type_create_hindexed_block, (count, length, places, old, made), EQUAL_BLOCKS)
KEPT_TYPE_CALL(Type_struct, (count, lengths, places, types, made), FIELDS)
KEPT_TYPE_CALL(Type_create_struct, (count, lengths, places, types, made), FIELDS)
KEPT_TYPE_CALL(Type_create_resized, (old, lower, extent, made), ITEM(old), ITEM(lower),
               ITEM(extent))

/* ---- groups ---- */

static GHashTable *groups; /* GBytes: ranks of the program -> the group */

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
KEPT_GROUP_CALL(Group_excl, (group, count, ranks, made))
KEPT_GROUP_CALL(Group_range_incl, (group, count, ranges, made))
KEPT_GROUP_CALL(Group_range_excl, (group, count, ranges, made))
KEPT_GROUP_CALL(Group_union, (one, other, made))
KEPT_GROUP_CALL(Group_intersection, (one, other, made))
KEPT_GROUP_CALL(Group_difference, (one, other, made))
