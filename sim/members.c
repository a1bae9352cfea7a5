#include "members.h"

#include <string.h>

enum {
  NUMBERS_MAX = 16000
}; /* the door's numbers have 16 bits; 0 is the world, 1 every rank's self */

static GHashTable *numbers;   /* what has made a communicator -> its number */
static GPtrArray *registered; /* struct members, from number 0 */

static void begin(void)
{
  numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  registered = g_ptr_array_new();
  struct members *world = g_new0(struct members, 1);
  world->size = layer.ranks;
  world->member = g_new0(int, (gsize)layer.ranks);
  for (int i = 0; i < layer.ranks; i++)
    world->member[i] = i;
  g_ptr_array_add(registered, world);
  g_ptr_array_add(registered, NULL);
}

/* A program that is rolled back may take another way and give the number to other ranks. */
static void set(struct members *members, const struct comm *made)
{
  g_free(members->member);
  g_free(members->is_member);
  members->size = made->size;
  members->member = g_memdup2(made->member, (gsize)made->size * sizeof *made->member);
  members->is_member = g_new0(bool, (gsize)layer.ranks);
  for (int i = 0; i < made->size; i++)
    members->is_member[made->member[i]] = true;
}

int members_number(const struct comm *parent, int call, int colour, const struct comm *made)
{
  if (!numbers)
    begin();
  g_autofree char *key =
      g_strdup_printf("%d %d %d %d", parent->number, call, colour, made->member[0]);
  int number = GPOINTER_TO_INT(g_hash_table_lookup(numbers, key));
  if (number == 0) {
    number = (int)registered->len;
    if (number >= NUMBERS_MAX)
      layer_die(64, "the program has made %d communicators, the most there can be", number);
    g_hash_table_insert(numbers, g_steal_pointer(&key), GINT_TO_POINTER(number));
    g_ptr_array_add(registered, g_new0(struct members, 1));
  }
  set(registered->pdata[number], made);
  return number;
}

const struct members *members_of(int number)
{
  if (!numbers)
    begin();
  return number >= 0 && number < (int)registered->len ? registered->pdata[number] : NULL;
}

bool members_has(const void *ctx, int number, int rank)
{
  (void)ctx;
  const struct members *members = number ? members_of(number) : NULL;
  return number == 0 || (members && members->is_member[rank]);
}
