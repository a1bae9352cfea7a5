/* Keeps attributes that programs give to communicators, to types and to windows. Keys and values
 * lie in the MPI state, and a rollback restores them. SMPI's predefined attributes have negative
 * keys. */
#include "include/mpi-ext.h"
#include "sim/mpi/layer/comm.h"
#include "sim/mpi/layer/wrap.h"
#include "sim/mpi/types/datatype.h"
#include "sim/mpi/types/type_reuse.h"
#include "sim/mpi/windows/window.h"

#include <string.h>

enum kind { OF_COMM, OF_TYPE, OF_WINDOW };

/* Describes a key. The copy function is NULL if attributes are not copied. The delete function is
 * NULL if nothing has to be done when an attribute is deleted. */
struct keyval {
  enum kind kind;
  bool as_it_is; /* values are copied unchanged, without a function */
  union {
    MPI_Comm_copy_attr_function *comm;
    MPI_Type_copy_attr_function *type;
  } copy;
  union {
    MPI_Comm_delete_attr_function *comm;
    MPI_Type_delete_attr_function *type;
    MPI_Win_delete_attr_function *window;
  } destroy;
  void *extra;
};

struct attribute {
  int key;
  void *value;
  struct attribute *next; /* the attribute that was set before this one */
};

/* Describes a type that has, or had, attributes. */
struct type {
  MPI_Datatype handle;
  struct attribute *attributes;
  struct type *next;
};

/* Names a communicator, type or window with attributes. */
struct holder {
  MPI_Comm comm;     /* or */
  MPI_Datatype type; /* or */
  MPI_Win window;
  struct attribute **attributes;
};

static struct holder of_comm(struct rank *r, MPI_Comm comm)
{
  return (struct holder){.comm = comm, .attributes = &comm_of(r, comm)->attributes};
}

static struct holder of_window(struct rank *r, MPI_Win window)
{
  return (struct holder){.window = window, .attributes = &window_of(r, window)->attributes};
}

/* Returns the link to the type. If the type is not in the list, returns the link where it would
 * be. */
static struct type **find_type(struct rank *r, MPI_Datatype handle)
{
  struct type **place = &r->mpi->types;
  while (*place && (*place)->handle != handle)
    place = &(*place)->next;
  return place;
}

/* The list of attributes is NULL if the type has no attributes. */
static struct holder of_type(struct rank *r, MPI_Datatype handle)
{
  static struct attribute *none;
  struct type *type = *find_type(r, handle);
  return (struct holder){.type = handle, .attributes = type ? &type->attributes : &none};
}

static struct holder with_room(struct rank *r, MPI_Datatype handle)
{
  struct type **place = find_type(r, handle);
  if (!*place) {
    *place = rank_alloc(r, sizeof **place);
    **place = (struct type){.handle = handle};
  }
  return of_type(r, handle);
}

/* ---- keys: freed ones stay, because attributes may still have them ---- */

static int create_key(struct rank *r, struct keyval keyval, int *key)
{
  struct mpi_state *mpi = r->mpi;
  size_t count = (size_t)mpi->keyval_count;
  struct keyval *keyvals = rank_alloc(r, (count + 1) * sizeof *keyvals);
  if (count)
    memcpy(keyvals, mpi->keyvals, count * sizeof *keyvals);
  keyvals[count] = keyval;
  rank_free(mpi->keyvals);
  mpi->keyvals = keyvals;
  *key = mpi->keyval_count++;
  return MPI_SUCCESS;
}

static struct keyval key_of_comms(MPI_Comm_copy_attr_function *copy,
                                  MPI_Comm_delete_attr_function *destroy, void *extra)
{
  return (struct keyval){.kind = OF_COMM,
                         .as_it_is = copy == MPI_COMM_DUP_FN,
                         .copy.comm = copy,
                         .destroy.comm = destroy,
                         .extra = extra};
}

static struct keyval key_of_types(MPI_Type_copy_attr_function *copy,
                                  MPI_Type_delete_attr_function *destroy, void *extra)
{
  return (struct keyval){.kind = OF_TYPE,
                         .as_it_is = copy == MPI_TYPE_DUP_FN,
                         .copy.type = copy,
                         .destroy.type = destroy,
                         .extra = extra};
}

/* Windows are never copied, so the key needs no copy function. */
static struct keyval key_of_windows(MPI_Win_delete_attr_function *destroy, void *extra)
{
  return (struct keyval){.kind = OF_WINDOW, .destroy.window = destroy, .extra = extra};
}

