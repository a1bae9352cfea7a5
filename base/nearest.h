/* Guesses which known name an unknown word was meant to be. */
#ifndef RECLINE_NEAREST_H
#define RECLINE_NEAREST_H

/* Returns the first of `names` (ends with NULL) with the fewest edits from `word`, or NULL if every
 * name needs more edits than a third of the word's letters. An edit adds, removes or changes a
 * letter, or swaps two neighbours. */
const char *nearest(const char *word, const char *const *names);

/* Returns "; did you mean NAME?" with that name, or "". The caller frees it with free(). */
char *did_you_mean(const char *word, const char *const *names);

#endif
