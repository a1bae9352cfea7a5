/* Finds the shared libraries of a program, and their data (library_scan.h), on Linux with ELF. */
#define _GNU_SOURCE
#include "sim/memory/library_scan.h"

#include "sim/memory/die.h"

#include <fcntl.h>
#include <glib.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS = 512 };

/* Describes a loaded object, with fields from its headers. */
struct object {
  const char *file;
  char *base, *start, *file_end, *end; /* the writable segment */
  off_t offset;                        /* offset of that segment in the file, in bytes */
  char *sealed_end;                    /* end of the range that is read-only after relocation */
  char *table_end; /* end of the table of functions in other libraries, which belongs to the dynamic
                      linker */
  const ElfW(Dyn) * dynamic;
  const char *names; /* names of objects that this object needs */
  const ElfW(Rela) * relocation, *call;
  size_t relocations, calls;
  const uint64_t *packed; /* packed relative relocations (DT_RELR) */
  size_t packed_words;
  const ElfW(Sym) * symbol;
  constructor **constructors;
  size_t constructor_count;
  bool thread_local_data;
  bool visited;
};

/* Lists the loaded objects in the dynamic linker's order, which begins with the simulator. */
struct objects {
  struct object item[OBJECTS];
  int count;
};

/* ---- headers ---- */

static void look_at_dynamic(struct object *object)
{
  enum { RESERVED = 3 };
  char *table = NULL;
  for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++) {
    /* glibc has added the base to some addresses */
    char *address = (char *)entry->d_un.d_ptr;
    if (address < object->base)
      address += (uintptr_t)object->base;
    size_t size = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTGOT)
      table = address;
    else if (entry->d_tag == DT_STRTAB)
      object->names = address;
    else if (entry->d_tag == DT_SYMTAB)
      object->symbol = (const ElfW(Sym) *)(void *)address;
    else if (entry->d_tag == DT_JMPREL)
      object->call = (const ElfW(Rela) *)(void *)address;
    else if (entry->d_tag == DT_PLTRELSZ)
      object->calls = size / sizeof(ElfW(Rela));
    else if (entry->d_tag == DT_RELA)
      object->relocation = (const ElfW(Rela) *)(void *)address;
    else if (entry->d_tag == DT_RELASZ)
      object->relocations = size / sizeof(ElfW(Rela));
    else if (entry->d_tag == DT_INIT_ARRAY)
      object->constructors = (constructor **)(void *)address;
    else if (entry->d_tag == DT_INIT_ARRAYSZ)
      object->constructor_count = size / sizeof(constructor *);
    else if (entry->d_tag == DT_RELR)
      object->packed = (const uint64_t *)(void *)address;
    else if (entry->d_tag == DT_RELRSZ)
      object->packed_words = size / sizeof *object->packed;
  }
  if (table)
    object->table_end = table + (RESERVED + object->calls) * sizeof(void *);
}

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
  (void)size;
  struct objects *objects = data;
  if (objects->count == OBJECTS)
    return 1;
  struct object *object = &objects->item[objects->count++];
  *object = (struct object){.file = info->dlpi_name, .base = (char *)info->dlpi_addr};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    char *start = object->base + header->p_vaddr;
    if (header->p_type == PT_GNU_RELRO)
      object->sealed_end = start + header->p_memsz;
    if (header->p_type == PT_TLS)
      object->thread_local_data = header->p_memsz > 0;
    if (header->p_type == PT_DYNAMIC)
      object->dynamic = (const ElfW(Dyn) *)(void *)start;
    if (header->p_type == PT_LOAD && header->p_flags & PF_W) {
      object->start = start;
      object->file_end = start + header->p_filesz;
      object->end = start + header->p_memsz;
      object->offset = (off_t)header->p_offset;
    }
  }
  if (object->dynamic)
    look_at_dynamic(object);
  return 0;
}

/* ---- data ---- */

static char *start_of_data(const struct object *object)
{
  char *start = MAX(object->start, object->sealed_end);
  return object->table_end > start && object->table_end < object->end ? object->table_end : start;
}

/* Relocates a word of `object`, which holds an address relative to the object's beginning. */
static void relocate(const struct object *object, const struct library *library, char *data,
                     const char *word)
{
  uint64_t address;
  if (word < library->start || word + sizeof address > object->end)
    return;
  char *at = data + (word - library->start);
  memcpy(&address, at, sizeof address);
  address += (uint64_t)(uintptr_t)object->base;
  memcpy(at, &address, sizeof address);
}

/* Applies packed relocations (ELF generic ABI, DT_RELR). An even word is the place of one
 * relocation. The other bits of an odd word say which of the next 63 words to relocate. */
static void relocate_packed(const struct object *object, const struct library *library, char *data)
{
  enum { BITS = 63 };
  const char *next = NULL;
  for (size_t i = 0; i < object->packed_words; i++) {
    uint64_t word = object->packed[i];
    if (!(word & 1)) {
      relocate(object, library, data, object->base + word);
      next = object->base + word + sizeof word;
      continue;
    }
    for (size_t bit = 0; bit < BITS; bit++)
      if (word >> (bit + 1) & 1)
        relocate(object, library, data, next + bit * sizeof word);
    next += BITS * sizeof word;
  }
}

