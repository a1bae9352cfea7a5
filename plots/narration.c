#include "plots/narration.h"

#include <string.h>

#include "plots/words.h"

struct teller {
  const struct history *history;
  const struct trace_file *trace;
  char **name; /* by rank */
  GString *text;
};

static const char *name_of(const struct teller *t, gint64 rank)
{
  return rank >= 0 && rank < t->trace->ranks ? t->name[rank] : "?";
}

static void give_names(struct teller *t)
{
  t->name = g_new0(char *, (gsize)t->trace->ranks + 1);
  for (int rank = 0; rank < t->trace->ranks; rank++)
    t->name[rank] = g_strdup_printf("rank %d", rank);
}

/* ---- messages ---- */

static const struct message *sent_at(const struct teller *t, int line, bool control)
{
  for (unsigned i = 0; i < t->history->messages->len; i++) {
    const struct message *message = &g_array_index(t->history->messages, struct message, i);
    if (message->sent == line && message->control == control)
      return message;
  }
  return NULL;
}

static const struct message *received_at(const struct teller *t, int line)
{
  for (unsigned i = 0; i < t->history->messages->len; i++) {
    const struct message *message = &g_array_index(t->history->messages, struct message, i);
    if (message->received == line)
      return message;
  }
  return NULL;
}

static void tell_number(struct teller *t, const struct trace_item *item)
{
  if (item->message >= 0)
    g_string_append_printf(t->text, " %" G_GINT64_FORMAT, item->message);
}

static void tell_envelope(struct teller *t, const struct trace_item *item)
{
  const char *tag = trace_item_field(item, "tag");
  if (tag && !g_str_equal(tag, "0"))
    g_string_append_printf(t->text, ", tag %s", tag);
}

/* Tells what became of a program's message, unless it was simply received. */
static void tell_fate(struct teller *t, const struct message *message)
{
  const char *from = name_of(t, message->from), *to = name_of(t, message->to);
  if (message->fate == FATE_FLIGHT)
    g_string_append(t->text, ". It is not received in this run");
  else if (message->crossing == CROSSING_LATE)
    g_string_append_printf(
        t->text,
        ". It is late: sent before %s is captured for checkpoint %" G_GINT64_FORMAT
        ", received after %s is. After a rollback nobody sends it again",
        from, message->checkpoint, to);
  else if (message->crossing == CROSSING_EARLY)
    g_string_append_printf(
        t->text,
        ". It is early: sent after %s is captured for checkpoint %" G_GINT64_FORMAT
        ", received before %s is. After a rollback %s has it, and it is sent again",
        from, message->checkpoint, to, to);
}

/* ---- events ---- */

static void tell_offer(struct teller *t, int line, const struct trace_item *event)
{
  const struct message *message = sent_at(t, line, false);
  const char *to = name_of(t, trace_item_number(event, "peer", -1));
  bool suppressed = message && message->fate == FATE_SUPPRESSED;
  g_string_append_printf(t->text, suppressed ? "would send a message to %s" : "sends message", to);
  if (!suppressed) {
    tell_number(t, event);
    g_string_append_printf(t->text, " to %s", to);
  }
  tell_envelope(t, event);
  if (suppressed)
    g_string_append_printf(t->text, ", and does not: %s has it already", to);
  else if (message)
    tell_fate(t, message);
}

static void tell_receive(struct teller *t, int line, const struct trace_item *event)
{
  const char *peer = trace_item_field(event, "peer");
  (void)line;
  g_string_append(t->text, "asks to receive from ");
  if (peer && g_str_equal(peer, "any"))
    g_string_append(t->text, "anybody");
  else
    g_string_append(t->text, name_of(t, trace_item_number(event, "peer", 0)));
  tell_envelope(t, event);
}

/* Returns the last message that the rank of line `line` has put into the slot before that line, or
 * NULL if it is not known. */
static const struct trace_item *kept_in(const struct teller *t, int line, gint64 slot)
{
  int rank = trace_file_line(t->trace, (unsigned)line)->rank;
  for (int i = line - 1; i >= 0; i--) {
    const struct trace_line *other = trace_file_line(t->trace, (unsigned)i);
    const struct trace_item *kept =
        other->rank == rank ? trace_line_action(other, "keep", NULL) : NULL;
    if (kept && trace_item_number(kept, "slot", 0) == slot && other->event.message >= 0)
      return &other->event;
  }
  return NULL;
}

