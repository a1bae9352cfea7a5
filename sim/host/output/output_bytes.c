#include "sim/host/output/output_bytes.h"

#include "sim/memory/die.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct piece {
  uint32_t file, begins;
  uint64_t bytes;
};

struct place {
  char *path;
  unsigned mode;
};

static GArray *files; /* struct place; file number n has index n - 1 */

uint32_t pieces_file(const char *path, unsigned mode)
{
  if (!files)
    files = g_array_new(FALSE, FALSE, sizeof(struct place));
  for (guint i = 0; i < files->len; i++)
    if (!strcmp(g_array_index(files, struct place, i).path, path))
      return i + 1;
  struct place place = {.path = g_strdup(path), .mode = mode};
  g_array_append_val(files, place);
  return files->len;
}

void pieces_add(GByteArray *pieces, uint32_t file, bool begins, const void *bytes, size_t size)
{
  const struct piece head = {.file = file, .begins = begins, .bytes = size};
  g_byte_array_append(pieces, (const guint8 *)&head, sizeof head);
  if (size)
    g_byte_array_append(pieces, bytes, (guint)size);
}

/* Reads the piece at `*at`, and moves `*at` behind the piece. Returns false at the end. */
static bool next_piece(const char **at, const char *end, struct piece *piece, const char **bytes)
{
  if (*at == end)
    return false;
  memcpy(piece, *at, sizeof *piece);
  *bytes = *at + sizeof *piece;
  *at = *bytes + piece->bytes;
  return true;
}

GBytes *pieces_joined(const void *pieces, size_t size, struct content *content, size_t *bytes)
{
  GByteArray *joined = g_byte_array_sized_new((guint)size);
  struct piece piece, last = {0};
  guint head = 0; /* index of the last piece's head */
  const char *from;
  *bytes = 0;
  for (const char *at = pieces, *end = at + size; next_piece(&at, end, &piece, &from);) {
    bool goes_on = joined->len > 0 && piece.file == last.file && !piece.begins;
    *bytes += piece.bytes;
    if (goes_on) {
      last.bytes += piece.bytes;
      memcpy(joined->data + head, &last, sizeof last);
      if (piece.bytes)
        g_byte_array_append(joined, (const guint8 *)from, (guint)piece.bytes);
      continue;
    }
    last = piece;
    head = joined->len;
    pieces_add(joined, piece.file, piece.begins, from, piece.bytes);
  }
  bool plain = head == 0 && last.file == PIECE_STDOUT;
  size_t skipped = plain ? sizeof last : 0;
  *content = content_of_bytes(joined->data + skipped, joined->len - skipped);
  return g_byte_array_free_to_bytes(joined);
}

static void write_all(int to, const char *at, size_t size, const char *what)
{
  while (size > 0) {
    ssize_t written = write(to, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      die(DIE_INPUT, "%s cannot be written: %s", what, g_strerror(errno));
    at += written;
    size -= (size_t)written;
  }
}

/* Appends a piece to its file. Opens the file each time, because there may be more files than a
 * process can have open. */
static void write_file(const struct piece *piece, const char *bytes)
{
  const struct place *place = &g_array_index(files, struct place, piece->file - 1);
  int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | (piece->begins ? O_TRUNC : 0);
  int to = open(place->path, flags, (mode_t)place->mode);
  if (to < 0)
    die(DIE_INPUT, "%s cannot be written: %s", place->path, g_strerror(errno));
  write_all(to, bytes, piece->bytes, place->path);
  if (close(to))
    die(DIE_INPUT, "%s cannot be written: %s", place->path, g_strerror(errno));
}

void pieces_write(const void *pieces, size_t size, int to)
{
  struct piece piece;
  const char *bytes;
  for (const char *at = pieces, *end = at + size; next_piece(&at, end, &piece, &bytes);)
    if (piece.file == PIECE_STDOUT)
      write_all(to, bytes, piece.bytes, "the program's output");
    else
      write_file(&piece, bytes);
}
