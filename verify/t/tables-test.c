/* Tests each table on which searches and reductions rest: packed states, fingerprints, filters,
 * languages of messages and sets of records. In a search, a fault of a table shows late, and only
 * as a wrong count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "protocols/t/tap.h"
#include "verify/explore/cycles.h"
#include "verify/reduce/dfa.h"
#include "verify/reduce/records.h"
#include "verify/state/filter.h"
#include "verify/state/fingerprint.h"
#include "verify/state/packing.h"
#include "verify/state/visited.h"

static uint64_t drawn;

static uint32_t draw(uint32_t below)
{
  drawn += 0x9E3779B97F4A7C15;
  return (uint32_t)(hash_mix(drawn) >> 16) % below;
}

/* ---- packed states ---- */

enum { FIELDS = 40 };

/* Draws a number for each field. Many of these numbers have all bits set. */
static void draw_numbers(const uint8_t *bits, uint32_t *numbers)
{
  for (int i = 0; i < FIELDS; i++) {
    uint32_t most = bits[i] ? UINT32_MAX >> (32 - bits[i]) : 0;
    numbers[i] = draw(3) ? draw(UINT32_MAX) & most : most;
  }
}

/* Changes the packed state `one` into `other`. Returns whether the result is that of packing
 * `other` anew. */
static bool goes(const struct packing *packing, const uint32_t *one, const uint32_t *other)
{
  uint32_t state[PACKING_WORDS], to[PACKING_WORDS] = {0}, numbers[FIELDS];
  uint64_t hash = packing_hash(packing, one), differ = 0;
  packing_pack(packing, one, state);
  packing_pack(packing, other, to);
  memcpy(numbers, one, sizeof numbers);
  to[0] |= TAG_MASK; /* the tag does not belong to the state */
  uint64_t changed = packing_go(packing, to, state, numbers, &hash);
  to[0] &= ~(uint32_t)TAG_MASK;
  for (uint32_t i = 0; i < FIELDS; i++)
    differ |= one[i] != other[i] ? component_bit(i) : 0;
  return changed == differ && hash == packing_hash(packing, other) &&
         !memcmp(numbers, other, sizeof numbers) &&
         !memcmp(state, to, packing->words * sizeof *state);
}

static void packs(void)
{
  bool same = true, hashed = true, gone = true, tight = true, fits = true;
  for (int round = 0; round < 300; round++) {
    uint8_t bits[FIELDS];
    uint32_t all = TAG_BITS, one[FIELDS], other[FIELDS], back[FIELDS], state[PACKING_WORDS];
    for (int i = 0; i < FIELDS; i++)
      all += bits[i] = (uint8_t)(draw(4) ? draw(9) : draw(33));
    struct packing *packing = packing_new(bits, FIELDS);
    draw_numbers(bits, one);
    draw_numbers(bits, other);
    packing_pack(packing, one, state);
    same &= !(state[0] & TAG_MASK);
    state[0] |= (uint32_t)round & TAG_MASK;
    packing_unpack(packing, state, back);
    same &= !memcmp(back, one, sizeof one);
    hashed &= packing_hash(packing, one) == packing_hash_packed(packing, state) &&
              (packing_hash(packing, one) != packing_hash(packing, other)) ==
                  !!memcmp(one, other, sizeof one);
    gone &= goes(packing, one, other) && goes(packing, one, one);
    /* Small fields fill the words that wide fields leave, so words are half full or more. */
    tight &= packing->words >= (all + 31) / 32 && packing->words <= all / 16 + 1;
    int field = (int)draw(FIELDS);
    fits &= packing_fits(packing, one);
    one[field] = bits[field] < 32 ? UINT32_C(1) << bits[field] : one[field];
    fits &= packing_fits(packing, one) == (bits[field] == 32);
    free(packing);
  }
  ok(same, "numbers are unpacked as they were packed, beside any tag");
  ok(hashed, "a packed state has the hash of its numbers, and another state has another");
  ok(gone, "a state becomes another one, with its numbers and hash, and says where they differ");
  ok(tight, "words are filled");
  ok(fits, "a number that needs one more bit does not fit");
}

