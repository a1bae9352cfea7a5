#include "world/trace/part_trace.h"

#include <string.h>

#include "protocols/protocol.h"

/* Numbers the lines of the head. */
enum { MAGIC, PROTOCOL, RANKS, CAPACITY, PROGRAM, LIBRARY, BEGAN, RULE, HEAD };
static const char *const head[HEAD] = {"recline-part-trace 2",
                                       "protocol ",
                                       "ranks ",
                                       "capacity ",
                                       "program ",
                                       "library ",
                                       "began ",
                                       "---"};

static bool read_head(struct part_trace *part, GError **error)
{
  const char *value[HEAD];
  for (part->next = 0; part->next < HEAD; part->next++) {
    const char *line = part->line[part->next], *expected = head[part->next];
    if (!line || !g_str_has_prefix(line, expected)) {
      g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                  "%s:%u: found '%s', expected '%s' of a run with RECLINE_TRACE=1", part->file,
                  part->next + 1, line ? line : "", expected);
      return false;
    }
    value[part->next] = line + strlen(expected);
  }
  guint64 ranks = g_ascii_strtoull(value[RANKS], NULL, 10),
          capacity = g_ascii_strtoull(value[CAPACITY], NULL, 10);
  part->head = (struct part_head){.protocol = value[PROTOCOL],
                                  .program = value[PROGRAM],
                                  .library = value[LIBRARY],
                                  .ranks = (int)ranks,
                                  .capacity = (unsigned)capacity,
                                  .began = g_ascii_strtod(value[BEGAN], NULL)};
  if (ranks >= 1 && ranks <= G_MAXINT16 && capacity <= RCL_CAPACITY_MAX)
    return true;
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
              "%s:%d: ranks or capacity out of bounds, expected those of a run", part->file,
              RANKS + 1);
  return false;
}

bool part_trace_read(struct part_trace *part, const char *folder, unsigned life, unsigned rank,
                     GError **error)
{
  g_autofree char *text = NULL;
  *part = (struct part_trace){.file = g_strdup_printf("%s/trace.%u.%u", folder, life, rank)};
  part->there = g_file_get_contents(part->file, &text, NULL, NULL);
  if (!part->there)
    return true;
  bool whole = strstr(text, "\n---\n") || !g_str_has_prefix(text, head[MAGIC]);
  part->line = whole ? g_strsplit(text, "\n", -1) : NULL;
  if (!part->line)
    return true;
  guint count = g_strv_length(part->line);
  if (count)
    g_clear_pointer(&part->line[count - 1], g_free);
  return read_head(part, error);
}

void part_trace_clear(struct part_trace *part)
{
  g_free(part->file);
  g_strfreev(part->line);
  *part = (struct part_trace){0};
}
