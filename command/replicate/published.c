#include "command/replicate/replicate.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

enum { FIELDS = 7 };

static void free_published(void *data)
{
  struct published *p = data;
  char *texts[] = {p->id, p->source, p->where, p->quantity, p->condition, p->text, p->unit};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(p);
}

/* Takes one field, without its quotes. Moves `at` behind its comma, or to the end of the line. */
static char *take_field(const char **at)
{
  GString *field = g_string_new(NULL);
  bool quoted = **at == '"';
  for (*at += quoted; **at && (quoted || (**at != ',' && **at != '\n')); (*at)++) {
    if (quoted && **at == '"' && *++*at != '"')
      quoted = false; /* a comma or the end follows */
    if (!quoted && (**at == ',' || **at == '\n' || !**at))
      break;
    g_string_append_c(field, **at);
  }
  *at += **at == ',';
  return g_string_free(field, FALSE);
}

static double scale_of(const char *unit)
{
  static const char *const units[] = {"KB", "MB", "GB"};
  for (int i = 0; i < (int)G_N_ELEMENTS(units); i++)
    if (!strcmp(unit + strspn(unit, " "), units[i]))
      return pow(1000, i + 1);
  return 0.0;
}

/* Reads "17.0" as 17 with a rounding of 0.05. */
static void read_value(struct published *p)
{
  char *end;
  p->value = g_ascii_strtod(p->text, &end);
  double scale = !strcmp(p->unit, "size") ? scale_of(end) : *end ? 0.0 : 1.0;
  p->number = end != p->text && strcmp(p->unit, "claim") && scale > 0.0;
  const char *point = memchr(p->text, '.', (size_t)(end - p->text));
  const char *behind = point ? point + 1 : end;
  p->rounding = 0.5 * scale * pow(10, -(double)strspn(behind, "0123456789"));
  p->value *= scale;
}

GPtrArray *published_load(const char *file, GError **error)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, error))
    return NULL;
  GPtrArray *all = g_ptr_array_new_with_free_func(free_published);
  const char *at = text;
  for (unsigned line = 1; *at; line++) {
    struct published *p = g_new0(struct published, 1);
    char **fields[FIELDS] = {&p->id,        &p->source, &p->where, &p->quantity,
                             &p->condition, &p->text,   &p->unit};
    for (int i = 0; i < FIELDS; i++)
      *fields[i] = take_field(&at);
    bool good = *at == '\n' && *p->unit;
    at += good;
    if (!good) {
      free_published(p);
      g_ptr_array_unref(all);
      g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                  "%s:%u: not as expected: id,source,where,quantity,condition,value,unit", file,
                  line);
      return NULL;
    }
    read_value(p);
    if (line > 1)
      g_ptr_array_add(all, p);
    else
      free_published(p); /* this line has only the names of the fields */
  }
  return all;
}

double published_tolerance(const struct published *p)
{
  return fmax(0.15 * fabs(p->value), p->rounding * (1 + 1e-9));
}

enum row_verdict replica_judge(const struct published *p, double value)
{
  if (!p->number)
    return value != 0.0 ? ROW_TRUE : ROW_FALSE;
  return fabs(value - p->value) <= published_tolerance(p) ? ROW_WITHIN : ROW_MISSED;
}

bool replica_is_result(const struct replica *r)
{
  return r->verdict == ROW_WITHIN || r->verdict == ROW_MISSED;
}

enum row_kind replica_kind(const struct replica *r)
{
  if (r->published->number && r->published->value == 0.0)
    return KIND_ZERO;
  return r->row ? r->row->kind : KIND_INFORMATIVE;
}

const struct replica *replica_named(const struct replicas *all, const char *id)
{
  for (unsigned i = 0; i < all->count; i++)
    if (!strcmp(all->item[i].published->id, id))
      return &all->item[i];
  return NULL;
}
