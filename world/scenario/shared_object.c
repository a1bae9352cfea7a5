#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "world/scenario/shared_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>

/* Holds a file in memory. Every offset in the file is checked before use. */
struct object {
  const char *bytes;
  gsize size;
  const Elf64_Ehdr *head;
  const Elf64_Shdr *section;
};

/* Holds a symbol table with its names. */
struct symbols {
  const Elf64_Sym *symbol;
  size_t count;
  const char *names;
  size_t names_size;
};

/* Returns `size` bytes of the file from `offset` on, or NULL if they are not aligned or the file
 * does not have all of them. */
static const void *at(const struct object *o, uint64_t offset, uint64_t size)
{
  bool inside = offset <= o->size && size <= o->size - offset;
  return inside && offset % _Alignof(Elf64_Shdr) == 0 ? o->bytes + offset : NULL;
}

/* Returns the bytes of a section of names, each of which ends with a zero. */
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

/* Finds the first symbol table of that type. Returns false if there is none. */
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

/* ---- what it needs ---- */

/* Returns whether the object may need that name: memcpy and similar functions, the names that
 * compilers make of these, and names in start files. */
static bool is_allowed(const char *name)
{
  static const char *const allowed[] = {"memcpy",
                                        "memmove",
                                        "memset",
                                        "memcmp",
                                        "memchr",
                                        "memrchr",
                                        "memmem",
                                        "mempcpy",
                                        "bcmp",
                                        "__memcpy_chk",
                                        "__memmove_chk",
                                        "__memset_chk",
                                        "__mempcpy_chk",
                                        "__stack_chk_fail",
                                        "__cxa_finalize",
                                        "__gmon_start__",
                                        "_ITM_registerTMCloneTable",
                                        "_ITM_deregisterTMCloneTable",
                                        NULL};
  return g_strv_contains(allowed, name);
}

/* Returns whether the object was built with sanitizers, which add variables and functions. A
 * process without sanitizers could not load it. */
static bool is_sanitized(const struct symbols *dynamic)
{
  if (!dlsym(RTLD_DEFAULT, "__asan_init") &&
      !dlsym(RTLD_DEFAULT, "__ubsan_handle_type_mismatch_v1"))
    return false;
  for (size_t i = 0; i < dynamic->count; i++)
    if (g_str_has_prefix(name_of(dynamic, i), "__asan_") ||
        g_str_has_prefix(name_of(dynamic, i), "__ubsan_"))
      return true;
  return false;
}

/* Returns the first symbol that another object has to define, or NULL if there is none. */
static const char *stranger(const struct symbols *dynamic)
{
  for (size_t i = 1; i < dynamic->count; i++)
    if (dynamic->symbol[i].st_shndx == SHN_UNDEF && !is_allowed(name_of(dynamic, i)))
      return name_of(dynamic, i);
  return NULL;
}

/* ---- what it can write to ---- */

/* Returns the program header of that type, or NULL if there is none. */
static const Elf64_Phdr *segment_of(const struct object *o, uint32_t type)
{
  const Elf64_Phdr *p = at(o, o->head->e_phoff, (uint64_t)o->head->e_phnum * sizeof *p);
  for (unsigned i = 0; p && i < o->head->e_phnum; i++)
    if (p[i].p_type == type)
      return &p[i];
  return NULL;
}

/* Returns the `size` bytes at an address, or NULL if they are not in the file. */
static const unsigned char *loaded(const struct object *o, uint64_t address, uint64_t size)
{
  const Elf64_Phdr *p = at(o, o->head->e_phoff, (uint64_t)o->head->e_phnum * sizeof *p);
  for (unsigned i = 0; p && i < o->head->e_phnum; i++) {
    uint64_t from = address - p[i].p_vaddr;
    if (p[i].p_type == PT_LOAD && from <= p[i].p_filesz && size <= p[i].p_filesz - from &&
        p[i].p_offset <= o->size && from + size <= o->size - p[i].p_offset)
      return (const unsigned char *)o->bytes + p[i].p_offset + from;
  }
  return NULL;
}

static const char *section_name(const struct object *o, const Elf64_Shdr *s)
{
  const Elf64_Shdr *names = &o->section[o->head->e_shstrndx];
  const char *all = names_in(o, names);
  return all && s->sh_name < names->sh_size ? all + s->sh_name : "";
}

