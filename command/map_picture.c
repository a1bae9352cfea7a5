/* Draws the map: logs vary from left to right, rollbacks from top to bottom. */
#include <errno.h>
#include <string.h>

#include "base/output.h"
#include "command/map.h"
#include "plots/picture.h"
#include "world/scenario/protocol_words.h"

enum column { NOTHING, CROSSING, MESSAGES, EVENTS, COLUMNS };
enum { LINES = RCL_BACK_ALL + 1 };

static const char *const titles[COLUMNS] = {"nothing is logged", "what crosses a checkpoint",
                                            "every message", "every message and event"};

static const double BOX = 232, PAD = 7, STEP = 12, TITLE = 112, TOP = 30;

static enum column column_of(const struct rcl_place *place)
{
  bool always = place->logs[0].what == RCL_LOGGED_MESSAGES &&
                place->logs[0].when != RCL_LOGGED_AT_CHECKPOINTS;
  if (place->logs[0].what == RCL_LOGGED_NOTHING)
    return NOTHING;
  if (!always)
    return CROSSING;
  return place->logs[1].what == RCL_LOGGED_DETERMINANTS ? EVENTS : MESSAGES;
}

/* The boxes of a cell stand in one or two piles. */
struct layout {
  unsigned boxes[LINES][COLUMNS];
  unsigned piles[COLUMNS];
  double left[COLUMNS + 1], top[LINES + 1];
};

/* Returns the lines of text that follow the name in a box: other forms and declarations. The list
 * ends with NULL. */
static char **texts_of(const struct map_row *row)
{
  const struct rcl_place *place = row->first->place;
  GStrvBuilder *builder = g_strv_builder_new();
  g_auto(GStrv) names = g_strsplit(row->names->str, ", ", -1);
  char *log;
  for (char **form = names + 1; *form; form++) {
    g_autofree char *line = g_strconcat("and ", *form, NULL);
    g_strv_builder_add(builder, line);
  }
  for (int i = 0; (log = map_log(place, i)); i++) {
    g_strv_builder_add(builder, log);
    g_free(log);
  }
  if (row->first->piggyback_bytes || row->first->piggybacks) {
    g_autofree char *adds = g_strdup_printf("%u B on a message%s", row->first->piggyback_bytes,
                                            row->first->piggybacks ? ", and determinants" : "");
    g_strv_builder_add(builder, adds);
  }
  g_autofree char *assumptions = assumptions_of(place, "\n");
  g_auto(GStrv) each = g_strsplit(assumptions, "\n", -1);
  for (char **text = each; *text; text++) {
    g_autofree char *line = g_strconcat("\342\200\242 ", *text, NULL);
    g_strv_builder_add(builder, line);
  }
  char **texts = g_strv_builder_end(builder);
  g_strv_builder_unref(builder);
  return texts;
}

static double box_height(const struct map_row *row)
{
  g_auto(GStrv) texts = texts_of(row);
  return STEP * (1.5 + (double)g_strv_length(texts));
}

/* Returns the height of a cell: the height of its highest pile. Boxes go to the piles in turn. */
static double cell_height(const GArray *rows, const struct layout *layout, int line, int column)
{
  double heights[2] = {0, 0};
  unsigned box = 0;
  for (guint i = 0; i < rows->len; i++) {
    const struct map_row *row = &g_array_index(rows, struct map_row, i);
    if (row->first->place->back == line && (int)column_of(row->first->place) == column)
      heights[box++ % layout->piles[column]] += box_height(row) + PAD;
  }
  return MAX(heights[0], heights[1]) + PAD;
}

static struct layout lay_out(const GArray *rows)
{
  struct layout layout = {.left = {TITLE}, .top = {TOP}};
  for (guint i = 0; i < rows->len; i++) {
    const struct rcl_place *place = g_array_index(rows, struct map_row, i).first->place;
    layout.boxes[place->back][column_of(place)]++;
  }
  for (int column = 0; column < COLUMNS; column++) {
    layout.piles[column] = 1;
    for (int line = 0; line < LINES; line++)
      if (layout.boxes[line][column] > 3)
        layout.piles[column] = 2;
    layout.left[column + 1] = layout.left[column] + PAD + layout.piles[column] * (BOX + PAD);
  }
  for (int line = 0; line < LINES; line++) {
    double height = 0;
    for (int column = 0; column < COLUMNS; column++)
      height = MAX(height, cell_height(rows, &layout, line, column));
    layout.top[line + 1] = layout.top[line] + height;
  }
  return layout;
}

/* ---- drawing ---- */

static void draw_rectangle(struct picture *picture, const char *name, struct point at, double width,
                           double height, const char *fill, const char *line)
{
  g_autofree char *pos = picture_pos((struct point){at.x + width / 2, at.y + height / 2});
  g_autofree char *wide = picture_number(width / 72), *high = picture_number(height / 72);
  picture_node(picture, name, "shape", "box", "fixedsize", "true", "width", wide, "height", high,
               "pos", pos, "label", "", "style", "filled", "fillcolor", fill, "color", line,
               "class", "place", NULL);
}

