#include "sim/host/step/piggyback_collectives.h"

#include "sim/host/rank/shadow.h"
#include "sim/host/step/host_inside.h"

#include <string.h>

bool words_in_full(int32_t tag)
{
  return tag % CALL_KINDS == TAG_WORDS_UP || tag % CALL_KINDS == TAG_WORDS_DOWN;
}

bool words_only(int32_t tag)
{
  return words_in_full(tag) || tag % CALL_KINDS >= TAG_SELECTED_WORDS;
}

uint32_t words_bytes(void)
{
  const struct rcl_protocol *protocol = shadow_protocol();
  return protocol->call_bytes ? protocol->call_bytes : MAX(protocol->piggyback_bytes, 1);
}

/* Returns whether a message carries the root's words down a tree. Other messages carry the words of
 * their sender. */
static bool goes_down(int32_t tag)
{
  return tag % CALL_KINDS == TAG_BCAST || tag % CALL_KINDS == TAG_SCATTER;
}

void words_attach(const struct rank *r, struct message *message)
{
  const struct call *call = &r->mpi->call;
  if (!call->combined || words_only(message->tag))
    return;
  message->bytes += words_bytes();
  if (call->selected)
    return;
  const uint32_t *words = goes_down(message->tag) ? call->words : call->own;
  memcpy(message->words, words, sizeof message->words);
  message->shares = words[RCL_WORDS];
}

static void add_words(uint32_t *sum, const uint32_t *words, uint32_t shares)
{
  for (int i = 0; i < RCL_WORDS; i++)
    sum[i] += words[i];
  sum[RCL_WORDS] += shares;
}

void words_detach(struct rank *r, const struct message *message)
{
  struct call *call = &r->mpi->call;
  if (message->shares == 0)
    return;
  if (goes_down(message->tag))
    memset(call->words, 0, sizeof call->words);
  add_words(call->words, message->words, message->shares);
}

/* ---- in SMPI's algorithms ---- */

struct given {
  uint32_t sum[RCL_WORDS + 1];
  int got; /* number of members that were given the words */
};

static GHashTable *given; /* struct given, by the call */

/* Returns the key of the rank's call. The incarnation is part of the key: the words of a call that
 * a rollback has cut stay in the table, and members make the call again in another incarnation.
 */
static gint64 key_of(const struct rank *r)
{
  const struct call *call = &r->mpi->call;
  return (gint64)shadow_rank(r->index)->incarnation << 48 | (gint64)call->site.comm->number << 32 |
         (gint64)call->number;
}

void words_give(const struct rank *r)
{
  gint64 key = key_of(r);
  if (!given)
    given = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
  struct given *entry = g_hash_table_lookup(given, &key);
  if (!entry) {
    entry = g_new0(struct given, 1);
    g_hash_table_insert(given, g_memdup2(&key, sizeof key), entry);
  }
  add_words(entry->sum, r->mpi->call.own, r->mpi->call.own[RCL_WORDS]);
}

void words_get(struct rank *r)
{
  if (host_goes_back(r)) /* a crash has come at the same instant as the data */
    return;
  gint64 key = key_of(r);
  struct call *call = &r->mpi->call;
  bool down = call->site.flow == RCL_FLOW_FROM_ROOT, up = call->site.flow == RCL_FLOW_TO_ROOT;
  int size = call->site.comm->size;
  struct given *entry = given ? g_hash_table_lookup(given, &key) : NULL;
  REQUIRE(entry && entry->sum[RCL_WORDS] == (down ? 1U : (uint32_t)size),
          "words are known where the data of those who gave them have come");
  memcpy(call->words, entry->sum, sizeof entry->sum);
  if (++entry->got == (up ? 1 : down ? size - 1 : size))
    g_hash_table_remove(given, &key);
}
