#include "sim/host/storage/application.h"

#include "sim/host/rank/program_clock.h"
#include "sim/host/rank/shadow.h"
#include "sim/host/storage/redistribution.h"
#include "sim/net/machine.h"

#include <string.h>

/* Holds what a rank protects, in the rank's arena. */
struct application {
  struct region *region; /* sorted by id */
  int regions, regions_room;
  int *position;
  int depth, depth_room;
  /* communicators that the program has made, sorted by the last call that made each */
  struct comm **comm;
  int comms, comms_room;
  /* The place to which the program must come next, because its data were restored from an image of
   * that place. It is NONE if the program may come to any place. */
  enum place next;
};

/* IMAGE_MOST is the size of the largest image, in bytes. */
static const double IMAGE_MOST = 0x1p31;

static const char *const place_text[] = {"", "the place where a checkpoint is allowed",
                                         "the MPI_Barrier", "MPI_Finalize"};

bool application_level(void)
{
  return layer.scenario->checkpoint.level == IMAGE_APPLICATION;
}

static struct application *application_of(struct rank *r)
{
  if (!r->mpi->application)
    r->mpi->application = rank_alloc(r, sizeof *r->mpi->application);
  return r->mpi->application;
}

/* Makes room for one more item of `size` bytes. */
static void *grow(struct rank *r, void *list, int count, int *room, size_t size)
{
  if (count < *room)
    return list;
  *room = *room ? 2 * *room : 8;
  void *larger = rank_alloc(r, (size_t)*room * size);
  if (count)
    memcpy(larger, list, (size_t)count * size);
  rank_free(list);
  return larger;
}

/* Returns the image from which the rank restarts, or NULL if it does not restart. */
static const struct saved *image_of(const struct rank *r)
{
  return r->restart.on ? r->restart.saved : r->mpi->redistributed ? NULL : redistribution_image();
}

bool application_redistributes(const struct rank *r)
{
  return !r->restart.on && rank_repeats(r);
}

/* ---- what is protected ---- */

/* Returns the index of an id in a list that is sorted by id, or the index at which the id
 * belongs. */
static int place_of(const struct region *region, int regions, int id)
{
  int at = 0;
  while (at < regions && region[at].id < id)
    at++;
  return at;
}

static struct region *find(const struct region *region, int regions, int id)
{
  int at = place_of(region, regions, id);
  return at < regions && region[at].id == id ? (struct region *)&region[at] : NULL;
}

static void protect(struct rank *r, int id, void *address, size_t count, enum item item,
                    const struct shape *shape)
{
  struct application *a = application_of(r);
  if (!portable_is_type(item))
    die(DIE_INPUT, "rank %d protects memory %d of items of type %d, expected a type of recline.h",
        r->index, id, (int)item);
  if (find(a->region, a->regions, id))
    die(DIE_INPUT, "rank %d protects memory %d twice, expected recline_unprotect(%d) in between",
        r->index, id, id);
  if (!address && count)
    die(DIE_INPUT, "rank %d protects memory %d at no address, expected one", r->index, id);
  a->region = grow(r, a->region, a->regions, &a->regions_room, sizeof *a->region);
  int at = place_of(a->region, a->regions, id);
  memmove(a->region + at + 1, a->region + at, (size_t)(a->regions - at) * sizeof *a->region);
  a->region[at] = (struct region){.id = id,
                                  .item = item,
                                  .shape = *shape,
                                  .bytes = count * portable_item_bytes(item),
                                  .memory = address};
  a->regions++;
}

void application_protect(struct rank *r, int id, void *address, size_t count, enum item item)
{
  protect(r, id, address, count, item, &(struct shape){0});
}

void application_protect_part(struct rank *r, int id, void *address, enum item item,
                              const struct shape *shape)
{
  size_t count = 1, most = (size_t)IMAGE_MOST;
  if (shape->dimensions < 1 || shape->dimensions > SHAPE_DIMENSIONS)
    die(DIE_INPUT, "rank %d protects memory %d of %d dimensions, expected 1 to %d", r->index, id,
        shape->dimensions, SHAPE_DIMENSIONS);
  if (item == ITEM_NONE)
    die(DIE_INPUT, "rank %d protects memory %d of no type, expected a type of recline.h", r->index,
        id);
  for (int d = 0; d < shape->dimensions; d++) {
    int64_t first = shape->first[d], part = shape->part[d];
    if (first < 0 || part < 0 || first > shape->whole[d] || part > shape->whole[d] - first)
      die(DIE_INPUT,
          "rank %d protects items %lld to %lld in dimension %d of memory %d, expected some of its "
          "%lld",
          r->index, (long long)first, (long long)(first + part - 1), d + 1, id,
          (long long)shape->whole[d]);
    count = (size_t)part > most ? most : count * (size_t)part;
    if (count > most)
      die(DIE_INPUT, "rank %d protects memory %d of %zu items or more, expected %zu at most",
          r->index, id, count, most);
  }
  protect(r, id, address, count, item, shape);
}

