#include "command/campaign/bands.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "command/campaign/answer.h"
#include "world/scenario/scenario.h"

/* ---- curves ---- */

/* Returns the first sweep with two or more numbers, or -1 if there is none. */
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

/* Returns whether two cells belong to the same curve. They do if they differ only on the axis. */
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

/* Appends a text in single quotes, inside which gnuplot changes nothing. */
static void add_quoted(GString *text, const char *words)
{
  g_auto(GStrv) parts = g_strsplit(words, "'", -1);
  g_autofree char *doubled = g_strjoinv("''", parts);
  g_string_append_printf(text, "'%s'", doubled);
}

/* Holds what is drawn, and the unit of times in seconds. The unit is 1 for fields that are not
 * times. */
struct drawing {
  const struct table *table;
  const struct figure *figure;
  int axis;
  double unit;
  const char *unit_name;
};

/* Fields in seconds are shown in the largest unit in which the least mean is at least 2. */
static struct drawing drawing_of(const struct table *table, const struct figure *figure)
{
  const char *field = table->runs->fields->pdata[figure->field];
  struct drawing drawing = {table, figure, axis_of(table->runs->grid), 1.0, ""};
  double least = INFINITY;
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++)
    least = fmin(least, table_mean(table, cell, figure->field).mean);
  if (runs_is_time(field) && isfinite(least) && least > 0.0) {
    const struct answer_unit *unit = answer_unit(least, 2.0);
    drawing.unit = unit->seconds;
    drawing.unit_name = unit->name;
  }
  return drawing;
}

static void add_point(const struct drawing *drawing, unsigned cell, GString *gp)
{
  struct estimate e = table_mean(drawing->table, cell, drawing->figure->field);
  double half = isfinite(e.half) ? e.half : 0.0;
  add_number(gp, e.mean / drawing->unit);
  add_number(gp, (e.mean - half) / drawing->unit);
  add_number(gp, (e.mean + half) / drawing->unit);
  g_string_append_c(gp, '\n');
}