static int free_key(int *key)
{
  *key = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

static const struct keyval *keyval_of(const struct rank *r, int key)
{
  if (key < 0 || key >= r->mpi->keyval_count)
    die(DIE_INPUT, "rank %d: %d is not a key of attributes", r->index, key);
  return &r->mpi->keyvals[key];
}

/* call_copy() and call_destroy() call the program's functions, with the program's heap. */
static int call_copy(struct rank *r, struct holder holder, const struct attribute *attribute,
                     void **value, int *copied)
{
  const struct keyval *keyval = keyval_of(r, attribute->key);
  int key = attribute->key, result = MPI_SUCCESS;
  heap_enter(r->arena);
  if (keyval->kind == OF_COMM && keyval->copy.comm)
    result = keyval->copy.comm(holder.comm, key, keyval->extra, attribute->value, value, copied);
  else if (keyval->kind == OF_TYPE && keyval->copy.type)
    result = keyval->copy.type(holder.type, key, keyval->extra, attribute->value, value, copied);
  heap_leave();
  return result;
}

static int call_destroy(struct rank *r, struct holder holder, const struct attribute *attribute)
{
  const struct keyval *keyval = keyval_of(r, attribute->key);
  int key = attribute->key, result = MPI_SUCCESS;
  heap_enter(r->arena);
  if (keyval->kind == OF_COMM && keyval->destroy.comm)
    result = keyval->destroy.comm(holder.comm, key, attribute->value, keyval->extra);
  else if (keyval->kind == OF_TYPE && keyval->destroy.type)
    result = keyval->destroy.type(holder.type, key, attribute->value, keyval->extra);
  else if (keyval->kind == OF_WINDOW && keyval->destroy.window)
    result = keyval->destroy.window(holder.window, key, attribute->value, keyval->extra);
  heap_leave();
  return result;
}

/* ---- values ---- */

static struct attribute **find(struct holder holder, int key)
{
  struct attribute **place = holder.attributes;
  while (*place && (*place)->key != key)
    place = &(*place)->next;
  return place;
}

static int delete_attribute(struct rank *r, struct holder holder, int key)
{
  struct attribute **place = find(holder, key), *attribute = *place;
  if (!attribute)
    return MPI_ERR_ARG;
  int result = call_destroy(r, holder, attribute);
  if (result == MPI_SUCCESS) {
    *place = attribute->next;
    rank_free(attribute);
  }
  return result;
}

/* New attributes come first, because the attributes of MPI_COMM_SELF end in the reverse order (MPI
 * 3.1, section 8.7.1). */
static int set_attribute(struct rank *r, struct holder holder, int key, void *value)
{
  keyval_of(r, key);
  struct attribute *attribute = *find(holder, key);
  if (attribute) {
    int result = call_destroy(r, holder, attribute);
    if (result != MPI_SUCCESS)
      return result;
  } else {
    attribute = rank_alloc(r, sizeof *attribute);
    attribute->next = *holder.attributes;
    *holder.attributes = attribute;
  }
  attribute->key = key;
  attribute->value = value;
  return MPI_SUCCESS;
}

static int get_attribute(struct rank *r, struct holder holder, int key, void *value, int *flag)
{
  keyval_of(r, key);
  const struct attribute *attribute = *find(holder, key);
  *flag = attribute != NULL;
  if (attribute)
    memcpy(value, &attribute->value, sizeof attribute->value);
  return MPI_SUCCESS;
}

/* Gets the attribute MPIX_FT, which tells whether programs repair themselves. */
static int get_repairs(void *value, int *flag)
{
  static int yes = 1, *repairs = &yes;
  *flag = layer.repairs;
  if (*flag)
    memcpy(value, &repairs, sizeof repairs);
  return MPI_SUCCESS;
}

static int get_last_code(struct rank *r, void *value, int *flag)
{
  int *code = &r->mpi->last_code;
  *code = MAX(*code, MPI_ERR_LASTCODE);
  memcpy(value, &code, sizeof code);
  *flag = 1;
  return MPI_SUCCESS;
}

static int get_of_comm(struct rank *r, MPI_Comm comm, int key, void *value, int *flag)
{
  if (key == MPIX_FT)
    return get_repairs(value, flag);
  if (key == MPI_LASTUSEDCODE)
    return get_last_code(r, value, flag);
  if (key < 0)
    return PMPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag);
  return get_attribute(r, of_comm(r, comm), key, value, flag);
}

static int get_of_window(struct rank *r, MPI_Win window, int key, void *value, int *flag)
{
  if (key < 0)
    return window_get_attribute(window_of(r, window), key, value, flag);
  return get_attribute(r, of_window(r, window), key, value, flag);
}

/* ---- with their holder ---- */