void application_unprotect(struct rank *r, int id)
{
  struct application *a = application_of(r);
  struct region *region = find(a->region, a->regions, id);
  if (!region)
    die(DIE_INPUT, "rank %d does not protect memory %d, expected recline_protect(%d) before",
        r->index, id, id);
  a->regions--;
  memmove(region, region + 1, (size_t)(a->region + a->regions - region) * sizeof *region);
}

static const struct region *saved_region(const struct saved *saved, int id)
{
  return find((const struct region *)(const void *)saved->regions->data, (int)saved->regions->len,
              id);
}

size_t application_recorded(const struct rank *r, int id)
{
  const struct saved *saved = image_of(r);
  const struct region *region = saved ? saved_region(saved, id) : NULL;
  return region ? region->bytes : 0;
}

enum place application_place(const struct rank *r)
{
  const struct saved *saved = image_of(r);
  return saved ? (enum place)saved->place : PLACE_NONE;
}

/* ---- the position stack ---- */

void application_push(struct rank *r, int position)
{
  struct application *a = application_of(r);
  a->position = grow(r, a->position, a->depth, &a->depth_room, sizeof *a->position);
  a->position[a->depth++] = position;
}

void application_pop(struct rank *r)
{
  struct application *a = application_of(r);
  if (!a->depth)
    die(DIE_INPUT, "rank %d has no position to pop, expected recline_push() before", r->index);
  a->depth--;
}

int application_resume(struct rank *r)
{
  const struct saved *saved = image_of(r);
  struct application *a = application_of(r);
  if (!saved || a->depth >= (int)saved->position->len)
    return 0;
  int position = g_array_index(saved->position, int, a->depth);
  application_push(r, position);
  return position;
}

static char *positions_text(const int *position, int depth)
{
  GString *text = g_string_new("(");
  for (int i = 0; i < depth; i++)
    g_string_append_printf(text, i ? " %d" : "%d", position[i]);
  g_string_append_c(text, ')');
  return g_string_free(text, FALSE);
}

/* ---- communicators ---- */

void application_made(struct rank *r, struct comm *comm, int key)
{
  if (!application_level())
    return;
  struct application *a = application_of(r);
  int count = 0;
  for (int i = 0; i < a->comms; i++) /* a communicator that is made again moves to the end */
    if (a->comm[i] != comm)
      a->comm[count++] = a->comm[i];
  a->comms = count;
  a->comm = grow(r, a->comm, a->comms, &a->comms_room, sizeof(struct comm *));
  a->comm[a->comms++] = comm;
  comm->key = key;
}

static struct comm *made_with(const struct application *a, int number)
{
  for (int i = 0; i < a->comms; i++)
    if (a->comm[i]->number == number)
      return a->comm[i];
  return NULL;
}

static struct comm *make(struct rank *r, const struct saved_comm *saved)
{
  struct comm *comm = rank_alloc(r, sizeof *comm);
  *comm = (struct comm){.number = saved->number,
                        .size = saved->size,
                        .rank = saved->rank,
                        .calls = saved->calls,
                        .parent = saved->parent,
                        .colour = saved->colour,
                        .key = saved->key};
  comm->member = rank_alloc(r, (size_t)saved->size * sizeof *comm->member);
  memcpy(comm->member, saved->member, (size_t)saved->size * sizeof *comm->member);
  return comm;
}