/* Tells which message this one repeats, if it was sent from a slot. */
static void tell_original(struct teller *t, const struct message *message)
{
  const struct trace_line *sent = trace_file_line(t->trace, (unsigned)message->sent);
  for (unsigned i = 0; i < sent->actions_count; i++) {
    const struct trace_item *action = &sent->actions[i];
    if (action->message != message->number || !trace_item_is(action, "resend"))
      continue;
    const struct trace_item *kept = kept_in(t, message->sent, trace_item_number(action, "slot", 0));
    if (kept)
      g_string_append_printf(t->text, ", which is message %" G_GINT64_FORMAT " once more",
                             kept->message);
  }
}

static void tell_arrival(struct teller *t, int line, const struct trace_item *event)
{
  const struct message *message = received_at(t, line);
  g_string_append(t->text, "gets message");
  tell_number(t, event);
  g_string_append_printf(t->text, " from %s", name_of(t, trace_item_number(event, "peer", -1)));
  tell_envelope(t, event);
  if (message && message->number >= 0)
    tell_original(t, message);
  if (message && message->crossing == CROSSING_LATE)
    g_string_append(t->text, ", late");
  else if (message && message->crossing == CROSSING_EARLY)
    g_string_append(t->text, ", early: an orphan if all go back to that checkpoint");
}

/* Tells the name of a control message and its number: messages of the program and control messages
 * are numbered together. */
static void tell_control_name(struct teller *t, const struct trace_item *item)
{
  g_string_append(t->text, item->word ? item->word : "something");
  if (item->message >= 0)
    g_string_append_printf(t->text, " (message %" G_GINT64_FORMAT ")", item->message);
}

static void tell_what_it_says(struct teller *t, const struct trace_item *item)
{
  g_autofree char *said = trace_item_says(t->trace, item);
  if (said)
    g_string_append_printf(t->text, ": \"%s\"", said);
}

static void tell_control(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  g_string_append(t->text, "receives ");
  tell_control_name(t, event);
  g_string_append_printf(t->text, " from %s", name_of(t, trace_item_number(event, "peer", -1)));
  tell_what_it_says(t, event);
}

/* Returns whether an image of the rank has become durable before this line. */
static bool has_stored(const struct teller *t, int line)
{
  int rank = trace_file_line(t->trace, (unsigned)line)->rank;
  for (unsigned i = 0; i < (unsigned)line; i++) {
    const struct trace_line *other = trace_file_line(t->trace, i);
    if (other->rank == rank && trace_item_is(&other->event, "durable"))
      return true;
  }
  return false;
}

static void tell_start(struct teller *t, int line, const struct trace_item *event)
{
  gint64 checkpoint = trace_item_number(event, "checkpoint", 0);
  bool again = false;
  for (unsigned i = 0; i < (unsigned)line; i++)
    again |= trace_file_line(t->trace, i)->rank == trace_file_line(t->trace, (unsigned)line)->rank;
  g_string_append(t->text, again ? "starts again" : "starts");
  if (checkpoint)
    g_string_append_printf(t->text, " from checkpoint %" G_GINT64_FORMAT, checkpoint);
  else if (again)
    g_string_append(t->text, has_stored(t, line)
                                 ? ", from the beginning"
                                 : ", from the beginning: no image of it is stored");
}

static void tell_choice(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  bool cancels = trace_item_number(event, "request", 0) > 0;
  gint64 outcome = trace_item_number(event, "outcome", 0);
  if (cancels)
    g_string_append(t->text, outcome ? "cancels a receive" : "fails to cancel a receive");
  else
    g_string_append_printf(t->text, "makes a choice, which comes out as %" G_GINT64_FORMAT,
                           outcome);
}

static void tell_place(struct teller *t, int line, const struct trace_item *event)
{
  gint64 iteration = trace_item_number(event, "iteration", 0);
  (void)line;
  if (iteration)
    g_string_append_printf(t->text, "begins iteration %" G_GINT64_FORMAT, iteration);
  else
    g_string_append(t->text, "is at a safe point");
}

static void tell_durable(struct teller *t, int line, const struct trace_item *event)
{
  const char *part = trace_item_field(event, "part");
  bool early = event->word && g_str_equal(event->word, "early");
  (void)line;
  g_string_append_printf(t->text,
                         "%s that its %s of checkpoint %" G_GINT64_FORMAT " is on stable storage",
                         early ? "is told, too soon," : "learns", part ? part : "part",
                         trace_item_number(event, "checkpoint", 0));
}

