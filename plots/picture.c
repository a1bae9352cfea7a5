#include "plots/picture.h"

#include <graphviz/gvc.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "plots/input.h"

struct picture {
  GVC_t *context;
  Agraph_t *graph;
};

/* The leak checker of sanitizer builds calls the next two functions. Graphviz and its font
 * libraries free hardly anything at exit. Leaks of recline's own are still reported. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
  return "leak:libgvc\nleak:libcgraph\nleak:libgvplugin\nleak:libpango\nleak:libfontconfig\n"
         "leak:libcairo\nleak:libexpat\nleak:libltdl\nleak:libcdt\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
  return "print_suppressions=0";
}

static void set_attributes(void *object, va_list pairs)
{
  const char *key;
  while ((key = va_arg(pairs, const char *)) != NULL) {
    const char *value = va_arg(pairs, const char *);
    if (value == NULL)
      continue;
    /* Graphviz keeps the meaning of "\\l" at the end: the line is flush left. */
    bool left = g_str_equal(key, "label") && g_str_has_suffix(value, "\\l");
    g_autofree char *text = g_strndup(value, strlen(value) - (left ? 2 : 0));
    GString *escaped = g_string_new(text);
    g_string_replace(escaped, "\\", "\\\\", 0);
    g_string_replace(escaped, "\n", left ? "\\l" : "\\n", 0);
    g_string_append(escaped, left ? "\\l" : "");
    agset(object, (char *)(uintptr_t)key, escaped->str);
    g_string_free(escaped, TRUE);
  }
}

/* Declares every attribute that is used, with its default, as Graphviz demands before the first
 * object. */
static void declare(Agraph_t *graph)
{
  static const char *const GRAPH[] = {
      "outputorder", "edgesfirst", "fontname", "Helvetica", "bgcolor",   "white",
      "pad",         "0.15",       "class",    "",          "rankdir",   "TB",
      "overlap",     "true",       "splines",  "true",      "nodesep",   "0.25",
      "ranksep",     "0.5",        "label",    "",          "labelloc",  "t",
      "fontsize",    "12",         "sep",      "+4",        "start",     "1",
      "mode",        "major",      "tooltip",  "",          "labeljust", "c",
      "id",          "",           NULL};
  static const char *const NODE[] = {
      "shape",     "box",       "label",       "",  "fixedsize", "false", "width",    "0.1",
      "height",    "0.1",       "pos",         "",  "class",     "",      "id",       "",
      "tooltip",   " ",         "style",       "",  "color",     "black", "fontname", "Helvetica",
      "fillcolor", "lightgrey", "fontsize",    "9", "fontcolor", "black", "margin",   "0.06,0.03",
      "penwidth",  "1",         "orientation", "0", NULL};
  static const char *const EDGE[] = {
      "pos",       "",        "class",        "",          "id",        "",
      "tooltip",   " ",       "style",        "",          "color",     "black",
      "penwidth",  "1",       "arrowhead",    "normal",    "arrowsize", "0.6",
      "label",     "",        "fontname",     "Helvetica", "fontsize",  "8",
      "fontcolor", "black",   "labeltooltip", " ",         "len",       "1",
      "dir",       "forward", "weight",       "1",         NULL};
  for (unsigned i = 0; GRAPH[i] != NULL; i += 2)
    agattr(graph, AGRAPH, (char *)(uintptr_t)GRAPH[i], (char *)(uintptr_t)GRAPH[i + 1]);
  for (unsigned i = 0; NODE[i] != NULL; i += 2)
    agattr(graph, AGNODE, (char *)(uintptr_t)NODE[i], (char *)(uintptr_t)NODE[i + 1]);
  for (unsigned i = 0; EDGE[i] != NULL; i += 2)
    agattr(graph, AGEDGE, (char *)(uintptr_t)EDGE[i], (char *)(uintptr_t)EDGE[i + 1]);
}

struct picture *picture_new(const char *title)
{
  struct picture *picture = g_new0(struct picture, 1);
  /* Warnings concern texts that are wider than their box, which is intended here. */
  agseterr(AGERR);
  picture->context = gvContext();
  picture->graph = agopen((char *)(uintptr_t)title, Agdirected, NULL);
  declare(picture->graph);
  return picture;
}

void picture_free(struct picture *picture)
{
  agclose(picture->graph);
  gvFreeContext(picture->context);
  g_free(picture);
}

void picture_set(struct picture *picture, ...)
{
  va_list pairs;
  va_start(pairs, picture);
  set_attributes(picture->graph, pairs);
  va_end(pairs);
}

