/* Tests derived types (MPI 3.1, section 4.1) that are made by constructors, in random
 * combinations. Each type is compared with its type map, a list of the places of its data, which
 * this program makes as the standard defines it. Usage: types-derived [SEED [ROUNDS]]. */
#include "types-values.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- type maps, by the definitions of section 4.1 ---- */

enum { ENTRIES = 4096, KINDS = 4 };

struct map {
  MPI_Datatype type;
  int entries;
  struct {
    MPI_Aint place;
    int kind;
  } entry[ENTRIES];
  MPI_Aint low, high;
  int low_set, high_set;
};

static const int kind_bytes[KINDS] = {1, 2, 4, 8};

static MPI_Datatype kind_type(int kind)
{
  const MPI_Datatype types[KINDS] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  return types[kind];
}

static MPI_Aint extent_of(const struct map *map)
{
  return map->high - map->low;
}

static void single(struct map *map, int kind)
{
  *map = (struct map){.type = kind_type(kind), .entries = 1, .high = kind_bytes[kind]};
  map->entry[0].kind = kind;
}

struct bounds {
  MPI_Aint low, high;
  int any;
};

static void extend(struct bounds *bounds, MPI_Aint low, MPI_Aint high)
{
  bounds->low = !bounds->any || low < bounds->low ? low : bounds->low;
  bounds->high = !bounds->any || high > bounds->high ? high : bounds->high;
  bounds->any = 1;
}

/* Collects the parts of a type map while a constructor puts them together. */
struct sum {
  struct map *to;
  struct bounds data, low, high;
  int alignment;
};

static void put(struct sum *sum, const struct map *of, MPI_Aint at)
{
  for (int i = 0; i < of->entries; i++) {
    sum->to->entry[sum->to->entries] = of->entry[i];
    sum->to->entry[sum->to->entries++].place += at;
    if (kind_bytes[of->entry[i].kind] > sum->alignment)
      sum->alignment = kind_bytes[of->entry[i].kind];
  }
  if (of->entries > 0)
    extend(&sum->data, at + of->low, at + of->high);
  if (of->low_set)
    extend(&sum->low, at + of->low, at + of->low);
  if (of->high_set)
    extend(&sum->high, at + of->high, at + of->high);
}

static void finish(struct sum *sum)
{
  struct map *map = sum->to;
  const struct bounds *low = sum->low.any ? &sum->low : &sum->data;
  const struct bounds *high = sum->high.any ? &sum->high : &sum->data;
  map->low = low->low;
  map->high = high->high;
  map->low_set = sum->low.any;
  map->high_set = sum->high.any;
  while (!map->high_set && sum->alignment && extent_of(map) % sum->alignment)
    map->high++;
}

/* ---- random types ---- */

static int upto(int most)
{
  return (int)((unsigned)rand() % (unsigned)(most + 1));
}

enum { PARTS = 3 };

/* The arguments from which the newest type was made, as MPI_Type_get_contents must return them. */
static struct {
  int combiner, integers, addresses, types;
  int integer[64];
  MPI_Aint address[16];
  MPI_Datatype type[16];
} made_of;

static void note_ints(const int *list, int count)
{
  for (int i = 0; i < count; i++)
    made_of.integer[made_of.integers++] = list[i];
}

static void note(int combiner, const int *integers, int count, const MPI_Aint *addresses,
                 int address_count, const MPI_Datatype *types, int type_count)
{
  made_of.combiner = combiner;
  made_of.integers = 0;
  note_ints(integers, count);
  made_of.addresses = address_count;
  for (int i = 0; i < address_count; i++)
    made_of.address[i] = addresses[i];
  made_of.types = type_count;
  for (int i = 0; i < type_count; i++)
    made_of.type[i] = types[i];
}

static void contiguous(struct sum *sum, const struct map *old)
{
  int count = upto(3);
  for (int i = 0; i < count; i++)
    put(sum, old, i * extent_of(old));
  MPI_Type_contiguous(count, old->type, &sum->to->type);
  note(MPI_COMBINER_CONTIGUOUS, &count, 1, NULL, 0, &old->type, 1);
}

static void vector(struct sum *sum, const struct map *old, int in_bytes)
{
  int count = upto(3), length = upto(2), stride = upto(6) - 2;
  MPI_Aint bytes = in_bytes ? (MPI_Aint)upto(80) - 16 : stride * extent_of(old);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < length; k++)
      put(sum, old, i * bytes + k * extent_of(old));
  int integers[3] = {count, length, stride};
  if (in_bytes)
    MPI_Type_create_hvector(count, length, bytes, old->type, &sum->to->type);
  else
    MPI_Type_vector(count, length, stride, old->type, &sum->to->type);
  note(in_bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR, integers, in_bytes ? 2 : 3, &bytes,
       in_bytes, &old->type, 1);
}

