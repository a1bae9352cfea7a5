#include "command/campaign/bands.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "world/scenario/scenario.h"

/* ---- curves ---- */

/* Returns the first sweep with two or more numbers; -1: there is none. */
static int axis_of(const struct grid *grid)
{
  for (unsigned i = 0; i < grid->sweeps; i++) {
    unsigned good = 0, all = g_strv_length(grid->sweep[i].values);
    double number;
    while (good < all && sweep_number(grid->sweep[i].values[good], &number))
      good++;
    if (good == all && all > 1)
      return (int)i;
  }
  return -1;
}

/* Two cells belong to one curve if they differ on the axis only. */
static bool same_curve(const struct grid *grid, unsigned a, unsigned b, int axis)
{
  for (unsigned i = 0; i < grid->sweeps; i++)
    if ((int)i != axis && strcmp(grid_value(grid, a, i), grid_value(grid, b, i)) != 0)
      return false;
  return true;
}

static bool begins_curve(const struct grid *grid, unsigned cell, int axis)
{
  for (unsigned before = 0; before < cell; before++)
    if (same_curve(grid, before, cell, axis))
      return false;
  return true;
}

static char *curve_name(const struct grid *grid, unsigned cell, int axis)
{
  GString *name = g_string_new(NULL);
  for (unsigned i = 0; i < grid->sweeps; i++)
    if ((int)i != axis)
      g_string_append_printf(name, "%s%s", name->len ? " " : "", grid_value(grid, cell, i));
  return g_string_free(name, FALSE);
}

struct point {
  double x;
  unsigned cell;
};

static int by_x(gconstpointer a, gconstpointer b)
{
  double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
  return (x > y) - (x < y);
}

/* ---- gnuplot ---- */

static void add_number(GString *text, double number)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_c(text, ' ');
  g_string_append(text, g_ascii_formatd(digits, sizeof digits, "%.9g", number));
}

/* Writes a text in single quotes, which gnuplot takes literally. */
static void add_quoted(GString *text, const char *words)
{
  g_auto(GStrv) parts = g_strsplit(words, "'", -1);
  g_autofree char *doubled = g_strjoinv("''", parts);
  g_string_append_printf(text, "'%s'", doubled);
}

static void add_point(const struct table *table, unsigned cell, int field, GString *gp)
{
  struct estimate e = table_mean(table, cell, field);
  double half = isfinite(e.half) ? e.half : 0.0;
  add_number(gp, e.mean);
  add_number(gp, e.mean - half);
  add_number(gp, e.mean + half);
  g_string_append_c(gp, '\n');
}

static void add_curve(const struct table *table, unsigned first, int axis, int field, GString *gp)
{
  const struct grid *grid = table->runs->grid;
  g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct point));
  for (unsigned cell = first; cell < grid->cells; cell++) {
    struct point point = {.cell = cell};
    sweep_number(grid_value(grid, cell, (unsigned)axis), &point.x);
    if (same_curve(grid, first, cell, axis) && isfinite(table_mean(table, cell, field).mean))
      g_array_append_val(points, point);
  }
  g_array_sort(points, by_x);
  g_string_append_printf(gp, "$curve%u << EOD\n", first);
  for (guint i = 0; i < points->len; i++) {
    add_number(gp, g_array_index(points, struct point, i).x);
    add_point(table, g_array_index(points, struct point, i).cell, field, gp);
  }
  g_string_append(gp, "EOD\n");
}

/* Returns whether values lie so far apart that the axis should be logarithmic. */
static bool spans_decades(const struct sweep *sweep)
{
  double least = INFINITY, most = 0.0, number = 0.0;
  for (char **value = sweep->values; *value; value++) {
    sweep_number(*value, &number);
    least = fmin(least, number);
    most = fmax(most, number);
  }
  return least > 0.0 && most >= 20.0 * least;
}

static void add_curves(const struct table *table, int axis, int field, const char *extra,
                       GString *gp)
{
  const struct grid *grid = table->runs->grid;
  const struct sweep *sweep = &grid->sweep[axis];
  GString *plot = g_string_new("plot");
  double seconds;
  bool time = scenario_seconds(sweep->values[0], &seconds, NULL);
  g_autofree char *label = g_strconcat(sweep->key, time ? " (s)" : "", NULL);
  unsigned style = 0;
  for (unsigned cell = 0; cell < grid->cells; cell++) {
    if (!begins_curve(grid, cell, axis))
      continue;
    add_curve(table, cell, axis, field, gp);
    g_autofree char *name = curve_name(grid, cell, axis);
    g_string_append_printf(plot,
                           "%s $curve%u using 1:3:4 with filledcurves lc %u fs transparent solid "
                           "0.25 noborder notitle, $curve%u using 1:2 with linespoints lc %u pt 7 "
                           "ps 0.5 ",
                           style > 0 ? ", \\\n" : "", cell, style + 1, cell, style + 1);
    style++;
    g_string_append(plot, *name ? "title " : extra ? "" : "notitle");
    if (*name)
      add_quoted(plot, name);
    else if (extra)
      g_string_append(plot, " title 'simulated'");
  }
  if (extra)
    g_string_append_printf(plot, ", \\\n %s", extra);
  g_string_append(gp, "set xlabel ");
  add_quoted(gp, label);
  g_string_append_printf(gp, "\n%s%s\n", spans_decades(sweep) ? "set logscale x\n" : "", plot->str);
  g_string_free(plot, TRUE);
}

static void add_bars(const struct table *table, int field, GString *gp)
{
  g_string_append(gp, "$bars << EOD\n");
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++) {
    g_autofree char *name = table_cell_name(table, cell);
    g_autofree char *shown = g_strescape(name, NULL);
    if (!isfinite(table_mean(table, cell, field).mean))
      continue;
    g_string_append_printf(gp, "\"%s\"", *shown ? shown : "all runs");
    add_point(table, cell, field, gp);
  }
  g_string_append(gp, "EOD\n"
                      "set style fill solid 0.5\nset boxwidth 0.6\nset yrange [0:*]\n"
                      "set xtics rotate by -30\n"
                      "plot $bars using 0:2:xtic(1) with boxes lc 1 notitle, "
                      "$bars using 0:2:3:4 with yerrorbars lc 'black' pt 0 notitle\n");
}

bool bands_gnuplot(const char *folder, const char *script, GError **error)
{
  const char *words[] = {"gnuplot", script, NULL};
  g_autofree char *said = NULL;
  int status = 0;
  if (!g_spawn_sync(folder, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &said,
                    &status, error))
    return false;
  if (g_spawn_check_wait_status(status, NULL))
    return true;
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "gnuplot: %s", g_strstrip(said));
  return false;
}

bool bands_draw(const struct table *table, int field, const char *extra, const char *folder,
                GError **error)
{
  GString *gp = g_string_new("set terminal svg size 720,480 noenhanced\nset output 'figure.svg'\n"
                             "set grid\nset key outside\nset ylabel ");
  int axis = axis_of(table->runs->grid);
  add_quoted(gp, table->runs->fields->pdata[field]);
  g_string_append_c(gp, '\n');
  if (axis >= 0)
    add_curves(table, axis, field, extra, gp);
  else
    add_bars(table, field, gp);
  g_autofree char *file = g_build_filename(folder, "figure.gp", NULL);
  return text_write(gp, file, error) && bands_gnuplot(folder, "figure.gp", error);
}