struct comm *application_again(struct rank *r, const struct comm *parent, int colour, int key)
{
  const struct saved *saved = image_of(r);
  struct application *a = application_of(r);
  for (guint i = 0; saved && i < saved->comms->len; i++) {
    const struct saved_comm *each = &g_array_index(saved->comms, struct saved_comm, i);
    struct comm *made = made_with(a, each->number), **link = &r->mpi->freed;
    if (each->number < 2 || each->hidden || each->parent != parent->number ||
        each->colour != colour || each->key != key || (made && !made->freed))
      continue;
    if (made) { /* it was made and freed since main began again */
      while (*link && *link != made)
        link = &(*link)->next;
      *link = *link ? (*link)->next : NULL;
      made->freed = false;
    } else {
      made = make(r, each);
    }
    made->errors = parent->errors;
    application_made(r, made, key);
    return made;
  }
  die(DIE_INPUT,
      "rank %d makes a communicator by %s before its data are put back, which it had not made when "
      "checkpoint %u was taken, expected recline_restore() first",
      r->index, layer.call, r->restart.checkpoint);
}

static void save_comm(GArray *comms, const struct comm *comm, bool hidden, int parent)
{
  g_array_append_vals(
      comms,
      &(struct saved_comm){.number = comm->number,
                           .parent = hidden ? parent : comm->parent,
                           .colour = comm->colour,
                           .key = comm->key,
                           .size = comm->size,
                           .rank = comm->rank,
                           .calls = comm->calls,
                           .freed = comm->freed,
                           .hidden = hidden,
                           .member = g_memdup2(comm->member, (gsize)comm->size * sizeof(int))},
      1);
  for (const struct comm *group = comm->groups; group; group = group->next)
    save_comm(comms, group, true, comm->number);
}

static void save_comms(const struct rank *r, GArray *comms)
{
  const struct application *a = r->mpi->application;
  save_comm(comms, &r->mpi->world, false, 0);
  save_comm(comms, &r->mpi->self, false, 0);
  for (int i = 0; a && i < a->comms; i++)
    if (!a->comm[i]->freed)
      save_comm(comms, a->comm[i], false, 0);
  for (const struct comm *each = r->mpi->freed; each; each = each->next)
    save_comm(comms, each, false, 0);
}

static struct comm *known(struct rank *r, int number)
{
  return number == r->mpi->world.number  ? &r->mpi->world
         : number == r->mpi->self.number ? &r->mpi->self
                                         : made_with(application_of(r), number);
}

static struct comm *group_again(struct rank *r, const struct saved_comm *saved)
{
  struct comm *parent = known(r, saved->parent), *group = parent ? parent->groups : NULL;
  while (group && group->number != saved->number)
    group = group->next;
  if (group || !parent)
    return group;
  group = make(r, saved);
  group->errors = parent->errors;
  group->next = parent->groups;
  parent->groups = group;
  return group;
}

/* Puts back the communicators that main has not made again. Freed communicators are used again when
 * the next communicator is made. */
static void put_back_comms(struct rank *r, const struct saved *saved)
{
  struct comm **last = &r->mpi->freed;
  *last = NULL;
  for (guint i = 0; i < saved->comms->len; i++) {
    const struct saved_comm *each = &g_array_index(saved->comms, struct saved_comm, i);
    struct comm *comm = each->hidden ? group_again(r, each) : known(r, each->number);
    if (!comm && each->freed)
      application_made(r, comm = make(r, each), each->key);
    if (!comm)
      continue;
    comm->calls = each->calls;
    if (each->freed) {
      comm->freed = true;
      comm->next = NULL;
      *last = comm;
      last = &comm->next;
    }
  }
}

/* ---- images ---- */

static enum place here(const struct rank *r)
{
  const struct call *call = &r->mpi->call;
  bool in_barrier = call->state == CALL_JOINED && call->site.flow == RCL_FLOW_BARRIER;
  return in_barrier ? PLACE_BARRIER : (enum place)r->place;
}

static void refuse_capture(const struct rank *r, enum place place)
{
  if (place == PLACE_NONE)
    die(DIE_INPUT,
        "%s checkpoints rank %d in %s, where its program has not allowed it, expected "
        "checkpoint.level: system",
        shadow_protocol()->name, r->index, layer.call);
  if (r->mpi->pending)
    die(DIE_INPUT,
        "rank %d has %d requests pending at a checkpoint at the application level, expected them "
        "completed before",
        r->index, r->mpi->pending);
}

