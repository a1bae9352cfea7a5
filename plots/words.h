/* How traces are told in words, in texts and on the page of `recline play`. The phrases whose words
 * depend on other lines of the trace are not here: narration.c and play/story.js have those. */
#ifndef RECLINE_WORDS_H
#define RECLINE_WORDS_H

struct words {
  const char *name;  /* of an event, an action or a property */
  const char *text;  /* what its rank does, with %s for the field; the meaning of the property */
  const char *field; /* key of the field in the trace (docs/trace.md); NULL: the text has no %s */
};

/* Each ends with an entry whose name is NULL. Actions that are not there are not worth telling. */
extern const struct words words_events[], words_actions[];
extern const struct words words_rules[]; /* properties (docs/architecture.md) */

/* Returns the entry of that name; NULL: there is none. */
const struct words *words_find(const struct words *, const char *name);

#endif