/* Returns the data as they were before any constructor: the bytes of the file, zeros after them,
 * and addresses as the dynamic linker relocates them. */
static char *initial_data(const struct object *object, const struct library *library)
{
  char *data = g_malloc0(library->bytes);
  ssize_t in_file = object->file_end - library->start;
  int file = open(object->file, O_RDONLY | O_CLOEXEC);
  off_t offset = object->offset + (library->start - object->start);
  if (file < 0 || (in_file > 0 && pread(file, data, (size_t)in_file, offset) != in_file))
    die(DIE_BREACH, "%s cannot be read", object->file);
  close(file);
  relocate_packed(object, library, data);
  for (size_t i = 0; i < object->relocations; i++) {
    const char *word = object->base + object->relocation[i].r_offset;
    if (word >= library->start && word + sizeof(void *) <= object->end)
      memcpy(data + (word - library->start), word, sizeof(void *));
  }
  return data;
}

static void add_library(const struct object *object, struct library found[LIBRARIES], int *count)
{
  struct library library = {.start = start_of_data(object)};
  library.bytes = (size_t)(object->end - library.start);
  if (object->end <= library.start)
    return;
  if (*count == LIBRARIES)
    die(DIE_INPUT, "the program needs more than %d shared libraries that have data", LIBRARIES);
  library.file = g_strdup(object->file);
  library.fresh = initial_data(object, &library);
  library.first = g_memdup2(library.start, library.bytes);
  library.constructors = object->constructors;
  library.constructor_count = object->constructor_count;
  library.thread_local_data = object->thread_local_data;
  found[(*count)++] = library;
}

/* ---- calls past the layer ---- */

static void refuse_calls(const struct object *object, const char *what,
                         const ElfW(Rela) * relocation, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const char *name = object->names + object->symbol[ELF64_R_SYM(relocation[i].r_info)].st_name;
    if (g_str_has_prefix(name, "PMPI_") || g_str_has_prefix(name, "pmpi_"))
      die(DIE_INPUT, "%s calls %s, which would go past recline, expected it linked by recline-cc",
          what, name);
  }
}

/* Refuses objects that call MPI by the names for profiling tools (PMPI_), if these calls would go
 * past the layer. The layer itself calls SMPI by these names. recline-cc links the calls of other
 * objects to the layer. */
static void refuse_profiling(const struct object *object, const char *what)
{
  refuse_calls(object, what, object->relocation, object->relocations);
  refuse_calls(object, what, object->call, object->calls);
}

/* ---- which ---- */

static const char *last_part(const char *file)
{
  const char *slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

static struct object *named(struct objects *objects, const char *name)
{
  for (int i = 0; i < objects->count; i++)
    if (!strcmp(last_part(objects->item[i].file), last_part(name)))
      return &objects->item[i];
  return NULL;
}

bool library_scan_is_fortran(const char *file)
{
  return g_str_has_prefix(last_part(file), "libgfortran.");
}

/* Returns whether an object belongs to no rank. Such objects are the layer and the runtime of
 * OpenMP. */
static bool is_common(const char *name)
{
  static const char *const common[] = {"librecline_", "libsimgrid", "libgomp.", "libomp.",
                                       "libiomp5."};
  for (size_t i = 0; i < G_N_ELEMENTS(common); i++)
    if (g_str_has_prefix(last_part(name), common[i]))
      return true;
  return false;
}

/* Lists the objects that an object needs, and then the object itself. SimGrid lists the runtime of
 * Fortran as needed but never calls it, so that runtime counts as the program's. */
static void visit(struct objects *objects, struct object *object, bool ours,
                  struct library found[LIBRARIES], int *count)
{
  if (!object || object->visited)
    return;
  object->visited = true;
  for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
    const char *name = object->names + entry->d_un.d_val;
    if (entry->d_tag == DT_NEEDED && (ours ? !is_common(name) : !library_scan_is_fortran(name)))
      visit(objects, named(objects, name), ours, found, count);
  }
  if (!ours)
    return;
  refuse_profiling(object, object->file);
  add_library(object, found, count);
}

static struct object *around(struct objects *objects, const char *inside)
{
  for (int i = 0; i < objects->count; i++)
    if (inside >= objects->item[i].start && inside < objects->item[i].end)
      return &objects->item[i];
  return NULL;
}

int library_scan(const void *inside, struct library found[LIBRARIES])
{
  struct objects *objects = g_new0(struct objects, 1);
  int count = 0;
  dl_iterate_phdr(add_object, objects);
  struct object *program = around(objects, inside);
  if (!program)
    die(DIE_INPUT,
        "the program was linked by another version of recline-cc, expected it to be built "
        "again");
  refuse_profiling(program, "the program");
  visit(objects, &objects->item[0], false, found, &count); /* the simulator */
  visit(objects, named(objects, "librecline_mpi.so"), false, found, &count);
  for (const ElfW(Dyn) *entry = program->dynamic; entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_NEEDED && !is_common(program->names + entry->d_un.d_val))
      visit(objects, named(objects, program->names + entry->d_un.d_val), true, found, &count);
  g_free(objects);
  return count;
}
