/* Draws the axis of the space-time diagram, with round numbers. Columns are in the order of time,
 * but they are not to scale. */
#include <math.h>

#include "plots/spacetime_inside.h"

/* Describes a number below the last rank. It stands between two columns, or at a column. */
struct tick {
  double x;
  /* number of digits beyond those that all numbers have; a number with fewer digits is rounder */
  unsigned digits;
  char text[32];
};

/* Finds the roundest number of the series 1, 2, 5, 10 in (from, to]. Returns false if the interval
 * is empty. */
static bool round_between(double from, double to, struct tick *tick)
{
  static const double SERIES[] = {1, 0.5, 0.2};
  double power = 1e6;
  for (int digits = -6; digits <= 9 && to > from; digits++, power /= 10)
    for (unsigned i = 0; i < G_N_ELEMENTS(SERIES); i++) {
      double step = power * SERIES[i], number = floor(to / step * (1 + 1e-12)) * step;
      if (number <= from * (1 + 1e-12))
        continue;
      tick->digits = (unsigned)(digits + 6) * 3 + i;
      g_snprintf(tick->text, sizeof tick->text, "%.*f", MAX(0, digits + (i > 0)), number);
      return true;
    }
  return false;
}

static gint by_roundness(gconstpointer a, gconstpointer b)
{
  const struct tick *one = a, *other = b;
  return one->digits != other->digits ? one->digits < other->digits ? -1 : 1
                                      : (one->x > other->x) - (one->x < other->x);
}

/* Returns a tick for each column whose first line is later than the first line of the column
 * before. */
static GArray *find_ticks(const struct diagram *diagram)
{
  GArray *ticks = g_array_new(FALSE, TRUE, sizeof(struct tick));
  double before = -1;
  int column = -1;
  for (unsigned i = 0; i < diagram->trace->lines->len; i++) {
    struct tick tick = {0};
    double time = g_ascii_strtod(trace_file_line(diagram->trace, i)->time, NULL);
    if (!diagram->shown[i] || diagram->column[i] == column)
      continue;
    column = diagram->column[i];
    double x = spacetime_x(diagram, (int)i);
    bool between = diagram->trace->timed && before >= 0;
    tick.x = between ? x - diagram->step / 2 : x;
    bool whole = !diagram->trace->timed || time <= 0; /* there is no column before the first one */
    if ((between || whole) && round_between(between ? before : time - 0.5, time, &tick))
      g_array_append_val(ticks, tick);
    before = time;
  }
  g_array_sort(ticks, by_roundness);
  return ticks;
}

static bool is_free(const GArray *placed, double from, double to)
{
  for (unsigned i = 0; i < placed->len; i++) {
    const struct rectangle *other = &g_array_index(placed, struct rectangle, i);
    if (from < other->right && to > other->left)
      return false;
  }
  return true;
}

/* Writes round numbers below the last rank where there is room, the roundest ones first. */
void spacetime_paint_axis(struct diagram *diagram)
{
  enum { APART = 10 };
  g_autoptr(GArray) ticks = find_ticks(diagram);
  g_autoptr(GArray) placed = g_array_new(FALSE, FALSE, sizeof(struct rectangle));
  for (unsigned i = 0; i < ticks->len; i++) {
    const struct tick *tick = &g_array_index(ticks, struct tick, i);
    double half = picture_text_width(tick->text, SMALL) / 2;
    const struct rectangle room = {.left = tick->x - half - APART, .right = tick->x + half + APART};
    if (room.left < LEFT - 24 || !is_free(placed, room.left, room.right))
      continue;
    g_array_append_val(placed, room);
    g_autofree char *node = g_strdup_printf("tick-%u", i);
    picture_text(diagram->picture, node, (struct point){tick->x - half - 4, diagram->y}, tick->text,
                 SMALL, "#6e6e6e", "time");
  }
  const char *unit = diagram->trace->timed ? "seconds" : "step";
  struct point at = {LEFT - 24 - picture_text_width(unit, SMALL), diagram->y};
  picture_text(diagram->picture, "axis", at, unit, SMALL, "#6e6e6e", "time");
  diagram->y += 12;
  if (diagram->trace->timed)
    picture_text(diagram->picture, "scale", (struct point){LEFT - 4, diagram->y},
                 diagram->shares ? "in the order of time, not to scale; lines of ranks that do not "
                                   "depend on each other share a column"
                                 : "in the order of time, not to scale",
                 SMALL, "#6e6e6e", "time");
  diagram->y += 14;
}