/* Returns whether the section is a table that the loader fills in and then maps read-only. */
static bool is_table(const struct object *o, const Elf64_Shdr *s)
{
  const char *name = section_name(o, s);
  return s->sh_type == SHT_DYNAMIC || s->sh_type == SHT_INIT_ARRAY ||
         s->sh_type == SHT_FINI_ARRAY || g_str_equal(name, ".got") ||
         g_str_equal(name, ".got.plt") || g_str_has_prefix(name, ".data.rel.ro");
}

/* Returns whether the section's data stay writable when the object is loaded. */
static bool is_writable(const struct object *o, unsigned section)
{
  if (section == SHN_UNDEF || section >= o->head->e_shnum)
    return false;
  const Elf64_Shdr *s = &o->section[section];
  const Elf64_Phdr *relro = segment_of(o, PT_GNU_RELRO);
  uint64_t from = relro ? s->sh_addr - relro->p_vaddr : 0;
  bool fixed = relro && from < relro->p_memsz && s->sh_size <= relro->p_memsz - from;
  return s->sh_flags & SHF_WRITE && s->sh_flags & SHF_ALLOC && s->sh_size > 0 && !fixed &&
         !is_table(o, s);
}

/* Returns whether the compiler's start files have brought the section: a pointer to itself, and a
 * byte, which a linker may pad. Without names, other variables look the same. This does no harm,
 * because all data are mapped read-only, too. */
static bool is_of_start_files(const struct object *o, unsigned section)
{
  const Elf64_Shdr *s = &o->section[section];
  return s->sh_size <= sizeof(void *) &&
         (s->sh_type == SHT_NOBITS ? s->sh_addralign == 1 : s->sh_size == sizeof(void *));
}

static bool is_data(const Elf64_Sym *s)
{
  return (ELF64_ST_TYPE(s->st_info) == STT_OBJECT || ELF64_ST_TYPE(s->st_info) == STT_TLS) &&
         s->st_size > 0;
}

/* Returns the name of the first variable, or NULL if there is none. */
static const char *named_variable(const struct object *o, const struct symbols *all)
{
  bool start_files = false;
  for (size_t i = 1; i < all->count; i++) {
    const Elf64_Sym *s = &all->symbol[i];
    const char *name = name_of(all, i);
    if (ELF64_ST_TYPE(s->st_info) == STT_FILE)
      start_files = g_str_equal(name, "crtstuff.c");
    if (is_data(s) && is_writable(o, s->st_shndx) &&
        !(start_files && s->st_size == 1 && g_str_has_prefix(name, "completed.")))
      return name;
  }
  return NULL;
}

/* Returns the name of the first variable, or of its section, or NULL if there is none. */
static const char *variable(const struct object *o)
{
  struct symbols all = {0};
  bool has_names = find_symbols(o, SHT_SYMTAB, &all);
  const char *name = has_names ? named_variable(o, &all) : NULL;
  for (unsigned i = 0; i < o->head->e_shnum && !name; i++)
    if (is_writable(o, i) && !is_of_start_files(o, i))
      name = has_names ? section_name(o, &o->section[i]) : "without a name, as it is stripped";
  return name ? name : segment_of(o, PT_TLS) ? "of each thread" : NULL;
}

/* ---- what it runs by itself ---- */

/* Returns the entries of the dynamic section, and sets their number. */
static const Elf64_Dyn *dynamic_entries(const struct object *o, size_t *count)
{
  const Elf64_Phdr *p = segment_of(o, PT_DYNAMIC);
  const Elf64_Dyn *entry = p ? at(o, p->p_offset, p->p_filesz) : NULL;
  *count = 0;
  while (entry && *count < p->p_filesz / sizeof *entry && entry[*count].d_tag != DT_NULL)
    ++*count;
  return entry;
}

/* Sets the value of that entry of the dynamic section. Returns false if there is none. */
static bool dynamic_entry(const struct object *o, int64_t tag, uint64_t *value)
{
  size_t count;
  const Elf64_Dyn *entry = dynamic_entries(o, &count);
  for (size_t i = 0; i < count; i++)
    if (entry[i].d_tag == tag) {
      *value = entry[i].d_un.d_val;
      return true;
    }
  return false;
}

/* Returns the first library that is loaded with the object and for which `passes` returns false, or
 * NULL if there is none. */
