#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "prove/execute/execute.h"

struct block *block_new(uint32_t size)
{
  struct block *b = memory_grow(NULL, sizeof *b + size * sizeof *b->cell);
  memset(b, 0, sizeof *b + size * sizeof *b->cell);
  b->users = 1;
  b->size = size;
  return b;
}

struct block *block_share(struct block *b)
{
  if (b)
    b->users++;
  return b;
}

void block_release(struct block *b)
{
  if (b && !--b->users)
    free(b);
}

void path_forget(struct path *p, uint32_t object)
{
  if (object >= p->objects)
    return;
  block_release(p->memory[object]);
  p->memory[object] = NULL;
}

uint32_t executor_object(struct executor *x, const char *name, uint32_t size, bool constant)
{
  const struct object object = {.name = g_strdup(name), .size = size, .constant = constant};
  g_array_append_val(x->objects, object);
  g_ptr_array_add(x->first, block_new(size));
  return x->objects->len - 1;
}

void executor_keep_apart(struct executor *x, uint32_t object, uint32_t stride, uint32_t fixed)
{
  struct object *o = &g_array_index(x->objects, struct object, object);
  o->stride = stride;
  o->fixed = fixed;
}

uint32_t path_variable(struct executor *x, struct path *p, LLVMValueRef instruction, uint32_t items)
{
  uint32_t size = items * (uint32_t)executor_size(x, LLVMGetAllocatedType(instruction));
  GArray *known = g_hash_table_lookup(x->variables, instruction);
  if (!known) {
    known = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    g_hash_table_insert(x->variables, instruction, known);
  }
  if (known->len <= p->depth)
    g_array_set_size(known, p->depth + 1);
  uint32_t *object = &g_array_index(known, uint32_t, p->depth);
  if (!*object || executor_object_at(x, *object)->size != size) {
    *object = executor_object(x, "a variable", size, false);
    struct object *o = &g_array_index(x->objects, struct object, *object);
    o->variable = instruction;
    o->depth = p->depth;
  }
  path_forget(p, *object);
  return *object;
}

const struct object *executor_object_at(const struct executor *x, uint32_t object)
{
  return &g_array_index(x->objects, struct object, object);
}

const struct block *path_block(const struct executor *x, const struct path *p, uint32_t object)
{
  struct block *own = object < p->objects ? p->memory[object] : NULL;
  return own ? own : x->first->pdata[object];
}

struct block *path_own_block(struct executor *x, struct path *p, uint32_t object)
{
  if (object >= p->objects) {
    uint32_t room = x->objects->len + 16;
    p->memory = memory_grow(p->memory, room * sizeof *p->memory);
    memset(p->memory + p->objects, 0, (room - p->objects) * sizeof *p->memory);
    p->objects = room;
  }
  struct block *old = p->memory[object];
  if (old && old->users == 1)
    return old;
  const struct block *from = path_block(x, p, object);
  struct block *own = block_new(from->size);
  memcpy(own->cell, from->cell, from->size * sizeof *own->cell);
  block_release(old);
  p->memory[object] = own;
  return own;
}

/* ---- bytes ---- */

static void write_cells(Z3_context z, struct cell *cell, const struct value *v, uint32_t bytes)
{
  struct value whole = *v;
  if (v->kind == VALUE_TERM && v->width < 8 * bytes)
    whole = value_resize(z, v, 8 * bytes, false);
  for (uint32_t k = 0; k < bytes; k++) {
    cell[k] = (struct cell){.of = whole, .k = (uint8_t)k};
    if (v->kind == VALUE_BITS)
      cell[k] = (struct cell){.of = value_bits(8, k < 8 ? v->bits >> 8 * k : 0)};
  }
}

void block_write(Z3_context z, struct block *b, uint32_t at, const struct value *v, uint32_t bytes)
{
  write_cells(z, b->cell + at, v, bytes);
}

bool cells_are_whole(const struct cell *cell, uint32_t bytes)
{
  if (cell[0].of.kind == VALUE_BITS || cell[0].of.width != 8 * bytes)
    return false;
  for (uint32_t k = 0; k < bytes; k++)
    if (cell[k].k != k || !value_same(&cell[k].of, &cell[0].of))
      return false;
  return true;
}

