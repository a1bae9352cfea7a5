#include "sim/host/output/held_output.h"

#include "sim/host/output/output_bytes.h"
#include "sim/host/rank/shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };
static const uint64_t UNWRITTEN = UINT64_MAX;

/* Describes an output that waits, or an output that a crash has undone and that the program has not
 * made again yet. */
struct held {
  uint32_t number;
  double made; /* time at which the output was made, in simulated seconds */
  GBytes *pieces;
  size_t bytes; /* number of bytes that the program has printed or written */
};

/* copy of the standard output's descriptor as the launcher gave it, or -1 as long as standard
 * output does not go into a file */
static int outside = -1;
/* the first bytes of the file into which standard output goes, as mapped memory; they are
 * UNWRITTEN until something is printed, so reading them saves a system call in each call of MPI */
static uint64_t *page;
static GByteArray *said;  /* what the running program has printed since the last look */
static GHashTable *early; /* SMPI process -> GByteArray that it has printed before its MPI_Init */
/* patterns for files: patterns of names, or of paths that begin at the root */
static char **patterns;
static double delays; /* sum of the delays of all outputs that have left, in seconds */

/* ---- the standard output ---- */

/* Adds to `said` what was printed since the last call. If the first eight printed bytes are all
 * 0xff, they are noticed only when more is printed. Eight such bytes are not text. */
static void take_printed(void)
{
  if (__fpending(stdout))
    fflush(stdout);
  if (*page == UNWRITTEN)
    return;
  off_t size = lseek(STDOUT_FILENO, 0, SEEK_CUR);
  if (size <= 0)
    return;
  g_autofree char *printed = g_malloc((gsize)size);
  if (pread(STDOUT_FILENO, printed, (size_t)size, 0) != size ||
      ftruncate(STDOUT_FILENO, PAGE_BYTES) || lseek(STDOUT_FILENO, 0, SEEK_SET))
    die(DIE_BREACH, "the program's output cannot be read: %s", g_strerror(errno));
  memset(page, UINT8_MAX, PAGE_BYTES);
  pieces_add(said, PIECE_STDOUT, false, printed, (size_t)size);
}

/* Returns what the program of an arena has printed or written since the last call, in pieces.
 * Returns NULL if there is nothing. If `arena` is NULL, any program counts. The caller frees the
 * pieces. */
static GByteArray *take_said(const struct arena *arena)
{
  if (outside < 0)
    return NULL;
  heap_outputs_collect(arena);
  take_printed();
  if (!said->len)
    return NULL;
  GByteArray *taken = said;
  said = g_byte_array_new();
  return taken;
}

static void let_all_out(void)
{
  for (int rank = 0; layer.rank && rank < layer.ranks; rank++) {
    const struct rank *r = &layer.rank[rank];
    for (GList *item = r->held.head; item; item = item->next) {
      const struct held *held = item->data;
      pieces_write(g_bytes_get_data(held->pieces, NULL), g_bytes_get_size(held->pieces), outside);
    }
    if (r->mpi)
      pieces_write(r->mpi->said, r->mpi->said_bytes, outside);
  }
}

/* Lets all held output leave before the run ends with an error. The user must see the output, and
 * no crash can undo the output any more. */
static void let_all_out_before_dying(void)
{
  GByteArray *last = take_said(NULL);
  let_all_out();
  if (last)
    pieces_write(last->data, last->len, outside);
}

/* ---- files ---- */

/* Returns whether writes to the file are outputs. A pattern that begins with a slash is compared
 * with the complete path. Any other pattern is compared with the last component of the path. */
static bool is_output(const char *path)
{
  for (char **pattern = patterns; *pattern; pattern++)
    if (!fnmatch(*pattern, **pattern == '/' ? path : strrchr(path, '/') + 1, FNM_PATHNAME))
      return true;
  return false;
}

/* Takes the bytes that a program writes to a file. After output_pass(), writes these bytes at once.
 * The dispatcher has no program, so the bytes that its rank writes are dropped.
 */
static void file_said(int rank, const char *path, unsigned mode, bool begins, const void *bytes,
                      size_t size)
{
  uint32_t file = pieces_file(path, mode);
  if (rank >= layer.scenario->program.ranks)
    return;
  pieces_add(said, file, begins, bytes, size);
  if (outside >= 0)
    return;
  pieces_write(said->data, said->len, STDOUT_FILENO);
  g_byte_array_set_size(said, 0);
}

static void refuse_file(int rank, const char *what, const char *path)
{
  die(DIE_INPUT, "rank %d %s %s, which is in output_files, expected writes at its end only", rank,
      what, path);
}

void output_refuse_mpi(const struct rank *r, const char *path)
{
  g_autofree char *whole = g_canonicalize_filename(path, NULL);
  if (patterns && is_output(whole))
    refuse_file(r->index, "opens by MPI-IO", whole);
}

