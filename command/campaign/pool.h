/* Runs several child processes at once. Their output goes to files, so that no child waits for this
 * process. */
#ifndef RECLINE_POOL_H
#define RECLINE_POOL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct pool;

/* Makes a pool for `slots` children at once, whose output goes to hidden files in `folder`. Until
 * pool_free(), the signals SIGINT, SIGTERM and SIGHUP end waits. */
struct pool *pool_new(unsigned slots, const char *folder);
void pool_free(struct pool *); /* ends all children, and waits for them */

/* Lets waits of the pool call `tick` with `data` once a second, to show progress. */
void pool_tick(struct pool *, void (*tick)(void *data), void *data);

bool pool_is_full(const struct pool *);
bool pool_is_empty(const struct pool *);

/* Starts `words` (ends with NULL) under the number `job`. A child gets SIGTERM if this process
 * dies. Returns false with `error` if there is no process. */
bool pool_start(struct pool *, char *const *words, uint64_t job, GError **error);

/* Describes a child that has ended. */
struct ended {
  uint64_t job;
  int status;      /* wait status, as waitpid() gives it */
  char *out, *err; /* the output of the child; the caller frees both */
};

/* Waits for the end of any child. Returns 0, or the signal that stopped this process. */
int pool_wait(struct pool *, struct ended *);

/* Sleeps for that many milliseconds or until a signal. Returns the signal, or 0. */
int pool_pause(const struct pool *, unsigned milliseconds);

#endif
