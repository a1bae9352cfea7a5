/* The words for traces, in texts and on the page of `recline play`. Phrases that depend on other
 * lines of the trace are in narration.c and play/story.js instead. */
#ifndef RECLINE_WORDS_H
#define RECLINE_WORDS_H

struct words {
  const char *name; /* name of an event, an action or a property */
  const char *text; /* what the rank does, with %s for the field; for a property, its meaning */
  /* key of the field in the trace (docs/trace.md), or NULL if the text has no %s */
  const char *field;
};

/* The last entry of each list has NULL as name. Actions that are worth telling only where they are
 * compared are in words_quiet. */
extern const struct words words_events[], words_actions[], words_quiet[];
extern const struct words words_flows[]; /* words for the flows of data in collective calls */
extern const struct words
    /* reasons for giving up, where the trace's word says too little */
    words_reasons[];
extern const struct words words_rules[]; /* properties (docs/architecture.md) */
extern const struct words words_harms[]; /* what a program suffers where a property is violated */

/* words_marks has the marks of the space-time diagram, with their texts in its legend. words_labels
 * has the texts above the marks of some events and actions, with %s for the field. The pictures of
 * `recline draw` and of the page use both lists. */
extern const struct words words_marks[], words_labels[];

/* Returns what a control message says, in the words of its sender: `text` of rcl_protocol.controls
 * (protocols/protocol.h) with the message's words, as the trace has them ("6,65535,3"), in place of
 * {about} and the like. Braces whose content is not known stay as they are. The caller frees the
 * result. */
char *words_control(const char *text, const char *words);

/* Returns the text of a violation with "message 3" in place of "@3" and without the numbers of
 * histories, which say nothing to a reader. The caller frees it. */
char *words_violation(const char *text);

/* Returns the entry of that name, or NULL if there is none. */
const struct words *words_find(const struct words *, const char *name);

#endif