static const char *library(const struct object *o, bool (*passes)(const char *name, const void *),
                           const void *data)
{
  uint64_t table = 0, size = 0;
  size_t count;
  const Elf64_Dyn *entry = dynamic_entries(o, &count);
  dynamic_entry(o, DT_STRTAB, &table);
  dynamic_entry(o, DT_STRSZ, &size);
  const char *names = size ? (const char *)loaded(o, table, size) : NULL;
  for (size_t i = 0; i < count; i++) {
    bool is = entry[i].d_tag == DT_NEEDED || entry[i].d_tag == DT_AUXILIARY ||
              entry[i].d_tag == DT_FILTER;
    if (is && (!names || names[size - 1] || entry[i].d_un.d_val >= size))
      return "a library without a name";
    if (is && !passes(names + entry[i].d_un.d_val, data))
      return names + entry[i].d_un.d_val;
  }
  return NULL;
}

/* Returns whether compilers add the library by themselves. Such libraries define no function of
 * start files. */
static bool is_of_compiler(const char *name, const void *unused)
{
  static const char *const begins[] = {"libc.",  "libm.", "libgcc_s.", "libstdc++.",
                                       "libc++", "ld-",   "libunwind."};
  (void)unused;
  for (size_t i = 0; i < G_N_ELEMENTS(begins); i++)
    if (g_str_has_prefix(name, begins[i]))
      return true;
  return false;
}

static bool is_other(const char *name, const void *wanted)
{
  return !g_str_equal(name, wanted);
}

/* Returns whether the code at `address` begins with the bytes `digits`, two hexadecimal digits
 * each; `..` stands for any byte. */
static bool has_code(const struct object *o, uint64_t address, const char *digits)
{
  size_t bytes = strlen(digits) / 2;
  const unsigned char *code = loaded(o, address, bytes);
  for (size_t i = 0; code && i < bytes; i++)
    if (digits[2 * i] != '.' && (g_ascii_xdigit_value(digits[2 * i]) << 4 |
                                 g_ascii_xdigit_value(digits[2 * i + 1])) != code[i])
      return false;
  return code;
}

/* Describes the code of the start files of gcc and glibc, for x86-64. */
static const char BRANCH_TARGET[] = "f30f1efa", /* may come before INIT and before FINI */
    INIT[] = "4883ec08488b05........4885c07402ffd04883c408c3", FINI[] = "4883ec084883c408c3",
                  FRAME_DUMMY[] = "e9",
                  REGISTER_TM_CLONES[] =
                      "488d3d........488d35........4829fe4889f048c1ee3f48c1f8034801c6"
                      "48d1fe7414488b05........4885c07408ffe0",
                  DTORS_AUX[] = "803d........00752b5548833d........004889e5740c488b3d........"
                                "e8........e8........c605........015dc3";

static uint64_t behind_branch_target(const struct object *o, uint64_t address)
{
  return address + (has_code(o, address, BRANCH_TARGET) ? strlen(BRANCH_TARGET) / 2 : 0);
}

static bool is_frame_dummy(const struct object *o, uint64_t address)
{
  int32_t distance;
  const unsigned char *jump = loaded(o, address, 1 + sizeof distance);
  if (!jump || !has_code(o, address, FRAME_DUMMY))
    return false;
  memcpy(&distance, jump + 1, sizeof distance);
  return has_code(o, address + 1 + sizeof distance + (uint64_t)(int64_t)distance,
                  REGISTER_TM_CLONES);
}

/* Returns whether a symbol of the start files has that address and that name. */
static bool is_named(const struct object *o, uint64_t address, const char *wanted)
{
  struct symbols all;
  bool start_files = false;
  for (size_t i = 1; find_symbols(o, SHT_SYMTAB, &all) && i < all.count; i++) {
    if (ELF64_ST_TYPE(all.symbol[i].st_info) == STT_FILE)
      start_files = g_str_equal(name_of(&all, i), "crtstuff.c");
    if (start_files && all.symbol[i].st_value == address && g_str_equal(name_of(&all, i), wanted))
      return true;
  }
  return false;
}

/* Returns the value that a relative relocation, or the file, puts into the only entry of a
 * table. */
