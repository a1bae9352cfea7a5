/* Represents histories of programs and contents of messages in 128 bits.
 *
 * A history is a fold of all that a program has received and chosen; a message of a script carries
 * its sender's history and the place of the send in the script. Two different histories have the
 * same content with a probability of about 2^-128. So the probability that any two among n
 * histories of one exploration have the same content is at most n * n / 2^129, below 1e-20 for a
 * thousand million histories. The content of a message of a real program is a digest of its
 * payload. */
#ifndef RECLINE_CONTENT_H
#define RECLINE_CONTENT_H

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

struct content {
  uint32_t word[4]; /* all words are zero if there is no content */
};

/* Returns the content that stands for a number; 0 stands for no content. */
static inline struct content content_of(uint32_t value)
{
  return (struct content){{value, 0, 0, 0}};
}

static inline bool content_is_none(const struct content *content)
{
  return !(content->word[0] | content->word[1] | content->word[2] | content->word[3]);
}

static inline bool content_same(const struct content *a, const struct content *b)
{
  return !memcmp(a, b, sizeof *a);
}

/* Returns the content of a payload. Even a payload of no bytes has a content. */
static inline struct content content_of_bytes(const void *bytes, size_t size)
{
  struct content result;
  uint64_t digest[2];
  hash_bytes_wide(bytes, size, digest);
  memcpy(&result, digest, sizeof result);
  result.word[0] += content_is_none(&result);
  return result;
}

/* Returns the first bytes of a content, as many as a payload of `bytes` bytes can hold. Some
 * content is always left. */
static inline struct content content_cut(struct content whole, size_t bytes)
{
  if (bytes < sizeof whole)
    memset((char *)&whole + bytes, 0, sizeof whole - bytes);
  whole.word[0] += content_is_none(&whole);
  return whole;
}

/* Returns the fold of `next` onto `seen`. The result depends on the order, and is never all zero.
 */
struct content content_fold(struct content seen, struct content next);

#endif
