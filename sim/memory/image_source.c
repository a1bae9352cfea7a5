/* Finds where the memory of a rank lies (image.h), on Linux with ELF. */
#define _GNU_SOURCE
#include "sim/memory/image_source.h"
#include "sim/memory/heap.h"
#include "sim/memory/image.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- program ---- */

struct search {
  struct image_source *source;
  uintptr_t inside;
  bool found;
  int error;
};

static uintptr_t page_below(uintptr_t address)
{
  return address & ~((uintptr_t)getpagesize() - 1);
}

static void add_segment(struct search *search, uintptr_t start, uintptr_t end, bool zeros)
{
  struct image_source *source = search->source;
  if (start >= end)
    return;
  if (source->segment_count == SEGMENTS) {
    search->error = E2BIG;
    return;
  }
  source->segments[source->segment_count++] =
      (struct range){.start = (char *)start, .bytes = end - start, .zeros = zeros};
}

static bool covers(const struct dl_phdr_info *object, uintptr_t address)
{
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[i];
    if (header->p_type == PT_LOAD &&
        address - (object->dlpi_addr + header->p_vaddr) < header->p_memsz)
      return true;
  }
  return false;
}

/* Returns the range that ld.so makes read-only after relocation. It consists of complete pages, so
 * its end is rounded down. */
static struct range relro_of(const struct dl_phdr_info *object)
{
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[i];
    if (header->p_type != PT_GNU_RELRO)
      continue;
    uintptr_t start = page_below(object->dlpi_addr + header->p_vaddr);
    uintptr_t end = page_below(object->dlpi_addr + header->p_vaddr + header->p_memsz);
    return (struct range){.start = (char *)start, .bytes = end - start};
  }
  return (struct range){.start = NULL, .bytes = 0};
}

/* Adds a writable segment: the segment's bytes that are in the file, and the zeros after these
 * bytes (.bss). Complete pages of zeros are fresh memory. */
static void add_parts(struct search *search, uintptr_t start, uintptr_t file_end, uintptr_t end)
{
  uintptr_t zeros = page_below(file_end + (uintptr_t)getpagesize() - 1);
  if (zeros < start)
    zeros = start;
  add_segment(search, start, zeros < end ? zeros : end, false);
  add_segment(search, zeros, end, true);
}

static void add_writable(struct search *search, const struct dl_phdr_info *object)
{
  struct range relro = relro_of(object);
  uintptr_t sealed = (uintptr_t)relro.start;
  uintptr_t sealed_end = sealed + relro.bytes;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_W))
      continue;
    uintptr_t start = object->dlpi_addr + header->p_vaddr;
    uintptr_t file_end = start + header->p_filesz, end = start + header->p_memsz;
    if (sealed_end <= start || end <= sealed) {
      add_parts(search, start, file_end, end);
      continue;
    }
    add_segment(search, start, sealed, false);
    add_parts(search, sealed_end, file_end, end);
  }
}

/* Adds the _Thread_local variables of the program. Asking for their block makes ld.so allocate the
 * block now, in libc mode, so that no rollback moves the block. */
static void add_thread_local(struct search *search, const struct dl_phdr_info *object)
{
  struct {
    size_t module, offset;
  } index = {object->dlpi_tls_modid, 0};
  extern void *__tls_get_addr(void *);
  for (int i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_TLS || !index.module)
      continue;
    uintptr_t block = (uintptr_t)__tls_get_addr(&index);
    int before = search->source->segment_count;
    add_segment(search, block, block + object->dlpi_phdr[i].p_memsz, false);
    if (search->source->segment_count > before)
      search->source->segments[before].whole = true; /* the block may begin anywhere in a page */
  }
}

static int visit_object(struct dl_phdr_info *object, size_t size, void *data)
{
  struct search *search = data;
  (void)size;
  if (!covers(object, search->inside))
    return 0;
  search->found = true;
  add_writable(search, object);
  add_thread_local(search, object);
  return 1;
}

static int find_segments(struct image_source *source, const void *inside)
{
  struct search search = {.source = source, .inside = (uintptr_t)inside};
  dl_iterate_phdr(visit_object, &search);
  return search.found ? search.error : ENOENT;
}

/* ---- stack ---- */

/* Holds the mappings of the process, in which every rank looks for its stack. With thousands of
 * ranks, the list is long. So it is read once, and is read again only if it does not contain a
 * stack. The stacks of all ranks exist before the first rank runs, and they stay where they are. */
static struct {
  struct range *mapping;
  size_t count, capacity;
} maps;

static int add_mapping(uintptr_t start, uintptr_t end)
{
  if (maps.count == maps.capacity) {
    size_t capacity = maps.capacity ? 2 * maps.capacity : 1024;
    void *moved = realloc(maps.mapping, capacity * sizeof *maps.mapping);
    if (!moved)
      return ENOMEM;
    maps.mapping = moved;
    maps.capacity = capacity;
  }
  maps.mapping[maps.count++] = (struct range){.start = (char *)start, .bytes = end - start};
  return 0;
}

static int read_maps(void)
{
  maps.count = 0;
  FILE *file = fopen("/proc/self/maps", "re");
  if (!file)
    return errno;
  char *line = NULL;
  size_t room = 0;
  int error = 0;
  while (!error && getline(&line, &room, file) > 0) {
    uintptr_t start, end;
    char read, write;
    if (sscanf(line, "%lx-%lx %c%c", &start, &end, &read, &write) == 4 && write == 'w')
      error = add_mapping(start, end);
  }
  free(line);
  fclose(file);
  return error;
}

/* Finds the stack that contains `address`, in the mappings that were read last. */
static int lookup_stack(uintptr_t address, size_t stack_bytes, struct range *stack)
{
  size_t low = 0, high = maps.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    struct range *mapping = &maps.mapping[middle];
    uintptr_t offset = address - (uintptr_t)mapping->start;
    if (address < (uintptr_t)mapping->start) {
      high = middle;
    } else if (offset >= mapping->bytes) {
      low = middle + 1;
    } else {
      *stack = *mapping;
      stack->zeros = true;
      if (!stack_bytes)
        return 0;
      stack->bytes = stack_bytes;
      return offset < stack_bytes && stack_bytes <= mapping->bytes ? 0 : ERANGE;
    }
  }
  return ENOENT;
}

static int find_stack(struct image_source *source, size_t stack_bytes)
{
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (!lookup_stack(here, stack_bytes, &source->stack))
    return 0;
  int error = read_maps();
  return error ? error : lookup_stack(here, stack_bytes, &source->stack);
}

/* ---- sources ---- */

static int fill_source(struct image_source *source, const void *inside, size_t stack_bytes)
{
  if (source->arena && !heap_serves(inside))
    return ENOTSUP;
  source->scratch = malloc(SCRATCH_BYTES);
  if (!source->scratch)
    return ENOMEM;
  int error = find_segments(source, inside);
  return error ? error : find_stack(source, stack_bytes);
}

struct image_source *image_source_new(const void *inside_program, struct arena *arena,
                                      size_t stack_bytes)
{
  struct arena *mode = heap_leave();
  struct image_source *source = calloc(1, sizeof *source);
  int error = ENOMEM;
  if (source) {
    source->arena = arena;
    error = fill_source(source, inside_program, stack_bytes);
  }
  if (error) {
    image_source_free(source);
    source = NULL;
  }
  heap_enter(mode);
  if (error)
    errno = error;
  return source;
}

void image_source_free(struct image_source *source)
{
  if (!source)
    return;
  struct arena *mode = heap_leave();
  free(source->scratch);
  free(source);
  heap_enter(mode);
}
