#include "sim/host/outside.h"

#include "sim/host/shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };
static const uint64_t UNWRITTEN = UINT64_MAX;

/* An output that waits, or one that has been undone and not yet made again. */
struct held {
  uint32_t number;
  double made; /* in simulated seconds */
  GBytes *bytes;
};

static int outside = -1;  /* the descriptor of the outside; -1: the standard output is */
static uint64_t *page;    /* the beginning of the file that it is led into: UNWRITTEN, or what was
                             said; to look there takes no system call, of which a run would make
                             one for each call of MPI */
static GHashTable *early; /* SMPI process -> GByteArray, before its MPI_Init */
static double delays;     /* of all outputs that have left, in seconds */

/* ---- the standard output ---- */

static void write_out(const void *bytes, size_t size)
{
  int to = outside >= 0 ? outside : STDOUT_FILENO;
  for (const char *at = bytes; size > 0;) {
    ssize_t written = write(to, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      die(DIE_INPUT, "the program's output cannot be written: %s", g_strerror(errno));
    at += written;
    size -= (size_t)written;
  }
}

/* What was said since it was asked last; NULL: nothing. Eight bytes of 0xff, which is no text, are
 * noticed with what is said next. */
static GByteArray *take_said(void)
{
  if (outside < 0)
    return NULL;
  if (__fpending(stdout))
    fflush(stdout);
  if (*page == UNWRITTEN)
    return NULL;
  off_t size = lseek(STDOUT_FILENO, 0, SEEK_CUR);
  if (size <= 0)
    return NULL;
  GByteArray *said = g_byte_array_sized_new((guint)size);
  g_byte_array_set_size(said, (guint)size);
  if (pread(STDOUT_FILENO, said->data, (size_t)size, 0) != size ||
      ftruncate(STDOUT_FILENO, PAGE_BYTES) || lseek(STDOUT_FILENO, 0, SEEK_SET))
    die(DIE_BREACH, "the program's output cannot be read: %s", g_strerror(errno));
  memset(page, UINT8_MAX, PAGE_BYTES);
  return said;
}

static void let_all_out(void)
{
  for (int rank = 0; layer.rank && rank < layer.ranks; rank++) {
    const struct rank *r = &layer.rank[rank];
    for (GList *item = r->held.head; item; item = item->next) {
      const struct held *held = item->data;
      write_out(g_bytes_get_data(held->bytes, NULL), g_bytes_get_size(held->bytes));
    }
    if (r->mpi)
      write_out(r->mpi->said, r->mpi->said_bytes);
  }
}

/* The run ends with an error, and no crash will come: what its user must see includes what the
 * program has said. */
static void let_all_out_before_dying(void)
{
  GByteArray *said = take_said();
  let_all_out();
  if (said)
    write_out(said->data, said->len);
}

void output_begin(void)
{
  if (outside >= 0)
    return;
  fflush(stdout);
  int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int file = memfd_create("output", MFD_CLOEXEC);
  bool fine = copy >= 0 && file >= 0 && !ftruncate(file, PAGE_BYTES);
  page = fine ? mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (page == MAP_FAILED || dup2(file, STDOUT_FILENO) < 0)
    die(DIE_INPUT, "the standard output cannot be held: %s", g_strerror(errno));
  memset(page, UINT8_MAX, PAGE_BYTES);
  close(file);
  outside = copy;
  early = g_hash_table_new(NULL, NULL);
  die_before = let_all_out_before_dying;
}

void output_pass(void)
{
  if (outside < 0)
    return;
  GByteArray *said = take_said();
  if (said)
    write_out(said->data, said->len);
  dup2(outside, STDOUT_FILENO);
  munmap(page, PAGE_BYTES);
  close(outside);
  outside = -1;
}

/* ---- what a rank says ---- */

void output_say(struct rank *r, const void *bytes, size_t size)
{
  struct mpi_state *mpi = r->mpi;
  if (mpi->said_bytes + size > mpi->said_room) {
    size_t room = MAX(2 * mpi->said_room, mpi->said_bytes + size);
    char *grown = rank_alloc(r, room);
    if (mpi->said_bytes)
      memcpy(grown, mpi->said, mpi->said_bytes);
    rank_free(mpi->said);
    mpi->said = grown;
    mpi->said_room = room;
  }
  if (size)
    memcpy(mpi->said + mpi->said_bytes, bytes, size);
  mpi->said_bytes += size;
}

void output_collect(struct rank *r)
{
  GByteArray *said = take_said();
  if (said && !r->restart.on)
    output_say(r, said->data, said->len);
  if (r->restart.on)
    r->mpi->said_bytes = 0;
  if (said)
    g_byte_array_unref(said);
}

void output_collect_early(int process)
{
  GByteArray *said = take_said(), *before;
  if (!said)
    return;
  before = g_hash_table_lookup(early, GINT_TO_POINTER(process));
  if (before) {
    g_byte_array_append(before, said->data, said->len);
    g_byte_array_unref(said);
  } else {
    g_hash_table_insert(early, GINT_TO_POINTER(process), said);
  }
}

void output_adopt_early(struct rank *r)
{
  GByteArray *said = early ? g_hash_table_lookup(early, GINT_TO_POINTER(r->index)) : NULL;
  if (!said)
    return;
  output_say(r, said->data, said->len);
  g_hash_table_remove(early, GINT_TO_POINTER(r->index));
  g_byte_array_unref(said);
}

/* ---- held ---- */

static void free_held(struct held *held)
{
  g_bytes_unref(held->bytes);
  g_free(held);
}

/* Instead of what a crash has undone, if the program makes it again. */
static void hold(struct rank *r, uint32_t number, GBytes *bytes)
{
  const struct held *last;
  while ((last = g_queue_peek_tail(&r->held)) && last->number >= number)
    free_held(g_queue_pop_tail(&r->held));
  struct held *held = g_new(struct held, 1);
  *held = (struct held){.number = number, .made = machine_now(), .bytes = bytes};
  g_queue_push_tail(&r->held, held);
}

bool output_next(struct rank *r, struct move *move)
{
  struct mpi_state *mpi = r->mpi;
  if (!mpi->said_bytes)
    return false;
  *move = (struct move){.kind = MOVE_EVENT,
                        .rank = (int16_t)r->index,
                        .content = content_of_bytes(mpi->said, mpi->said_bytes),
                        .event = {.kind = RCL_EVENT_OUTPUT,
                                  .output = shadow_outputs(r->index) + 1,
                                  .bytes = (uint32_t)MIN(mpi->said_bytes, UINT32_MAX)}};
  if (move->event.output > shadow_left(r->index)) /* else the outside has it */
    hold(r, move->event.output, g_bytes_new(mpi->said, mpi->said_bytes));
  mpi->said_bytes = 0;
  return true;
}

/* ---- leaving ---- */

static void leave(struct rank *r, uint32_t last)
{
  struct held *held;
  while ((held = g_queue_peek_head(&r->held)) && held->number <= last) {
    double delay = machine_now() - held->made;
    write_out(g_bytes_get_data(held->bytes, NULL), g_bytes_get_size(held->bytes));
    layer.result.output.count++;
    layer.result.output.bytes += g_bytes_get_size(held->bytes);
    layer.result.output.delay_max_s = MAX(layer.result.output.delay_max_s, delay);
    delays += delay;
    free_held(g_queue_pop_head(&r->held));
  }
}

void output_leaves(struct rank *r)
{
  leave(r, shadow_left(r->index));
}

void output_committed(const struct rcl_event *event)
{
  for (int rank = 0; event->kind == RCL_EVENT_COMMITTED && rank < layer.ranks; rank++)
    output_leaves(&layer.rank[rank]);
}

void output_ends(void)
{
  for (int rank = 0; rank < layer.ranks; rank++)
    leave(&layer.rank[rank], shadow_outputs(rank));
  output_pass();
}

void output_report(struct result *result)
{
  if (result->output.count)
    result->output.delay_mean_s = delays / (double)result->output.count;
}
