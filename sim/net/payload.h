/* The bytes of a message, shared by all their holders. */
#ifndef RECLINE_PAYLOAD_H
#define RECLINE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct payload {
  const void *bytes;
  size_t size; /* in bytes */
  unsigned holders;
  uint32_t synchronous; /* its number among the synchronous sends from rank to rank; 0: none */
  bool lent;
  char own[];
};

/* These return a payload with one holder, who drops it later. payload_new() gives uninitialized
 * bytes, to be written at once; the other lends the sender's bytes. */
struct payload *payload_new(size_t size);
struct payload *payload_lend(const void *bytes, size_t size);

/* Here and below nothing happens if the payload is NULL. */
struct payload *payload_hold(struct payload *); /* adds a holder; returns the payload */
void payload_drop(struct payload *);
void payload_settle(struct payload *);

/* Drops the payload at the end of the send that lent it. Settles it first if somebody else holds
 * it. */
void payload_call_in(struct payload *);

#endif