static uint32_t words_of(const uint8_t *bits, uint32_t count)
{
  struct packing *packing = packing_new(bits, count);
  uint32_t words = packing ? packing->words : 0;
  free(packing);
  return words;
}

static void layouts(void)
{
  uint8_t bits[PACKING_FIELDS + 1];
  memset(bits, 32, PACKING_WORDS);
  bits[7] = 32 - TAG_BITS;
  ok(words_of(bits, PACKING_WORDS) == PACKING_WORDS, "the largest state has %d full words",
     PACKING_WORDS);
  bits[PACKING_WORDS] = 1;
  ok(!words_of(bits, PACKING_WORDS + 1), "and not one bit more");
  bits[7]++;
  ok(!words_of(bits, PACKING_WORDS), "nor is there room for the tag of a word that is full");
  ok(words_of((uint8_t[]){16, 13, 16, 10, 32, 16, 16}, 7) == 4,
     "what is left of each word is used by narrower fields");
  memset(bits, 0, sizeof bits);
  ok(words_of(bits, PACKING_FIELDS) == 1 && !words_of(bits, PACKING_FIELDS + 1),
     "there are %d fields at most", PACKING_FIELDS);
}

/* ---- fingerprints ---- */

static void fingerprints(void)
{
  bool sizes = true, differ = true;
  for (unsigned bits = 1; bits <= 58; bits++) {
    struct packing *packing = fingerprint_packing(bits);
    uint32_t used[FINGERPRINT_WORDS] = {0};
    for (uint64_t hash = 1; hash < 200; hash++) {
      uint32_t one[FINGERPRINT_WORDS], numbers[2];
      uint64_t hashed = fingerprint_pack(packing, hash, one);
      packing_unpack(packing, one, numbers);
      sizes &= hashed == packing_hash(packing, numbers);
      for (uint32_t i = 0; i < packing->words; i++)
        used[i] |= one[i];
    }
    unsigned set = 0;
    for (uint32_t i = 0; i < packing->words; i++)
      set += (unsigned)__builtin_popcount(used[i]);
    differ &= set == bits;
    free(packing);
  }
  ok(sizes, "a fingerprint has the hash of what is packed");
  ok(differ, "a fingerprint of 1 to 58 bits uses each of its bits");
}

/* Compares with the formulas for what fingerprints miss. Two states have one fingerprint with a
 * probability of 2^-bits, and then one of them is left out. A violation is missed if such a state
 * is on its shortest way, which has one state of each level. */
static void chances(void)
{
  ok(fingerprint_miss(40, 1000, 9) == ldexp(10 * 1000, -40) && fingerprint_miss(8, 1000, 9) == 1,
     "a state of depth 9 among 1000 has 10,000 chances to be missed");
  ok(fingerprint_omission(40, 1000) == ldexp(1000 * 999 / 2, -40),
     "and any of 1000 has as many as there are pairs");
}

/* ---- filters ---- */

enum { HASHES = 20000, LEAST_BYTES = HASHES / 8 * FILTER_BITS_LEAST + 64 /* and a line */ };

/* Returns the number of other hashes that a filter of `bytes` bytes takes for added ones; the
 * number of all other hashes plus 1 if the filter lacks an added hash. */
static uint32_t false_ones(uint64_t bytes, uint64_t *taken)
{
  struct filter filter;
  uint32_t wrong = 0;
  bool all = true;
  filter_init(&filter, HASHES, bytes);
  *taken = filter_bytes(&filter);
  for (uint64_t i = 0; i < HASHES; i++)
    filter_add(&filter, hash_mix(i));
  for (uint64_t i = 0; i < HASHES; i++) {
    filter_prefetch(&filter, hash_mix(i));
    all &= filter_may_have(&filter, hash_mix(i));
    wrong += filter_may_have(&filter, hash_mix(i + HASHES));
  }
  filter_clear(&filter);
  return all && !filter_bytes(&filter) ? wrong : HASHES + 1;
}

