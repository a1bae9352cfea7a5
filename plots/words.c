#include "plots/words.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

const struct words words_events[] = {
    {"timer", "finds that it is time for a checkpoint", NULL},
    {"captured", "is captured in memory for checkpoint %s: its part of the recovery line",
     "checkpoint"},
    {"committed", "sees checkpoint %s committed: from here on all go back to it", "checkpoint"},
    {"crash", "crashes: what it had in memory is gone", NULL},
    {"ended", "ends: it was declared dead", NULL},
    {"finished", "has come to the end of its program", NULL},
    {"member", "becomes a member of communicator %s", "comm"},
    {"output", "makes output %s", "output"},
    {NULL, NULL, NULL}};

const struct words words_actions[] = {
    {"capture", "is to be captured for checkpoint %s", "checkpoint"},
    {"commit", "commits checkpoint %s", "checkpoint"},
    {"erase", "erases checkpoint %s", "checkpoint"},
    {"hold", "holds its program", NULL},
    {"release", "lets its program go on", NULL},
    {"drain", "takes in all that is under way", NULL},
    {"roll-back", "goes back to checkpoint %s", "checkpoint"},
    {"force", "must choose %s again", "outcome"},
    {"discard", "drops it", NULL},
    {"keep", "keeps a copy in slot %s", "slot"},
    {"forget", "frees its copy in slot %s", "slot"},
    {"stopped-logging", "stops logging for checkpoint %s", "checkpoint"},
    {"open", "opens its connections", NULL},
    {"join", "takes part", NULL},
    {"give-up", "gives up: %s", "reason"},
    {"output", "lets output %s leave", "output"},
    {NULL, NULL, NULL}};

const struct words words_quiet[] = {
    {"transmit", "sends it", NULL},
    {"suppress", "suppresses it, as its receiver has it", NULL},
    {"set-timer", "sets its timer for the next checkpoint", NULL},
    {"match", "leaves the receive to the next message that fits", NULL},
    {"deliver", "gives it to its program", NULL},
    {"rejoin", "takes part again", NULL},
    {NULL, NULL, NULL}};

const struct words words_flows[] = {{"all", "all to all", NULL},
                                    {"from-root", "from the root to all", NULL},
                                    {"to-root", "from all to the root", NULL},
                                    {NULL, NULL, NULL}};

const struct words words_reasons[] = {
    {"protocol", "this event is one that its assumptions exclude", NULL}, {NULL, NULL, NULL}};

const struct words words_rules[] = {
    {"no-loss", "Messages of one flow are given in order, and none is left out.", NULL},
    {"no-duplicate", "No message is given twice.", NULL},
    {"outcome",
     "The programs end as some run without failures can: in what each was given, and in how its "
     "choices came out.",
     NULL},
    {"agreement",
     "A receiver was given the messages that its sender has sent in its final execution.", NULL},
    {"deadlock", "Every program ends.", NULL},
    {"commits", "Every checkpoint that was asked for is committed.", NULL},
    {"progress",
     "No run goes round for ever before all programs have ended, or a checkpoint that "
     "was asked for is committed.",
     NULL},
    {"restorable", "What was committed is on stable storage.", NULL},
    {"legal", "The protocol does nothing that it must not do.", NULL},
    {"invariant", "The protocol's own invariants hold after each step.", NULL},
    {"requests", "A timer for the next checkpoint is set, and it asks for one.", NULL},
    {"bounded", "At most the last two checkpoints of a rank are stored.", NULL},
    {"frees", "No rank keeps a message that no recovery needs.", NULL},
    {"frees-at-capture", "No image has a message that no recovery needs.", NULL},
    {"recovers", "The protocol gives up in no run, with or without a crash.", NULL},
    {"no-orphan", "Data sent in a collective are taken by all to whom they flow.", NULL},
    {"tokens", "A recorded global state has as many messages received, or under way, as sent.",
     NULL},
    {"quiet-channels", "Nothing is under way to or from a rank that is captured.", NULL},
    {"uncrossed", "No message is sent on one side of a checkpoint and received on the other.",
     NULL},
    {"local-rollback", "No rank that lives goes back.", NULL},
    {"own-iteration", "No rank that lives goes back behind its last capture.", NULL},
    {"no-domino", "No rank goes back past two of its checkpoints.", NULL},
    {"output", "An output that has left is the same when it is made again, and is never undone.",
     NULL},
    {"output-at-rest", "Every output has left before all programs have ended.", NULL},
    {"output-local", "An output waits for what its own rank has to store, and for nothing else.",
     NULL},
    {"pure", "A step touches its state and its actions only, and ends.", NULL},
    {"line-invariant", "The clauses of the protocol's line invariant hold in every state.", NULL},
    {"ltl", "The claim's temporal formula holds of every run, from its first state on.", NULL},
    {"once-per-failure", "No rank that lives goes back more than once for each failure.", NULL},
    {"useful", "Each stored checkpoint is part of a consistent state of all ranks.", NULL},
    {"bounds", "Clocks and latencies keep to the bounds that the protocol was told.", NULL},
    {"c3-1.1", "Nobody stops logging before all ranks are beyond the recovery line.", NULL},
    {"c3-1.2", "Who has stopped logging sends nothing to a rank that is behind the line.", NULL},
    {"c3-1.3", "Who has stopped logging receives nothing that was sent behind the line.", NULL},
    {"c3-2.2",
     "In a collective no data flow from a rank that has stopped logging to one behind it.", NULL},
    {"c3-2.3",
     "In a collective no data flow from behind the line to a rank that has stopped logging.", NULL},
    {NULL, NULL, NULL}};

