/* Child processes, several at once. Their output goes to files, so that none waits for us. */
#ifndef RECLINE_POOL_H
#define RECLINE_POOL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct pool;

/* For `slots` children at once, whose output goes to hidden files in `folder`. From here to
 * pool_free() SIGINT, SIGTERM and SIGHUP end waits. */
struct pool *pool_new(unsigned slots, const char *folder);
void pool_free(struct pool *); /* ends the children that there are, and waits for them */

bool pool_is_full(const struct pool *);
bool pool_is_empty(const struct pool *);

/* Starts `words` (ends with NULL), to be known as `job`. A child gets SIGTERM if we die. False with
 * `error`: no process. */
bool pool_start(struct pool *, char *const *words, uint64_t job, GError **error);

/* A child that has ended. */
struct ended {
  uint64_t job;
  int status;      /* as of waitpid() */
  char *out, *err; /* what it wrote; to be freed */
};

/* Waits for the end of any child. Returns 0, or the signal that stopped us. */
int pool_wait(struct pool *, struct ended *);

/* Sleeps for so many milliseconds or until a signal. Returns the signal that stopped us, or 0. */
int pool_pause(const struct pool *, unsigned milliseconds);

#endif
