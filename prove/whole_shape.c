/* Has the clauses that every protocol's whole has: how ranks stand, what is stored, and what a
 * channel is. All these clauses are proved again after each move, as the protocol's own clauses
 * are. */
#include "prove/whole.h"

static Z3_ast conjunction(const struct whole *h, GPtrArray *all)
{
  Z3_ast term = Z3_mk_and(h->w.x.z3, all->len, (Z3_ast *)all->pdata);
  g_ptr_array_free(all, TRUE);
  return term;
}

/* `term` is about the state of the rank. Returns the same term about another memory of the rank. */
static Z3_ast of_memory(const struct whole *h, Z3_ast term, int rank, enum memory_of memory)
{
  g_autofree Z3_ast *now = whole_words(h);
  for (uint32_t word = 0; word < h->words; word++)
    now[word_of_memory(h, rank, OF_STATE, word)] = h->before[word_of_memory(h, rank, memory, word)];
  return whole_in(h, term, now);
}

/* Returns a term which says that the rank has a part of the next checkpoint, whether the part is
 * complete or not. */
static Z3_ast has_part(const struct whole *h, int rank, enum rank_word storing,
                       enum rank_word durable)
{
  return negated(h, both(h, is_number(h, h->before[word_of_rank(h, rank, storing)], 0),
                         is_number(h, h->before[word_of_rank(h, rank, durable)], 0)));
}

/* Adds a clause about the states stored with image and log of the next checkpoint. */
static void tell_of_newer(struct whole *h, int rank, const char *name, const char *text,
                          Z3_ast holds)
{
  whole_tell(h, false, name, text, rank, -1,
             implied(h, has_part(h, rank, WORD_STORING, WORD_DURABLE),
                     of_memory(h, holds, rank, OF_NEWER)));
  if (h->logs)
    whole_tell(h, false, name, text, rank, -1,
               implied(h, has_part(h, rank, WORD_STORING_LOG, WORD_DURABLE_LOG),
                       of_memory(h, holds, rank, OF_LOG)));
}

/* Adds the clauses of a rank. The clause about the rank's lists is asserted first, because the
 * other clauses are executed under this condition. */
static const char *tell_rank(struct whole *h, int rank)
{
  whole_turn_to(h, rank);
  Z3_ast lists = rank_lists_fit(&h->w);
  if (!lists)
    return "its lists are not known";
  executor_assume(&h->w.x, lists);
  const char *text = "lists are within their rooms";
  whole_tell(h, false, "rooms", text, rank, -1, lists);
  whole_tell(h, false, "rooms", text, rank, -1, of_memory(h, lists, rank, OF_COMMITTED));
  tell_of_newer(h, rank, "rooms", text, lists);
  Z3_ast numbered = rank_keeps_invariants(&h->w), fresh = h->before[GLOBAL_COMMITTED];
  if (!numbered)
    return "no state keeps its numbered invariants";
  Z3_ast up = is_number(h, h->before[word_of_rank(h, rank, WORD_STANDING)], RCL_STANDS_UP);
  text = "the numbered invariants hold";
  whole_tell(h, false, "numbered", text, rank, -1, implied(h, up, numbered));
  whole_tell(h, false, "numbered", text, rank, -1,
             either(h, is_number(h, fresh, RCL_FRESH), of_memory(h, numbered, rank, OF_COMMITTED)));
  tell_of_newer(h, rank, "numbered", text, numbered);
  return NULL;
}

/* Adds two clauses about a rank that has to start: it has the state from which it starts, and it
 * has nothing under way. */
static void tell_standing(struct whole *h, int rank)
{
  GPtrArray *all = g_ptr_array_new();
  Z3_ast standing = h->before[word_of_rank(h, rank, WORD_STANDING)],
         up = is_number(h, standing, RCL_STANDS_UP),
         behind = is_number(h, standing, RCL_STANDS_BEHIND);
  for (uint32_t word = 0; word < h->words; word++)
    g_ptr_array_add(all, same(h, h->before[word_of_memory(h, rank, OF_STATE, word)],
                              h->before[word_of_memory(h, rank, OF_COMMITTED, word)]));
  for (unsigned i = 0; i < RANK_WORDS; i++)
    if (rank_word_is_lost(i))
      g_ptr_array_add(all, is_number(h, h->before[word_of_rank(h, rank, i)], 0));
  whole_tell(h, false, "standing", "a rank runs, or has yet to start from the committed image",
             rank, -1, both(h, either(h, up, behind), implied(h, behind, conjunction(h, all))));
}

/* Adds a clause about a rank that has to start: its program is where it was when the committed
 * image was captured. */
static void tell_program(struct whole *h, int rank)
{
  GPtrArray *all = g_ptr_array_new();
  g_autofree Z3_ast *image = whole_words(h);
  whole_copy_counts(h, rank, image, OF_STATE, h->before, OF_COMMITTED);
  for (uint32_t k = 0; k < h->count; k++)
    if (image[k] != h->before[k])
      g_ptr_array_add(all, same(h, h->before[k], image[k]));
  Z3_ast behind = is_number(h, h->before[word_of_rank(h, rank, WORD_STANDING)], RCL_STANDS_BEHIND);
  whole_tell(h, false, "program", "a rank that has yet to start counts as the committed image",
             rank, -1, implied(h, behind, conjunction(h, all)));
}

/* Returns a term which says that the word is 0 or the next checkpoint. */
static Z3_ast is_next_or_none(const struct whole *h, uint32_t word)
{
  return either(h, is_number(h, h->before[word], 0),
                same(h, h->before[word], next_checkpoint(h, h->before)));
}