const struct words words_harms[] = {
    {"no-loss",
     "A program waits for that message for ever, or takes a later one in its place and computes a "
     "wrong result without an error.",
     NULL},
    {"no-duplicate",
     "A program takes the same message twice, or the older one in place of the one that is due: "
     "its result is wrong, without an error.",
     NULL},
    {"outcome",
     "The ranks go on from states that never existed together: the result is wrong, without an "
     "error.",
     NULL},
    {"agreement",
     "The receiver has computed with a message that its sender has never sent in the end: the "
     "result is wrong, without an error.",
     NULL},
    {"deadlock", "The job hangs: it holds its nodes until it is killed, and gives no result.",
     NULL},
    {"progress",
     "The job does not come to its end, or to its next checkpoint, however long it runs.", NULL},
    {"commits",
     "No checkpoint counts any more: the next crash costs all work since the last one that was "
     "committed, or since the beginning.",
     NULL},
    {"requests",
     "No checkpoint is taken any more: the next crash costs all work since the last one, or since "
     "the beginning.",
     NULL},
    {"restorable",
     "A restart needs this checkpoint and does not find it: the job cannot go on, and its work is "
     "lost.",
     NULL},
    {"legal",
     "A host cannot do this: it ends the run here, and a program would have a wrong message or "
     "none.",
     NULL},
    {"recovers",
     "The job ends here without a result: it has to be submitted again, from its beginning.", NULL},
    {"no-orphan",
     "The ranks that take part wait for a rank that does not, or have a result of a collective "
     "call that it has never made.",
     NULL},
    {"tokens",
     "A restart from this checkpoint would wait for a message that is in no log, or have one "
     "twice.",
     NULL},
    {"quiet-channels",
     "A message that is under way at a capture is in no image: after a crash nobody sends it "
     "again, and its receiver waits for ever.",
     NULL},
    {"uncrossed",
     "The part of one rank has a message which the part of the other lacks, so another number of "
     "ranks cannot go on from this checkpoint.",
     NULL},
    {"local-rollback", "Work of ranks that did not fail is done once more: the crash costs more.",
     NULL},
    {"own-iteration", "Work of ranks that did not fail is done once more: the crash costs more.",
     NULL},
    {"no-domino", "One crash undoes the work of several checkpoints, in the worst case all of it.",
     NULL},
    {"line-invariant",
     "None is seen yet. Without the clause the recovery line is no longer sure to be consistent: a "
     "restart may lose a message or have it twice.",
     NULL},
    {"once-per-failure", "The same work is undone more than once for one crash.", NULL},
    {"output",
     "What was printed, sent or paid cannot be taken back: the outside has seen a result that the "
     "run has not come to.",
     NULL},
    {"output-at-rest", "What the program tells the outside never leaves.", NULL},
    {"output-local", "What the program tells the outside leaves later than it could.", NULL},
    {"useful", "Its time and its place on storage are wasted: no restart can ever begin from it.",
     NULL},
    {"bounded", "Storage fills with checkpoints that nobody needs, until there is no room.", NULL},
    {"frees", "Memory fills with messages that nobody needs, until there is no room.", NULL},
    {"frees-at-capture", "Each image is larger, and takes longer to write, than it need be.", NULL},
    {"c3-1.1",
     "A rank that has stopped logging can still get a late message, which no log has: after a "
     "crash its receiver waits for it for ever.",
     NULL},
    {"c3-1.2",
     "The message may depend on what no log has: after a crash its sender may come to another "
     "message, while the receiver has this one.",
     NULL},
    {"c3-1.3",
     "The message is late and in no log: after a crash nobody sends it again, and its receiver "
     "waits for ever.",
     NULL},
    {"c3-2.2",
     "The data may depend on what no log has: after a crash they may come out otherwise, while "
     "some ranks have these.",
     NULL},
    {"c3-2.3",
     "The data are late and in no log: after a crash nobody sends them again, and the call does "
     "not end.",
     NULL},
    {NULL, NULL, NULL}};