/* Tests that a state sets a few bits of one cache line, and that a look-up tests each of them. */
static void bits_of_filters(void)
{
  bool few = true, each = true;
  for (uint64_t hash = 1; hash < 200; hash++) {
    struct filter filter;
    filter_init(&filter, HASHES, 1 << 20);
    filter_add(&filter, hash_mix(hash));
    unsigned set = 0;
    for (uint64_t bit = 0; bit < filter_bytes(&filter) * 8; bit++) {
      if (!(filter.word[bit / 64] >> bit % 64 & 1))
        continue;
      filter.word[bit / 64] ^= UINT64_C(1) << bit % 64;
      each &= !filter_may_have(&filter, hash_mix(hash));
      filter.word[bit / 64] ^= UINT64_C(1) << bit % 64;
      set++;
    }
    few &= set > 2 && set <= 6;
    filter_clear(&filter);
  }
  ok(few, "a state sets up to six bits of a filter");
  ok(each, "and is in it while all of them are set");
}

static void filters(void)
{
  uint64_t full, least, none;
  uint32_t few = false_ones(1 << 20, &full), more = false_ones(LEAST_BYTES, &least);
  ok(few < HASHES / 50 && full >= HASHES / 8 * FILTER_BITS && full < HASHES / 7 * FILTER_BITS,
     "of states that are not in it, a filter lets one in fifty pass at most");
  ok(more > few && more < HASHES / 3 && least > LEAST_BYTES - 64 && least <= LEAST_BYTES,
     "and more where it is smaller");
  ok(false_ones(LEAST_BYTES - 1, &none) == HASHES && !none,
     "and all where there is no room for one");
}

/* ---- the table of states ---- */

/* Adds states of `words` words that differ in one word only. The table must tell each from all
 * others. */
static void wide_states(uint32_t words)
{
  uint8_t bits[16];
  uint32_t numbers[16] = {0}, state[PACKING_WORDS];
  memset(bits, 30, words);
  struct packing *packing = packing_new(bits, words);
  struct visited set;
  visited_init(&set, packing, 1000, 1 << 22, 0);
  bool right = packing->words >= words;
  for (unsigned round = 0; round < 2; round++)
    for (uint32_t i = 0; i < words; i++)
      for (uint32_t bit = 0; bit < 30; bit++) {
        numbers[i] = 1u << bit;
        packing_pack(packing, numbers, state);
        state[0] |= 1;
        /* Tests states that all have one hash, so that only a comparison of all words tells them
         * apart. */
        enum visited_answer answer = visited_add(&set, state, 0);
        right &= answer == (round ? VISITED_OLD : VISITED_NEW);
        numbers[i] = 0;
      }
  ok(right, "states of %u words are told apart by each", packing->words);
  uint64_t place = visited_end(&set);
  for (uint32_t i = 0; i < words; i++) {
    numbers[i] = 1u << 7;
    packing_pack(packing, numbers, state);
    right &=
        visited_place(&set, state, 0) != place && visited_place(&set, state, 0) < visited_end(&set);
    place = visited_place(&set, state, 0);
    right &= visited_find(&set, state, 0) == 1;
    numbers[i] = 0;
  }
  numbers[words - 1] = 3;
  packing_pack(packing, numbers, state);
  ok(right && visited_place(&set, state, 0) == visited_end(&set),
     "and found where they are, behind many others of the same home");
  visited_clear(&set);
  free(packing);
}

/* ---- languages ---- */

enum { LETTERS = 3, LONGEST = 3, WORDS = 40 }; /* number of words: 1 + 3 + 9 + 27 */

/* Returns the number of the word that is `word` with `letter` appended. The empty word is 0. */
static int longer(int word, int letter)
{
  return word * LETTERS + 1 + letter;
}

/* Returns the set of the words of a language, each with `word` in front. Words that become too
 * long are left out. */
static uint64_t words_in(const struct dfas *l, uint32_t dfa, int word)
{
  if (!dfa)
    return 0;
  if (word >= WORDS)
    return UINT64_MAX;
  uint64_t all = UINT64_C(1) << word;
  for (int i = 0; i < LETTERS; i++)
    all |= words_in(l, dfa_after(l, dfa, (uint32_t)i + 7), longer(word, i));
  return all;
}