static void tell_lie(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  bool drop = event->word && g_str_equal(event->word, "drop");
  g_string_append_printf(t->text, "is lied to: the network %s message", drop ? "loses" : "doubles");
  tell_number(t, event);
  g_string_append_printf(t->text, " from %s", name_of(t, trace_item_number(event, "peer", -1)));
}

/* Appends the number of a collective call, and how its data flow. */
static void tell_call(struct teller *t, const char *before, const struct trace_item *event)
{
  const char *flow = trace_item_field(event, "flow");
  const struct words *words = flow ? words_find(words_flows, flow) : NULL;
  g_string_append_printf(t->text, "%s collective call %" G_GINT64_FORMAT, before,
                         trace_item_number(event, "call", 0));
  if (flow)
    g_string_append_printf(t->text, " (%s)", words ? words->text : flow);
}

static void tell_collective(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  tell_call(t, "comes to", event);
}

static void tell_collected(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  tell_call(t, "has all that flows to it in", event);
}

static const struct {
  const char *event;
  void (*tell)(struct teller *, int line, const struct trace_item *);
} EVENTS[] = {
    {"send", tell_offer},
    {"receive", tell_receive},
    {"arrived", tell_arrival},
    {"control", tell_control},
    {"start", tell_start},
    {"choice", tell_choice},
    {"safe-point", tell_place},
    {"durable", tell_durable},
    {"lie", tell_lie},
    {"collective", tell_collective},
    {"collected", tell_collected},
};

/* Appends `before` and the words, in which the value of the field replaces %s. */
static void tell_words(struct teller *t, const char *before, const struct words *words,
                       const struct trace_item *item)
{
  const char *value = words->field ? trace_item_field(item, words->field) : NULL;
  const struct words *reason = value ? words_find(words_reasons, value) : NULL;
  /* a trace leaves out fields whose value is 0 */
  value = reason ? reason->text : value ? value : "0";
  g_auto(GStrv) halves = g_strsplit(words->text, "%s", 2);
  g_string_append_printf(t->text, "%s%s%s%s", before, halves[0], halves[1] ? value : "",
                         halves[1] ? halves[1] : "");
}

static void tell_event(struct teller *t, int line, const struct trace_item *event)
{
  const struct words *words = words_find(words_events, event->name);
  for (size_t i = 0; i < G_N_ELEMENTS(EVENTS); i++)
    if (trace_item_is(event, EVENTS[i].event)) {
      EVENTS[i].tell(t, line, event);
      return;
    }
  if (words)
    tell_words(t, "", words, event);
  else
    g_string_append(t->text, event->name);
}

static void tell_down(struct teller *t, const struct trace_item *event)
{
  g_string_append_printf(t->text, "learns that %s has crashed",
                         name_of(t, trace_item_number(event, "peer", -1)));
}

static void tell_detection(struct teller *t, const struct trace_item *event)
{
  gint64 checkpoint = trace_item_number(event, "checkpoint", 0);
  g_string_append_printf(
      t->text, event->word ? "%s, which lives, is declared dead" : "The crash of %s is detected",
      name_of(t, trace_item_number(event, "rank", -1)));
  if (checkpoint)
    g_string_append_printf(t->text, ": back to checkpoint %" G_GINT64_FORMAT, checkpoint);
}

/* ---- actions ---- */

/* Tells what a slot contains: the message with which the rank has last filled the slot. A trace
 * that begins later does not say which message that is. */
static void tell_slot(struct teller *t, int line, const struct trace_item *action)
{
  gint64 slot = trace_item_number(action, "slot", 0);
  const struct trace_item *kept = kept_in(t, line, slot);
  if (!kept) {
    g_string_append_printf(t->text, "what slot %" G_GINT64_FORMAT " holds", slot);
    return;
  }
  g_string_append(t->text, "message");
  tell_number(t, kept);
  g_string_append_printf(t->text, " from slot %" G_GINT64_FORMAT, slot);
}

/* Tells a control message, and whether nobody receives it. */
static void tell_sending(struct teller *t, int line, const struct trace_item *action)
{
  g_string_append(t->text, "; it sends ");
  tell_control_name(t, action);
  g_string_append_printf(t->text, " to %s", name_of(t, trace_item_number(action, "peer", -1)));
  for (unsigned i = 0; i < t->history->messages->len; i++) {
    const struct message *m = &g_array_index(t->history->messages, struct message, i);
    if (m->sent == line && m->control && m->number == action->message && action->message >= 0 &&
        m->received == NOWHERE)
      g_string_append(t->text, ", which is not received in this run");
  }
  tell_what_it_says(t, action);
}

