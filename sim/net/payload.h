/* Holds the bytes of a message, which all holders share. */
#ifndef RECLINE_PAYLOAD_H
#define RECLINE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct payload {
  const void *bytes;
  size_t size; /* in bytes */
  unsigned holders;
  /* number of the send among the synchronous sends from rank to rank, or 0 if it has none */
  uint32_t synchronous;
  bool lent;
  char own[];
};

/* payload_new() and payload_lend() return a payload with one holder, which drops it later. The
 * bytes of payload_new() are uninitialized, and the caller writes them at once. payload_lend()
 * lends the sender's bytes. */
struct payload *payload_new(size_t size);
struct payload *payload_lend(const void *bytes, size_t size);

/* payload_hold(), payload_drop(), payload_settle() and payload_call_in() do nothing if the payload
 * is NULL. payload_settle() copies lent bytes, so that they outlive the send. */
struct payload *payload_hold(struct payload *); /* adds a holder; returns the payload */
void payload_drop(struct payload *);
void payload_settle(struct payload *);

/* Drops the payload at the end of the send that lent its bytes. If the payload has other holders,
 * settles it first. */
void payload_call_in(struct payload *);

#endif