static void begin_files(void)
{
  if (!layer.scenario->output_files || layer.scenario->output == OUTPUT_PASSES)
    return;
  patterns = g_strdupv(layer.scenario->output_files);
  for (char **pattern = patterns; *pattern; pattern++)
    if (strchr(*pattern, '/')) {
      char *whole = g_canonicalize_filename(*pattern, NULL);
      g_free(*pattern);
      *pattern = whole;
    }
  heap_outputs_begin(&(struct heap_outputs){is_output, file_said, refuse_file});
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
  said = g_byte_array_new();
  begin_files();
  die_before = let_all_out_before_dying;
}

void output_pass(void)
{
  if (outside < 0)
    return;
  GByteArray *last = take_said(NULL);
  if (last) {
    pieces_write(last->data, last->len, outside);
    g_byte_array_unref(last);
  }
  dup2(outside, STDOUT_FILENO);
  munmap(page, PAGE_BYTES);
  close(outside);
  outside = -1;
}

/* ---- what a rank says ---- */

static void say(struct rank *r, const GByteArray *pieces)
{
  struct mpi_state *mpi = r->mpi;
  size_t size = mpi->said_bytes + pieces->len;
  if (size > mpi->said_room) {
    size_t room = MAX(2 * mpi->said_room, size);
    char *grown = rank_alloc(r, room);
    if (mpi->said_bytes)
      memcpy(grown, mpi->said, mpi->said_bytes);
    rank_free(mpi->said);
    mpi->said = grown;
    mpi->said_room = room;
  }
  memcpy(mpi->said + mpi->said_bytes, pieces->data, pieces->len);
  mpi->said_bytes = size;
}

void output_say(struct rank *r, const void *bytes, size_t size)
{
  GByteArray *piece = g_byte_array_new();
  if (size)
    pieces_add(piece, PIECE_STDOUT, false, bytes, size);
  say(r, piece);
  g_byte_array_unref(piece);
}

void output_collect(struct rank *r)
{
  GByteArray *pieces = take_said(r->arena);
  if (pieces && !rank_repeats(r))
    say(r, pieces);
  if (rank_repeats(r))
    r->mpi->said_bytes = 0;
  if (pieces)
    g_byte_array_unref(pieces);
}

void output_collect_early(int process)
{
  GByteArray *pieces = take_said(heap_arena(process)), *before;
  if (!pieces)
    return;
  before = g_hash_table_lookup(early, GINT_TO_POINTER(process));
  if (before) {
    g_byte_array_append(before, pieces->data, pieces->len);
    g_byte_array_unref(pieces);
  } else {
    g_hash_table_insert(early, GINT_TO_POINTER(process), pieces);
  }
}

void output_adopt_early(struct rank *r)
{
  GByteArray *pieces = early ? g_hash_table_lookup(early, GINT_TO_POINTER(r->index)) : NULL;
  if (!pieces)
    return;
  say(r, pieces);
  g_hash_table_remove(early, GINT_TO_POINTER(r->index));
  g_byte_array_unref(pieces);
}

/* ---- held ---- */

static void free_held(struct held *held)
{
  g_bytes_unref(held->pieces);
  g_free(held);
}

/* Replaces an output that a crash has undone, if the program makes it again. */
static void hold(struct rank *r, uint32_t number, GBytes *pieces, size_t bytes)
{
  const struct held *last;
  while ((last = g_queue_peek_tail(&r->held)) && last->number >= number)
    free_held(g_queue_pop_tail(&r->held));
  struct held *held = g_new(struct held, 1);
  *held = (struct held){.number = number, .made = machine_now(), .pieces = pieces, .bytes = bytes};
  g_queue_push_tail(&r->held, held);
}

bool output_next(struct rank *r, struct move *move)
{
  struct mpi_state *mpi = r->mpi;
  size_t bytes;
  if (!mpi->said_bytes)
    return false;
  *move =
      (struct move){.kind = MOVE_EVENT,
                    .rank = (int16_t)r->index,
                    .event = {.kind = RCL_EVENT_OUTPUT, .output = shadow_outputs(r->index) + 1}};
  GBytes *pieces = pieces_joined(mpi->said, mpi->said_bytes, &move->content, &bytes);
  move->event.bytes = (uint32_t)MIN(bytes, UINT32_MAX);
  if (move->event.output > shadow_left(r->index)) /* otherwise the outside has seen the output */
    hold(r, move->event.output, g_bytes_ref(pieces), bytes);
  g_bytes_unref(pieces);
  mpi->said_bytes = 0;
  return true;
}

/* ---- leaving ---- */

static void leave(struct rank *r, uint32_t last)
{
  struct held *held;
  while ((held = g_queue_peek_head(&r->held)) && held->number <= last) {
    double delay = machine_now() - held->made;
    pieces_write(g_bytes_get_data(held->pieces, NULL), g_bytes_get_size(held->pieces),
                 outside >= 0 ? outside : STDOUT_FILENO);
    layer.result.output.count++;
    layer.result.output.bytes += held->bytes;
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
