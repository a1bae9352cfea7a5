/* Carries the words that a protocol adds to the messages of a collective call, if the protocol
 * handles the call as a whole. */
#ifndef RECLINE_PIGGYBACK_COLLECTIVES_H
#define RECLINE_PIGGYBACK_COLLECTIVES_H

#include "sim/host/rank/rank.h"

/* The tag of a message of call n on a communicator is n * CALL_KINDS plus the kind of the
 * message. */
enum { CALL_KINDS = 304, SELECTED_TAGS = 48 };
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
  TAG_LEADERS, /* exchange of the groups of an intercommunicator */
  /* messages of the selected algorithm: SELECTED_TAGS tags for each part of a communicator,
   * because SMPI's tags for collectives differ modulo SELECTED_TAGS */
  TAG_SELECTED,
  TAG_SELECTED_WORDS = TAG_SELECTED + 3 * SELECTED_TAGS /* the same for messages of words alone */
};
_Static_assert(TAG_SELECTED_WORDS + 3 * SELECTED_TAGS <= CALL_KINDS, "kinds of one call");

/* words_only() returns whether a message with that tag carries words and no data. words_in_full()
 * returns whether such a message has the words as numbers, and not only as bytes that take time. */
bool words_only(int32_t tag);
bool words_in_full(int32_t tag);

/* Returns the number of bytes for which the words of one rank count. */
uint32_t words_bytes(void);

/* words_attach() puts the words of the rank's call on a message of the call; words_detach() takes
 * the words of a message that has come, and adds them to the call. */
void words_attach(const struct rank *, struct message *);
void words_detach(struct rank *, const struct message *);

/* In messages of SMPI's algorithms, words are bytes that only take time. All members whose words
 * count call words_give() before the first message of the call. A member calls words_get() when the
 * data or the words of all these members have come. */
void words_give(const struct rank *);
void words_get(struct rank *);

#endif
