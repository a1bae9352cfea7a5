/* Explores a claim in a process of its own.
 *
 * So a breach ends no other claim, the measured peak of memory belongs to the claim, and all memory
 * of the claim is given back. */
#ifndef RECLINE_CLAIM_PROCESS_H
#define RECLINE_CLAIM_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "verify/check/check.h"
#include "verify/distribute/launcher.h"

/* Holds the options for all claims. The caller owns all memory. */
struct work {
  struct claim_options options; /* `jobs` is the number of explorations that share the machine */
  double timeout;               /* seconds for a claim, or 0 if only the claim's own limit counts */
  const struct launch *launch;  /* the transport, if several processes check one claim together */
  int errors;                   /* standard error of the exploring process */
};

struct worker {
  pid_t pid;      /* the process, or 0 if there is none */
  bool too_large; /* the process took more memory than allowed and was ended */
  int pipe;
  struct checked *checked;
};

/* Starts a process for a claim. Returns false, and prints why, if that is impossible. */
bool worker_begin(const struct work *, struct worker *, struct checked *);

/* Takes the result of a process that has ended with `status`. Returns false after an error of the
 * input, which it prints. */
bool worker_end(struct worker *, int status, const struct rusage *);

/* Waits until one of `count` processes writes its result or ends, at most 100 ms. Ends processes
 * that take too much memory. Returns the process, which then ends by itself, or 0 if there is
 * none. */
pid_t workers_watch(const struct work *, struct worker *, int count);

#endif
