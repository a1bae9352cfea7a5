/* Finds the functions that a program calls, on Linux (ELF). The relocations of an object name the
 * functions that the object takes from other objects. */
#include "sim/mpi/layer/program_calls.h"

#include <glib.h>
#include <link.h>
#include <string.h>
#include <strings.h>

struct object {
  const char *names;
  const ElfW(Sym) * symbol;
  const ElfW(Rela) * table[2]; /* the relocations of functions, and the relocations of data */
  size_t bytes[2];
};

/* Returns whether `name` names an MPI function, and continues with `beginning` after "MPI_". The
 * name has the form MPI_Name or mpi_name_. In programs that recline-cc has linked, "__wrap_P" or
 * "__wrap_p" may stand in front of either form. */
static bool begins(const char *name, const char *beginning)
{
  static const char WRAP[] = "__wrap_", MPI[] = "mpi_";
  if (strncmp(name, WRAP, sizeof WRAP - 1) == 0)
    name += sizeof WRAP;
  return strncasecmp(name, MPI, sizeof MPI - 1) == 0 &&
         strncasecmp(name + sizeof MPI - 1, beginning, strlen(beginning)) == 0;
}

static bool calls(const struct object *object, const char *beginning)
{
  for (int i = 0; object->symbol && i < 2; i++)
    for (size_t j = 0; object->table[i] && j < object->bytes[i] / sizeof *object->table[i]; j++) {
      const ElfW(Sym) *symbol = &object->symbol[ELF64_R_SYM(object->table[i][j].r_info)];
      if (symbol->st_shndx == SHN_UNDEF && begins(object->names + symbol->st_name, beginning))
        return true;
    }
  return false;
}

static const void *address(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
  uintptr_t at = entry->d_un.d_ptr; /* glibc has added the base to some addresses */
  return (const void *)(at < info->dlpi_addr ? at + info->dlpi_addr : at);
}

static void look_at(const struct dl_phdr_info *info, const ElfW(Dyn) * entry, struct object *object)
{
  for (; entry->d_tag != DT_NULL; entry++)
    switch (entry->d_tag) {
    case DT_STRTAB:
      object->names = address(info, entry);
      break;
    case DT_SYMTAB:
      object->symbol = address(info, entry);
      break;
    case DT_JMPREL:
      object->table[0] = address(info, entry);
      break;
    case DT_PLTRELSZ:
      object->bytes[0] = entry->d_un.d_val;
      break;
    case DT_RELA:
      object->table[1] = address(info, entry);
      break;
    case DT_RELASZ:
      object->bytes[1] = entry->d_un.d_val;
      break;
    default:
      break;
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *beginning)
{
  (void)size;
  struct object object = {.names = NULL};
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      look_at(info, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), &object);
  return calls(&object, beginning);
}

bool program_calls(const char *beginning)
{
  return dl_iterate_phdr(visit, (void *)(uintptr_t)beginning) != 0;
}
