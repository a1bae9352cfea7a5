/* Saves an exploration between two levels to a file, from which another process goes on.
 *
 * A save is written under a temporary name, synced and renamed, so the last complete save exists
 * whenever a process is killed. A save holds all values, all states, the level to expand next, and
 * the changes of each step, for liveness.c. It does not hold the caches of the rules, which the
 * next process learns again. If several processes explore, each saves its own states
 * (distributed.c).
 */
#ifndef RECLINE_RESUME_H
#define RECLINE_RESUME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct explorer;
struct frontier;

/* Writes a save between two levels. Returns NULL, or a static text that tells the error. errno is
 * set if the text says so. */
const char *resume_write(const struct explorer *, const char *file);

/* Sets *depth to the depth of the level in a save. Returns NULL, or why the save cannot be used.
 * `exists` is as in resume_read(). */
const char *resume_depth(const struct explorer *, const char *file, uint64_t *depth, bool *exists);

/* Reads a save into an explorer that has only its first state. After a failure the explorer must
 * not be used. If there is no such file, sets `exists` to false and returns NULL. */
const char *resume_read(struct explorer *, const char *file, bool *exists);

/* These functions write and read the contents of a save, or a frontier, in an open file. The owner
 * of the file checks for errors of writing. */
void resume_put(FILE *, const struct explorer *);
const char *resume_get(FILE *, struct explorer *);
void resume_put_frontier(FILE *, const struct explorer *, const struct frontier *);
bool resume_get_frontier(FILE *, const struct explorer *, struct frontier *, uint64_t states);

#endif
