/* The bytes of a message, shared by all who hold them.
 *
 * A program may not touch what it sends before the send is complete. So bytes can be *lent*: they
 * stay in the memory of their sender, and the receiver's copy is the only one. A payload is
 * *settled* when its bytes are its own. A holder that wants to keep it longer than the send settles
 * it, and so does the send at its end, if somebody still holds it.
 */
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

/* Both return a payload with one holder, who drops it: the first with uninitialized bytes, to be
 * written at once; the second with lent bytes. */
struct payload *payload_new(size_t size);
struct payload *payload_lend(const void *bytes, size_t size);

/* NULL, here and below: nothing happens. */
struct payload *payload_hold(struct payload *); /* one holder more; returns it */
void payload_drop(struct payload *);
void payload_settle(struct payload *);

/* Settles it if somebody else holds it, and drops it: the end of the send that lent it. */
void payload_call_in(struct payload *);

#endif