static void add_curve(const struct drawing *drawing, unsigned first, GString *gp)
{
  const struct table *table = drawing->table;
  const struct grid *grid = table->runs->grid;
  int axis = drawing->axis, field = drawing->figure->field;
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
    add_point(drawing, g_array_index(points, struct point, i).cell, gp);
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

/* Labels each value of the sweep as a person would write it, and leaves a little room at both
 * ends. */
static void add_tics(GString *gp, const struct sweep *sweep)
{
  double seconds, least = INFINITY, most = 0.0;
  for (char **value = sweep->values; *value; value++) {
    sweep_number(*value, &seconds);
    least = fmin(least, seconds);
    most = fmax(most, seconds);
  }
  g_string_append(gp, "set xrange [");
  add_number(gp, 0.9 * least);
  g_string_append(gp, ":");
  add_number(gp, 1.1 * most);
  g_string_append(gp, "]\n");
  g_string_append(gp,
                  g_strv_length(sweep->values) > 6 ? "set xtics rotate by -45 (" : "set xtics (");
  for (char **value = sweep->values; *value; value++) {
    sweep_number(*value, &seconds);
    g_autofree char *name = answer_time(seconds);
    g_string_append_printf(gp, "%s'%s'", value == sweep->values ? "" : ", ", name);
    add_number(gp, seconds);
  }
  g_string_append(gp, ")\n");
}

/* Draws a line at a value of the x axis, with a text at height `height` of the picture, from 0 to
 * 1. */
static void add_mark(GString *gp, int number, double x, const char *what, double height)
{
  g_autofree char *name = answer_time(x), *label = g_strdup_printf(" %s: %s", what, name);
  g_string_append_printf(gp, "set arrow %d from first", number);
  add_number(gp, x);
  g_string_append(gp, ", graph 0 to first");
  add_number(gp, x);
  g_string_append_printf(gp, ", graph 1 nohead lc '%s' dt 3\nset label %d ",
                         number > 1 ? "black" : "grey40", number);
  add_quoted(gp, label);
  g_string_append(gp, " at first");
  add_number(gp, x);
  g_string_append(gp, ", graph");
  add_number(gp, height);
  g_string_append_c(gp, '\n');
}

/* Returns whether the least value of a figure is marked. */
static bool has_optimum(const struct drawing *drawing)
{
  const struct grid *grid = drawing->table->runs->grid;
  double seconds;
  return drawing->axis >= 0 && grid->sweeps == 1 &&
         scenario_seconds(grid->sweep[0].values[0], &seconds, NULL) &&
         g_strv_length(grid->sweep[0].values) > 2;
}

/* Marks three things on a figure's only curve: its least value, the range that is not measurably
 * worse, and the optimum by theory. */
static void add_optimum(const struct drawing *drawing, GString *gp)
{
  const struct table *table = drawing->table;
  const struct grid *grid = table->runs->grid;
  double best = 0.0, first = 0.0, last = 0.0;
  struct range range = range_of(table, drawing->figure->field);
  sweep_number(grid_value(grid, range.best, 0), &best);
  sweep_number(grid_value(grid, range.first, 0), &first);
  sweep_number(grid_value(grid, range.last, 0), &last);
  g_string_append(gp, "set object 1 rectangle from first");
  add_number(gp, first);
  g_string_append(gp, ", graph 0 to first");
  add_number(gp, last);
  g_string_append(gp, ", graph 1 behind fillcolor 'grey' fillstyle solid 0.2 noborder\n");
  add_mark(gp, 1, best, "least simulated", 0.96);
  if (drawing->figure->theory > 0.0)
    add_mark(gp, 2, drawing->figure->theory, "theory", 0.9);
}

/* Sets `least` and `most` to the ends of the intervals of all cells, in the drawing's unit. */
static void extent_of(const struct drawing *drawing, double *least, double *most)
{
  *least = INFINITY, *most = -INFINITY;
  for (unsigned cell = 0; cell < drawing->table->runs->grid->cells; cell++) {
    struct estimate e = table_mean(drawing->table, cell, drawing->figure->field);
    double half = isfinite(e.half) ? e.half : 0.0;
    *least = fmin(*least, (e.mean - half) / drawing->unit);
    *most = fmax(*most, (e.mean + half) / drawing->unit);
  }
}

/* Returns the least of 1, 2 and 5 times a power of ten that is not below `least`. */
static double round_step(double least)
{
  static const double factors[] = {1, 2, 5, 10};
  double power = pow(10, floor(log10(least)));
  for (size_t i = 0; i < G_N_ELEMENTS(factors); i++)
    if (factors[i] * power >= least * (1 - 1e-9))
      return factors[i] * power;
  return 10 * power;
}

/* Adds an axis on the right: the overhead over the failure-free program, in per cent. With a linked
 * axis, gnuplot would put ticks at values of the left axis, which are no round overheads. So the
 * ticks are placed here, and reach a little past the curves. In a bar chart, bars begin at time 0,
 * but ticks begin at the failure-free program. How far ticks are apart depends on the full height
 * of the bars. */
static void add_overhead(const struct drawing *drawing, GString *gp)
{
  double base = drawing->figure->failure_free / drawing->unit, least, most;
  extent_of(drawing, &least, &most);
  if (!isfinite(base) || base <= 0.0 || !isfinite(most - least))
    return;
  bool bars = drawing->axis < 0;
  double from = bars ? -100 : 100 * (least / base - 1), to = 100 * (most / base - 1);
  double step = round_step(fmax((to - from) / 6, 0.01));
  g_string_append(gp, "set ytics nomirror\nset link y2\nset y2tics (");
  double first = bars ? 0 : floor(from / step) - 3;
  for (double tick = first; tick <= ceil(to / step) + 6; tick++) {
    g_string_append_printf(gp, "%s'%.10g %%%%'", tick > first ? ", " : "",
                           tick * step + 0.0); /* adding 0.0 avoids "-0" */
    add_number(gp, base * (1 + tick * step / 100));
  }
  g_string_append(gp, ")\nset y2label 'over the failure-free program'\n");
}

static void add_axis(const struct drawing *drawing, GString *gp)
{
  const struct sweep *sweep = &drawing->table->runs->grid->sweep[drawing->axis];
  double seconds;
  bool time = scenario_seconds(sweep->values[0], &seconds, NULL);
  bool every = !strcmp(sweep->key, "checkpoint.every");
  g_string_append(gp, "set xlabel ");
  add_quoted(gp, every ? "time between checkpoints" : sweep->key);
  g_string_append(gp, spans_decades(sweep) || every ? "\nset logscale x\n" : "\n");
  if (time)
    add_tics(gp, sweep);
  if (has_optimum(drawing))
    add_optimum(drawing, gp);
}

static void add_theory(const struct drawing *drawing, GString *plot)
{
  char unit[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(unit, sizeof unit, "%.9g", drawing->unit);
  g_string_append_printf(plot, ", \\\n (%s) / %s with lines lc 'black' dt 2 title 'exact'",
                         drawing->figure->extra, unit);
}

static void add_curves(const struct drawing *drawing, GString *gp)
{
  const struct grid *grid = drawing->table->runs->grid;
  GString *plot = g_string_new("plot");
  bool extra = drawing->figure->extra;
  unsigned style = 0;
  for (unsigned cell = 0; cell < grid->cells; cell++) {
    if (!begins_curve(grid, cell, drawing->axis))
      continue;
    add_curve(drawing, cell, gp);
    g_autofree char *name = curve_name(grid, cell, drawing->axis);
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
      g_string_append(plot, " title 'simulated, with the 95 % interval of the mean'");
  }
  if (extra)
    add_theory(drawing, plot);
  if (has_optimum(drawing))
    g_string_append(plot, ", \\\n NaN with boxes lc 'grey' fs solid 0.2 noborder title "
                          "'not measurably worse than the least'");
  add_axis(drawing, gp);
  g_string_append_printf(gp, "%s\n", plot->str);
  g_string_free(plot, TRUE);
}

static void add_bars(const struct drawing *drawing, GString *gp)
{
  const struct table *table = drawing->table;
  int field = drawing->figure->field;
  g_string_append(gp, "$bars << EOD\n");
  for (unsigned cell = 0; cell < table->runs->grid->cells; cell++) {
    g_autofree char *name = table_cell_name(table, cell);
    g_autofree char *shown = g_strescape(name, NULL);
    if (!isfinite(table_mean(table, cell, field).mean))
      continue;
    g_string_append_printf(gp, "\"%s\"", *shown ? shown : "all runs");
    add_point(drawing, cell, gp);
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

static void add_label(const struct drawing *drawing, GString *gp)
{
  const char *field = drawing->table->runs->fields->pdata[drawing->figure->field];
  bool whole = !strcmp(field, "simulated_s");
  g_autofree char *label = g_strdup_printf("%s%s%s%s", whole ? "time of the job" : field,
                                           *drawing->unit_name ? " (" : "", drawing->unit_name,
                                           *drawing->unit_name ? ")" : "");
  g_string_append(gp, "set ylabel ");
  add_quoted(gp, label);
  if (drawing->figure->title) {
    g_string_append(gp, "\nset title ");
    add_quoted(gp, drawing->figure->title);
  }
  g_string_append_c(gp, '\n');
}

bool bands_draw(const struct table *table, const struct figure *figure, const char *folder,
                GError **error)
{
  GString *gp = g_string_new("set terminal svg size 720,480 noenhanced background 'white'\n"
                             "set output 'figure.svg'\nset grid\nset key outside below height 1\n");
  const struct drawing drawing = drawing_of(table, figure);
  add_label(&drawing, gp);
  add_overhead(&drawing, gp);
  if (drawing.axis >= 0)
    add_curves(&drawing, gp);
  else
    add_bars(&drawing, gp);
  g_autofree char *file = g_build_filename(folder, "figure.gp", NULL);
  return text_write(gp, file, error) && bands_gnuplot(folder, "figure.gp", error);
}