static int copy_attributes(struct rank *r, struct holder from, struct holder to)
{
  int result = MPI_SUCCESS;
  for (struct attribute *a = *from.attributes; a && result == MPI_SUCCESS; a = a->next) {
    void *value = a->value;
    int copied = keyval_of(r, a->key)->as_it_is;
    if (!copied)
      result = call_copy(r, from, a, &value, &copied);
    if (result == MPI_SUCCESS && copied)
      result = set_attribute(r, to, a->key, value);
  }
  return result;
}

static int delete_attributes(struct rank *r, struct holder holder)
{
  int result = MPI_SUCCESS;
  struct attribute *next;
  for (struct attribute *a = *holder.attributes; a; a = next) {
    next = a->next;
    int error = call_destroy(r, holder, a);
    result = result ? result : error;
    rank_free(a);
  }
  *holder.attributes = NULL;
  return result;
}

int comm_copy_attributes(struct rank *r, MPI_Comm from, MPI_Comm to)
{
  return copy_attributes(r, of_comm(r, from), of_comm(r, to));
}

void comm_delete_attributes(struct rank *r, MPI_Comm comm)
{
  delete_attributes(r, of_comm(r, comm));
}

void window_delete_attributes(struct rank *r, struct window *window)
{
  delete_attributes(r, of_window(r, window_handle(window)));
}

static int duplicate_type(struct rank *r, MPI_Datatype type, MPI_Datatype *made)
{
  int result = type_duplicate(r, type, made);
  if (result == MPI_SUCCESS && *find_type(r, type))
    result = copy_attributes(r, of_type(r, type), with_room(r, *made));
  if (result != MPI_SUCCESS)
    *made = MPI_DATATYPE_NULL;
  return result;
}

static int free_type(struct rank *r, MPI_Datatype *type)
{
  int result = delete_attributes(r, of_type(r, *type));
  struct type **place = find_type(r, *type), *gone = *place;
  if (gone) {
    *place = gone->next;
    rank_free(gone);
  }
  type_release(r, *type);
  *type = MPI_DATATYPE_NULL;
  return result;
}

/* ---- the calls of communicators, by their new and their old names ---- */

LOOK_UP_CALL(Comm_create_keyval, (copy, destructor, key, extra),
             create_key(r, key_of_comms(copy, destructor, extra), key))
LOOK_UP_CALL(Keyval_create, (copy, destructor, key, extra),
             create_key(r, key_of_comms(copy, destructor, extra), key))
LOOK_UP_CALL(Comm_free_keyval, (key), free_key(key))
LOOK_UP_CALL(Keyval_free, (key), free_key(key))
LOOK_UP_CALL(Comm_set_attr, (comm, key, value), set_attribute(r, of_comm(r, comm), key, value))
LOOK_UP_CALL(Attr_put, (comm, key, value), set_attribute(r, of_comm(r, comm), key, value))
LOOK_UP_CALL(Comm_get_attr, (comm, key, value, flag), get_of_comm(r, comm, key, value, flag))
LOOK_UP_CALL(Attr_get, (comm, key, value, flag), get_of_comm(r, comm, key, value, flag))
LOOK_UP_CALL(Comm_delete_attr, (comm, key), delete_attribute(r, of_comm(r, comm), key))
LOOK_UP_CALL(Attr_delete, (comm, key), delete_attribute(r, of_comm(r, comm), key))

/* ---- the calls of types ---- */

LOOK_UP_CALL(Type_create_keyval, (copy, destructor, key, extra),
             create_key(r, key_of_types(copy, destructor, extra), key))
LOOK_UP_CALL(Type_free_keyval, (key), free_key(key))
LOOK_UP_CALL(Type_set_attr, (type, key, value), set_attribute(r, with_room(r, type), key, value))
LOOK_UP_CALL(Type_get_attr, (type, key, value, flag),
             get_attribute(r, of_type(r, type), key, value, flag))
LOOK_UP_CALL(Type_delete_attr, (type, key), delete_attribute(r, of_type(r, type), key))
LOOK_UP_CALL(Type_dup, (type, made), duplicate_type(r, type, made))
LOOK_UP_CALL(Type_free, (type), free_type(r, type))

/* ---- the calls of windows ---- */

LOOK_UP_CALL(Win_create_keyval, (copy, destructor, key, extra),
             create_key(r, key_of_windows(destructor, extra), key))
LOOK_UP_CALL(Win_free_keyval, (key), free_key(key))
LOOK_UP_CALL(Win_set_attr, (window, key, value), set_attribute(r, of_window(r, window), key, value))
LOOK_UP_CALL(Win_get_attr, (window, key, value, flag), get_of_window(r, window, key, value, flag))
LOOK_UP_CALL(Win_delete_attr, (window, key), delete_attribute(r, of_window(r, window), key))
