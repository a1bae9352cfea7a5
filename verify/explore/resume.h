/* Saves: an exploration between two levels, in a file, from which another process goes on.
 *
 * A save is written to a temporary name, synced and renamed: whenever a process is killed, the last
 * complete one is there. It holds all values, all states and the level to expand next, but nothing
 * of what was learnt about the rules, which is learnt anew.
 */
#ifndef RECLINE_RESUME_H
#define RECLINE_RESUME_H

#include <stdbool.h>

struct explorer;

/* Both return NULL, or what went wrong (a static text, errno is set where it says so). */
const char *resume_write(const struct explorer *, const char *file);

/* Into an explorer that has its first state only. A failure leaves it of no use. `exists` is false,
 * and nothing wrong, when there is no such file. */
const char *resume_read(struct explorer *, const char *file, bool *exists);

#endif
