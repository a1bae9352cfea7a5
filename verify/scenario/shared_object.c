#include "verify/scenario/shared_object.h"

#include <elf.h>
#include <string.h>

/* A file in memory, of which every offset is checked before use. */
struct object {
  const char *bytes;
  gsize size;
  const Elf64_Ehdr *head;
  const Elf64_Shdr *section;
};

/* A symbol table with its names. */
struct symbols {
  const Elf64_Sym *symbol;
  size_t count;
  const char *names;
  size_t names_size;
};

/* `size` bytes of the file from `offset` on; NULL where they are not aligned or not all there. */
static const void *at(const struct object *o, uint64_t offset, uint64_t size)
{
  bool inside = offset <= o->size && size <= o->size - offset;
  return inside && offset % _Alignof(Elf64_Shdr) == 0 ? o->bytes + offset : NULL;
}

/* The bytes of a section that holds names, each ended by a zero. */
static const char *names_in(const struct object *o, const Elf64_Shdr *s)
{
  bool inside = s->sh_offset <= o->size && s->sh_size <= o->size - s->sh_offset;
  const char *names = inside ? o->bytes + s->sh_offset : NULL;
  return names && s->sh_size > 0 && names[s->sh_size - 1] == '\0' ? names : NULL;
}

static bool is_shared_object(struct object *o)
{
  o->head = at(o, 0, sizeof *o->head);
  if (!o->head || memcmp(o->head->e_ident, ELFMAG, SELFMAG) != 0 ||
      o->head->e_ident[EI_CLASS] != ELFCLASS64 || o->head->e_type != ET_DYN ||
      o->head->e_shentsize != sizeof *o->section)
    return false;
  o->section = at(o, o->head->e_shoff, (uint64_t)o->head->e_shnum * sizeof *o->section);
  return o->section && o->head->e_shnum > 0;
}

/* The first symbol table of that type; false where there is none. */
static bool find_symbols(const struct object *o, uint32_t type, struct symbols *found)
{
  for (unsigned i = 0; i < o->head->e_shnum; i++) {
    const Elf64_Shdr *s = &o->section[i];
    if (s->sh_type != type || s->sh_link >= o->head->e_shnum)
      continue;
    const Elf64_Shdr *names = &o->section[s->sh_link];
    *found = (struct symbols){.symbol = at(o, s->sh_offset, s->sh_size),
                              .count = s->sh_size / sizeof *found->symbol,
                              .names = names_in(o, names),
                              .names_size = names->sh_size};
    return found->symbol && found->names;
  }
  return false;
}

static const char *name_of(const struct symbols *symbols, size_t i)
{
  uint32_t name = symbols->symbol[i].st_name;
  return name < symbols->names_size ? symbols->names + name : "";
}

/* Part of every shared object, or of the compiler's checks, which end the process. */
static bool is_allowed(const char *name)
{
  static const char *const allowed[] = {"__cxa_finalize", "__gmon_start__", "__stack_chk_fail",
                                        NULL};
  return g_strv_contains(allowed, name) || g_str_has_prefix(name, "_ITM_") ||
         g_str_has_prefix(name, "mem") || g_str_has_prefix(name, "__mem");
}

static bool is_sanitized(const struct symbols *dynamic)
{
  for (size_t i = 0; i < dynamic->count; i++)
    if (g_str_has_prefix(name_of(dynamic, i), "__asan_") ||
        g_str_has_prefix(name_of(dynamic, i), "__ubsan_"))
      return true;
  return false;
}

/* The first symbol that another object has to define; NULL when there is none. */
static const char *stranger(const struct symbols *dynamic)
{
  for (size_t i = 1; i < dynamic->count; i++)
    if (dynamic->symbol[i].st_shndx == SHN_UNDEF && !is_allowed(name_of(dynamic, i)))
      return name_of(dynamic, i);
  return NULL;
}

