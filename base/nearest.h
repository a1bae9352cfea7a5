/* Which known name was meant by one that is not known. */
#ifndef RECLINE_NEAREST_H
#define RECLINE_NEAREST_H

/* The one of `names` (ends with NULL) that differs least from `word`, in letters that are added,
 * missing, other or swapped with their neighbour, and in at most a third of them; the first of
 * several. NULL: none. */
const char *nearest(const char *word, const char *const *names);

/* "; did you mean NAME?" with that name, or "". The caller frees it with free(). */
char *did_you_mean(const char *word, const char *const *names);

#endif