static uint64_t entry_of(const struct object *o, uint64_t table)
{
  uint64_t relocations = 0, size = 0, value = 0;
  const unsigned char *in_file = loaded(o, table, sizeof value);
  if (in_file)
    memcpy(&value, in_file, sizeof value);
  dynamic_entry(o, DT_RELA, &relocations);
  dynamic_entry(o, DT_RELASZ, &size);
  const unsigned char *from = loaded(o, relocations, size);
  for (uint64_t i = 0; from && i + sizeof(Elf64_Rela) <= size; i += sizeof(Elf64_Rela)) {
    Elf64_Rela r;
    memcpy(&r, from + i, sizeof r);
    if (r.r_offset == table)
      value = (uint64_t)r.r_addend;
  }
  return value;
}

/* Returns whether a table of functions has a function other than the function of the start
 * files. */
static bool runs(const struct object *o, int64_t table, int64_t table_size, bool is_init)
{
  uint64_t where, size = 0;
  if (!dynamic_entry(o, table, &where) || !dynamic_entry(o, table_size, &size) || !size)
    return false;
  uint64_t entry = entry_of(o, where), code = behind_branch_target(o, entry);
  bool known = is_named(o, entry, is_init ? "frame_dummy" : "__do_global_dtors_aux") ||
               o->head->e_machine != EM_X86_64 ||
               (is_init ? is_frame_dummy(o, code) : has_code(o, code, DTORS_AUX));
  return size != sizeof where || !known;
}

static bool runs_function(const struct object *o, int64_t tag, const char *known)
{
  uint64_t address;
  return dynamic_entry(o, tag, &address) && address && o->head->e_machine == EM_X86_64 &&
         !has_code(o, behind_branch_target(o, address), known);
}

static bool has_indirect(const struct object *o)
{
  static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
  struct symbols symbols;
  for (int k = 0; k < 2; k++)
    for (size_t i = 1; find_symbols(o, types[k], &symbols) && i < symbols.count; i++)
      if (ELF64_ST_TYPE(symbols.symbol[i].st_info) == STT_GNU_IFUNC)
        return true;
  uint32_t indirect = o->head->e_machine == EM_X86_64    ? R_X86_64_IRELATIVE
                      : o->head->e_machine == EM_AARCH64 ? R_AARCH64_IRELATIVE
                                                         : 0;
  for (unsigned i = 0; i < o->head->e_shnum && indirect; i++) {
    const Elf64_Shdr *s = &o->section[i];
    const Elf64_Rela *r = s->sh_type == SHT_RELA ? at(o, s->sh_offset, s->sh_size) : NULL;
    for (size_t k = 0; r && k < s->sh_size / sizeof *r; k++)
      if (ELF64_R_TYPE(r[k].r_info) == indirect)
        return true;
  }
  return false;
}

/* Returns what the object does when it is loaded or ended, in words, or NULL for nothing. */
static const char *own_doings(const struct object *o)
{
  uint64_t flags = 0, text;
  if (runs(o, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, true) || runs_function(o, DT_INIT, INIT))
    return "runs a function when it is loaded (a constructor)";
  if (runs(o, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, false) || runs_function(o, DT_FINI, FINI))
    return "runs a function at the end (a destructor)";
  if (has_indirect(o))
    return "chooses a function when it is loaded (an indirect one)";
  dynamic_entry(o, DT_FLAGS, &flags);
  if (flags & DF_TEXTREL || dynamic_entry(o, DT_TEXTREL, &text))
    return "changes its code when it is loaded (text relocations)";
  return NULL;
}

static char *impurity(struct object *o)
{
  struct symbols dynamic;
  if (!is_shared_object(o) || o->head->e_shstrndx >= o->head->e_shnum ||
      !find_symbols(o, SHT_DYNSYM, &dynamic) || !segment_of(o, PT_DYNAMIC))
    return g_strdup("it is none, expected a shared object with protocols");
  if (is_sanitized(&dynamic))
    return NULL;
  const char *needed = stranger(&dynamic);
  if (!needed)
    needed = library(o, is_of_compiler, NULL);
  const char *written = needed ? NULL : variable(o);
  const char *does = needed || written ? NULL : own_doings(o);
  if (needed)
    return g_strdup_printf("it needs %s, expected a protocol that needs mem* only", needed);
  if (written)
    return g_strdup_printf(
        "it can write to a variable (%s), expected a protocol that writes to its state only",
        written);
  return does ? g_strdup_printf("it %s, expected a protocol of which only steps run", does) : NULL;
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

bool shared_object_needs(GMappedFile *file, const char *library_name)
{
  struct object o = object_of(file);
  return is_shared_object(&o) && library(&o, is_other, library_name);
}
