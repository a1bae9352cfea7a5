#include "command/calibrate/sample_file.h"

#include <gio/gio.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
  struct sample_file *to;
  const char *file;
  unsigned line;
  GError **error;
};

static bool bad(const struct reader *r, const char *what)
{
  g_set_error(r->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s:%u: %s", r->file, r->line, what);
  return false;
}

/* ---- a series ---- */

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool read_values(const struct reader *r, struct series *series, const char *text)
{
  GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
  char *end = NULL;
  for (double value; (value = g_ascii_strtod(text, &end), end != text); text = end)
    g_array_append_val(values, value);
  bool good = values->len > 0 && end[strspn(end, " ")] == '\0';
  for (guint i = 0; i < values->len; i++)
    good &= isfinite(g_array_index(values, double, i)) && g_array_index(values, double, i) > 0;
  series->count = values->len;
  series->value = (double *)(void *)g_array_free(values, FALSE);
  if (good)
    qsort(series->value, series->count, sizeof(double), by_value);
  return good || bad(r, "no values, expected numbers above 0 behind the colon");
}

static bool read_key(const struct reader *r, struct series *series, const char *word)
{
  char *end = NULL;
  const char *value = strchr(word, '=');
  double number = value ? g_ascii_strtod(value + 1, &end) : -1.0;
  if (!value || end == value + 1 || *end || number < 0)
    return bad(r, "expected bytes=, flops=, writers= or disk= with a number");
  if (g_str_has_prefix(word, "bytes="))
    series->bytes = number;
  else if (g_str_has_prefix(word, "flops="))
    series->flops = number;
  else if (g_str_has_prefix(word, "writers="))
    series->writers = (int)number;
  else if (g_str_has_prefix(word, "disk=") && number < r->to->disks->len)
    series->disk = (int)number;
  else
    return bad(r, "expected bytes=, flops=, writers= or disk= of a disk above");
  return true;
}

/* Reads NAME [KEY=NUMBER]... : VALUE... */
static bool read_series(const struct reader *r, const char *text)
{
  const char *colon = strstr(text, " :");
  if (!colon)
    return bad(r, "no colon, expected sample NAME [KEY=NUMBER]... : VALUE...");
  g_autofree char *head = g_strndup(text, (gsize)(colon - text));
  g_auto(GStrv) words = g_strsplit(head, " ", -1);
  struct series series = {.name = g_strdup(words[0]), .disk = -1};
  bool good = true;
  for (char **word = words + 1; good && *word; word++)
    good = read_key(r, &series, *word);
  good = good && read_values(r, &series, colon + strlen(" :"));
  g_array_append_val(r->to->series, series);
  return good;
}

/* ---- other lines ---- */

/* Reads disk NUMBER shared|own FOLDER. */
static bool read_disk(const struct reader *r, const char *text)
{
  struct disk_of_samples disk = {.shared = true};
  g_auto(GStrv) words = g_strsplit(text, " ", 3);
  if (g_strv_length(words) != 3 || (guint)atoi(words[0]) != r->to->disks->len ||
      (!g_str_equal(words[1], "shared") && !g_str_equal(words[1], "own")))
    return bad(r, "expected disk NUMBER shared|own FOLDER");
  disk.shared = g_str_equal(words[1], "shared");
  disk.folder = g_strdup(words[2]);
  g_array_append_val(r->to->disks, disk);
  return true;
}

static bool read_count(const struct reader *r, const char *text, int *count)
{
  gint64 number;
  if (!g_ascii_string_to_signed(text, 10, 1, G_MAXINT16, &number, NULL))
    return bad(r, "expected a number from 1");
  *count = (int)number;
  return true;
}

static bool read_line(const struct reader *r, const char *line)
{
  struct sample_file *to = r->to;
  const char *space = strchr(line, ' ');
  g_autofree char *key = space ? g_strndup(line, (gsize)(space - line)) : g_strdup(line);
  const char *value = space ? space + 1 : "";
  if (g_str_equal(key, "sample"))
    return read_series(r, value);
  if (g_str_equal(key, "disk"))
    return read_disk(r, value);
  if (g_str_equal(key, "ranks"))
    return read_count(r, value, &to->ranks);
  if (g_str_equal(key, "nodes"))
    return read_count(r, value, &to->nodes);
  if (g_str_equal(key, "per_node"))
    return read_count(r, value, &to->per_node);
  if (g_str_equal(key, "cores"))
    return read_count(r, value, &to->cores);
  if (!g_str_equal(key, "library") || to->library)
    return bad(r, "expected ranks, nodes, per_node, cores, library, disk or sample");
  to->library = g_strdup(value);
  return true;
}

/* ---- the whole ---- */

bool sample_file_read(struct sample_file *to, const char *file, GError **error)
{
  *to = (struct sample_file){.disks = g_array_new(FALSE, FALSE, sizeof(struct disk_of_samples)),
                             .series = g_array_new(FALSE, FALSE, sizeof(struct series))};
  struct reader r = {.to = to, .file = file, .line = 1, .error = error};
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, NULL))
    return bad(&r, "cannot be read, expected what recline calibrate has measured");
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  if (!g_str_equal(lines[0], "recline-samples 1"))
    return bad(&r, "no samples, expected what recline calibrate has measured");
  for (r.line = 2; lines[r.line - 1] && *lines[r.line - 1]; r.line++)
    if (!read_line(&r, lines[r.line - 1]))
      return false;
  return (to->ranks && to->nodes && to->per_node && to->cores && to->library) ||
         bad(&r, "the end, expected ranks, nodes, per_node, cores and library, too");
}

void sample_file_clear(struct sample_file *samples)
{
  for (guint i = 0; i < samples->disks->len; i++)
    g_free(g_array_index(samples->disks, struct disk_of_samples, i).folder);
  for (guint i = 0; i < samples->series->len; i++) {
    struct series *series = &g_array_index(samples->series, struct series, i);
    g_free(series->name);
    g_free(series->value);
  }
  g_array_unref(samples->disks);
  g_array_unref(samples->series);
  g_free(samples->library);
}

const struct series *series_next(const struct sample_file *samples, const char *name,
                                 const struct series *last)
{
  const struct series *all = (const struct series *)(const void *)samples->series->data;
  for (const struct series *s = last ? last + 1 : all; s < all + samples->series->len; s++)
    if (g_str_equal(s->name, name))
      return s;
  return NULL;
}

double series_quantile(const struct series *series, double share)
{
  double at = share * (series->count - 1);
  guint below = (guint)at, above = MIN(below + 1, series->count - 1);
  return series->value[below] + (at - below) * (series->value[above] - series->value[below]);
}

double series_middle(const struct series *series)
{
  return series_quantile(series, 0.5);
}

bool series_is_unstable(const struct series *series)
{
  return series_quantile(series, 0.75) - series_quantile(series, 0.25) >
         0.25 * series_middle(series);
}
