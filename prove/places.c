#include "prove/whole.h"

/* With 8 ranks, there is a place for the global words, one for each rank and each of its memories,
 * and one for each channel. */
G_STATIC_ASSERT(1 + WHOLE_RANKS * (1 + MEMORIES + WHOLE_RANKS) <= 64 * PLACE_WORDS);

static struct places place(unsigned number)
{
  struct places p = {{0}};
  p.bits[number / 64] = UINT64_C(1) << number % 64;
  return p;
}

static struct places place_of_word(const struct whole *h, uint32_t word)
{
  uint32_t first = word_of_rank(h, 0, 0), channels = word_of_channel(h, 0, 0, 0),
           each = RANK_WORDS + MEMORIES * h->words, pair = words_of_pair(h);
  unsigned per_rank = 1 + MEMORIES;
  if (word < first)
    return place(0);
  if (word >= channels)
    return place(1 + (unsigned)h->ranks * per_rank + (word - channels) / pair);
  unsigned rank = (word - first) / each, within = (word - first) % each;
  return place(1 + rank * per_rank +
               (within < RANK_WORDS ? 0 : 1 + (within - RANK_WORDS) / h->words));
}

static struct places *noted(struct whole *h, Z3_ast term, struct places is)
{
  struct places *kept = g_memdup2(&is, sizeof is);
  g_hash_table_insert(h->places, term, kept);
  return kept;
}

static void note_words(struct whole *h)
{
  h->places = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  for (uint32_t k = 0; k < h->count; k++)
    noted(h, h->before[k], place_of_word(h, k));
}

struct places places_of(struct whole *h, Z3_ast term)
{
  Z3_context z = h->w.x.z3;
  struct places all = {{0}};
  if (!h->places)
    note_words(h);
  const struct places *known = g_hash_table_lookup(h->places, term);
  if (known)
    return *known;
  if (Z3_get_ast_kind(z, term) == Z3_APP_AST) {
    Z3_app app = Z3_to_app(z, term);
    for (unsigned i = 0; i < Z3_get_app_num_args(z, app); i++)
      all = places_joined(all, places_of(h, Z3_get_app_arg(z, app, i)));
  }
  return *noted(h, term, all);
}
