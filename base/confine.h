/* Foreign code, confined: a protocol's step that touches what is not its own, is ended by a signal
 * or does not end comes back as an answer. Hosts without signals (a browser) run it as it is.
 */
#ifndef RECLINE_CONFINE_H
#define RECLINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* Processor time that the code may take, in seconds. */
enum { CONFINE_SECONDS = 3 };

enum confine_access { CONFINE_TOUCHED, CONFINE_READ, CONFINE_WRITTEN };

/* Tells how code ended that did not return. */
struct confine_end {
  bool late;                  /* it took longer than CONFINE_SECONDS */
  int signal;                 /* the signal that ended it; 0: none did */
  const char *name;           /* the signal's name, for people */
  bool memory;                /* it touched memory that is not its own, */
  const unsigned char *at;    /* at that address; the highest address: not known, */
  enum confine_access access; /* TOUCHED: the machine does not tell whether it read or wrote */
  bool stack;                 /* the address is in its stack */
};

/* Calls run(data); true when it has returned. False: it has not, and `end` tells why; what it has
 * written until then stays. For code that takes no lock and owns nothing. Once it has been late,
 * later calls may take a tenth of the time, as what is said of the code is said already. Any thread
 * may call it; of threads that do so at a time, one is watched for its time. */
bool confine_run(void (*run)(void *data), void *data, struct confine_end *end);

/* Memory for an object of foreign code, in two places. Around each nothing can be touched. The
 * addresses of the two places differ in every bit from the fourth on: one is above all else that
 * the process has, its stack among it, and one is below. Where the system has no room there, they
 * differ in fewer bits. Each place is mapped a second time, read-only. */
struct confine_memory {
  size_t bytes;            /* of the object */
  unsigned char *place[2]; /* the first ends where nothing can be touched */
  unsigned char *first[2]; /* of the pages of each place, */
  size_t room[2];          /* and the bytes of these */
  ptrdiff_t read_only;     /* from an address to the same byte, read-only */
  unsigned char *base[2];  /* of each place the address space around it: all of it, */
  size_t span;             /* and the bytes of each half, of which the second is read-only */
};

/* `bytes` is a multiple of 4. Ends the process where there is no memory for it. */
void confine_memory_new(struct confine_memory *, size_t bytes);
void confine_memory_free(struct confine_memory *);

/* Makes the writable data of the shared object read-only that holds `address`, until the process
 * ends normally. False: there is no such object, or the system does not do it. */
bool confine_object(const void *address);

/* Returns whether the address lies in data that confine_object() has made read-only. */
bool confine_has(const void *address);

#endif
