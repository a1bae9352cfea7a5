/* Keeps the values that programs put into infos in the MPI state, which a rollback restores. The
 * handle is an info of SMPI, which stays empty. If the MPI state has no value of an info
 * (MPI_INFO_ENV or a new info), SMPI handles the call. */
#include "include/mpi/mpi-4.h"
#include "sim/host/rank/rank.h"
#include "sim/mpi/fortran/fortran.h"
#include "sim/mpi/layer/wrap.h"

#include <string.h>

struct hint {
  char *key, *value;
  struct hint *next; /* sorted by key, as in SMPI */
};

struct info {
  MPI_Info handle;
  struct hint *hints;
  struct info *next;
};

static char *kept(struct rank *r, const char *text)
{
  size_t bytes = strlen(text) + 1;
  return memcpy(rank_alloc(r, bytes), text, bytes);
}

static struct info *find_info(const struct rank *r, MPI_Info handle)
{
  struct info *info = r->mpi->infos;
  while (info && info->handle != handle)
    info = info->next;
  return info;
}

static struct info *info_of(struct rank *r, MPI_Info handle)
{
  struct info *info = find_info(r, handle);
  if (info)
    return info;
  info = rank_alloc(r, sizeof *info);
  *info = (struct info){.handle = handle, .next = r->mpi->infos};
  return r->mpi->infos = info;
}

/* Returns the link to the key's hint. If there is no such hint, returns the link where it would
 * be. */
static struct hint **place_of(struct info *info, const char *key)
{
  struct hint **place = &info->hints;
  while (*place && strcmp((*place)->key, key) < 0)
    place = &(*place)->next;
  return place;
}

static bool is(const struct hint *hint, const char *key)
{
  return hint && strcmp(hint->key, key) == 0;
}

static const char *value_of(struct info *info, const char *key)
{
  const struct hint *hint = *place_of(info, key);
  return is(hint, key) ? hint->value : NULL;
}

static int set_hint(struct rank *r, struct info *info, const char *key, const char *value)
{
  struct hint **place = place_of(info, key), *hint = *place;
  char *copy = kept(r, value);
  if (is(hint, key)) {
    rank_free(hint->value);
  } else {
    hint = rank_alloc(r, sizeof *hint);
    *hint = (struct hint){.key = kept(r, key), .next = *place};
    *place = hint;
  }
  hint->value = copy;
  return MPI_SUCCESS;
}

static int delete_hint(struct info *info, const char *key)
{
  struct hint **place = info ? place_of(info, key) : NULL;
  struct hint *hint = place ? *place : NULL;
  if (!is(hint, key))
    return MPI_ERR_INFO_NOKEY;
  *place = hint->next;
  rank_free(hint->key);
  rank_free(hint->value);
  rank_free(hint);
  return MPI_SUCCESS;
}

static int duplicate(struct rank *r, MPI_Info handle, MPI_Info *made)
{
  int result = PMPI_Info_dup(handle, made);
  const struct info *info = find_info(r, handle);
  if (result != MPI_SUCCESS || !info)
    return result;
  struct info *copy = info_of(r, *made);
  for (const struct hint *hint = info->hints; hint; hint = hint->next)
    set_hint(r, copy, hint->key, hint->value);
  return MPI_SUCCESS;
}

static int get_hint(struct info *info, const char *key, int length, char *value, int *found)
{
  const char *text = value_of(info, key);
  *found = text != NULL;
  if (text)
    g_strlcpy(value, text, (gsize)length + 1);
  return MPI_SUCCESS;
}

static int get_length(struct info *info, const char *key, int *length, int *found)
{
  const char *text = value_of(info, key);
  *found = text != NULL;
  if (text)
    *length = (int)strlen(text);
  return MPI_SUCCESS;
}

static int count_hints(const struct info *info, int *count)
{
  *count = 0;
  for (const struct hint *hint = info->hints; hint; hint = hint->next)
    ++*count;
  return MPI_SUCCESS;
}

static int get_key(const struct info *info, int n, char *key)
{
  const struct hint *hint = info->hints;
  while (hint && n-- > 0)
    hint = hint->next;
  if (!hint || n >= 0)
    return MPI_ERR_ARG;
  g_strlcpy(key, hint->key, MPI_MAX_INFO_KEY + 1);
  return MPI_SUCCESS;
}

/* ---- the calls ---- */

LOOK_UP_CALL(Info_set, (handle, key, value),
             handle == MPI_INFO_NULL || !key || !value
                 ? PMPI_Info_set(handle, key, value)
                 : set_hint(r, info_of(r, handle), key, value))
LOOK_UP_CALL(Info_delete, (handle, key), delete_hint(find_info(r, handle), key))
LOOK_UP_CALL(Info_dup, (handle, made), duplicate(r, handle, made))

