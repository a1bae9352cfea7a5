/* Reads lines like these in the comment that opens a protocol's file:
 *
 *     Transitions:
 *         RUNNING -> LOGGING : on_captured()  [captured]
 *         LOGGING -> RUNNING : stop_logging() [last late message, or the
 *                                              coordinator says so]
 */
#include "plots/states.h"

#include <string.h>

#include "plots/input.h"

struct transition {
  unsigned line;
  char *from, *to, *function, *event; /* `function` and `event` are "" if the line names none */
};

struct comment {
  const char *file;
  GString *title; /* the first sentence of the comment */
  GArray *found;  /* struct transition */
  GError **error;
};

static bool bad(struct comment *comment, unsigned line, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static bool bad(struct comment *comment, unsigned line, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  input_error(comment->error, comment->file, line, format, arguments);
  va_end(arguments);
  return false;
}

/* Returns the text of a comment's line, without the frame of asterisks. The caller frees it. */
static char *content(const char *line)
{
  const char *text = line + strspn(line, " \t");
  if (g_str_has_prefix(text, "/*"))
    text += 2;
  else if (g_str_has_prefix(text, "*") && !g_str_has_prefix(text, "*/"))
    text += 1;
  char *copy = g_strdup(text);
  char *end = strstr(copy, "*/");
  if (end != NULL)
    *end = '\0';
  return g_strstrip(copy);
}

/* Splits off the first transition of "A -> B, C -> D": `to` is "B, C -> D" and becomes "B". The
 * other transitions get the same function and event. */
static void split_transition(struct comment *comment, const struct transition *first)
{
  char *comma = strchr(first->to, ','), *arrow = comma ? strstr(comma, "->") : NULL;
  if (!arrow)
    return;
  struct transition rest = {.line = first->line,
                            .from = g_strstrip(g_strndup(comma + 1, (gsize)(arrow - comma - 1))),
                            .to = g_strstrip(g_strdup(arrow + 2)),
                            .function = g_strdup(first->function),
                            .event = g_strdup(first->event)};
  *comma = '\0';
  g_strchomp(first->to);
  g_array_append_val(comment->found, rest);
  split_transition(comment, &rest);
}

static bool read_transition(struct comment *comment, unsigned line, const char *text)
{
  const char *arrow = strstr(text, "->");
  const char *colon = strstr(arrow, " :");
  const char *bracket = strchr(arrow, '[');
  const char *close = strrchr(text, ']');
  if (colon != NULL && bracket != NULL && colon > bracket)
    colon = NULL;
  const char *end = colon != NULL ? colon : bracket != NULL ? bracket : text + strlen(text);
  struct transition transition = {.line = line};
  transition.from = g_strstrip(g_strndup(text, (gsize)(arrow - text)));
  transition.to = g_strstrip(g_strndup(arrow + 2, (gsize)(end - arrow - 2)));
  const char *stop = bracket != NULL ? bracket : text + strlen(text);
  transition.function =
      colon != NULL ? g_strstrip(g_strndup(colon + 2, (gsize)(stop - colon - 2))) : g_strdup("");
  transition.event = bracket != NULL && close > bracket
                         ? g_strstrip(g_strndup(bracket + 1, (gsize)(close - bracket - 1)))
                         : g_strdup("");
  g_array_append_val(comment->found, transition);
  if (transition.from[0] == '\0' || transition.to[0] == '\0' ||
      (bracket != NULL && (close == NULL || close < bracket)))
    return bad(comment, line, "\"%s\", expected STATE -> STATE : function()  [event]", text);
  split_transition(comment, &transition);
  return true;
}

/* Reads the list of transitions. A line without an arrow continues the line before it. */
static bool read_list(struct comment *comment, char **lines, unsigned from)
{
  g_autoptr(GString) text = g_string_new(NULL);
  unsigned start = from;
  for (unsigned i = from;; i++) {
    bool over = lines[i] == NULL || (i > from && strstr(lines[i - 1], "*/") != NULL);
    g_autofree char *line = over ? g_strdup("") : content(lines[i]);
    bool arrow = strstr(line, "->") != NULL;
    bool blank = line[0] == '\0';
    if (text->len > 0 && (arrow || blank)) {
      if (!read_transition(comment, start + 1, text->str))
        return false;
      g_string_truncate(text, 0);
      if (blank)
        return true;
    }
    if (over)
      break;
    if (blank)
      continue;
    if (!arrow && text->len == 0)
      return bad(comment, i + 1, "\"%s\", expected STATE -> STATE : function()  [event]", line);
    if (arrow)
      start = i;
    g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", line);
  }
  return bad(comment, from, "\"Transitions:\" without any, expected STATE -> STATE lines");
}

/* Reads the title, which ends at a full stop or a blank line. Sets *over at the end of the
 * title. */
static void read_title(struct comment *comment, const char *line, bool *over)
{
  bool blank = line[0] == '\0';
  if (*over || (blank && comment->title->len == 0))
    return;
  const char *stop = strstr(line, ". ");
  gssize length = stop != NULL ? stop - line : (gssize)strlen(line);
  if (!blank)
    g_string_append(comment->title, comment->title->len > 0 ? "\n" : "");
  g_string_append_len(comment->title, line, length);
  *over = blank || stop != NULL || g_str_has_suffix(line, ".");
}

static bool read_comment(struct comment *comment, char **lines)
{
  bool titled = false;
  if (lines[0] == NULL || !g_str_has_prefix(lines[0], "/*"))
    return bad(comment, 1, "no opening comment, expected one with \"Transitions:\"");
  for (unsigned i = 0; lines[i] != NULL; i++) {
    g_autofree char *line = content(lines[i]);
    read_title(comment, line, &titled);
    if (g_str_equal(line, "Transitions:"))
      return read_list(comment, lines, i + 1);
    if (strstr(lines[i], "*/") != NULL)
      return bad(comment, i + 1, "the opening comment ends, expected \"Transitions:\" in it");
  }
  return bad(comment, 0, "the opening comment does not end, expected */");
}

/* --- drawing --- */

static void draw_state(struct picture *picture, const char *state, bool first)
{
  g_autofree char *id = g_strconcat("state-", state, NULL);
  picture_node(picture, state, "label", state, "shape", "box", "style", "rounded,filled",
               "fillcolor", first ? "#dce9f7" : "#f4f4f4", "color", first ? "#1261a8" : "#555555",
               "penwidth", first ? "1.6" : "1", "fontsize", "12", "margin", "0.14,0.08", "class",
               "state", "id", id, "tooltip", state, NULL);
}

static void draw_transition(struct picture *picture, const struct comment *comment, unsigned number)
{
  const struct transition *transition = &g_array_index(comment->found, struct transition, number);
  g_autofree char *id = g_strdup_printf("transition-%u", number);
  /* Spaces around the text keep the text at a distance from the arrow. */
  g_autofree char *label = g_strdup_printf(
      " %s%s%s ", transition->event, transition->event[0] && transition->function[0] ? " \n " : "",
      transition->function);
  g_autofree char *file = g_path_get_basename(comment->file); /* names no folder of this machine */
  g_autofree char *tooltip =
      g_strdup_printf("%s:%u: %s -> %s", file, transition->line, transition->from, transition->to);
  picture_edge(picture, transition->from, transition->to, "label", label, "class", "transition",
               "id", id, "color", "#444444", "arrowsize", "0.7", "fontsize", "9", "fontcolor",
               "#333333", "tooltip", tooltip, "labeltooltip", tooltip, NULL);
}

static struct picture *draw_comment(const struct comment *comment)
{
  struct picture *picture = picture_new("protocol");
  /* the second line leaves room below the title */
  g_autofree char *title = g_strconcat(comment->title->str, "\n ", NULL);
  picture_set(picture, "label", title, "nodesep", "0.45", "ranksep", "0.45", NULL);
  for (unsigned i = 0; i < comment->found->len; i++) {
    const struct transition *transition = &g_array_index(comment->found, struct transition, i);
    if (i == 0)
      draw_state(picture, transition->from, true);
    const char *initial = g_array_index(comment->found, struct transition, 0).from;
    draw_state(picture, transition->from, g_str_equal(transition->from, initial));
    draw_state(picture, transition->to, g_str_equal(transition->to, initial));
  }
  for (unsigned i = 0; i < comment->found->len; i++)
    draw_transition(picture, comment, i);
  return picture;
}

static void clear_transition(gpointer data)
{
  struct transition *transition = data;
  g_free(transition->from);
  g_free(transition->to);
  g_free(transition->function);
  g_free(transition->event);
}

static void begin(struct comment *comment, const char *file, GError **error)
{
  *comment = (struct comment){.file = file,
                              .title = g_string_new(NULL),
                              .found = g_array_new(FALSE, FALSE, sizeof(struct transition)),
                              .error = error};
  g_array_set_clear_func(comment->found, clear_transition);
}

static void end(struct comment *comment)
{
  g_string_free(comment->title, TRUE);
  g_array_unref(comment->found);
}

struct picture *states_draw(const char *file, const char *text, GError **error)
{
  struct comment comment;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  begin(&comment, file, error);
  struct picture *picture = read_comment(&comment, lines) ? draw_comment(&comment) : NULL;
  end(&comment);
  return picture;
}

bool states_each(const char *file, const char *text,
                 void (*each)(void *ctx, const char *from, const char *to, const char *event),
                 void *ctx, GError **error)
{
  struct comment comment;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  begin(&comment, file, error);
  bool good = read_comment(&comment, lines);
  for (unsigned i = 0; i < comment.found->len && good; i++) {
    const struct transition *transition = &g_array_index(comment.found, struct transition, i);
    each(ctx, transition->from, transition->to, transition->event);
  }
  end(&comment);
  return good;
}
