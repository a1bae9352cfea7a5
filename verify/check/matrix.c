#include "verify/check/matrix.h"
#include "world/rules/properties.h"

#include <stdio.h>
#include <string.h>

struct matrix {
  GPtrArray *worlds;    /* ids of the worlds */
  GPtrArray *texts;     /* statements of the worlds */
  GPtrArray *protocols; /* names of the protocols */
  /* int, row by row: index of the cell among the cells to explore, or REFUSED */
  GArray *index;
  GPtrArray *reasons;  /* row by row: why the protocol refuses the world, or NULL */
  GArray *uncommitted; /* unsigned: indices of the cells that are explored again */
};

enum { REFUSED = -1 };

static void add_protocols(struct matrix *matrix)
{
  const struct rcl_protocol *protocol;
  for (size_t i = 0; (protocol = rcl_protocol_at(i)); i++)
    if (!strchr(protocol->name, '~') && !g_str_has_prefix(protocol->name, "cl-"))
      g_ptr_array_add(matrix->protocols, g_strdup(protocol->name));
}

static bool add_world(struct matrix *matrix, const char *file, GError **error)
{
  char *id = NULL, *statement = NULL;
  if (!scenario_headline(file, &id, &statement, error))
    return false;
  g_ptr_array_add(matrix->worlds, id);
  g_ptr_array_add(matrix->texts, statement ? statement : g_strdup(id));
  return true;
}

/* Returns the part of the refusal that concerns the protocol. A whole refusal is "FILE:LINE: KEY:
 * ..., and c3 leaves connections open, expected ...". The caller frees it. */
static char *reason_of(const char *protocol, const GError *refusal)
{
  g_autofree char *name = g_strconcat(" ", protocol, " ", NULL);
  const char *found = strstr(refusal->message, name);
  const char *reason = found ? found + strlen(name) : refusal->message;
  const char *end = strstr(reason, ", expected");
  return end ? g_strndup(reason, (gsize)(end - reason)) : g_strdup(reason);
}

/* Adds a cell. An error in its scenario concerns this protocol alone, because the file loads for
 * other protocols. */
static void add_cell(struct matrix *matrix, const char *file, const char *protocol, GArray *cells)
{
  g_autofree char *name = g_strconcat("protocol.name=", protocol, NULL);
  const char *const set[] = {name, NULL};
  g_autoptr(GError) refusal = NULL;
  struct checked cell = {.claim = scenario_load(file, set, &refusal)};
  char *reason = NULL;
  int index = REFUSED;
  if (cell.claim && claim_valid(cell.claim, &refusal)) {
    index = (int)cells->len;
    g_array_append_val(cells, cell);
  } else {
    scenario_free(cell.claim);
    reason = reason_of(protocol, refusal);
  }
  g_array_append_val(matrix->index, index);
  g_ptr_array_add(matrix->reasons, reason);
}

struct matrix *matrix_load(GPtrArray *files, GArray *cells, GError **error)
{
  struct matrix *matrix = g_new0(struct matrix, 1);
  matrix->worlds = g_ptr_array_new_with_free_func(g_free);
  matrix->texts = g_ptr_array_new_with_free_func(g_free);
  matrix->protocols = g_ptr_array_new_with_free_func(g_free);
  matrix->index = g_array_new(FALSE, FALSE, sizeof(int));
  matrix->reasons = g_ptr_array_new_with_free_func(g_free);
  matrix->uncommitted = g_array_new(FALSE, FALSE, sizeof(unsigned));
  add_protocols(matrix);
  for (guint i = 0; i < files->len; i++)
    if (!add_world(matrix, files->pdata[i], error)) {
      matrix_free(matrix);
      return NULL;
    }
  for (guint i = 0; i < matrix->protocols->len; i++)
    for (guint j = 0; j < files->len; j++)
      add_cell(matrix, files->pdata[j], matrix->protocols->pdata[i], cells);
  return matrix;
}

void matrix_free(struct matrix *matrix)
{
  if (!matrix)
    return;
  g_ptr_array_unref(matrix->worlds);
  g_ptr_array_unref(matrix->texts);
  g_ptr_array_unref(matrix->protocols);
  g_array_unref(matrix->index);
  g_ptr_array_unref(matrix->reasons);
  g_array_unref(matrix->uncommitted);
  g_free(matrix);
}

/* Returns all properties that are judged by default except one. */
static char **all_but(const char *property)
{
  GPtrArray *names = g_ptr_array_new();
  for (const char *const *name = properties_default; *name; name++)
    if (strcmp(*name, property) != 0)
      g_ptr_array_add(names, g_strdup(*name));
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

GArray *matrix_again(struct matrix *matrix, struct checked *cells, unsigned count)
{
  GArray *again = g_array_new(FALSE, TRUE, sizeof *cells);
  for (unsigned i = 0; i < count; i++) {
    if (cells[i].result.verdict != CLAIM_VIOLATED || strcmp(cells[i].result.property, "commits"))
      continue;
    g_strfreev(cells[i].claim->check.properties);
    cells[i].claim->check.properties = all_but("commits");
    cells[i].claim->check.all_but_some = true;
    const struct checked cell = {.claim = cells[i].claim};
    g_array_append_val(again, cell);
    g_array_append_val(matrix->uncommitted, i);
  }
  return again;
}

void matrix_add(struct matrix *matrix, struct checked *cells, const GArray *again)
{
  for (guint i = 0; i < again->len; i++)
    cells[g_array_index(matrix->uncommitted, unsigned, i)].result =
        g_array_index(again, struct checked, i).result;
}

static bool is_uncommitted(const struct matrix *matrix, int index)
{
  for (guint i = 0; i < matrix->uncommitted->len; i++)
    if (g_array_index(matrix->uncommitted, unsigned, i) == (unsigned)index)
      return true;
  return false;
}

static const char *verdict(const struct matrix *matrix, int index, const struct checked *cells)
{
  const struct claim_result *result = &cells[index].result;
  if (result->verdict == CLAIM_HOLDS && is_uncommitted(matrix, index))
    return "holds but commits";
  return result->verdict == CLAIM_VIOLATED ? result->property : claim_verdict_name(result->verdict);
}

void matrix_print(const struct matrix *matrix, const struct checked *cells)
{
  guint columns = matrix->worlds->len;
  printf("| protocol |");
  for (guint j = 0; j < columns; j++)
    printf(" %s |", (const char *)matrix->worlds->pdata[j]);
  printf("\n|---|");
  for (guint j = 0; j < columns; j++)
    printf("---|");
  for (guint i = 0; i < matrix->protocols->len; i++) {
    printf("\n| `%s` |", (const char *)matrix->protocols->pdata[i]);
    for (guint j = 0; j < columns; j++) {
      int index = g_array_index(matrix->index, int, i *columns + j);
      if (index == REFUSED)
        printf(" refused: %s |", (const char *)matrix->reasons->pdata[i * columns + j]);
      else
        printf(" %s |", verdict(matrix, index, cells));
    }
  }
  printf("\n\n");
  for (guint j = 0; j < columns; j++)
    printf("- **%s**: %s.\n", (const char *)matrix->worlds->pdata[j],
           (const char *)matrix->texts->pdata[j]);
}