/* Draws a word, and adds it and all its beginnings to the set `words`. */
static uint32_t draw_word(struct dfas *l, uint64_t *words)
{
  uint32_t letters[LONGEST], count = draw(LONGEST + 1), dfa = DFA_EMPTY;
  int word = 0;
  for (uint32_t i = 0; i < count; i++) {
    *words |= UINT64_C(1) << word;
    letters[i] = draw(LETTERS);
    word = longer(word, (int)letters[i]);
  }
  *words |= UINT64_C(1) << word;
  for (uint32_t i = count; i-- > 0;)
    dfa = dfa_prefix(l, letters[i] + 7, dfa);
  return dfa;
}

static void languages(void)
{
  enum { MANY = 300 };
  static uint32_t dfa[MANY];
  static uint64_t words[MANY];
  struct dfas l;
  dfas_init(&l);
  bool right = true, same = true;
  for (int i = 0; i < MANY; i++) {
    words[i] = 1;
    dfa[i] = DFA_EMPTY;
    for (uint32_t n = draw(7); n > 0; n--)
      dfa[i] = dfa_union(&l, dfa[i], draw_word(&l, &words[i]));
    right &= words_in(&l, dfa[i], 0) == words[i];
  }
  for (int i = 0; i < MANY; i++)
    for (int k = 0; k < MANY; k++) {
      uint32_t both = dfa_union(&l, dfa[i], dfa[k]);
      same &= (dfa[i] == dfa[k]) == (words[i] == words[k]) && both == dfa_union(&l, dfa[k], dfa[i]);
      right &= words_in(&l, both, 0) == (words[i] | words[k]);
    }
  ok(right, "a union has the words of both languages, and no others");
  ok(same, "languages of the same words have the same number");
  dfas_clear(&l);
  ok(!l.states.count && !l.joined, "and nothing is left of them");
}

/* ---- records ---- */

static uint64_t bit_of(const struct world_record *record)
{
  return UINT64_C(1) << record->checkpoint;
}

static void records(void)
{
  enum { MOST = 4 };
  bool right = true;
  for (uint64_t set = 0; set < 1 << 8; set++) {
    struct world_record one[MOST] = {{0}}, other[MOST] = {{0}};
    uint64_t in_one = set & 15, in_other = set >> 4;
    struct interned a = {.bytes = one}, b = {.bytes = other};
    for (uint32_t i = 0; i < MOST; i++) {
      if (in_one >> i & 1)
        one[a.size++].checkpoint = i;
      if (in_other >> (MOST - 1 - i) & 1)
        other[b.size++].checkpoint = MOST - 1 - i;
    }
    a.size *= (uint32_t)sizeof *one;
    b.size *= (uint32_t)sizeof *other;
    right &= records_lacking(&a, &b, bit_of) == (in_one & ~in_other) &&
             records_differing(&a, &b, bit_of) == (in_one ^ in_other);
  }
  ok(right, "sets of records differ in what only one of them has, in any order");
  struct world_record one = {.checkpoint = 2}, other = {.checkpoint = 2, .harm = 1};
  struct interned a = {.bytes = &one, .size = sizeof one},
                  b = {.bytes = &other, .size = sizeof other};
  ok(records_differing(&a, &b, bit_of) == 4, "and in all that is said of one");
}

static void places(void)
{
  enum { MANY = 10000 };
  struct places list = {0};
  uint64_t right = 0;
  for (uint64_t n = 0; n < MANY; n++)
    places_add(&list, n * n);
  for (uint64_t n = 0; n < list.count; n++)
    right += list.place[n] == n * n;
  ok(list.count == MANY && right == MANY && list.room >= MANY, "a list of places grows");
  free(list.place);
}

int main(void)
{
  packs();
  layouts();
  fingerprints();
  chances();
  bits_of_filters();
  filters();
  for (uint32_t words = 2; words <= 9; words++)
    wide_states(words);
  languages();
  records();
  places();
  return done();
}