/* Returns whether the byte order of the rank's node differs from that of this process. */
static bool order_is_turned(void)
{
  const char *order = machine_property("byte_order");
  const char *other = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "big" : "little";
  if (order && strcmp(order, "big") && strcmp(order, "little"))
    die(DIE_INPUT, "property byte_order \"%s\" of %s, expected little or big", order,
        machine_host());
  return order && !strcmp(order, other);
}

/* Returns the image of the present state. The regions of this image point to the program's
 * memory. */
static struct saved *collect(const struct rank *r, enum place place)
{
  const struct application *a = r->mpi->application;
  struct saved *now = portable_new();
  now->place = place;
  now->finalized = r->mpi->finalized;
  now->receives = r->mpi->receives;
  now->iteration = r->mpi->iteration;
  now->image_bytes = r->mpi->image_bytes;
  now->iteration_bytes = r->mpi->iteration_bytes;
  if (a && a->regions)
    g_array_append_vals(now->regions, a->region, (guint)a->regions);
  if (a && a->depth)
    g_array_append_vals(now->position, a->position, (guint)a->depth);
  save_comms(r, now->comms);
  /* a restart calls the barrier again, so the image does not count this call */
  if (place == PLACE_BARRIER) {
    now->barrier = r->mpi->call.site.comm->number;
    for (guint i = 0; i < now->comms->len; i++) {
      struct saved_comm *comm = &g_array_index(now->comms, struct saved_comm, i);
      comm->calls -= comm->number == now->barrier;
    }
  }
  return now;
}

/* Adds the present contents of files to an image, which may be NULL, and returns the image. */
static struct saved *with_files(struct rank *r, struct saved *saved)
{
  if (saved && !(saved->files = heap_files_save(r->arena)))
    die(DIE_BREACH, "no memory for the image of rank %d", r->index);
  return saved;
}

struct saved *application_adopt(struct rank *r, GByteArray *bytes, const char **why)
{
  return with_files(r, portable_read(bytes, layer.ranks, r->index, why));
}

struct saved *application_save(struct rank *r)
{
  enum place place = here(r);
  const char *why;
  refuse_capture(r, place);
  if (application_next_bytes(r) > IMAGE_MOST)
    die(DIE_INPUT, "rank %d protects %.0f bytes, expected %.0f at most", r->index,
        application_next_bytes(r), IMAGE_MOST);
  struct saved *now = collect(r, place);
  struct saved *saved =
      portable_read(portable_write(now, order_is_turned()), layer.ranks, r->index, &why);
  portable_free(now);
  program_clock_forget(r);
  if (!saved)
    die(DIE_BREACH, "the image of rank %d: %s", r->index, why);
  return with_files(r, saved);
}

void application_free(struct saved *saved)
{
  if (!saved)
    return;
  heap_files_free(saved->files);
  portable_free(saved);
}

const struct heap_files *application_files(const struct saved *saved)
{
  return saved->files;
}

double application_bytes(const struct saved *saved)
{
  return saved->bytes->len;
}

double application_next_bytes(const struct rank *r)
{
  const struct application *a = r->mpi->application;
  double bytes = PORTABLE_HEADER_BYTES;
  for (int i = 0; a && i < a->regions; i++)
    bytes += (double)portable_region_bytes(&a->region[i]);
  return bytes;
}

/* ---- putting back ---- */

static void check_place(struct rank *r, const struct saved *saved, enum place place,
                        const struct comm *comm)
{
  const struct application *a = application_of(r);
  if (place != saved->place || (place == PLACE_BARRIER && comm->number != saved->barrier))
    die(DIE_INPUT, "rank %d comes to %s, expected %s, where checkpoint %u was taken", r->index,
        place_text[place], place_text[saved->place], r->restart.checkpoint);
  const int *then = (const int *)(const void *)saved->position->data;
  int depth = (int)saved->position->len;
  if (a->depth == depth && (!depth || !memcmp(a->position, then, (size_t)depth * sizeof *then)))
    return;
  g_autofree char *is = positions_text(a->position, a->depth);
  g_autofree char *was = positions_text(then, depth);
  die(DIE_INPUT, "rank %d comes to %s at position %s, expected %s of checkpoint %u", r->index,
      place_text[place], is, was, r->restart.checkpoint);
}

/* Returns the type of an item. An item without a type counts as bytes. */
static enum item type_of(enum item item)
{
  return item == ITEM_NONE ? ITEM_BYTE : item;
}

