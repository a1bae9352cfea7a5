/* Units of Fortran: see units.h.
 *
 * What libgfortran knows lies in its .data and .bss, some 2 KB, and in blocks that these point to.
 * The blocks are allocated in program mode, and so are the rank's own. The 2 KB are copied: to the
 * rank whose they are, and from the one that makes a call, whenever these are not the same.
 *
 * A rank begins with what is in the file, as a process does, and has the constructor called that
 * makes the units of standard input and output. What other constructors leave (keys of threads, of
 * which there are not enough for all ranks) is made once. */
#include "units.h"

#include "layer.h"
#include "wrap.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void constructor(int, char **, char **);

static struct {
  enum { UNKNOWN, ABSENT, PRESENT } there;
  char *start; /* of what it keeps */
  size_t bytes;
  char *fresh;  /* the same, before there are units */
  int holder;   /* the rank whose it is at present, or HEAP_NOBODY */
  bool working; /* it is called from here, and may call what is wrapped */
  constructor *make_units;
} runtime = {.holder = HEAP_NOBODY};

/* Of each rank, in its arena: as it was when another one was let in. */
static char *saved[HEAP_RANKS];

/* ---- where it lies ---- */

/* libgfortran as it is loaded: what is of interest of its headers. */
struct library {
  const char *file;
  char *base, *start, *file_end, *end; /* the writable segment */
  off_t offset;                        /* of that in the file */
  char *sealed_end;                    /* of what is read-only after relocation */
  char *table_end; /* of the table of functions in other libraries, the dynamic linker's own */
  const ElfW(Rela) * relocation;
  size_t relocations;
  constructor **constructors;
  size_t constructor_count;
};

static void look_at_dynamic(struct library *library, const ElfW(Dyn) * entry)
{
  enum { RESERVED = 3 };
  char *table = NULL;
  size_t slots = 0;
  for (; entry->d_tag != DT_NULL; entry++) {
    /* glibc has added the base to some of them */
    char *address = (char *)entry->d_un.d_ptr;
    if (address < library->base)
      address += (uintptr_t)library->base;
    size_t size = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTGOT)
      table = address;
    else if (entry->d_tag == DT_PLTRELSZ)
      slots = size / sizeof(ElfW(Rela));
    else if (entry->d_tag == DT_RELA)
      library->relocation = (const ElfW(Rela) *)(void *)address;
    else if (entry->d_tag == DT_RELASZ)
      library->relocations = size / sizeof(ElfW(Rela));
    else if (entry->d_tag == DT_INIT_ARRAY)
      library->constructors = (constructor **)(void *)address;
    else if (entry->d_tag == DT_INIT_ARRAYSZ)
      library->constructor_count = size / sizeof(constructor *);
  }
  library->table_end = table + (RESERVED + slots) * sizeof(void *);
}

static int visit_object(struct dl_phdr_info *object, size_t size, void *data)
{
  (void)size;
  struct library *library = data;
  if (!strstr(object->dlpi_name, "/libgfortran.so"))
    return 0;
  library->file = object->dlpi_name;
  library->base = (char *)object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[i];
    char *start = library->base + header->p_vaddr;
    if (header->p_type == PT_GNU_RELRO)
      library->sealed_end = start + header->p_memsz;
    if (header->p_type == PT_DYNAMIC)
      look_at_dynamic(library, (const ElfW(Dyn) *)(void *)start);
    if (header->p_type == PT_LOAD && header->p_flags & PF_W) {
      library->start = start;
      library->file_end = start + header->p_filesz;
      library->end = start + header->p_memsz;
      library->offset = (off_t)header->p_offset;
    }
  }
  return 1;
}

static bool find_runtime(struct library *library)
{
  if (!dl_iterate_phdr(visit_object, library))
    return false;
  runtime.start = MAX(library->start, library->sealed_end);
  if (library->table_end > runtime.start && library->table_end < library->end)
    runtime.start = library->table_end;
  runtime.bytes = (size_t)(library->end - runtime.start);
  return true;
}

/* As it was before any constructor: what the file has, zeros behind, and addresses as the dynamic
 * linker has made them. */