const struct words words_marks[] = {{"captured", "captured for a recovery line", NULL},
                                    {"committed", "committed", NULL},
                                    {"durable", "durable", NULL},
                                    {"give-up", "gives up", NULL},
                                    {"roll-back", "rolls back", NULL},
                                    {"start", "starts", NULL},
                                    {"timer", "time for a checkpoint", NULL},
                                    {"choice", "choice", NULL},
                                    {"finished", "program ends", NULL},
                                    {"crash", "crash", NULL},
                                    {"detected", "crash detected", NULL},
                                    {"collective", "collective call", NULL},
                                    {"other", "other event", NULL},
                                    {"differs", "the missing rule shows", NULL},
                                    {"violated", "the violation", NULL},
                                    {"cut", "recovery line, committed (each has its colour)", NULL},
                                    {"open", "recovery line, not committed", NULL},
                                    {"message", "message", NULL},
                                    {"late", "late: crosses the recovery line forwards", NULL},
                                    {"early", "early: crosses it backwards", NULL},
                                    {"control", "control message, with its number", NULL},
                                    {"flight", "message never received", NULL},
                                    {"control flight", "control message never received", NULL},
                                    {"discarded", "received again, discarded", NULL},
                                    {"suppressed", "send suppressed", NULL},
                                    {"offends", "named by the violation", NULL},
                                    {"replay", "delivered from the log", NULL},
                                    {"call", "one collective call of several ranks", NULL},
                                    {"rollback", "rollback", NULL},
                                    {"down", "down", NULL},
                                    {"restoring", "restoring", NULL},
                                    {"undone", "work undone", NULL},
                                    {"held", "program held", NULL},
                                    {"again", "comes again and again", NULL},
                                    {NULL, NULL, NULL}};

const struct words words_labels[] = {{"timer", "timer", NULL},
                                     {"start", "start", NULL},
                                     {"captured", "captured %s", "checkpoint"},
                                     {"committed", "committed %s", "checkpoint"},
                                     {"durable", "durable %s", "checkpoint"},
                                     {"crash", "crash", NULL},
                                     {"detected", "detected %s", "rank"},
                                     {"finished", "finished", NULL},
                                     {"choice", "choose %s", "outcome"},
                                     {"collective", "call %s", "call"},
                                     {"hold", "hold", NULL},
                                     {"release", "release", NULL},
                                     {"stopped-logging", "stopped-logging", NULL},
                                     {"roll-back", "roll-back", NULL},
                                     {"give-up", "give-up: %s", "reason"},
                                     {NULL, NULL, NULL}};

const struct words *words_find(const struct words *list, const char *name)
{
  while (list->name && strcmp(list->name, name) != 0)
    list++;
  return list->name ? list : NULL;
}

char *words_violation(const char *text)
{
  GString *said = g_string_new(NULL);
  /* the end of the text has numbers that are meant for programs */
  const char *histories = strstr(text, " (histories ");
  for (; *text && text != histories; text++)
    if (*text == '@' && g_ascii_isdigit(text[1]))
      g_string_append(said, "message ");
    else
      g_string_append_c(said, *text);
  return g_string_free(said, FALSE);
}

/* Finds the number for which `place` stands, such as "about" or "value.low". `words` are the words
 * of the control message: its kind, `about` and `value`. Returns false if `place` stands for no
 * number. */
static bool find_word(const char *place, const gint64 *words, gint64 *number)
{
  g_auto(GStrv) parts = g_strsplit(place, ".", 2);
  bool about = g_str_equal(parts[0], "about");
  guint32 word = (guint32)words[about ? 1 : 2];
  if (!about && !g_str_equal(parts[0], "value"))
    return false;
  bool high = parts[1] && g_str_equal(parts[1], "high");
  if (parts[1] && !high && !g_str_equal(parts[1], "low"))
    return false;
  gint64 half = high ? word >> 16 : word & UINT16_MAX;
  *number = parts[1] ? half : (gint32)word;
  return true;
}

/* Appends the text that replaces {place}. Returns false if that text is not known. */
static bool add_place(GString *said, const char *place, const gint64 *words)
{
  g_auto(GStrv) halves = g_strsplit(place, "?", 2);
  gint64 number;
  if (!halves[0] || !find_word(halves[0], words, &number))
    return false;
  g_autofree char *value = g_strdup_printf("%" G_GINT64_FORMAT, number);
  g_autofree char *chosen = g_strconcat(value, ":", NULL);
  g_auto(GStrv) texts = g_strsplit(halves[1] ? halves[1] : "%", "|", -1);
  char **text = texts;
  while (*text && text[1] && !g_str_has_prefix(*text, chosen))
    text++;
  g_auto(GStrv) pieces = g_strsplit(*text && text[1] ? *text + strlen(chosen)
                                    : *text          ? *text
                                                     : "",
                                    "%", 2);
  g_string_append_printf(said, "%s%s%s", pieces[0] ? pieces[0] : "",
                         pieces[0] && pieces[1] ? value : "",
                         pieces[0] && pieces[1] ? pieces[1] : "");
  return true;
}

char *words_control(const char *text, const char *words)
{
  GString *said = g_string_new(NULL);
  gint64 number[3] = {0};
  char *next = (char *)(uintptr_t)words;
  for (size_t i = 0; i < G_N_ELEMENTS(number) && words; i++, next += *next == ',')
    number[i] = (gint64)g_ascii_strtoull(next, &next, 10);
  while (*text) {
    const char *end = *text == '{' ? strchr(text, '}') : NULL;
    g_autofree char *place = end ? g_strndup(text + 1, (gsize)(end - text) - 1) : NULL;
    if (place && add_place(said, place, number))
      text = end + 1;
    else
      g_string_append_c(said, *text++);
  }
  return g_string_free(said, FALSE);
}
