/* Attributes that programs give to communicators. Keys and values lie in the face and roll back;
 * SMPI's predefined attributes have negative keys. */
#include "comm.h"
#include "wrap.h"

#include <string.h>

struct keyval {
  MPI_Comm_copy_attr_function *copy;      /* NULL: is not copied; MPI_COMM_DUP_FN: as it is */
  MPI_Comm_delete_attr_function *destroy; /* NULL: nothing to do */
  void *extra;
};

struct attribute {
  int key;
  void *value;
  struct attribute *next; /* the order of setting */
};

/* ---- keys: freed ones stay, as attributes may still have them ---- */

static int create_key(struct rank *r, MPI_Comm_copy_attr_function *copy,
                      MPI_Comm_delete_attr_function *destroy, int *key, void *extra)
{
  struct face *face = r->face;
  size_t count = (size_t)face->keyval_count;
  struct keyval *keyvals = face_alloc(r, (count + 1) * sizeof *keyvals);
  if (count)
    memcpy(keyvals, face->keyvals, count * sizeof *keyvals);
  keyvals[count] = (struct keyval){copy, destroy, extra};
  face_free(face->keyvals);
  face->keyvals = keyvals;
  *key = face->keyval_count++;
  return MPI_SUCCESS;
}

static int free_key(int *key)
{
  *key = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

static const struct keyval *keyval_of(const struct rank *r, int key)
{
  if (key < 0 || key >= r->face->keyval_count)
    layer_die(64, "rank %d: %d is not a key of attributes", r->index, key);
  return &r->face->keyvals[key];
}

/* ---- values ---- */

static struct attribute **find(struct comm *comm, int key)
{
  struct attribute **place = &comm->attributes;
  while (*place && (*place)->key != key)
    place = &(*place)->next;
  return place;
}

/* The program's function, with the program's heap. */
static int destroy(struct rank *r, MPI_Comm comm, const struct attribute *attribute)
{
  const struct keyval *keyval = keyval_of(r, attribute->key);
  if (!keyval->destroy)
    return MPI_SUCCESS;
  heap_enter(r->arena);
  int result = keyval->destroy(comm, attribute->key, attribute->value, keyval->extra);
  heap_leave();
  return result;
}

static int delete_attribute(struct rank *r, MPI_Comm comm, int key)
{
  struct attribute **place = find(comm_of(r, comm), key), *attribute = *place;
  if (!attribute)
    return MPI_ERR_ARG;
  int result = destroy(r, comm, attribute);
  if (result == MPI_SUCCESS) {
    *place = attribute->next;
    face_free(attribute);
  }
  return result;
}

static int set_attribute(struct rank *r, MPI_Comm comm, int key, void *value)
{
  keyval_of(r, key);
  struct attribute **place = find(comm_of(r, comm), key);
  if (*place) {
    int result = destroy(r, comm, *place);
    if (result != MPI_SUCCESS)
      return result;
  } else {
    *place = face_alloc(r, sizeof **place);
  }
  (*place)->key = key;
  (*place)->value = value;
  return MPI_SUCCESS;
}

static int get_attribute(struct rank *r, MPI_Comm comm, int key, void *value, int *flag)
{
  if (key < 0)
    return PMPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag);
  keyval_of(r, key);
  const struct attribute *attribute = *find(comm_of(r, comm), key);
  *flag = attribute != NULL;
  if (attribute)
    memcpy(value, &attribute->value, sizeof attribute->value);
  return MPI_SUCCESS;
}

/* ---- with their communicator ---- */

/* What the key's function makes of it, if `copied`; its error otherwise. */
static int copy(struct rank *r, MPI_Comm comm, const struct attribute *attribute, void **value,
                int *copied)
{
  const struct keyval *keyval = keyval_of(r, attribute->key);
  *value = attribute->value;
  *copied = keyval->copy == MPI_COMM_DUP_FN;
  if (*copied || !keyval->copy)
    return MPI_SUCCESS;
  heap_enter(r->arena);
  int result = keyval->copy(comm, attribute->key, keyval->extra, attribute->value, value, copied);
  heap_leave();
  return result;
}

int comm_copy_attributes(struct rank *r, MPI_Comm from, MPI_Comm to)
{
  void *value;
  int copied, result = MPI_SUCCESS;
  for (struct attribute *a = comm_of(r, from)->attributes; a && result == MPI_SUCCESS;
       a = a->next) {
    result = copy(r, from, a, &value, &copied);
    if (result == MPI_SUCCESS && copied)
      result = set_attribute(r, to, a->key, value);
  }
  return result;
}

void comm_delete_attributes(struct rank *r, MPI_Comm comm)
{
  struct attribute *next;
  for (struct attribute *a = comm_of(r, comm)->attributes; a; a = next) {
    next = a->next;
    destroy(r, comm, a);
    face_free(a);
  }
  comm_of(r, comm)->attributes = NULL;
}

/* ---- the calls, by their new and their old names ---- */

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                           MPI_Comm_delete_attr_function *destructor, int *key, void *extra)
{
  LOOK_UP(create_key(r, copy, destructor, key, extra),
          PMPI_Comm_create_keyval(copy, destructor, key, extra));
}

int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *destructor, int *key,
                      void *extra)
{
  LOOK_UP(create_key(r, copy, destructor, key, extra),
          PMPI_Keyval_create(copy, destructor, key, extra));
}

int MPI_Comm_free_keyval(int *key)
{
  LOOK_UP(((void)r, free_key(key)), PMPI_Comm_free_keyval(key));
}

int MPI_Keyval_free(int *key)
{
  LOOK_UP(((void)r, free_key(key)), PMPI_Keyval_free(key));
}

int MPI_Comm_set_attr(MPI_Comm comm, int key, void *value)
{
  LOOK_UP(set_attribute(r, comm, key, value), PMPI_Comm_set_attr(comm, key, value));
}

int MPI_Attr_put(MPI_Comm comm, int key, void *value)
{
  LOOK_UP(set_attribute(r, comm, key, value), PMPI_Attr_put(comm, key, value));
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag)
{
  LOOK_UP(get_attribute(r, comm, key, value, flag), PMPI_Comm_get_attr(comm, key, value, flag));
}

int MPI_Attr_get(MPI_Comm comm, int key, void *value, int *flag)
{
  LOOK_UP(get_attribute(r, comm, key, value, flag), PMPI_Attr_get(comm, key, value, flag));
}

int MPI_Comm_delete_attr(MPI_Comm comm, int key)
{
  LOOK_UP(delete_attribute(r, comm, key), PMPI_Comm_delete_attr(comm, key));
}

int MPI_Attr_delete(MPI_Comm comm, int key)
{
  LOOK_UP(delete_attribute(r, comm, key), PMPI_Attr_delete(comm, key));
}
