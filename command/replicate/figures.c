/* Draws the figures of a plan with gnuplot. Each figure has lines over values of x. */
#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "command/campaign/bands.h"
#include "command/campaign/runs.h"
#include "command/replicate/expression.h"
#include "command/replicate/replicate.h"

/* Returns the text with each % replaced by `x`. The caller frees it. */
static char *at_point(const char *text, const char *x)
{
  g_auto(GStrv) parts = g_strsplit(text, "%", -1);
  return g_strjoinv(x, parts);
}

/* Writes those points of a line that have a value. Returns the number of these points. */
static unsigned add_points(const struct plan_figure *figure, unsigned line,
                           struct outcomes *outcomes, GString *gp)
{
  unsigned points = 0;
  g_string_append_printf(gp, "$line%u << EOD\n", line);
  for (char **x = figure->at; *x; x++) {
    g_autofree char *text = at_point(figure->value[line], *x);
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    double y = (double)NAN;
    if (!**x || !expression_value(text, outcomes_lookup, outcomes, &y, NULL) || isnan(y))
      continue;
    g_string_append_printf(gp, "%s %s\n", *x, g_ascii_formatd(number, sizeof number, "%.9g", y));
    points++;
  }
  g_string_append(gp, "EOD\n");
  return points;
}

static bool draw(const struct plan_figure *figure, struct outcomes *outcomes, GError **error)
{
  GString *gp = g_string_new(NULL), *plot = g_string_new("plot");
  unsigned points = 0;
  g_string_printf(gp,
                  "set terminal svg size 640,400 background 'white' noenhanced\n"
                  "set output '%s.svg'\nset title '%s'\nset xlabel '%s'\nset ylabel '%s'\n"
                  "set key outside\nset grid\nset offsets graph 0.05, graph 0.05\n",
                  figure->name, figure->title, figure->x, figure->y);
  if (figure->log)
    g_string_append(gp, "set logscale xy\nset format '%g'\n");
  else
    g_string_append(gp, "set yrange [0:*]\n");
  for (unsigned line = 0; figure->line[line]; line++) {
    unsigned found = add_points(figure, line, outcomes, gp);
    points += found;
    if (found)
      g_string_append_printf(plot, "%s $line%u using 1:2 with linespoints title '%s'",
                             plot->len > strlen("plot") ? "," : "", line, figure->line[line]);
  }
  g_autofree char *name = g_strconcat(figure->name, ".gp", NULL);
  g_autofree char *file = g_build_filename(outcomes->out, name, NULL);
  g_string_append_printf(gp, "%s\n", plot->str);
  g_string_free(plot, TRUE);
  if (points)
    return text_write(gp, file, error) && bands_gnuplot(outcomes->out, name, error);
  g_string_free(gp, TRUE);
  return true;
}

bool figures_draw(struct outcomes *outcomes, GError **error)
{
  for (guint i = 0; i < outcomes->plan->figures->len; i++)
    if (!draw(outcomes->plan->figures->pdata[i], outcomes, error))
      return false;
  return true;
}
