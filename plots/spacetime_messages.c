/* Paints the messages of the space-time diagram (spacetime.c). */
#include <math.h>

#include "plots/spacetime_inside.h"

static enum stroke_kind message_stroke(const struct message *message)
{
  if (message->fate == FATE_SUPPRESSED)
    return STROKE_SUPPRESSED;
  if (message->fate == FATE_FLIGHT)
    return message->control ? STROKE_CONTROL_FLIGHT : STROKE_FLIGHT;
  if (message->control)
    return STROKE_CONTROL;
  if (message->fate == FATE_DISCARDED)
    return STROKE_DISCARDED;
  return message->crossing == CROSSING_LATE    ? STROKE_LATE
         : message->crossing == CROSSING_EARLY ? STROKE_EARLY
                                               : STROKE_MESSAGE;
}

/* Returns where the arrow ends: at the receiving event, in the air towards the receiver, or at a
 * bar right after the sender's line. */
static struct point message_end(const struct diagram *diagram, const struct message *message,
                                struct point from)
{
  if (message->received != NOWHERE)
    return spacetime_point(diagram, message->received);
  double down = diagram->row[message->to] - from.y;
  double far = message->fate == FATE_SUPPRESSED ? 13 : 0.45 * fabs(down);
  far = MAX(12, MIN(far, 36));
  return (struct point){from.x + 0.5 * far, from.y + (down < 0 ? -far : far)};
}

static bool is_free(const struct diagram *diagram, struct rectangle want)
{
  for (unsigned i = 0; i < diagram->taken->len; i++) {
    const struct rectangle *has = &g_array_index(diagram->taken, struct rectangle, i);
    if (want.left < has->right && has->left < want.right && want.top < has->bottom &&
        has->top < want.bottom)
      return false;
  }
  for (int rank = diagram->dispatcher ? DISPATCHER : 0; rank < diagram->trace->ranks; rank++)
    if (want.top - 3 < diagram->row[rank] && diagram->row[rank] < want.bottom + 3)
      return false;
  return true;
}

/* Writes a text beside the middle of an arrow, or at another point along the arrow where there is
 * room. Returns false if there is no room. */
static bool paint_text(struct diagram *diagram, const char *text, const char *color,
                       struct point from, struct point to)
{
  static const double PLACES[] = {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82};
  double half = picture_text_width(text, SMALL) / 2 + 1;
  for (unsigned i = 0; i < G_N_ELEMENTS(PLACES); i++) {
    struct point at = {from.x + PLACES[i] * (to.x - from.x), from.y + PLACES[i] * (to.y - from.y)};
    struct rectangle want = {at.x - half, at.y - 4, at.x + half, at.y + 4};
    if (!is_free(diagram, want))
      continue;
    spacetime_take(diagram, want);
    g_autofree char *pos = picture_pos(at);
    g_autofree char *width = picture_number(2 * half / 72);
    g_autofree char *node = spacetime_fresh_name(diagram);
    picture_node(diagram->picture, node, "shape", "box", "style", "filled", "color", "#ffffff00",
                 "fillcolor", "#ffffffd8", "fixedsize", "true", "width", width, "height", "0.105",
                 "margin", "0,0", "label", text, "fontsize", "7", "fontcolor", color, "pos", pos,
                 "class", "control name", "tooltip", text, NULL);
    return true;
  }
  return false;
}

/* Returns "control marker, message 4: 0 to 1: what it says". */
static char *control_tooltip(const struct diagram *diagram, const struct message *message,
                             const struct trace_line *line, const char *class)
{
  g_autofree char *number = message->number < 0
                                ? g_strdup("")
                                : g_strdup_printf(", message %" G_GINT64_FORMAT, message->number);
  const struct trace_item *action = NULL;
  for (unsigned i = 0; i < line->actions_count && message->number >= 0; i++)
    if (line->actions[i].message == message->number)
      action = &line->actions[i];
  g_autofree char *said = action ? trace_item_says(diagram->trace, action) : NULL;
  return g_strdup_printf("%s %s%s: %d to %d%s%s", class, message->name, number, message->from,
                         message->to, said ? ": " : "", said ? said : "");
}

static char *message_tooltip(const struct diagram *diagram, const struct message *message)
{
  const struct trace_line *line = trace_file_line(diagram->trace, (unsigned)message->sent);
  const char *class = spacetime_strokes[message_stroke(message)].class;
  g_autofree char *at =
      message->crossing == CROSSING_NONE
          ? g_strdup("")
          : g_strdup_printf(" for recovery line %" G_GINT64_FORMAT, message->checkpoint);
  if (message->control)
    return control_tooltip(diagram, message, line, class);
  const char *tag = trace_item_field(&line->event, "tag");
  return g_strdup_printf("%s%s: %d to %d, tag %s", class, at, message->from, message->to,
                         tag != NULL ? tag : "?");
}

/* Marks a message that a violation names with the message's number. */
static void paint_named(struct diagram *diagram, const struct message *message, const char *tail,
                        const char *head, const struct point *line, const char *tooltip)
{
  if (message->control || !trace_file_names(diagram->trace, message->number))
    return;
  spacetime_paint(diagram, STROKE_OFFENDS, tail, head, line, 2, tooltip, NULL);
  g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, message->number);
  paint_text(diagram, text, "#d00000", line[0], line[1]);
}

static void paint_self(struct diagram *diagram, const struct message *message, const char *tooltip)
{
  if (message->received != NOWHERE && message->received != message->sent)
    spacetime_paint_arc(diagram, message_stroke(message), message->sent, message->received, 18,
                        tooltip);
}

/* Writes the name of a control message and, where there is room for it, the number. */
static void paint_control_name(struct diagram *diagram, const struct message *message,
                               struct point from, struct point to)
{
  g_autofree char *both = g_strdup_printf("%s %" G_GINT64_FORMAT, message->name, message->number);
  bool painted = message->number >= 0 && paint_text(diagram, both, "#5f5f5f", from, to);
  diagram->unlabelled += !painted && !paint_text(diagram, message->name, "#5f5f5f", from, to);
}

void spacetime_paint_message(struct diagram *diagram, const struct message *message)
{
  if (!diagram->shown[message->sent] ||
      (message->received != NOWHERE && !diagram->shown[message->received]))
    return;
  g_autofree char *tooltip = message_tooltip(diagram, message);
  if (message->from == message->to) {
    paint_self(diagram, message, tooltip);
    return;
  }
  struct point from = spacetime_point(diagram, message->sent);
  struct point to = message_end(diagram, message, from);
  double length = hypot(to.x - from.x, to.y - from.y);
  double cut = message->received == NOWHERE ? 0 : MIN(MARK / length, 0.4);
  struct point line[] = {from, {to.x - cut * (to.x - from.x), to.y - cut * (to.y - from.y)}};
  g_autofree char *tail = spacetime_node(diagram, message->sent);
  g_autofree char *head =
      message->received == NOWHERE ? g_strdup(tail) : spacetime_node(diagram, message->received);
  paint_named(diagram, message, tail, head, line, tooltip);
  spacetime_paint(diagram, message_stroke(message), tail, head, line, 2, tooltip, NULL);
  if (message->control && message->name[0] != '\0')
    paint_control_name(diagram, message, from, to);
}