static void indexed(struct sum *sum, const struct map *old, int in_bytes, int equal)
{
  int count = 1 + upto(PARTS - 1), lengths[PARTS], places[PARTS], integers[1 + 2 * PARTS] = {count};
  MPI_Aint bytes[PARTS];
  for (int i = 0; i < count; i++) {
    lengths[i] = equal && i > 0 ? lengths[0] : upto(2);
    places[i] = upto(8) - 3;
    bytes[i] = in_bytes ? (MPI_Aint)upto(100) - 30 : places[i] * extent_of(old);
    for (int k = 0; k < lengths[i]; k++)
      put(sum, old, bytes[i] + k * extent_of(old));
  }
  MPI_Datatype *made = &sum->to->type;
  int known = 1;
  for (int i = 0; i < (equal ? 1 : count); i++)
    integers[known++] = lengths[i];
  for (int i = 0; i < count && !in_bytes; i++)
    integers[known++] = places[i];
  if (in_bytes && equal)
    MPI_Type_create_hindexed_block(count, lengths[0], bytes, old->type, made);
  else if (in_bytes)
    MPI_Type_create_hindexed(count, lengths, bytes, old->type, made);
  else if (equal)
    MPI_Type_create_indexed_block(count, lengths[0], places, old->type, made);
  else
    MPI_Type_indexed(count, lengths, places, old->type, made);
  const int combiners[] = {MPI_COMBINER_INDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED,
                           MPI_COMBINER_HINDEXED_BLOCK};
  note(combiners[2 * in_bytes + equal], integers, known, bytes, in_bytes ? count : 0, &old->type,
       1);
}

static void structure(struct sum *sum, const struct map *const *old)
{
  int count = 1 + upto(PARTS - 1), lengths[PARTS], integers[1 + PARTS] = {count};
  MPI_Aint bytes[PARTS];
  MPI_Datatype types[PARTS];
  for (int i = 0; i < count; i++) {
    integers[1 + i] = lengths[i] = upto(2);
    bytes[i] = (MPI_Aint)upto(160) - 40;
    types[i] = old[i]->type;
    for (int k = 0; k < lengths[i]; k++)
      put(sum, old[i], bytes[i] + k * extent_of(old[i]));
  }
  MPI_Type_create_struct(count, lengths, bytes, types, &sum->to->type);
  note(MPI_COMBINER_STRUCT, integers, 1 + count, bytes, count, types, count);
}

static void resized(struct sum *sum, const struct map *old)
{
  MPI_Aint bounds[2] = {(MPI_Aint)upto(24) - 12, upto(60)};
  put(sum, old, 0);
  extend(&sum->low, bounds[0], bounds[0]);
  sum->low = (struct bounds){bounds[0], bounds[0], 1};
  sum->high = (struct bounds){bounds[0] + bounds[1], bounds[0] + bounds[1], 1};
  MPI_Type_create_resized(old->type, bounds[0], bounds[1], &sum->to->type);
  note(MPI_COMBINER_RESIZED, NULL, 0, bounds, 2, &old->type, 1);
}

static void duplicate(struct sum *sum, const struct map *old)
{
  put(sum, old, 0);
  MPI_Type_dup(old->type, &sum->to->type);
  note(MPI_COMBINER_DUP, NULL, 0, NULL, 0, &old->type, 1);
}

/* Describes which elements of one dimension are in the type. */
struct dimension {
  int size, start, length, how, share, grid, at;
};

static int is_there(const struct dimension *d, int index)
{
  int share = d->share;
  if (d->grid == 0)
    return index >= d->start && index < d->start + d->length;
  if (d->how == MPI_DISTRIBUTE_NONE)
    return 1;
  if (share == MPI_DISTRIBUTE_DFLT_DARG)
    share = d->how == MPI_DISTRIBUTE_BLOCK ? (d->size + d->grid - 1) / d->grid : 1;
  return index / share % d->grid == d->at;
}

/* Puts together those elements of an array of two dimensions that are in the type, in the order in
 * which they lie. */
static void walk_array(struct sum *sum, const struct dimension *d, int order, const struct map *old)
{
  int outer = order == MPI_ORDER_C ? 0 : 1, inner = 1 - outer;
  for (int i = 0; i < d[outer].size; i++)
    for (int k = 0; k < d[inner].size; k++)
      if (is_there(&d[outer], i) && is_there(&d[inner], k))
        put(sum, old, (i * d[inner].size + k) * extent_of(old));
  MPI_Aint all = d[0].size * d[1].size * extent_of(old);
  sum->low = (struct bounds){0, 0, 1};
  sum->high = (struct bounds){all, all, 1};
}

