/* Saves an exploration between two levels to a file, from which another process goes on.
 *
 * A save is written to a temporary name, synced and renamed: whenever a process is killed, the last
 * complete one is there. It holds all values, all states, the level to expand next, and the changes
 * of each step, for liveness.c. It holds no caches of the rules, which the next process learns
 * again. Of several processes each saves its own states (distributed.c).
 */
#ifndef RECLINE_RESUME_H
#define RECLINE_RESUME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct explorer;
struct frontier;

/* Writes a save between two levels. Returns NULL, or a static text that tells the error; if the
 * text says so, errno is set. */
const char *resume_write(const struct explorer *, const char *file);

/* Sets *depth to the depth of the level in a save. Returns NULL, or why the save cannot be used;
 * `exists` as below. */
const char *resume_depth(const struct explorer *, const char *file, uint64_t *depth, bool *exists);

/* Reads a save into an explorer that has only its first state, and that must not be used after a
 * failure. If there is no such file, sets `exists` to false and returns NULL. */
const char *resume_read(struct explorer *, const char *file, bool *exists);

/* Write and read the contents of a save, or a frontier, in an open file. The owner of the file
 * checks for errors of writing. */
void resume_put(FILE *, const struct explorer *);
const char *resume_get(FILE *, struct explorer *);
void resume_put_frontier(FILE *, const struct explorer *, const struct frontier *);
bool resume_get_frontier(FILE *, const struct explorer *, struct frontier *, uint64_t states);

#endif
