#include "verify/state/sorted_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "base/platform.h"

enum {
  BLOCK = 1 << 12,               /* approximate number of bytes of a block's entries */
  ENTRY = SORTED_BYTES_MOST + 2, /* largest number of bytes of an entry */
  HEAD = 2 * sizeof(uint32_t),   /* number of bytes of a block's head */
  /* largest number of bytes that an entry can share with the entry before it */
  SHARED_MOST = UINT8_MAX,
  BUFFER = 1 << 17 /* number of bytes that are written at once, or read at once in sequence */
};

/* ---- states as bytes ---- */

uint32_t sorted_bytes(const struct packing *packing)
{
  uint32_t bits = 0;
  for (uint32_t i = 0; i < packing->count; i++)
    bits += packing->field[i].bits;
  return (bits + 7) / 8;
}

void sorted_encode(const struct packing *packing, const uint32_t *state, uint8_t *to)
{
  uint64_t bits = 0;
  unsigned held = 0;
  for (uint32_t i = 0; i < packing->count; i++) {
    const struct field *field = &packing->field[i];
    unsigned width = field->bits;
    bits = bits << width | (state[field->word] >> field->shift & field->mask);
    for (held += width; held >= 8;)
      *to++ = (uint8_t)(bits >> (held -= 8));
  }
  if (held)
    *to++ = (uint8_t)(bits << (8 - held));
  *to = (uint8_t)(state[0] & TAG_MASK);
}

void sorted_decode(const struct packing *packing, const uint8_t *from, uint32_t *state)
{
  uint64_t bits = 0;
  unsigned held = 0;
  memset(state, 0, packing->words * sizeof *state);
  for (uint32_t i = 0; i < packing->count; i++) {
    const struct field *field = &packing->field[i];
    unsigned width = field->bits;
    for (; held < width; held += 8)
      bits = bits << 8 | *from++;
    held -= width;
    state[field->word] |= ((uint32_t)(bits >> held) & field->mask) << field->shift;
  }
  state[0] |= *from;
}

/* ---- writing ---- */

struct sorted_writer {
  struct sorted_file made;
  uint8_t last[SORTED_BYTES_MOST];
  uint32_t entries, used; /* number of entries, and of bytes used, in the present block */
  bool failed;
  /* The number of bytes in `buffer` that belong to finished blocks which are not written yet. The
   * present block follows these blocks. */
  uint32_t waiting;
  uint8_t buffer[BUFFER + HEAD + BLOCK + ENTRY];
};

struct sorted_writer *sorted_create(const char *name, uint32_t bytes)
{
  struct sorted_writer *w = memory_table(1, sizeof *w);
  w->made = (struct sorted_file){.bytes = bytes};
  w->made.file = platform_file_create(name);
  if (w->made.file < 0) {
    free(w);
    return NULL;
  }
  w->made.name = memory_grow(NULL, strlen(name) + 1);
  strcpy(w->made.name, name);
  return w;
}

static void write_buffer(struct sorted_writer *w)
{
  uint64_t from = w->made.end - w->waiting;
  w->failed |= !platform_file_write(w->made.file, w->buffer, w->waiting, from);
  w->waiting = 0;
}

static void end_block(struct sorted_writer *w)
{
  uint32_t head[2] = {w->used, w->entries};
  memcpy(w->buffer + w->waiting, head, sizeof head);
  w->waiting += HEAD + w->used;
  w->made.end += HEAD + w->used;
  w->entries = w->used = 0;
  if (w->waiting >= BUFFER)
    write_buffer(w);
}

static void note_block(struct sorted_file *made, const uint8_t *first)
{
  made->place = memory_room(made->place, made->blocks, &made->room, sizeof *made->place);
  made->first = memory_room(made->first, made->blocks, &made->firsts_room, made->bytes + 1);
  made->place[made->blocks] = made->end;
  memcpy(made->first + (size_t)made->blocks * made->bytes, first, made->bytes);
  made->blocks++;
}

static uint32_t bytes_shared(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
  uint32_t shared = 0, most = bytes < SHARED_MOST ? bytes : SHARED_MOST;
  while (shared < most && a[shared] == b[shared])
    shared++;
  return shared;
}

void sorted_put(struct sorted_writer *w, const uint8_t *state)
{
  uint32_t bytes = w->made.bytes;
  if (w->used >= BLOCK)
    end_block(w);
  if (!w->entries)
    note_block(&w->made, state);
  CHECK(!w->made.states || memcmp(w->last, state, bytes) < 0, "states are written in order");
  uint32_t shared = w->entries ? bytes_shared(w->last, state, bytes) : 0;
  uint8_t *to = w->buffer + w->waiting + HEAD + w->used;
  to[0] = state[bytes];
  to[1] = (uint8_t)shared;
  memcpy(to + 2, state + shared, bytes - shared);
  memcpy(w->last, state, bytes);
  w->used += 2 + bytes - shared;
  w->entries++;
  w->made.states++;
}

