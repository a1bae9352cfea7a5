#define _GNU_SOURCE
#include "sim/memory/pagemap.h"

#include <fcntl.h>
#include <unistd.h>

/* number of entries that are read at once; they describe 16 MiB of memory */
enum { WINDOW = 4096 };

/* Bits of an entry. Documentation/admin-guide/mm/pagemap.rst in the kernel's source explains
 * them. */
static const uint64_t PRESENT = UINT64_C(1) << 63, SWAPPED = UINT64_C(1) << 62;

static uint64_t entry[WINDOW]; /* entries of the pages from `first` on */

size_t pagemap_page_bytes(void)
{
  static size_t bytes;
  if (!bytes)
    bytes = (size_t)sysconf(_SC_PAGESIZE);
  return bytes;
}

static int open_map(void)
{
  /* descriptor of the file, -1 if the file cannot be opened, or -2 if that was not tried yet */
  static int file = -2;
  if (file == -2)
    file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  return file;
}

/* Reads the entries of the pages from `first` on, as many as fit. If reading fails, all pages count
 * as touched. */
static void read_window(struct pagemap_range *touched, uintptr_t first)
{
  size_t count = touched->end - first < WINDOW ? touched->end - first : WINDOW;
  int file = open_map();
  ssize_t got =
      file < 0 ? -1 : pread(file, entry, count * sizeof entry[0], (off_t)(first * sizeof entry[0]));
  if (got != (ssize_t)(count * sizeof entry[0]))
    for (size_t i = 0; i < count; i++)
      entry[i] = PRESENT;
  touched->first = first;
  touched->last = first + count;
}

struct pagemap_range pagemap_begin(const char *start, const char *end)
{
  uintptr_t page = pagemap_page_bytes(), first = (uintptr_t)start / page;
  return (struct pagemap_range){
      .first = first, .last = first, .end = ((uintptr_t)end + page - 1) / page};
}

bool pagemap_is_touched(struct pagemap_range *touched, const char *address)
{
  uintptr_t page = (uintptr_t)address / pagemap_page_bytes();
  if (page >= touched->last)
    read_window(touched, page);
  return entry[page - touched->first] & (PRESENT | SWAPPED);
}
