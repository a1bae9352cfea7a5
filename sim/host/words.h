/* The words that a protocol adds to the messages of a collective call which it handles as one. */
#ifndef RECLINE_WORDS_H
#define RECLINE_WORDS_H

#include "sim/host/rank.h"

/* The tag of a message of call n of a communicator is n * CALL_KINDS + its kind. */
enum { CALL_KINDS = 160, SELECTED_TAGS = 48 };
enum {
  TAG_BCAST,
  TAG_WORDS_UP,
  TAG_WORDS_DOWN,
  TAG_BARRIER,
  TAG_REDUCE,
  TAG_GATHER,
  TAG_SCATTER,
  TAG_ALLGATHER,
  TAG_ALLTOALL,
  TAG_SCAN,
  TAG_NONBLOCKING,
  TAG_NEIGHBOURS,
  TAG_SELECTED /* of the selected algorithm: so many tags of SMPI's for each part of a communicator.
                  Its tags for collectives differ modulo that. */
};

/* Whether a message with that tag carries nothing but words. */
bool words_only(int32_t tag);

/* Bytes that such a message counts as: what the protocol would put on a message, in words. */
uint32_t words_bytes(void);

/* Puts the words of the rank's call on a message of it, and takes them off again. */
void words_attach(const struct rank *, struct message *);
void words_detach(struct rank *, const struct message *);

#endif
