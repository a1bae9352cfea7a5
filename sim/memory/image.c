/* Captures and restores one rank (image.h), on Linux. Registers are saved by ucontext. Because of
 * the signal mask, that costs one system call for a capture and three for a restore. They take
 * microseconds, while copying takes milliseconds. longjmp cannot be used instead, because its
 * fortified form refuses to jump "up" from the scratch stack.
 *
 * An image is a list of fragments, each with a copy. The fragments are the parts of pages that are
 * not zero. A fragment that has not changed since the last image shares its copy with that image
 * (pages.h counts references). So an image costs memory only for changed fragments, but it takes
 * time to read all used memory. Reading all memory sounds slow, but it is the reliable way: see
 * docs/warts-memory.md. */
#define _GNU_SOURCE
#include "sim/memory/image.h"
#include "sim/memory/dead_stack.h"
#include "sim/memory/heap.h"
#include "sim/memory/image_source.h"
#include "sim/memory/pagemap.h"
#include "sim/memory/pages.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
  PIECES = SEGMENTS + 2,
  GIVE_BACK = 16 /* number of pages: a restore writes shorter runs of zeros */
};

/* Describes a part of one page. Except at the ends of a piece, a fragment is a complete page. */
struct fragment {
  char *start;
  size_t bytes;
  char *copy; /* copy of a page, in which the fragment has the same place as in its own page */
};

struct image {
  struct image_source *source;
  struct image *older, *newer; /* images of the same source */
  /* this field must not move, because it contains pointers into itself */
  ucontext_t registers;
  bool restored;              /* image_restore was called, and the capture returns once more */
  struct range piece[PIECES]; /* sorted by address */
  int pieces;
  /* sorted by address; all bytes of a piece that are in no fragment are zero */
  struct fragment *fragment;
  size_t fragments, capacity;
  struct heap_files *files; /* state of files, or NULL if there is no arena */
  /* number of bytes in all fragments, plus the zeros that save_piece() counts */
  size_t bytes;
  size_t copied; /* number of bytes in fragments whose copy no other image had */
};

static char *place_in_copy(const struct fragment *fragment)
{
  return fragment->copy + (uintptr_t)fragment->start % PAGE;
}

static bool is_zero(const char *start, size_t bytes)
{
  return !*start && !memcmp(start, start + 1, bytes - 1);
}

/* Returns the end of the page in which `address` lies, or `end` if that comes first. */
static char *next_page(char *address, char *end)
{
  size_t rest = PAGE - (uintptr_t)address % PAGE;
  return rest < (size_t)(end - address) ? address + rest : end;
}

/* ---- capture -------------------------------------------------------------------------------- */

/* Adds a piece, sorted by address. There are few pieces. */
static void add_piece(struct image *image, struct range range)
{
  if (!range.bytes)
    return;
  int i = image->pieces++;
  for (; i > 0 && image->piece[i - 1].start > range.start; i--)
    image->piece[i] = image->piece[i - 1];
  image->piece[i] = range;
}

/* Returns the stack from the page of `frame` up. Below the frame, that page is unused, so the
 * complete page can be copied. */
static struct range live_stack(const struct range *stack, char *frame)
{
  char *start = frame - (uintptr_t)frame % PAGE;
  if (start < stack->start)
    start = stack->start;
  return (struct range){.start = start,
                        .bytes = (size_t)(stack->start + stack->bytes - start),
                        .zeros = true,
                        .whole = true};
}

static void list_pieces(struct image *image, char *frame)
{
  struct image_source *source = image->source;
  add_piece(image, live_stack(&source->stack, frame));
  for (int i = 0; i < source->segment_count; i++)
    add_piece(image, source->segments[i]);
  if (source->arena) {
    void *start;
    size_t length;
    heap_used(source->arena, &start, &length);
    add_piece(image, (struct range){.start = start, .bytes = length, .zeros = true});
  }
}

static bool make_room(struct image *image)
{
  if (image->fragments < image->capacity)
    return true;
  size_t capacity = image->capacity ? 2 * image->capacity : 64;
  void *moved = realloc(image->fragment, capacity * sizeof *image->fragment);
  if (!moved)
    return false;
  image->fragment = moved;
  image->capacity = capacity;
  return true;
}

