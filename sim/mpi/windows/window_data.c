/* Packs accesses to windows into messages, and carries out the accesses at the target. */
#include "sim/mpi/windows/window.h"

#include "include/mpi/values.h"
#include "sim/host/rank/buffers.h"
#include "sim/mpi/files/file_view.h"
#include "sim/mpi/types/datatype.h"
#include "sim/mpi/types/op.h"

#include <string.h>

/* Describes an access as it is sent. It has no addresses, so that a rank which goes back sends the
 * same bytes again. The segments and the given data follow this struct, padded to ALIGNMENT. */
struct head {
  int32_t kind, op, type, segments;
  /* `displacement` is in units of the window; `given` and `fetched` are numbers of bytes */
  int64_t displacement, given, fetched;
  int64_t filler;
};

enum { ALIGNMENT = 16 };

struct access {
  struct head head;
  struct segment *segment;
  struct items given, compared, fetched;
  struct access *next;
};

/* ---- operations and types that may be combined, by number ---- */

/* Returns the operation with that number, or MPI_OP_NULL if the number is too large. */
static MPI_Op op_of(int number)
{
  const MPI_Op ops[] = {MPI_REPLACE, MPI_NO_OP, MPI_SUM,    MPI_PROD,  MPI_MAX,
                        MPI_MIN,     MPI_LAND,  MPI_LOR,    MPI_LXOR,  MPI_BAND,
                        MPI_BOR,     MPI_BXOR,  MPI_MAXLOC, MPI_MINLOC};
  return number < (int)G_N_ELEMENTS(ops) ? ops[number] : MPI_OP_NULL;
}

static MPI_Datatype type_of(int number)
{
  const MPI_Datatype types[] = {MPI_BYTE,
                                MPI_CHAR,
                                MPI_SIGNED_CHAR,
                                MPI_UNSIGNED_CHAR,
                                MPI_SHORT,
                                MPI_UNSIGNED_SHORT,
                                MPI_INT,
                                MPI_UNSIGNED,
                                MPI_LONG,
                                MPI_UNSIGNED_LONG,
                                MPI_LONG_LONG,
                                MPI_UNSIGNED_LONG_LONG,
                                MPI_FLOAT,
                                MPI_DOUBLE,
                                MPI_LONG_DOUBLE,
                                MPI_C_BOOL,
                                MPI_INT8_T,
                                MPI_INT16_T,
                                MPI_INT32_T,
                                MPI_INT64_T,
                                MPI_UINT8_T,
                                MPI_UINT16_T,
                                MPI_UINT32_T,
                                MPI_UINT64_T,
                                MPI_AINT,
                                MPI_OFFSET,
                                MPI_C_FLOAT_COMPLEX,
                                MPI_C_DOUBLE_COMPLEX,
                                MPI_INTEGER,
                                MPI_REAL,
                                MPI_DOUBLE_PRECISION,
                                MPI_LOGICAL,
                                MPI_CHARACTER,
                                MPI_COMPLEX,
                                MPI_DOUBLE_COMPLEX,
                                MPI_INTEGER1,
                                MPI_INTEGER2,
                                MPI_INTEGER4,
                                MPI_INTEGER8,
                                MPI_INTEGER16,
                                MPI_REAL4,
                                MPI_REAL8,
                                MPI_REAL16,
                                MPI_COUNT,
                                MPI_WCHAR,
                                MPI_PACKED,
                                MPI_C_LONG_DOUBLE_COMPLEX,
                                MPI_COMPLEX8,
                                MPI_COMPLEX16,
                                MPI_COMPLEX32,
                                MPI_CXX_BOOL,
                                MPI_CXX_FLOAT_COMPLEX,
                                MPI_CXX_DOUBLE_COMPLEX,
                                MPI_CXX_LONG_DOUBLE_COMPLEX,
                                MPI_2LONG,
                                MPI_2FLOAT,
                                MPI_2DOUBLE,
                                MPI_2INT,
                                MPI_SHORT_INT,
                                MPI_LONG_INT,
                                MPI_FLOAT_INT,
                                MPI_DOUBLE_INT,
                                MPI_LONG_DOUBLE_INT,
                                MPI_2INTEGER,
                                MPI_2REAL,
                                MPI_2DOUBLE_PRECISION};
  return number < (int)G_N_ELEMENTS(types) ? types[number] : MPI_DATATYPE_NULL;
}