/* Defines a call that reads an info. SMPI handles an info that the MPI state does not know. */
#define READ_CALL(NAME, ARGUMENTS, IN_FACE)                                                        \
  LOOK_UP_CALL(NAME, ARGUMENTS, find_info(r, info) ? (IN_FACE) : PMPI_##NAME ARGUMENTS)

READ_CALL(Info_get, (info, key, length, value, found),
          get_hint(find_info(r, info), key, length, value, found))
READ_CALL(Info_get_valuelen, (info, key, length, found),
          get_length(find_info(r, info), key, length, found))
READ_CALL(Info_get_nkeys, (info, count), count_hints(find_info(r, info), count))
READ_CALL(Info_get_nthkey, (info, n, key), get_key(find_info(r, info), n, key))

/* ---- MPI 4: with a protocol and without ---- */

/* `*room` is the number of bytes at `value`, and becomes the length of the value with its null
 * byte. */
int MPI_Info_get_string(MPI_Info info, const char *key, int *room, char *value, int *found)
{
  int length, error = MPI_Info_get_valuelen(info, key, &length, found);
  if (error || !*found)
    return error;
  if (*room > 0)
    error = MPI_Info_get(info, key, *room - 1, value, found);
  *room = length + 1;
  return error;
}

/* Makes an info that says how the program was started. */
int MPI_Info_create_env(int count, char **arguments, MPI_Info *info)
{
  const struct rank *r = rank_self();
  char ranks[16];
  int error = MPI_Info_create(info);
  if (error)
    return error;
  if (count > 0)
    MPI_Info_set(*info, "command", arguments[0]);
  if (r)
    MPI_Info_set(*info, "maxprocs", (g_snprintf(ranks, sizeof ranks, "%d", layer.ranks), ranks));
  return MPI_Info_set(*info, "thread_level", "MPI_THREAD_FUNNELED");
}

/* ---- the same in Fortran: infos are SMPI's, so C's calls serve, with a protocol and without ----
 */

static MPI_Info at(const int *info)
{
  return fortran_get_info(rank_self(), info);
}

void mpi_info_set_(int *info, char *key, char *value, int *error, size_t key_length, size_t length)
{
  struct arena *mode = layer_enter();
  char *name = fortran_text(key, key_length), *text = fortran_text(value, length);
  *error = MPI_Info_set(at(info), name, text);
  g_free(name);
  g_free(text);
  layer_leave(mode);
}

void mpi_info_delete_(int *info, char *key, int *error, size_t key_length)
{
  struct arena *mode = layer_enter();
  char *name = fortran_text(key, key_length);
  *error = MPI_Info_delete(at(info), name);
  g_free(name);
  layer_leave(mode);
}

void mpi_info_get_(int *info, char *key, int *room, char *value, int *found, int *error,
                   size_t key_length, size_t length)
{
  struct arena *mode = layer_enter();
  char *name = fortran_text(key, key_length), text[MPI_MAX_INFO_VAL + 1] = "";
  *error = MPI_Info_get(at(info), name, MIN(*room, MPI_MAX_INFO_VAL), text, found);
  if (*found)
    fortran_put_text(value, length, text);
  g_free(name);
  layer_leave(mode);
}

void mpi_info_get_valuelen_(int *info, char *key, int *length, int *found, int *error,
                            size_t key_length)
{
  struct arena *mode = layer_enter();
  char *name = fortran_text(key, key_length);
  *error = MPI_Info_get_valuelen(at(info), name, length, found);
  g_free(name);
  layer_leave(mode);
}

void mpi_info_get_nthkey_(int *info, int *n, char *key, int *error, size_t key_length)
{
  struct arena *mode = layer_enter();
  char name[MPI_MAX_INFO_KEY + 1] = "";
  *error = MPI_Info_get_nthkey(at(info), *n, name);
  if (*error == MPI_SUCCESS)
    fortran_put_text(key, key_length, name);
  layer_leave(mode);
}

void mpi_info_get_string_(int *info, char *key, int *room, char *value, int *found, int *error,
                          size_t key_length, size_t length)
{
  struct arena *mode = layer_enter();
  char *name = fortran_text(key, key_length), text[MPI_MAX_INFO_VAL + 1] = "";
  /* one more byte, because texts have no null byte in Fortran */
  int bytes = MIN(*room, MPI_MAX_INFO_VAL) + 1;
  *error = MPI_Info_get_string(at(info), name, &bytes, text, found);
  if (*found && *room > 0)
    fortran_put_text(value, length, text);
  if (*found)
    *room = bytes - 1;
  g_free(name);
  layer_leave(mode);
}

void mpi_info_create_env_(int *info, int *error)
{
  struct arena *mode = layer_enter();
  MPI_Info made;
  *error = MPI_Info_create_env(0, NULL, &made);
  if (*error == MPI_SUCCESS)
    fortran_put_info(rank_self(), info, MPI_INFO_NULL, made);
  layer_leave(mode);
}
