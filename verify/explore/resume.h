/* Saves: an exploration between two levels, in a file, from which another process goes on.
 *
 * A save is written to a temporary name, synced and renamed: whenever a process is killed, the last
 * complete one is there. It holds all values, all states, the level to expand next, and what each
 * step has changed, for liveness.c; nothing else of what was learnt about the rules, which is
 * learnt anew. Of several processes each saves its own states (distributed.c).
 */
#ifndef RECLINE_RESUME_H
#define RECLINE_RESUME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct explorer;
struct frontier;

/* Both return NULL, or what went wrong (a static text, errno is set where it says so). */
const char *resume_write(const struct explorer *, const char *file);

/* The depth of the level that a save holds. NULL, or why it cannot be used; `exists` as below. */
const char *resume_depth(const struct explorer *, const char *file, uint64_t *depth, bool *exists);

/* Into an explorer that has its first state only. A failure leaves it of no use. `exists` is false,
 * and nothing wrong, when there is no such file. */
const char *resume_read(struct explorer *, const char *file, bool *exists);

/* These write and read what a save has, to and from a file that is open; and a frontier. Whoever
 * owns the file looks for errors of writing. */
void resume_put(FILE *, const struct explorer *);
const char *resume_get(FILE *, struct explorer *);
void resume_put_frontier(FILE *, const struct explorer *, const struct frontier *);
bool resume_get_frontier(FILE *, const struct explorer *, struct frontier *, uint64_t states);

#endif
