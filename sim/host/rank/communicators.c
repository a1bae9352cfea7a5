#include "sim/host/rank/communicators.h"

#include <string.h>

enum {
  NUMBERS_MAX = 16000
}; /* the door's numbers have 16 bits; 0 is MPI_COMM_WORLD, and 1 is MPI_COMM_SELF of every rank */

static GHashTable *numbers;   /* key of a communicator -> its number */
static GPtrArray *registered; /* struct members, by number of the communicator */

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

static struct members *copy(const struct comm *made)
{
  struct members *members = g_new0(struct members, 1);
  members->size = made->size;
  members->member = g_memdup2(made->member, (gsize)made->size * sizeof *made->member);
  members->is_member = g_new0(bool, (gsize)layer.ranks);
  for (int i = 0; i < made->size; i++)
    members->is_member[made->member[i]] = true;
  return members;
}

/* Returns the key of a communicator. The members are part of the key, because a program that is
 * rolled back may take a different path and make a different communicator in the same call. */
static char *key_of(const struct comm *parent, int call, int colour, const struct comm *made)
{
  GString *key = g_string_new(NULL);
  g_string_printf(key, "%d %d %d", parent->number, call, colour);
  for (int i = 0; i < made->size; i++)
    g_string_append_printf(key, " %d", made->member[i]);
  return g_string_free(key, FALSE);
}

int communicator_number(const struct comm *parent, int call, int colour, const struct comm *made)
{
  if (!numbers)
    begin();
  g_autofree char *key = key_of(parent, call, colour, made);
  int number = GPOINTER_TO_INT(g_hash_table_lookup(numbers, key));
  if (number == 0) {
    number = (int)registered->len;
    if (number >= NUMBERS_MAX)
      die(DIE_INPUT,
          "the program has made %d communicators of other members, the most there can be", number);
    g_hash_table_insert(numbers, g_steal_pointer(&key), GINT_TO_POINTER(number));
    g_ptr_array_add(registered, copy(made));
  }
  return number;
}

const struct members *communicator_members(int number)
{
  if (!numbers)
    begin();
  return number >= 0 && number < (int)registered->len ? registered->pdata[number] : NULL;
}

bool communicator_has(const void *ctx, int number, int rank)
{
  (void)ctx;
  const struct members *members = number ? communicator_members(number) : NULL;
  return number == 0 || (members && members->is_member[rank]);
}

/* ---- calls that a checkpoint holds ---- */

static GArray *calls;    /* int, by communicator: the number of the last call that has begun */
static GHashTable *held; /* checkpoint -> copy of `calls`, made when the checkpoint was committed */
/* the copy in `held` of the checkpoint to which all ranks went back last, or NULL if they went back
 * to the beginning */
static GArray *passed;

void communicator_call(int number, int call)
{
  if (!calls)
    calls = g_array_new(FALSE, TRUE, sizeof(int));
  if ((guint)number >= calls->len)
    g_array_set_size(calls, (guint)number + 1);
  int *last = &g_array_index(calls, int, number);
  *last = MAX(*last, call);
}

void communicators_commit(uint32_t checkpoint)
{
  if (!held)
    held = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
  g_hash_table_insert(held, GUINT_TO_POINTER(checkpoint),
                      calls ? g_array_copy(calls) : g_array_new(FALSE, TRUE, sizeof(int)));
}

void communicators_forget(uint32_t checkpoint)
{
  if (held)
    g_hash_table_remove(held, GUINT_TO_POINTER(checkpoint));
}

void communicators_leave(uint32_t checkpoint, GPtrArray *keys, GArray *of_calls)
{
  const GArray *last = held ? g_hash_table_lookup(held, GUINT_TO_POINTER(checkpoint)) : NULL;
  GHashTableIter iter;
  void *key, *number;
  if (last)
    g_array_append_vals(of_calls, last->data, last->len);
  if (!numbers)
    return;
  g_ptr_array_set_size(keys, (int)registered->len - 2);
  g_hash_table_iter_init(&iter, numbers);
  while (g_hash_table_iter_next(&iter, &key, &number))
    keys->pdata[GPOINTER_TO_INT(number) - 2] = g_strdup(key);
}

/* Returns the members that a key names, or NULL if the text is no key. */
static struct members *members_of(const char *key)
{
  g_auto(GStrv) word = g_strsplit(key, " ", -1);
  int words = (int)g_strv_length(word), of_call = 3; /* parent, call and colour */
  struct comm made = {.size = words - of_call};
  g_autofree int *member = g_new0(int, (gsize)MAX(words, 1));
  for (int i = of_call; i < words; i++) {
    guint64 rank;
    if (!g_ascii_string_to_unsigned(word[i], 10, 0, (guint64)layer.ranks - 1, &rank, NULL))
      return NULL;
    member[i - of_call] = (int)rank;
  }
  made.member = member;
  return made.size > 0 ? copy(&made) : NULL;
}

bool communicators_adopt(uint32_t checkpoint, const GPtrArray *keys, const GArray *of_calls)
{
  begin();
  for (guint i = 0; i < keys->len; i++) {
    struct members *members = members_of(keys->pdata[i]);
    if (!members)
      return false;
    g_hash_table_insert(numbers, g_strdup(keys->pdata[i]), GUINT_TO_POINTER(registered->len));
    g_ptr_array_add(registered, members);
  }
  calls = g_array_copy((GArray *)of_calls);
  communicators_commit(checkpoint);
  return true;
}

void communicators_return(uint32_t checkpoint)
{
  GArray *last = held ? g_hash_table_lookup(held, GUINT_TO_POINTER(checkpoint)) : NULL;
  if (passed)
    g_array_unref(passed);
  passed = last ? g_array_ref(last) : NULL;
}

bool communicator_passed(int number, int call)
{
  return passed && (guint)number < passed->len && call <= g_array_index(passed, int, number);
}
