/* A process that explores one claim.
 *
 * A process each, because one that breaches ends without taking the others along, because its peak
 * memory is then its own, and because it gives all of it back. */
#ifndef RECLINE_CLAIM_PROCESS_H
#define RECLINE_CLAIM_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "verify/check/check.h"
#include "verify/distribute/launcher.h"

/* How claims are explored. All memory is the caller's. */
struct work {
  struct claim_options options; /* `jobs`: explorations that share the machine */
  double timeout;               /* seconds for a claim; 0: none but the claim's own */
  const struct launch *launch;  /* of several processes that check one claim together */
  int errors;                   /* standard error of what explores */
};

struct worker {
  pid_t pid;      /* 0: none */
  bool too_large; /* it took more memory than it may, and was ended */
  int pipe;
  struct checked *checked;
};

/* Starts one for a claim. False, and says why, when there is no process. */
bool worker_begin(const struct work *, struct worker *, struct checked *);

/* Takes the answer of one that has ended with `status`. False after an error of the input, which is
 * told. */
bool worker_end(struct worker *, int status, const struct rusage *);

/* Waits until one of `count` says something or has ended, or 100 ms, and ends those that take too
 * much memory. */
void workers_watch(const struct work *, struct worker *, int count);

#endif
