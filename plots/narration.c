#include "plots/narration.h"

#include <string.h>

/* Ranks get letters, in the order in which they appear, as their numbers do not matter. */
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

static char *letters(unsigned number)
{
  char letter = (char)('A' + number % 26);
  return number < 26 ? g_strdup_printf("%c", letter) : g_strdup_printf("%c%u", letter, number / 26);
}

static void give_names(struct teller *t)
{
  unsigned given = 0;
  t->name = g_new0(char *, (gsize)t->trace->ranks + 1);
  for (unsigned i = 0; i < t->trace->lines->len; i++) {
    int rank = trace_file_line(t->trace, i)->rank;
    if (rank != DISPATCHER && !t->name[rank])
      t->name[rank] = letters(given++);
  }
  for (int rank = 0; rank < t->trace->ranks; rank++)
    if (!t->name[rank])
      t->name[rank] = letters(given++);
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

/* Tells the fate of a message of the program, where it matters. */
static void tell_fate(struct teller *t, const struct message *message)
{
  const char *from = name_of(t, message->from), *to = name_of(t, message->to);
  if (message->fate == FATE_FLIGHT)
    g_string_append(t->text, ". It is never received");
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

static void tell_arrival(struct teller *t, int line, const struct trace_item *event)
{
  const struct message *message = received_at(t, line);
  g_string_append(t->text, "gets message");
  tell_number(t, event);
  g_string_append_printf(t->text, " from %s", name_of(t, trace_item_number(event, "peer", -1)));
  tell_envelope(t, event);
  if (message && message->crossing == CROSSING_LATE)
    g_string_append(t->text, ", late");
  else if (message && message->crossing == CROSSING_EARLY)
    g_string_append(t->text, ", early: an orphan if all go back to that checkpoint");
}

static void tell_control(struct teller *t, int line, const struct trace_item *event)
{
  const char *word = event->word ? event->word : "something";
  (void)line;
  g_string_append_printf(t->text, "hears %s from %s", word,
                         name_of(t, trace_item_number(event, "peer", -1)));
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
    g_string_append(t->text, ", from the beginning");
}

static void tell_choice(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  bool cancels = trace_item_number(event, "request", 0) > 0;
  gint64 outcome = trace_item_number(event, "outcome", 0);
  if (cancels)
    g_string_append(t->text, outcome ? "cancels a receive" : "fails to cancel a receive");
  else
    g_string_append_printf(t->text, "chooses %" G_GINT64_FORMAT, outcome);
}

static void tell_place(struct teller *t, int line, const struct trace_item *event)
{
  gint64 iteration = trace_item_number(event, "iteration", 0);
  (void)line;
  if (iteration)
    g_string_append_printf(t->text, "begins iteration %" G_GINT64_FORMAT, iteration);
  else
    g_string_append(t->text, "may be captured here");
}

static void tell_durable(struct teller *t, int line, const struct trace_item *event)
{
  const char *part = trace_item_field(event, "part");
  bool early = event->word && g_str_equal(event->word, "early");
  (void)line;
  g_string_append_printf(t->text, "%s that its %s of checkpoint %s is on stable storage",
                         early ? "is told, too soon," : "learns", part ? part : "part",
                         trace_item_field(event, "checkpoint"));
}

static void tell_lie(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  bool drop = event->word && g_str_equal(event->word, "drop");
  g_string_append_printf(t->text, "is lied to: the network %s message", drop ? "loses" : "doubles");
  tell_number(t, event);
  g_string_append_printf(t->text, " from %s", name_of(t, trace_item_number(event, "peer", -1)));
}

static void tell_collective(struct teller *t, int line, const struct trace_item *event)
{
  const char *flow = trace_item_field(event, "flow");
  (void)line;
  g_string_append_printf(t->text, "comes to collective call %" G_GINT64_FORMAT " (%s)",
                         trace_item_number(event, "call", 0), flow ? flow : "");
}

static void tell_collected(struct teller *t, int line, const struct trace_item *event)
{
  (void)line;
  g_string_append_printf(t->text, "has all that flows to it in collective call %" G_GINT64_FORMAT,
                         trace_item_number(event, "call", 0));
}

/* %s: the field of the event, where there is one. */
static const struct {
  const char *event, *words, *field;
  void (*tell)(struct teller *, int line, const struct trace_item *);
} EVENTS[] = {
    {"send", NULL, NULL, tell_offer},
    {"receive", NULL, NULL, tell_receive},
    {"arrived", NULL, NULL, tell_arrival},
    {"control", NULL, NULL, tell_control},
    {"start", NULL, NULL, tell_start},
    {"choice", NULL, NULL, tell_choice},
    {"safe-point", NULL, NULL, tell_place},
    {"durable", NULL, NULL, tell_durable},
    {"lie", NULL, NULL, tell_lie},
    {"collective", NULL, NULL, tell_collective},
    {"collected", NULL, NULL, tell_collected},
    {"timer", "finds that it is time for a checkpoint", NULL, NULL},
    {"captured", "is captured for checkpoint %s: its part of the recovery line", "checkpoint",
     NULL},
    {"committed", "sees checkpoint %s committed: from here on all go back to it", "checkpoint",
     NULL},
    {"crash", "crashes: what it had in memory is gone", NULL, NULL},
    {"ended", "ends: it was declared dead", NULL, NULL},
    {"finished", "has come to the end of its program", NULL, NULL},
    {"member", "becomes a member of communicator %s", "comm", NULL},
};

static void tell_event(struct teller *t, int line, const struct trace_item *event)
{
  for (size_t i = 0; i < G_N_ELEMENTS(EVENTS); i++) {
    if (!trace_item_is(event, EVENTS[i].event))
      continue;
    if (EVENTS[i].tell) {
      EVENTS[i].tell(t, line, event);
      return;
    }
    const char *value = EVENTS[i].field ? trace_item_field(event, EVENTS[i].field) : "";
    g_auto(GStrv) halves = g_strsplit(EVENTS[i].words, "%s", 2);
    g_string_append_printf(t->text, "%s%s%s", halves[0], halves[1] ? value : "",
                           halves[1] ? halves[1] : "");
    return;
  }
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

/* Texts for actions that are worth telling; %s: the field. */
static const struct {
  const char *action, *words, *field;
} ACTIONS[] = {
    {"capture", "is to be captured for checkpoint %s", "checkpoint"},
    {"commit", "commits checkpoint %s", "checkpoint"},
    {"erase", "erases checkpoint %s", "checkpoint"},
    {"hold", "holds its program", NULL},
    {"release", "lets its program go on", NULL},
    {"drain", "takes in all that is under way", NULL},
    {"roll-back", "goes back to checkpoint %s", "checkpoint"},
    {"force", "must choose %s again", "outcome"},
    {"discard", "drops it", NULL},
    {"keep", "keeps it in slot %s", "slot"},
    {"stopped-logging", "stops logging for checkpoint %s", "checkpoint"},
    {"open", "opens its connections", NULL},
    {"join", "takes part", NULL},
    {"give-up", "gives up: %s", "reason"},
};

static void tell_deliver(struct teller *t, const struct trace_item *action)
{
  if (trace_item_number(action, "slot", 0) > 0)
    g_string_append_printf(t->text, "; it gives its program what slot %s holds",
                           trace_item_field(action, "slot"));
}

static void tell_sending(struct teller *t, const struct trace_item *action, const char *what)
{
  g_string_append_printf(t->text, "; it tells %s %s",
                         name_of(t, trace_item_number(action, "peer", -1)), what);
}

static void tell_action(struct teller *t, const struct trace_item *action)
{
  if (trace_item_is(action, "deliver")) {
    tell_deliver(t, action);
  } else if (trace_item_is(action, "control")) {
    tell_sending(t, action, action->word ? action->word : "something");
  } else if (trace_item_is(action, "resend")) {
    g_string_append_printf(t->text, "; it sends %s once more what slot %s holds, as message",
                           name_of(t, trace_item_number(action, "peer", -1)),
                           trace_item_field(action, "slot"));
    tell_number(t, action);
  } else if (trace_item_is(action, "store")) {
    g_string_append_printf(t->text, "; it has its %s of checkpoint %s written",
                           trace_item_field(action, "part"),
                           trace_item_field(action, "checkpoint"));
  }
  for (size_t i = 0; i < G_N_ELEMENTS(ACTIONS); i++) {
    if (!trace_item_is(action, ACTIONS[i].action))
      continue;
    const char *value = ACTIONS[i].field ? trace_item_field(action, ACTIONS[i].field) : NULL;
    g_auto(GStrv) halves = g_strsplit(ACTIONS[i].words, "%s", 2);
    g_string_append_printf(t->text, "; it %s%s%s", halves[0], halves[1] && value ? value : "",
                           halves[1] ? halves[1] : "");
  }
}

/* ---- lines ---- */

static void tell_line(struct teller *t, int index)
{
  const struct trace_line *line = trace_file_line(t->trace, (unsigned)index);
  g_string_append_printf(t->text, "%4s  ", line->time);
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
    tell_action(t, &line->actions[i]);
  if (trace_item_field(&line->event, "cut"))
    g_string_append(t->text, "; it crashes within this step");
  g_string_append(t->text, ".\n");
}

/* The meaning of properties (docs/architecture.md). */
static const struct {
  const char *property, *rule;
} RULES[] = {
    {"no-loss", "Messages of one flow are given in order, and none is left out."},
    {"no-duplicate", "No message is given twice."},
    {"outcome", "The programs end as some run without failures can."},
    {"agreement", "A receiver was given what its sender, as it ended up, has sent."},
    {"deadlock", "Every program ends."},
    {"commits", "Every checkpoint that was asked for is committed."},
    {"progress", "No run goes round for ever before all programs have ended, or a checkpoint that "
                 "was asked for is committed."},
    {"restorable", "What was committed is on stable storage."},
    {"legal", "The protocol does nothing that it must not do."},
    {"invariant", "The protocol's own invariants hold after each step."},
    {"recovers", "The protocol recovers from every crash."},
    {"no-orphan", "Data sent in a collective are taken by all to whom they flow."},
    {"tokens", "A recorded global state has as many messages received, or under way, as sent."},
    {"quiet-channels", "Nothing is under way to or from a rank that is captured."},
    {"local-rollback", "No rank that lives goes back."},
    {"own-iteration", "No rank that lives goes back behind its last capture."},
    {"no-domino", "No rank goes back past two of its checkpoints."},
    {"output", "What has left for the outside is said again, and nothing else."},
    {"output-at-rest", "Every output has left before all programs have ended."},
    {"output-local", "An output waits for what its own rank has to store, and for nothing else."},
    {"pure", "A step touches its state and its actions only, and ends."},
    {"line-invariant", "The clauses of the protocol's line invariant hold in every state."},
    {"once-per-failure", "No rank that lives goes back more than once for each failure."},
    {"useful", "Each stored checkpoint is part of a consistent state of all ranks."},
    {"bounds", "Clocks and latencies keep to the bounds that the protocol was told."},
    {"c3-1.1", "Nobody stops logging before all ranks are beyond the recovery line."},
    {"c3-1.2", "Who has stopped logging sends nothing to a rank that is behind the line."},
    {"c3-1.3", "Who has stopped logging receives nothing that was sent behind the line."},
    {"c3-2.2",
     "In a collective no data flow from a rank that has stopped logging to one behind it."},
    {"c3-2.3",
     "In a collective no data flow from behind the line to a rank that has stopped logging."},
};

static void tell_violations(struct teller *t)
{
  for (unsigned i = 0; i < t->trace->violations->len; i++) {
    const struct trace_violation *violation =
        &g_array_index(t->trace->violations, struct trace_violation, i);
    g_string_append_printf(t->text, "\nViolated: %s", violation->property);
    if (violation->rank != DISPATCHER)
      g_string_append_printf(t->text, ", at %s (rank %d)", name_of(t, violation->rank),
                             violation->rank);
    g_string_append_printf(t->text, ": %s.\n", violation->text);
    for (size_t rule = 0; rule < G_N_ELEMENTS(RULES); rule++)
      if (g_str_equal(RULES[rule].property, violation->property))
        g_string_append_printf(t->text, "The rule: %s\n", RULES[rule].rule);
  }
}

static void tell_head(struct teller *t)
{
  g_string_append_printf(t->text, "%s:", t->trace->protocol ? t->trace->protocol : "A trace");
  for (int rank = 0; rank < t->trace->ranks; rank++)
    g_string_append_printf(t->text, "%s %s is rank %d", rank > 0 ? "," : "", name_of(t, rank),
                           rank);
  g_string_append(t->text, ".\n\n");
}

char *narration_write(const struct history *history)
{
  struct teller t = {.history = history, .trace = history->trace, .text = g_string_new(NULL)};
  give_names(&t);
  tell_head(&t);
  for (unsigned i = 0; i < t.trace->lines->len; i++)
    tell_line(&t, (int)i);
  if (t.trace->again >= 0)
    g_string_append_printf(t.text, "      And again from %s, for ever.\n",
                           trace_file_line(t.trace, (unsigned)t.trace->again)->time);
  tell_violations(&t);
  g_strfreev(t.name);
  return g_string_free(t.text, FALSE);
}