void picture_node(struct picture *picture, const char *name, ...)
{
  va_list pairs;
  va_start(pairs, name);
  set_attributes(agnode(picture->graph, (char *)(uintptr_t)name, TRUE), pairs);
  va_end(pairs);
}

void picture_edge(struct picture *picture, const char *tail, const char *head, ...)
{
  Agnode_t *from = agnode(picture->graph, (char *)(uintptr_t)tail, TRUE);
  Agnode_t *to = agnode(picture->graph, (char *)(uintptr_t)head, TRUE);
  va_list pairs;
  va_start(pairs, head);
  set_attributes(agedge(picture->graph, from, to, NULL, TRUE), pairs);
  va_end(pairs);
}

void picture_layer(struct picture *picture, const char *name)
{
  picture_node(picture, name, "style", "invis", "shape", "point", "pos", "0,0", NULL);
}

/* On average, a letter of Helvetica is a little over half as wide as the font is high. */
double picture_text_width(const char *text, double size)
{
  return 0.54 * size * (double)g_utf8_strlen(text, -1);
}

void picture_text(struct picture *picture, const char *name, struct point at, const char *text,
                  double size, const char *color, const char *class)
{
  double width = picture_text_width(text, size) + 8;
  g_autofree char *pos = picture_pos((struct point){at.x + width / 2, at.y});
  g_autofree char *label = g_strconcat(text, "\\l", NULL);
  g_autofree char *inches = picture_number(width / 72);
  g_autofree char *height = picture_number(size * 1.3 / 72);
  g_autofree char *points = picture_number(size);
  picture_node(picture, name, "shape", "plaintext", "fixedsize", "true", "width", inches, "height",
               height, "margin", "0,0", "pos", pos, "label", label, "fontsize", points, "fontcolor",
               color, "class", class, NULL);
}

char *picture_number(double number)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup(g_ascii_formatd(buffer, sizeof buffer, "%.2f", number));
}

char *picture_pos(struct point at)
{
  g_autofree char *x = picture_number(at.x);
  g_autofree char *y = picture_number(-at.y); /* in Graphviz, y goes up */
  return g_strconcat(x, ",", y, NULL);
}

static struct point between(struct point from, struct point to, double part)
{
  return (struct point){from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)};
}

static void append(GString *value, struct point at)
{
  g_autofree char *pos = picture_pos(at);
  g_string_append_printf(value, "%s%s", value->len > 0 ? " " : "", pos);
}

static void append_line(GString *value, struct point from, struct point to)
{
  append(value, between(from, to, 1.0 / 3));
  append(value, between(from, to, 2.0 / 3));
  append(value, to);
}

char *picture_lines(const struct point *points, unsigned count)
{
  GString *value = g_string_new(NULL);
  append(value, points[0]);
  for (unsigned i = 1; i < count; i++)
    append_line(value, points[i - 1], points[i]);
  return g_string_free(value, FALSE);
}

char *picture_arrow(const struct point *points, unsigned count, double length)
{
  struct point last = points[count - 2], tip = points[count - 1];
  double distance = hypot(tip.x - last.x, tip.y - last.y);
  struct point base = between(tip, last, MIN(0.9, length / MAX(distance, 0.01)));
  g_autofree char *end = picture_pos(tip);
  GString *value = g_string_new(NULL);
  append(value, points[0]);
  if (count == 2) {
    append_line(value, points[0], base);
  } else {
    append(value, points[1]);
    append(value, points[2]);
    append(value, base);
  }
  g_string_prepend(value, " ");
  g_string_prepend(value, end);
  g_string_prepend(value, "e,");
  return g_string_free(value, FALSE);
}

bool picture_render(struct picture *picture, const char *engine, const char *format, char **data,
                    gsize *length, GError **error)
{
  char *rendered = NULL;
#if GVC_MAJOR >= 14
  size_t size = 0;
#else
  unsigned size = 0;
#endif
  int failed = gvLayout(picture->context, picture->graph, engine);
  if (failed == 0)
    failed = gvRenderData(picture->context, picture->graph, format, &rendered, &size);
  if (failed != 0 || size == 0) {
    g_set_error(error, INPUT_ERROR, 0, "Graphviz cannot draw %s with %s, expected one that can",
                format, engine);
    return false;
  }
  *data = g_memdup2(rendered, size);
  *length = size;
  gvFreeRenderData(rendered);
  gvFreeLayout(picture->context, picture->graph);
  return true;
}