/* Returns the number of an operation, or -1 if it has none. */
static int number_of_op(MPI_Op op)
{
  int number = 0;
  while (op_of(number) != op && op_of(number) != MPI_OP_NULL)
    number++;
  return op_of(number) == op ? number : -1;
}

static int number_of_type(MPI_Datatype type)
{
  int number = 0;
  while (type_of(number) != type && type_of(number) != MPI_DATATYPE_NULL)
    number++;
  return type_of(number) == type ? number : -1;
}

/* ---- accesses ---- */

static int64_t bytes_of(const struct items *items)
{
  return items->count > 0 ? (int64_t)type_bytes(items->type) * items->count : 0;
}

static int64_t filled(int64_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool combines(enum access_kind kind)
{
  return kind == ACCESS_COMBINES || kind == ACCESS_FETCHES;
}

/* Lists runs of elements of one type by their places. The length of a run is the number of bytes of
 * its data, without gaps. */
struct elements {
  GArray *runs; /* struct segment */
  const struct typemap *of;
};

static void add_elements(void *ctx, const struct typemap *of, MPI_Aint at, MPI_Count count)
{
  struct elements *elements = ctx;
  MPI_Count runs = typemap_is_plain(of) ? 1 : count; /* a pair with gaps is a run of its own */
  if (!elements->of)
    elements->of = of;
  for (MPI_Count i = 0; i < runs; i++)
    g_array_append_val(elements->runs, ((struct segment){.offset = at + i * of->extent,
                                                         .bytes = count / runs * of->size}));
}

static struct access *access_new(struct rank *r, enum access_kind kind, int count,
                                 MPI_Datatype type, MPI_Op op)
{
  struct elements elements = {.runs = g_array_new(FALSE, FALSE, sizeof(struct segment))};
  typemap_walk_elements(typemap_of(type), 0, count, add_elements, &elements);
  if (!combines(kind)) {
    g_array_unref(elements.runs);
    elements.runs = type_segments(type, count);
  }
  struct access *access = rank_alloc(r, sizeof *access);
  access->head = (struct head){.kind = (int32_t)kind,
                               .op = combines(kind) ? number_of_op(op) : 0,
                               .type = elements.of ? number_of_type(elements.of->handle) : -1,
                               .segments = (int32_t)elements.runs->len};
  access->segment = rank_alloc(r, elements.runs->len * sizeof *access->segment);
  if (elements.runs->len > 0)
    memcpy(access->segment, elements.runs->data, elements.runs->len * sizeof *access->segment);
  g_array_unref(elements.runs);
  return access;
}

int window_access(struct rank *r, struct window *window, enum access_kind kind, int target,
                  MPI_Aint at, int count, MPI_Datatype type, MPI_Op op, struct items given,
                  struct items compared, struct items fetched)
{
  if (target == MPI_PROC_NULL)
    return MPI_SUCCESS;
  if (target < 0 || target >= window->comm->size)
    return MPI_ERR_RANK;
  if (count < 0)
    return MPI_ERR_COUNT;
  if (combines(kind) && number_of_op(op) < 0)
    return MPI_ERR_OP;
  struct access *access = access_new(r, kind, count, type, op);
  if (combines(kind) && access->head.type < 0 && access->head.segments > 0)
    return MPI_ERR_TYPE;
  if (combines(kind) && access->head.op > 1 && !op_allowed(op, type_of(access->head.type)))
    return MPI_ERR_OP;
  access->head.displacement = at;
  access->head.given = bytes_of(&given) + bytes_of(&compared);
  access->head.fetched = bytes_of(&fetched);
  access->given = given;
  access->compared = compared;
  access->fetched = fetched;
  if (window->last[target])
    window->last[target]->next = access;
  else
    window->first[target] = access;
  window->last[target] = access;
  return MPI_SUCCESS;
}

static int bytes_of_epoch(int64_t bytes)
{
  if (bytes > INT_MAX)
    die(DIE_INPUT, "an epoch of a window has %lld bytes for one rank, expected at most %d",
        (long long)bytes, INT_MAX);
  return (int)bytes;
}

int window_bytes(const struct window *window, int target)
{
  int64_t bytes = 0;
  for (const struct access *access = window->first[target]; access; access = access->next)
    bytes += (int64_t)sizeof access->head +
             access->head.segments * (int64_t)sizeof(struct segment) + filled(access->head.given);
  return bytes_of_epoch(bytes);
}

int window_answer_bytes(const struct window *window, int target)
{
  int64_t bytes = 0;
  for (const struct access *access = window->first[target]; access; access = access->next)
    bytes += access->head.fetched;
  return bytes_of_epoch(bytes);
}

static char *pack_items(const struct items *items, char *to)
{
  int bytes = (int)bytes_of(items), position = 0;
  if (bytes > 0)
    items_pack(items->at, items->count, items->type, to, bytes, &position);
  return to + bytes;
}

char *window_pack(struct rank *r, const struct window *window, int target, int bytes, int room)
{
  char *message = rank_alloc(r, (size_t)bytes + (size_t)room), *to = message + room;
  for (const struct access *access = window->first[target]; access; access = access->next) {
    size_t segments = (size_t)access->head.segments * sizeof *access->segment;
    memcpy(to, &access->head, sizeof access->head);
    memcpy(to + sizeof access->head, access->segment, segments);
    to += sizeof access->head + segments;
    pack_items(&access->compared, pack_items(&access->given, to));
    to += filled(access->head.given);
  }
  return message;
}

/* ---- at the target: its memory ---- */

struct region {
  int64_t start, end; /* addresses of its first byte and of the byte after it */
  struct region *next;
};

bool window_attach(struct rank *r, struct window *window, void *base, MPI_Aint size)
{
  int64_t start = (int64_t)(intptr_t)base, end = start + size;
  for (const struct region *each = window->regions; each; each = each->next)
    if (start < each->end && each->start < end)
      return false;
  struct region *region = rank_alloc(r, sizeof *region);
  *region = (struct region){start, end, window->regions};
  window->regions = region;
  return true;
}

bool window_detach(struct window *window, const void *base)
{
  struct region **place = &window->regions, *region;
  while (*place && (*place)->start != (int64_t)(intptr_t)base)
    place = &(*place)->next;
  region = *place;
  if (!region)
    return false;
  *place = region->next;
  rank_free(region);
  return true;
}

bool window_has(const struct window *window, int64_t at, int64_t bytes)
{
  if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
    return at >= 0 && at + bytes <= window->size;
  for (const struct region *each = window->regions; each; each = each->next)
    if (at >= each->start && at + bytes <= each->end)
      return true;
  return false;
}

/* ---- at the target: operations ---- */

/* Combines the given elements with the elements at `at`. The given elements are packed without
 * gaps, so if `type` has gaps, each one is unpacked first. */
static void combine_elements(const char *given, char *at, int count, MPI_Datatype type, MPI_Op op)
{
  const struct typemap *map = typemap_of(type);
  if (typemap_is_plain(map)) {
    elements_combine(given, at, count, type, op);
    return;
  }
  for (int i = 0; i < count; i++, given += map->size, at += map->extent) {
    _Alignas(max_align_t) char element[2 * sizeof(max_align_t)]; /* a pair */
    typemap_unpack(map, given, element, map->size);
    elements_combine(element, at, 1, type, op);
  }
}

static void combine(const struct head *head, char *at, const char *given, int64_t bytes)
{
  MPI_Op op = op_of(head->op);
  MPI_Datatype type = type_of(head->type);
  if (op == MPI_NO_OP || bytes == 0)
    return;
  if (op == MPI_REPLACE)
    typemap_unpack(typemap_of(type), given, at, bytes);
  else
    combine_elements(given, at, (int)(bytes / type_bytes(type)), type, op);
}

/* Carries out a part of an access. `given` is the data of that part, and the old data go to
 * `fetched`. */
static void carry_out_part(const struct head *head, char *at, const char *given, char *fetched,
                           int64_t bytes)
{
  if (head->fetched > 0 && combines((enum access_kind)head->kind))
    typemap_pack(typemap_of(type_of(head->type)), at, fetched, bytes);
  else if (head->fetched > 0)
    memcpy(fetched, at, (size_t)bytes);
  switch ((enum access_kind)head->kind) {
  case ACCESS_PUTS:
    memcpy(at, given, (size_t)bytes);
    break;
  case ACCESS_COMBINES:
  case ACCESS_FETCHES:
    combine(head, at, given, bytes);
    break;
  case ACCESS_SWAPS: /* one element */
    if (memcmp(at, given + bytes, (size_t)bytes) == 0)
      memcpy(at, given, (size_t)bytes);
    break;
  case ACCESS_GETS:
    break;
  }
}

void window_carry_out(struct rank *r, struct window *window, const char *message, int bytes,
                      char *answer)
{
  for (const char *end = message + bytes; message < end;) {
    const struct head *head = (const struct head *)(const void *)message;
    const struct segment *segment = (const struct segment *)(const void *)(head + 1);
    const char *given = (const char *)(segment + head->segments);
    message = given + filled(head->given);
    for (int i = 0; i < head->segments; i++) {
      int64_t at = head->displacement * window->unit + segment[i].offset;
      if (!window_has(window, at, segment[i].bytes))
        die(DIE_INPUT, "rank %d: an access beyond its window of %ld bytes", r->index,
            (long)window->size);
      carry_out_part(head, window->base + at, given, answer, segment[i].bytes);
      given += segment[i].bytes;
      answer += head->fetched > 0 ? segment[i].bytes : 0;
    }
  }
}

int window_answer_of(const char *message, int bytes)
{
  int64_t answer = 0;
  for (const char *end = message + bytes; message < end;) {
    const struct head *head = (const struct head *)(const void *)message;
    answer += head->fetched;
    message += sizeof *head + (size_t)head->segments * sizeof(struct segment) +
               (size_t)filled(head->given);
  }
  return (int)answer;
}

/* ---- at the origin ---- */

struct access *window_take(struct window *window, int target)
{
  struct access *first = window->first[target];
  window->first[target] = window->last[target] = NULL;
  return first;
}

void accesses_finish(struct access *first, const char *answer)
{
  struct access *next;
  for (struct access *access = first; access; access = next) {
    int bytes = (int)access->head.fetched, position = 0;
    if (bytes > 0)
      items_unpack(answer, bytes, &position, access->fetched.at, access->fetched.count,
                   access->fetched.type);
    answer += bytes;
    next = access->next;
    rank_free(access->segment);
    rank_free(access);
  }
}

void window_access_own(struct rank *r, struct window *window)
{
  int me = window->comm->rank, bytes = window_bytes(window, me);
  char *message = window_pack(r, window, me, bytes, 0);
  char *fetched = rank_alloc(r, (size_t)window_answer_bytes(window, me));
  window_carry_out(r, window, message, bytes, fetched);
  accesses_finish(window_take(window, me), fetched);
  rank_free(message);
  rank_free(fetched);
}