static void check_regions(struct rank *r, const struct saved *saved)
{
  const struct application *a = application_of(r);
  for (guint i = 0; i < saved->regions->len; i++) {
    const struct region *then = &g_array_index(saved->regions, struct region, i);
    const struct region *now = find(a->region, a->regions, then->id);
    if (!now)
      die(DIE_INPUT,
          "checkpoint %u of rank %d has memory %d of %zu bytes, expected recline_protect(%d) "
          "before "
          "it is put back",
          r->restart.checkpoint, r->index, then->id, then->bytes, then->id);
    if (now->bytes < then->bytes)
      die(DIE_INPUT,
          "rank %d protects memory %d of %zu bytes, expected the %zu of checkpoint %u or more",
          r->index, then->id, now->bytes, then->bytes, r->restart.checkpoint);
    if (type_of(now->item) != type_of(then->item))
      die(DIE_INPUT,
          "rank %d protects memory %d of items of type %d, expected type %d as in "
          "checkpoint %u",
          r->index, then->id, (int)type_of(now->item), (int)type_of(then->item),
          r->restart.checkpoint);
    if (!portable_same_shape(&now->shape, &then->shape))
      die(DIE_INPUT,
          "rank %d protects memory %d as another part than checkpoint %u has, expected the same on "
          "the same number of ranks",
          r->index, then->id, r->restart.checkpoint);
    if (then->item == ITEM_NONE && then->bytes && saved->turned != order_is_turned())
      die(DIE_INPUT,
          "checkpoint %u of rank %d has memory %d of no type in another byte order than that of "
          "%s, "
          "expected recline_protect_items()",
          r->restart.checkpoint, r->index, then->id, machine_host());
  }
  for (int i = 0; i < a->regions; i++)
    if (!saved_region(saved, a->region[i].id))
      die(DIE_INPUT, "rank %d protects memory %d, which checkpoint %u does not have", r->index,
          a->region[i].id, r->restart.checkpoint);
}

void application_check(struct rank *r, const struct saved *saved, enum place place,
                       const struct comm *comm)
{
  if (place != PLACE_NONE)
    check_place(r, saved, place, comm);
  check_regions(r, saved);
}

void application_put_back(struct rank *r, const struct saved *saved, bool at_place)
{
  struct application *a = application_of(r);
  for (guint i = 0; i < saved->regions->len; i++) {
    const struct region *then = &g_array_index(saved->regions, struct region, i);
    portable_copy(find(a->region, a->regions, then->id)->memory, saved, then);
  }
  r->mpi->finalized = saved->finalized;
  r->mpi->receives = saved->receives;
  r->mpi->iteration = saved->iteration;
  r->mpi->image_bytes = saved->image_bytes;
  r->mpi->iteration_bytes = saved->iteration_bytes;
  put_back_comms(r, saved);
  program_clock_forget(r);
  a->next = at_place ? PLACE_NONE : saved->place;
  r->mpi->redistributed = true;
}

double application_put_parts_back(struct rank *r, enum place place, const struct comm *comm)
{
  const struct application *a = application_of(r);
  r->restart.checkpoint = redistribution_checkpoint();
  if (place != PLACE_NONE)
    check_place(r, redistribution_image(), place, comm);
  program_clock_forget(r);
  return redistribution_fill(r->index, a->region, a->regions);
}

/* ---- after the restore ---- */

bool application_comes_to(struct rank *r, enum place place)
{
  struct application *a = r->mpi->application;
  enum place next = a ? a->next : PLACE_NONE;
  if (next == PLACE_NONE)
    return false;
  if (next != PLACE_CHECKPOINT && next != place)
    die(DIE_INPUT,
        "rank %d comes to %s after recline_restore(), expected %s, where its checkpoint "
        "was taken",
        r->index, place == PLACE_NONE ? layer.call : place_text[place], place_text[next]);
  a->next = PLACE_NONE;
  if (next == place)
    program_clock_forget(r);
  return next == place;
}

bool application_is_apart(const struct rank *r)
{
  const struct application *a = r->mpi->application;
  return r->restart.on || (a && (a->next == PLACE_BARRIER || r->mpi->finalized));
}

void application_refuse(const struct rank *r)
{
  die(DIE_INPUT,
      "rank %d calls %s before its data are put back, expected recline_restore(), or the place "
      "where "
      "checkpoint %u was taken, first",
      r->index, layer.call, r->restart.checkpoint);
}