static void tell_action(struct teller *t, int line, const struct trace_item *action)
{
  if (trace_item_is(action, "deliver") && trace_item_number(action, "slot", 0) > 0) {
    g_string_append(t->text, "; it gives its program ");
    tell_slot(t, line, action);
  } else if (trace_item_is(action, "control")) {
    tell_sending(t, line, action);
  } else if (trace_item_is(action, "resend")) {
    g_string_append_printf(t->text, "; it sends %s once more ",
                           name_of(t, trace_item_number(action, "peer", -1)));
    tell_slot(t, line, action);
    g_string_append(t->text, ", as message");
    tell_number(t, action);
  } else if (trace_item_is(action, "store")) {
    g_string_append_printf(t->text, "; it has its %s of checkpoint %" G_GINT64_FORMAT " written",
                           trace_item_field(action, "part"),
                           trace_item_number(action, "checkpoint", 0));
  }
  const struct words *words = words_find(words_actions, action->name);
  if (words)
    tell_words(t, "; it ", words, action);
}

/* ---- lines ---- */

static void tell_line(struct teller *t, int index)
{
  const struct trace_line *line = trace_file_line(t->trace, (unsigned)index);
  g_string_append_printf(t->text, "%4s  ", line->time);
  gsize begin = t->text->len;
  if (trace_item_is(&line->event, "detected")) {
    tell_detection(t, &line->event);
  } else {
    g_string_append_printf(t->text, "%s ", name_of(t, line->rank));
    if (trace_item_is(&line->event, "down"))
      tell_down(t, &line->event);
    else
      tell_event(t, index, &line->event);
  }
  for (unsigned i = 0; i < line->actions_count; i++)
    tell_action(t, index, &line->actions[i]);
  if (trace_item_field(&line->event, "cut"))
    g_string_append(t->text, "; it crashes within this step");
  g_string_append(t->text, ".\n");
  t->text->str[begin] = g_ascii_toupper(t->text->str[begin]);
}

char *narration_violation(const struct trace_violation *violation)
{
  const struct words *rule = words_find(words_rules, violation->property);
  g_autofree char *text = words_violation(violation->text);
  /* the text of an invariant begins with its number, and the text of an outcome names the ranks */
  const char *colon = g_str_has_prefix(text, "invariant ") ? strstr(text, ": ") : NULL;
  g_autofree char *what =
      colon ? g_strndup(text, (gsize)(colon - text)) : g_strdup(violation->property);
  bool nowhere = violation->rank == DISPATCHER || g_str_equal(violation->property, "outcome");
  g_autofree char *where =
      nowhere ? g_strdup("") : g_strdup_printf(", at rank %d", violation->rank);
  bool timed = violation->by && strchr(violation->by, '.');
  g_autofree char *by = violation->by ? g_strdup_printf(", by %s %s%s", timed ? "time" : "step",
                                                        violation->by, timed ? " s" : "")
                                      : g_strdup("");
  return g_strdup_printf("Violated: %s%s%s: %s.%s%s", what, where, by, colon ? colon + 2 : text,
                         rule ? "\nThe rule: " : "", rule ? rule->text : "");
}

static void tell_violations(struct teller *t)
{
  for (unsigned i = 0; i < t->trace->violations->len; i++) {
    g_autofree char *text =
        narration_violation(&g_array_index(t->trace->violations, struct trace_violation, i));
    g_string_append_printf(t->text, "\n%s\n", text);
  }
}

char *narration_write(const struct history *history)
{
  struct teller t = {.history = history, .trace = history->trace, .text = g_string_new(NULL)};
  give_names(&t);
  g_string_append_printf(t.text, "%s, %d ranks:\n\n",
                         t.trace->protocol ? t.trace->protocol : "A trace", t.trace->ranks);
  for (unsigned i = 0; i < t.trace->lines->len; i++)
    tell_line(&t, (int)i);
  if (t.trace->again >= 0)
    g_string_append_printf(t.text, "      And again from %s, for ever.\n",
                           trace_file_line(t.trace, (unsigned)t.trace->again)->time);
  tell_violations(&t);
  g_strfreev(t.name);
  return g_string_free(t.text, FALSE);
}