static void subarray(struct sum *sum, const struct map *old)
{
  struct dimension d[2];
  int list[8] = {2}, order = upto(1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  for (int i = 0; i < 2; i++) {
    d[i] = (struct dimension){.size = 1 + upto(3)};
    d[i].length = 1 + upto(d[i].size - 1);
    d[i].start = upto(d[i].size - d[i].length);
    list[1 + i] = d[i].size;
    list[3 + i] = d[i].length;
    list[5 + i] = d[i].start;
  }
  list[7] = order;
  walk_array(sum, d, order, old);
  MPI_Type_create_subarray(2, list + 1, list + 3, list + 5, order, old->type, &sum->to->type);
  note(MPI_COMBINER_SUBARRAY, list, 8, NULL, 0, &old->type, 1);
}

static void distributed(struct sum *sum, const struct map *old)
{
  const int hows[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  struct dimension d[2];
  int list[12], order = upto(1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, ranks_of[2];
  for (int i = 0; i < 2; i++) {
    int how = upto(2);
    d[i] = (struct dimension){
        .size = 1 + upto(4), .how = hows[how], .grid = how == 2 ? 1 : 1 + upto(1)};
    d[i].share = how == 1 && upto(1) ? 1 + upto(1) : MPI_DISTRIBUTE_DFLT_DARG;
    ranks_of[i] = d[i].grid;
  }
  int all = ranks_of[0] * ranks_of[1], own = upto(all - 1);
  d[0].at = own / ranks_of[1];
  d[1].at = own % ranks_of[1];
  list[0] = all, list[1] = own, list[2] = 2;
  for (int i = 0; i < 2; i++) {
    list[3 + i] = d[i].size;
    list[5 + i] = d[i].how;
    list[7 + i] = d[i].share;
    list[9 + i] = d[i].grid;
  }
  list[11] = order;
  walk_array(sum, d, order, old);
  MPI_Type_create_darray(all, own, 2, list + 3, list + 5, list + 7, list + 9, order, old->type,
                         &sum->to->type);
  note(MPI_COMBINER_DARRAY, list, 12, NULL, 0, &old->type, 1);
}

/* ---- comparisons with what MPI says ---- */

static void compare_contents(const char *what)
{
  int integers, addresses, types, combiner, integer[64];
  MPI_Aint address[16];
  MPI_Datatype type[16], of = made_of.type[15];
  MPI_Type_get_envelope(of, &integers, &addresses, &types, &combiner);
  value(what, "combiner", combiner, made_of.combiner);
  value(what, "integers", integers, made_of.integers);
  value(what, "addresses", addresses, made_of.addresses);
  value(what, "types", types, made_of.types);
  if (integers != made_of.integers || addresses != made_of.addresses || types != made_of.types)
    return;
  MPI_Type_get_contents(of, integers, addresses, types, integer, address, type);
  for (int i = 0; i < integers; i++)
    value(what, "an integer of the contents", integer[i], made_of.integer[i]);
  for (int i = 0; i < addresses; i++)
    value(what, "an address of the contents", address[i], made_of.address[i]);
}

static int size_of(const struct map *map)
{
  int size = 0;
  for (int i = 0; i < map->entries; i++)
    size += kind_bytes[map->entry[i].kind];
  return size;
}

static void compare_bounds(const char *what, const struct map *map)
{
  MPI_Aint low, extent;
  struct bounds data = {0};
  int size;
  for (int i = 0; i < map->entries; i++)
    extend(&data, map->entry[i].place, map->entry[i].place + kind_bytes[map->entry[i].kind]);
  MPI_Type_size(map->type, &size);
  value(what, "size", size, size_of(map));
  if (map->entries == 0)
    return; /* a type without data has no bounds */
  MPI_Type_get_extent(map->type, &low, &extent);
  value(what, "lower bound", low, map->low);
  value(what, "extent", extent, extent_of(map));
  MPI_Type_get_true_extent(map->type, &low, &extent);
  value(what, "true lower bound", low, data.low);
  value(what, "true extent", extent, data.high - data.low);
}

enum { MIDDLE = 1 << 16, MEMORY = 2 * MIDDLE };
static unsigned char memory[MEMORY], packed[MEMORY], copied[MEMORY];

static unsigned char at_place(MPI_Aint place)
{
  return (unsigned char)(place * 7 + (place >> 8) * 3 + 1);
}

/* Compares the data of two elements: packed, and sent by the rank to itself into elements of the
 * same type. */
static void compare_data(const char *what, const struct map *map)
{
  int size = size_of(map), position = 0, at = 0, different = 0, room;
  MPI_Request request;
  MPI_Status status;
  for (MPI_Aint i = 0; i < MEMORY; i++)
    memory[i] = at_place(i - MIDDLE);
  memset(packed, 0, sizeof packed);
  MPI_Pack_size(2, map->type, MPI_COMM_WORLD, &room);
  value(what, "whether there is room", room >= 2 * size, 1);
  MPI_Pack(memory + MIDDLE, 2, map->type, packed, MEMORY, &position, MPI_COMM_WORLD);
  value(what, "packed bytes", position, 2 * size);
  memset(copied, 0, sizeof copied);
  MPI_Irecv(copied + MIDDLE, 2, map->type, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(memory + MIDDLE, 2, map->type, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  for (int element = 0; element < 2; element++)
    for (int i = 0; i < map->entries; i++)
      for (int k = 0; k < kind_bytes[map->entry[i].kind]; k++, at++) {
        MPI_Aint place = map->entry[i].place + element * extent_of(map) + k;
        different += packed[at] != at_place(place) || copied[MIDDLE + place] != at_place(place);
      }
  value(what, "bytes that differ", different, 0);
  int count, elements;
  MPI_Get_count(&status, map->type, &count);
  MPI_Get_elements(&status, map->type, &elements);
  if (size > 0)
    value(what, "count", count, 2);
  value(what, "elements", elements, size > 0 ? 2 * map->entries : 0);
}

/* Tests a message that has only the first entries of an element. */
static void compare_partial(const char *what, const struct map *map)
{
  int come = upto(map->entries), bytes = 0, elements, count, different = 0, at = 0;
  MPI_Request request;
  MPI_Status status;
  if (map->entries == 0)
    return;
  for (int i = 0; i < come; i++)
    bytes += kind_bytes[map->entry[i].kind];
  for (int i = 0; i < bytes; i++)
    packed[i] = at_place(i);
  memset(copied, 0, sizeof copied);
  MPI_Irecv(copied + MIDDLE, 1, map->type, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(packed, bytes, MPI_PACKED, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Get_elements(&status, map->type, &elements);
  MPI_Get_count(&status, map->type, &count);
  value(what, "elements of a part", elements, come);
  value(what, "count of a part", count, come == map->entries ? 1 : come ? MPI_UNDEFINED : 0);
  for (int i = 0; i < come; i++)
    for (int k = 0; k < kind_bytes[map->entry[i].kind]; k++)
      different += copied[MIDDLE + map->entry[i].place + k] != at_place(at++);
  value(what, "bytes of a part that differ", different, 0);
  MPI_Status_set_elements(&status, map->type, come);
  MPI_Get_elements(&status, map->type, &elements);
  value(what, "elements that were set", elements, come);
}

/* Returns whether data of two elements overlap, so that they cannot be received. */
static int overlaps(const struct map *map)
{
  static unsigned char used[MEMORY];
  int overlap = 0;
  memset(used, 0, sizeof used);
  for (int element = 0; element < 2; element++)
    for (int i = 0; i < map->entries; i++)
      for (int k = 0; k < kind_bytes[map->entry[i].kind]; k++)
        overlap |= used[MIDDLE + map->entry[i].place + element * extent_of(map) + k]++;
  return overlap;
}

static void test_random(unsigned seed, int rounds)
{
  static struct map old[PARTS], made;
  char what[96];
  for (int round = 0; round < rounds; round++) {
    srand(seed + (unsigned)round);
    for (int i = 0; i < PARTS; i++)
      single(&old[i], upto(KINDS - 1));
    for (int depth = 0; depth < 3; depth++) {
      struct sum sum = {.to = &made};
      const struct map *parts[PARTS] = {&old[0], &old[1], &old[2]};
      int kind = upto(10);
      made = (struct map){.entries = 0};
      switch (kind) {
      case 0:
        contiguous(&sum, &old[0]);
        break;
      case 1:
      case 2:
        vector(&sum, &old[0], kind == 2);
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        indexed(&sum, &old[0], kind >= 5, kind % 2);
        break;
      case 7:
        subarray(&sum, &old[0]);
        break;
      case 8:
        distributed(&sum, &old[0]);
        break;
      case 9:
        if (upto(1))
          resized(&sum, &old[0]);
        else
          duplicate(&sum, &old[0]);
        break;
      default:
        structure(&sum, parts);
        break;
      }
      finish(&sum);
      MPI_Type_commit(&made.type);
      snprintf(what, sizeof what, "type %u.%d (combiner %d)", seed + (unsigned)round, depth,
               made_of.combiner);
      made_of.type[15] = made.type;
      compare_contents(what);
      compare_bounds(what, &made);
      if (!overlaps(&made)) {
        compare_data(what, &made);
        compare_partial(what, &made);
      }
      if (made.entries > 100 || made.entries == 0)
        break;
      old[upto(PARTS - 1)] = old[0];
      old[0] = made;
    }
  }
}

int main(int argc, char **argv)
{
  begin(&argc, &argv);
  unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
  int rounds = argc > 2 ? atoi(argv[2]) : 300;
  test_random(seed, rounds);
  return end("derived types");
}