/* Returns the value of a cell. Memory that was never written has any value. */
static struct value byte_of(struct executor *x, const struct cell *cell)
{
  char name[32];
  if (cell->of.kind == VALUE_NONE) {
    g_snprintf(name, sizeof name, "unwritten.%" G_GUINT64_FORMAT, x->steps++);
    return value_unknown(x->z3, 8, name);
  }
  if (cell->of.kind == VALUE_BITS || cell->of.kind == VALUE_TERM)
    return value_byte(x->z3, &cell->of, cell->k);
  return value_bits(8,
                    /* these are bytes of a pointer, and a protocol must not use an address as a
                     * number */
                    0xEE);
}

static struct value read_cells(struct executor *x, const struct cell *cell, uint32_t bytes)
{
  struct value byte[8];
  if (cells_are_whole(cell, bytes))
    return cell->of;
  for (uint32_t k = 0; k < bytes; k++)
    byte[k] = byte_of(x, &cell[k]);
  return value_join(x->z3, byte, bytes);
}

struct value path_peek(struct executor *x, const struct path *p, uint32_t object, uint32_t at,
                       uint32_t bytes)
{
  return read_cells(x, path_block(x, p, object)->cell + at, bytes);
}

/* ---- accesses ---- */

static bool is_within(struct executor *x, struct path *p, const struct value *at, uint64_t bytes,
                      bool writes)
{
  const char *what = writes ? "writes" : "reads";
  if (at->kind != VALUE_POINTER)
    return path_fault(p, NULL, "%s through a number", what);
  if (!at->object)
    return path_fault(p, NULL, "%s through a null pointer", what);
  if (at->object == OBJECT_OUTSIDE)
    return path_fault(p, NULL, "%s by an index that leads out of its object", what);
  const struct object *object = executor_object_at(x, at->object);
  int64_t from = (int64_t)at->bits, behind = from + (int64_t)bytes - (int64_t)object->size;
  if (from < 0)
    return path_fault(p, NULL, "%s %lld bytes before %s", what, (long long)-from, object->name);
  if (behind > 0)
    return path_fault(p, NULL, "%s %lld bytes behind %s", what, (long long)behind, object->name);
  if (writes && object->constant)
    return path_fault(p, NULL, "writes to %s, which it may only read", object->name);
  return true;
}

bool path_load(struct executor *x, struct path *p, const struct value *from, LLVMTypeRef type,
               struct value *v)
{
  uint64_t bytes = LLVMStoreSizeOfType(x->layout, type);
  if (!is_within(x, p, from, bytes, false))
    return false;
  if (bytes > 8)
    return path_fault(p, NULL, "loads %d bytes at once", (int)bytes);
  *v = read_cells(x, path_block(x, p, from->object)->cell + from->bits, (uint32_t)bytes);
  bool pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
  if (pointer && v->kind == VALUE_BITS && !v->bits)
    *v = value_pointer(0, 0);
  else if (!pointer && (v->kind == VALUE_BITS || v->kind == VALUE_TERM))
    *v = value_resize(x->z3, v, LLVMGetIntTypeWidth(type), false);
  return true;
}

bool path_store(struct executor *x, struct path *p, const struct value *to, LLVMTypeRef type,
                const struct value *v)
{
  uint64_t bytes = LLVMStoreSizeOfType(x->layout, type);
  struct value null = value_bits(64, 0);
  if (!is_within(x, p, to, bytes, true))
    return false;
  if (bytes > 8 || v->kind == VALUE_FIELDS)
    return path_fault(p, NULL, "stores %d bytes at once", (int)bytes);
  bool is_null = v->kind == VALUE_POINTER && !v->object && !v->bits;
  write_cells(x->z3, path_own_block(x, p, to->object)->cell + to->bits, is_null ? &null : v,
              (uint32_t)bytes);
  return true;
}

bool path_copy(struct executor *x, struct path *p, const struct value *to, const struct value *from,
               uint64_t bytes)
{
  if (!bytes)
    return true;
  if (!is_within(x, p, from, bytes, false) || !is_within(x, p, to, bytes, true))
    return false;
  struct block *own = path_own_block(x, p, to->object);
  memmove(own->cell + to->bits, path_block(x, p, from->object)->cell + from->bits,
          bytes * sizeof *own->cell);
  return true;
}

bool path_fill(struct executor *x, struct path *p, const struct value *to, const struct value *byte,
               uint64_t bytes)
{
  if (!bytes)
    return true;
  if (!is_within(x, p, to, bytes, true))
    return false;
  struct block *own = path_own_block(x, p, to->object);
  for (uint64_t k = 0; k < bytes; k++)
    write_cells(x->z3, own->cell + to->bits + k, byte, 1);
  return true;
}