/* Returns another image's copy of a fragment that has not changed since that image, or NULL if
 * there is no such copy. `at` goes through the fragments of that image, which come in the same
 * order. */
static char *shared_copy(const struct image *other, size_t *at, const struct fragment *fragment)
{
  if (!other)
    return NULL;
  while (*at < other->fragments && other->fragment[*at].start < fragment->start)
    ++*at;
  if (*at == other->fragments)
    return NULL;
  const struct fragment *old = &other->fragment[*at];
  bool same = old->start == fragment->start && old->bytes == fragment->bytes &&
              !memcmp(place_in_copy(old), fragment->start, fragment->bytes);
  return same ? page_share(old->copy) : NULL;
}

static bool add_fragment(struct image *image, size_t *at, struct fragment fragment)
{
  if (!make_room(image))
    return false;
  fragment.copy = shared_copy(image->older, at, &fragment);
  if (!fragment.copy) {
    fragment.copy = page_new();
    if (!fragment.copy)
      return false;
    memcpy(place_in_copy(&fragment), fragment.start, fragment.bytes);
    image->copied += fragment.bytes;
  }
  image->bytes += fragment.bytes;
  image->fragment[image->fragments++] = fragment;
  return true;
}

/* Saves a piece, and counts its zeros if it is stack or thread-local data. Frames have holes that
 * the program never wrote. These holes contain remains of earlier calls, for example of the dynamic
 * linker, and such remains depend on the length of a path. The place of thread-local data depends
 * on such lengths, too. The size of an image must not depend on them, so bytes of the stack and of
 * thread-local data count whether they are zero or not. */
static bool save_piece(struct image *image, size_t *at, const struct range *piece)
{
  char *end = piece->start + piece->bytes;
  size_t zeros = 0;
  struct pagemap_range touched = pagemap_begin(piece->start, end);
  for (char *start = piece->start, *next; start < end; start = next) {
    next = next_page(start, end);
    size_t bytes = (size_t)(next - start);
    if ((piece->zeros && !pagemap_is_touched(&touched, start)) || is_zero(start, bytes))
      zeros += bytes;
    else if (!add_fragment(image, at, (struct fragment){.start = start, .bytes = bytes}))
      return false;
  }
  if (piece->whole)
    image->bytes += zeros;
  return true;
}

/* This function must not be inlined: the frame of its caller, image_capture(), must lie above its
 * own frame. */
__attribute__((noinline)) static bool save(struct image *image)
{
  list_pieces(image, __builtin_frame_address(0));
  size_t at = 0;
  for (int i = 0; i < image->pieces; i++)
    if (!save_piece(image, &at, &image->piece[i]))
      return false;
  return true;
}

static struct image *image_new(struct image_source *source)
{
  struct image *image = calloc(1, sizeof *image);
  if (!image)
    return NULL;
  image->source = source;
  image->older = source->newest;
  if (image->older)
    image->older->newer = image;
  source->newest = image;
  return image;
}

/* Prepares the arena: gives memory back, and saves the state of files. */
static bool prepare(struct image *image)
{
  struct arena *arena = image->source->arena;
  if (!arena)
    return true;
  heap_give_back(arena);
  image->files = heap_files_save(arena);
  return image->files != NULL;
}

/* This function must not be inlined, because the second return comes out of its frame. Its local
 * variables do not change between getcontext and the copy. Data that do change are in *copy,
 * outside of the image. */
__attribute__((noinline)) enum image_outcome image_capture(struct image_source *source,
                                                           struct image **image)
{
  struct arena *mode = heap_leave();
  struct image *copy = image_new(source);
  *image = copy; /* set now, so that the image contains it */
  enum image_outcome outcome = IMAGE_FAILED;
  if (copy && prepare(copy)) {
    getcontext(&copy->registers);
    if (copy->restored)
      outcome = IMAGE_RESTORED;
    else if (save(copy))
      outcome = IMAGE_CAPTURED;
    dead_stack_discard(source, __builtin_frame_address(0));
  }
  if (outcome == IMAGE_FAILED) {
    image_free(copy);
    *image = NULL;
    errno = ENOMEM;
  }
  heap_enter(mode);
  return outcome;
}