static char *initial_state(const struct library *library)
{
  char *state = g_malloc0(runtime.bytes);
  size_t in_file = (size_t)(library->file_end - runtime.start);
  int file = open(library->file, O_RDONLY | O_CLOEXEC);
  off_t offset = library->offset + (runtime.start - library->start);
  if (file < 0 || pread(file, state, in_file, offset) != (ssize_t)in_file)
    layer_die(3, "%s cannot be read", library->file);
  close(file);
  for (size_t i = 0; i < library->relocations; i++) {
    const char *word = library->base + library->relocation[i].r_offset;
    if (word >= runtime.start && word + sizeof(void *) <= library->end)
      memcpy(state + (word - runtime.start), word, sizeof(void *));
  }
  return state;
}

/* ---- whose it is ---- */

/* Keeps what is there for whom it belongs to. */
static void let_out(void)
{
  if (runtime.holder != HEAP_NOBODY)
    memcpy(saved[runtime.holder], runtime.start, runtime.bytes);
  runtime.holder = HEAP_NOBODY;
}

static void let_in(int rank)
{
  if (runtime.holder == rank)
    return;
  let_out();
  memcpy(runtime.start, saved[rank], runtime.bytes);
  runtime.holder = rank;
}

/* After MPI_Finalize a program has no arena any more, but its units. */
struct arena *units_enter(struct arena *mode)
{
  if (!layer_wanted() || runtime.working)
    return mode;
  if (!mode && machine_rank() >= 0)
    mode = heap_arena(machine_rank());
  if (!mode)
    layer_die(64, "input or output of Fortran in a thread of a rank's, expected none in parallel");
  units_begin(mode);
  let_in(heap_owner(mode));
  return mode;
}

void units_collect(const struct arena *arena)
{
  if (runtime.holder != HEAP_NOBODY && runtime.holder == heap_owner(arena))
    memcpy(saved[runtime.holder], runtime.start, runtime.bytes);
}

void units_restored(const struct arena *arena)
{
  if (runtime.holder == heap_owner(arena))
    runtime.holder = HEAP_NOBODY;
}

/* At the end of the process, as the destructor of libgfortran would do for those that it finds. */
static void flush_all(void)
{
  void (*flush)(int *);
  void *symbol = layer_next("_gfortran_flush_i4");
  memcpy(&flush, &symbol, sizeof symbol);
  for (int rank = 0; rank < HEAP_RANKS; rank++) {
    if (!saved[rank])
      continue;
    let_in(rank);
    flush(NULL); /* all units */
  }
}

/* ---- beginning ---- */

static bool points_to(int rank)
{
  char *end = runtime.start + runtime.bytes;
  for (char *word = runtime.start; word + sizeof(void *) <= end; word += sizeof(void *)) {
    void *pointer;
    memcpy(&pointer, word, sizeof pointer);
    if (heap_owner(pointer) == rank)
      return true;
  }
  return false;
}

static void construct(struct arena *arena, constructor *make)
{
  memcpy(runtime.start, runtime.fresh, runtime.bytes);
  runtime.working = true;
  heap_enter(arena);
  make(0, NULL, environ);
  heap_leave();
  runtime.working = false;
}

/* The constructor that makes the units is the one after which they are there. */
static void find_constructor(const struct library *library, struct arena *arena)
{
  for (size_t i = 0; i < library->constructor_count; i++) {
    construct(arena, library->constructors[i]);
    if (points_to(heap_owner(arena)))
      runtime.make_units = library->constructors[i];
    else
      memcpy(runtime.fresh, runtime.start, runtime.bytes);
  }
  if (!runtime.make_units)
    layer_die(3, "%s makes no units where it is expected to", library->file);
}

/* Once. Each print is a write: what is in a buffer would come in another order than without a
 * protocol, rank by rank, and would be lost when the simulation ends early. */
static void look(struct arena *arena)
{
  struct library library = {0};
  runtime.there = find_runtime(&library) ? PRESENT : ABSENT;
  if (runtime.there == ABSENT)
    return;
  setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "1", 0);
  runtime.fresh = initial_state(&library);
  find_constructor(&library, arena);
  atexit(flush_all);
}

void units_begin(struct arena *arena)
{
  int rank = heap_owner(arena);
  if (runtime.there == UNKNOWN)
    look(arena);
  if (runtime.there == ABSENT || saved[rank])
    return;
  let_out();
  heap_enter(arena);
  saved[rank] = malloc(runtime.bytes);
  heap_leave();
  if (!saved[rank])
    layer_die(3, "no memory in the arena of rank %d", rank);
  construct(arena, runtime.make_units);
  runtime.holder = rank;
}