bool sorted_finish(struct sorted_writer *w, struct sorted_file *made)
{
  if (w->entries)
    end_block(w);
  if (w->waiting)
    write_buffer(w);
  bool fine = !w->failed;
  *made = w->made;
  free(w);
  if (!fine)
    sorted_close(made, true);
  return fine;
}

/* ---- files ---- */

bool sorted_open(struct sorted_file *f, const char *name, uint32_t bytes, uint64_t states,
                 uint64_t end)
{
  *f = (struct sorted_file){.bytes = bytes, .states = states, .file = platform_file_open(name)};
  if (f->file < 0)
    return false;
  f->name = memory_grow(NULL, strlen(name) + 1);
  strcpy(f->name, name);
  uint64_t found = 0;
  while (f->end < end) {
    uint8_t from[HEAD + ENTRY];
    uint32_t head[2];
    if (!platform_file_read(f->file, from, HEAD + 2 + bytes, f->end))
      break;
    memcpy(head, from, sizeof head);
    note_block(f, from + HEAD + 2);
    f->end += HEAD + head[0];
    found += head[1];
  }
  if (f->end == end && found == states)
    return true;
  sorted_close(f, false);
  return false;
}

void sorted_close(struct sorted_file *f, bool remove)
{
  if (f->name) {
    platform_file_close(f->file);
    if (remove)
      platform_file_remove(f->name);
  }
  free(f->name);
  free(f->place);
  free(f->first);
  *f = (struct sorted_file){0};
}

uint64_t sorted_index_bytes(const struct sorted_file *f)
{
  return f->room * sizeof *f->place + (uint64_t)f->firsts_room * (f->bytes + 1);
}

/* ---- reading ---- */

struct sorted_reader {
  const struct sorted_file *of;
  uint32_t next;     /* number of the next block */
  uint32_t entries;  /* entries left in the present block */
  const uint8_t *at; /* the next entry */
  bool has;          /* a state was read */
  uint8_t state[SORTED_BYTES_MOST + 1];
  uint64_t from, till; /* the range of bytes of the file that is in `buffer` */
  uint8_t buffer[BUFFER + HEAD + BLOCK + ENTRY];
};

struct sorted_reader *sorted_reader_new(const struct sorted_file *f)
{
  struct sorted_reader *r = memory_table(1, sizeof *r);
  r->of = f;
  return r;
}

void sorted_reader_free(struct sorted_reader *r)
{
  free(r);
}

/* Reads a block. If the block follows the block that was read last, as it does in a merge, also
 * reads some blocks that come after it. */
static void read_buffer(struct sorted_reader *r, uint32_t number, uint64_t end)
{
  const struct sorted_file *f = r->of;
  uint64_t bytes = end - f->place[number], left = f->end - f->place[number];
  if (number == r->next)
    bytes = left < BUFFER ? left : BUFFER;
  REQUIRE(bytes <= sizeof r->buffer &&
              platform_file_read(f->file, r->buffer, bytes, f->place[number]),
          "states on disk can be read again");
  r->from = f->place[number];
  r->till = r->from + bytes;
}

static void read_block(struct sorted_reader *r, uint32_t number)
{
  const struct sorted_file *f = r->of;
  uint64_t end = number + 1 < f->blocks ? f->place[number + 1] : f->end;
  uint32_t head[2];
  if (f->place[number] < r->from || end > r->till)
    read_buffer(r, number, end);
  const uint8_t *block = r->buffer + (f->place[number] - r->from);
  memcpy(head, block, sizeof head);
  r->entries = head[1];
  r->at = block + HEAD;
  r->next = number + 1;
}

const uint8_t *sorted_next(struct sorted_reader *r)
{
  uint32_t bytes = r->of->bytes;
  if (!r->entries) {
    if (r->next == r->of->blocks)
      return NULL;
    read_block(r, r->next);
  }
  uint32_t shared = r->at[1];
  r->state[bytes] = r->at[0];
  memcpy(r->state + shared, r->at + 2, bytes - shared);
  r->at += 2 + bytes - shared;
  r->entries--;
  r->has = true;
  return r->state;
}

/* Searches the blocks from the next one on. Returns the last block whose first state is not greater
 * than `state`, or the present block if there is no such block. */
static uint32_t block_of(const struct sorted_reader *r, const uint8_t *state)
{
  const struct sorted_file *f = r->of;
  uint32_t from = r->next, to = f->blocks;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (memcmp(f->first + (size_t)middle * f->bytes, state, f->bytes) <= 0)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

const uint8_t *sorted_seek(struct sorted_reader *r, const uint8_t *state)
{
  uint32_t bytes = r->of->bytes;
  if (r->has && memcmp(r->state, state, bytes) >= 0)
    return r->state;
  const uint8_t *first_of_next = r->of->first + (size_t)r->next * bytes;
  if (r->next < r->of->blocks && memcmp(first_of_next, state, bytes) <= 0) {
    read_block(r, block_of(r, state) - 1);
  }
  const uint8_t *at;
  while ((at = sorted_next(r)) && memcmp(at, state, bytes) < 0)
    ;
  return at;
}