static void draw_box(struct picture *picture, const struct map_row *row, struct point at)
{
  g_auto(GStrv) texts = texts_of(row);
  const char *fill = row->first->level == RCL_LEVEL_CHANNEL ? "#e3eefa" : "#fdf3dc";
  draw_rectangle(picture, row->names->str, at, BOX, box_height(row), fill, "#888888");
  g_autofree char *name = g_strconcat(row->names->str, "/name", NULL);
  picture_text(picture, name, (struct point){at.x + 3, at.y + STEP * 0.8}, row->first->name, 10,
               "black", "name");
  for (int i = 0; texts[i]; i++) {
    g_autofree char *id = g_strdup_printf("%s/%d", row->names->str, i);
    picture_text(picture, id, (struct point){at.x + 3, at.y + STEP * (1.9 + i)}, texts[i], 8,
                 "#222222", "text");
  }
}

static void draw_cell(struct picture *picture, const GArray *rows, const struct layout *layout,
                      int line, int column)
{
  double below[2] = {layout->top[line] + PAD, layout->top[line] + PAD};
  unsigned box = 0;
  for (guint i = 0; i < rows->len; i++) {
    const struct map_row *row = &g_array_index(rows, struct map_row, i);
    if (row->first->place->back != line || (int)column_of(row->first->place) != column)
      continue;
    unsigned pile = box++ % layout->piles[column];
    draw_box(picture, row,
             (struct point){layout->left[column] + PAD + pile * (BOX + PAD), below[pile]});
    below[pile] += box_height(row) + PAD;
  }
}

static void draw_grid(struct picture *picture, const struct layout *layout)
{
  double right = layout->left[COLUMNS], bottom = layout->top[LINES];
  for (int column = 0; column < COLUMNS; column++) {
    draw_rectangle(picture, titles[column], (struct point){layout->left[column], TOP},
                   layout->left[column + 1] - layout->left[column], bottom - TOP, "white",
                   "#cccccc");
    g_autofree char *id = g_strconcat(titles[column], "/title", NULL);
    picture_text(picture, id, (struct point){layout->left[column] + 3, TOP - 10}, titles[column],
                 11, "black", "title");
  }
  for (int line = 0; line < LINES; line++) {
    const char *text = map_back(&(struct rcl_place){.back = (uint8_t)line});
    g_autofree char *id = g_strconcat(text, "/title", NULL);
    g_autofree char *under = g_strconcat(text, "/line", NULL);
    if (layout->top[line + 1] - layout->top[line] <= PAD)
      continue; /* no protocol has this place */
    picture_text(picture, id, (struct point){0, layout->top[line] + 16}, text, 10, "black",
                 "title");
    draw_rectangle(picture, under, (struct point){0, layout->top[line]}, right, 0.5, "#cccccc",
                   "#cccccc");
  }
}

static void draw_legend(struct picture *picture, const struct layout *layout)
{
  double y = layout->top[LINES] + 16;
  picture_text(picture, "back/legend", (struct point){0, TOP - 10}, "goes back:", 10, "black",
               "title");
  draw_rectangle(picture, "above/legend", (struct point){TITLE, y - 6}, 14, 12, "#fdf3dc",
                 "#888888");
  picture_text(picture, "above", (struct point){TITLE + 18, y}, "above MPI's matching", 9, "black",
               "legend");
  draw_rectangle(picture, "below/legend", (struct point){TITLE + 150, y - 6}, 14, 12, "#e3eefa",
                 "#888888");
  picture_text(picture, "below", (struct point){TITLE + 168, y}, "below it", 9, "black", "legend");
  picture_text(picture, "dots", (struct point){TITLE + 240, y}, "\342\200\242 what is assumed", 9,
               "black", "legend");
}

bool map_draw(const char *file, GError **error)
{
  const char *dot = strrchr(file, '.');
  if (!dot || (strcmp(dot, ".svg") && strcmp(dot, ".pdf") && strcmp(dot, ".png"))) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "%s: unknown kind of picture, expected .svg, .pdf or .png", file);
    return false;
  }
  g_autoptr(GArray) rows = map_rows();
  const struct layout layout = lay_out(rows);
  struct picture *picture = picture_new("map");
  draw_grid(picture, &layout);
  for (int line = 0; line < LINES; line++)
    for (int column = 0; column < COLUMNS; column++)
      draw_cell(picture, rows, &layout, line, column);
  draw_legend(picture, &layout);
  g_autofree char *data = NULL;
  gsize length = 0;
  bool good = picture_render(picture, "nop2", dot + 1, &data, &length, error);
  picture_free(picture);
  if (good && !output_write(file, data, length)) {
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), OUTPUT_CANNOT, file,
                g_strerror(errno));
    return false;
  }
  return good;
}