static void tell_storage(struct whole *h, int rank)
{
  static const enum rank_word flags[] = {WORD_HELD, WORD_RESTORABLE, WORD_LOGGED, WORD_OLDER},
                              parts[][2] = {{WORD_STORING, WORD_DURABLE},
                                            {WORD_STORING_LOG, WORD_DURABLE_LOG}};
  GPtrArray *all = g_ptr_array_new();
  for (unsigned i = 0; i < (h->logs ? 2 : 1); i++) {
    uint32_t storing = word_of_rank(h, rank, parts[i][0]),
             durable = word_of_rank(h, rank, parts[i][1]);
    g_ptr_array_add(
        all, either(h, is_number(h, h->before[storing], 0), is_number(h, h->before[durable], 0)));
    g_ptr_array_add(all, is_next_or_none(h, storing));
    g_ptr_array_add(all, is_next_or_none(h, durable));
  }
  for (unsigned i = 0; i < G_N_ELEMENTS(flags); i++)
    g_ptr_array_add(
        all, Z3_mk_bvule(h->w.x.z3, h->before[word_of_rank(h, rank, flags[i])], number(h, 1)));
  whole_tell(h, false, "storage",
             "of each checkpoint before, at and behind the committed one there "
             "is one image at most",
             rank, -1, conjunction(h, all));
}

/* Adds the clause that each message under way is white or red. */
static void tell_colours(struct whole *h, int from, int to)
{
  GPtrArray *all = g_ptr_array_new();
  Z3_ast messages = h->before[word_of_channel(h, from, to, CHANNEL_MESSAGES)], sum = number(h, 0);
  for (enum colour colour = WHITE; colour < COLOURS; colour++) {
    Z3_ast count = h->before[word_of_colour(h, from, to, colour, COLOUR_COUNT)],
           word = h->before[word_of_colour(h, from, to, colour, COLOUR_WORD)],
           none = is_number(h, count, 0);
    sum = plus(h, sum, count);
    g_ptr_array_add(all, Z3_mk_bvule(h->w.x.z3, count, messages));
    g_ptr_array_add(all, chosen(h, none, is_number(h, word, 0), is_coloured(h, word, colour)));
  }
  g_ptr_array_add(all, same(h, messages, sum));
  whole_tell(h, false, "colours", "a message under way is white or red", from, to,
             conjunction(h, all));
}

static Z3_ast images_are_zero(const struct whole *h)
{
  GPtrArray *all = g_ptr_array_new();
  for (int rank = 0; rank < h->ranks; rank++)
    for (uint32_t word = 0; word < h->words; word++)
      g_ptr_array_add(all, is_number(h, h->before[word_of_memory(h, rank, OF_COMMITTED, word)], 0));
  for (int i = 0; i < h->ranks; i++)
    for (int j = 0; j < h->ranks; j++)
      for (unsigned what = COUNT_SENT; what <= COUNT_GIVEN; what++)
        g_ptr_array_add(all,
                        is_number(h, h->before[word_of_count(h, i, j, OF_COMMITTED, what)], 0));
  return conjunction(h, all);
}

/* Adds the clause that the control messages of a channel have the places 0, 1, ... */
static void tell_channel(struct whole *h, int from, int to)
{
  GPtrArray *all = g_ptr_array_new();
  Z3_context z = h->w.x.z3;
  Z3_ast sum = number(h, 0);
  for (uint32_t k = 0; k < h->kinds; k++)
    sum = plus(h, sum, h->before[word_of_control(h, from, to, k, WORD_COUNT)]);
  for (uint32_t k = 0; k < h->kinds; k++) {
    Z3_ast count = h->before[word_of_control(h, from, to, k, WORD_COUNT)],
           place = h->before[word_of_control(h, from, to, k, WORD_PLACE)],
           none = is_number(h, count, 0);
    g_ptr_array_add(all,
                    either(h, none, both(h, is_number(h, count, 1), Z3_mk_bvult(z, place, sum))));
    for (unsigned i = WORD_PLACE; i < CONTROL_WORDS; i++)
      g_ptr_array_add(
          all, implied(h, none, is_number(h, h->before[word_of_control(h, from, to, k, i)], 0)));
    for (uint32_t other = 0; other < k; other++)
      g_ptr_array_add(
          all,
          either(
              h,
              either(h, none,
                     is_number(h, h->before[word_of_control(h, from, to, other, WORD_COUNT)], 0)),
              negated(h,
                      same(h, place, h->before[word_of_control(h, from, to, other, WORD_PLACE)]))));
  }
  whole_tell(h, false, "channel", "control messages come in a row, at most one of each kind", from,
             to, conjunction(h, all));
}

const char *whole_tell_shape(struct whole *h)
{
  const char *why = NULL;
  for (int i = 0; i < h->ranks && !why; i++)
    why = tell_rank(h, i);
  for (int i = 0; i < h->ranks && !why; i++) {
    tell_standing(h, i);
    tell_program(h, i);
    tell_storage(h, i);
    for (int j = 0; j < h->ranks; j++)
      tell_channel(h, i, j);
    for (int j = 0; j < h->ranks && h->coloured; j++)
      tell_colours(h, i, j);
  }
  Z3_ast committed = h->before[GLOBAL_COMMITTED];
  whole_tell(h, false, "fresh", "what is stored of no checkpoint is zero", -1, -1,
             implied(h, is_number(h, committed, RCL_FRESH), images_are_zero(h)));
  whole_tell(h, false, "few", "there are at most 2^30 checkpoints", -1, -1,
             Z3_mk_bvule(h->w.x.z3, committed, number(h, COMMITS_MOST)));
  return why;
}