/* Data that stay writable when the object is loaded: not tables that the loader fills in, which are
 * made read-only then. */
static bool is_variable(const struct object *o, unsigned section)
{
  if (section == SHN_UNDEF || section >= o->head->e_shnum)
    return false;
  const Elf64_Shdr *s = &o->section[section], *names = &o->section[o->head->e_shstrndx];
  const char *all = names_in(o, names);
  if (!all || s->sh_name >= names->sh_size || !(s->sh_flags & SHF_WRITE))
    return false;
  const char *name = all + s->sh_name;
  return g_str_has_prefix(name, ".data")
             ? !g_str_has_prefix(name, ".data.rel.ro")
             : g_str_has_prefix(name, ".bss") || g_str_has_prefix(name, ".tdata") ||
                   g_str_has_prefix(name, ".tbss");
}

/* The first variable, by name or, in a stripped object, by section; NULL when there is none. The
 * start files of the compiler bring a byte and a pointer. */
static const char *variable(const struct object *o)
{
  struct symbols all;
  if (find_symbols(o, SHT_SYMTAB, &all)) {
    for (size_t i = 1; i < all.count; i++) {
      const Elf64_Sym *s = &all.symbol[i];
      bool data = ELF64_ST_TYPE(s->st_info) == STT_OBJECT || ELF64_ST_TYPE(s->st_info) == STT_TLS;
      if (data && s->st_size > 0 && is_variable(o, s->st_shndx) &&
          !g_str_has_prefix(name_of(&all, i), "completed."))
        return name_of(&all, i);
    }
    return NULL;
  }
  for (unsigned i = 0; i < o->head->e_shnum; i++)
    if (is_variable(o, i) && o->section[i].sh_size > sizeof(void *))
      return "without a name, as it is stripped";
  return NULL;
}

static char *impurity(struct object *o)
{
  struct symbols dynamic;
  if (!is_shared_object(o) || o->head->e_shstrndx >= o->head->e_shnum ||
      !find_symbols(o, SHT_DYNSYM, &dynamic))
    return g_strdup("it is none, expected a shared object with protocols");
  if (is_sanitized(&dynamic))
    return NULL;
  const char *needed = stranger(&dynamic), *written = needed ? NULL : variable(o);
  if (needed)
    return g_strdup_printf("it needs %s, expected a protocol that needs mem* only", needed);
  if (written)
    return g_strdup_printf(
        "it can write to a variable (%s), expected a protocol that writes to its state only",
        written);
  return NULL;
}

static struct object object_of(GMappedFile *file)
{
  return (struct object){.bytes = g_mapped_file_get_contents(file),
                         .size = g_mapped_file_get_length(file)};
}

char *shared_object_impurity(const char *file)
{
  g_autoptr(GError) why = NULL;
  g_autoptr(GMappedFile) map = g_mapped_file_new(file, FALSE, &why);
  if (!map)
    return g_strdup_printf("%s, expected a shared object with protocols", why->message);
  struct object o = object_of(map);
  return impurity(&o);
}

bool shared_object_needs(GMappedFile *file, const char *library)
{
  struct object o = object_of(file);
  for (unsigned i = 0; is_shared_object(&o) && i < o.head->e_shnum; i++) {
    const Elf64_Shdr *s = &o.section[i];
    if (s->sh_type != SHT_DYNAMIC || s->sh_link >= o.head->e_shnum)
      continue;
    const Elf64_Dyn *entry = at(&o, s->sh_offset, s->sh_size);
    const Elf64_Shdr *strings = &o.section[s->sh_link];
    const char *names = names_in(&o, strings);
    for (size_t j = 0; entry && names && j < s->sh_size / sizeof *entry; j++)
      if (entry[j].d_tag == DT_NEEDED && entry[j].d_un.d_val < strings->sh_size &&
          !strcmp(names + entry[j].d_un.d_val, library))
        return true;
  }
  return false;
}