/* ---- restore -------------------------------------------------------------------------------- */

/* Puts a fragment back. Does not write unchanged bytes, because their page may still be shared with
 * a file, or be in a cache. */
static void put_back(const struct fragment *fragment)
{
  if (memcmp(fragment->start, place_in_copy(fragment), fragment->bytes))
    memcpy(fragment->start, place_in_copy(fragment), fragment->bytes);
}

static void write_zeros(char *start, char *end)
{
  for (char *next; start < end; start = next) {
    next = next_page(start, end);
    if (!is_zero(start, (size_t)(next - start)))
      memset(start, 0, (size_t)(next - start));
  }
}

/* Writes zeros between two fragments. Long runs of complete pages are given back to the system
 * instead. */
static void clear(const struct range *piece, char *start, char *end)
{
  uintptr_t page = pagemap_page_bytes();
  char *first = start + (page - (uintptr_t)start % page) % page;
  char *last = end - (uintptr_t)end % page;
  if (!piece->zeros || last - first < GIVE_BACK * PAGE ||
      madvise(first, (size_t)(last - first), MADV_DONTNEED)) {
    write_zeros(start, end);
    return;
  }
  write_zeros(start, first);
  write_zeros(last, end);
}

static void put_back_all(const struct image *image)
{
  const struct fragment *fragment = image->fragment, *last = fragment + image->fragments;
  for (int i = 0; i < image->pieces; i++) {
    const struct range *piece = &image->piece[i];
    char *at = piece->start, *end = at + piece->bytes;
    for (; fragment < last && fragment->start < end; fragment++) {
      clear(piece, at, fragment->start);
      put_back(fragment);
      at = fragment->start + fragment->bytes;
    }
    clear(piece, at, end);
  }
}

/* Runs on the scratch stack, because the rank's own stack is overwritten. makecontext passes only
 * arguments of type int, so the pointer comes in two halves. */
static void copy_back(unsigned high, unsigned low)
{
  struct image *image = (struct image *)((uintptr_t)high << 32 | low);
  put_back_all(image);
  if (image->source->arena)
    heap_give_back(image->source->arena);
  setcontext(&image->registers);
  abort();
}

_Noreturn void image_restore(struct image *image)
{
  image_begin_again(image, image->files);
}

/* Clears the last error of dlopen, dlsym and similar calls while the text of the error still
 * exists. libc keeps one text for all ranks of the thread, in the memory of the first rank that had
 * an error. The second call of dlerror frees that text. */
static void forget_linker_error(void)
{
  dlerror();
  dlerror();
}

_Noreturn void image_begin_again(struct image *image, const struct heap_files *then)
{
  ucontext_t scratch;
  heap_leave();
  forget_linker_error();
  if (image->files)
    heap_files_begin_again(image->files, then);
  image->restored = true;
  getcontext(&scratch);
  scratch.uc_stack.ss_sp = image->source->scratch;
  scratch.uc_stack.ss_size = SCRATCH_BYTES;
  scratch.uc_link = NULL;
  uintptr_t address = (uintptr_t)image;
  makecontext(&scratch, (void (*)(void))copy_back, 2, (unsigned)(address >> 32), (unsigned)address);
  setcontext(&scratch);
  abort();
}

/* ---- images --------------------------------------------------------------------------------- */

static void unlink_image(struct image *image)
{
  if (image->older)
    image->older->newer = image->newer;
  if (image->newer)
    image->newer->older = image->older;
  else
    image->source->newest = image->older;
}

void image_free(struct image *image)
{
  if (!image)
    return;
  struct arena *mode = heap_leave();
  unlink_image(image);
  for (size_t i = 0; i < image->fragments; i++)
    page_drop(image->fragment[i].copy);
  heap_files_free(image->files);
  free(image->fragment);
  free(image);
  heap_enter(mode);
}

size_t image_bytes(const struct image *image)
{
  return image->bytes;
}

size_t image_copied_bytes(const struct image *image)
{
  return image->copied;
}
