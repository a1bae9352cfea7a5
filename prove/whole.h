/* Holds the whole of a protocol, with unknown contents. The whole is all ranks, their channels and
 * what is stored, as struct rcl_whole shows them to the clauses of the line invariant
 * (protocols/line.h).
 *
 * The unknowns are numbered words of 32 bits: before[k] is the name of word k in all terms. A state
 * of the whole has a term for each word. A clause is executed once; replacing each word by the term
 * that a state has for it turns the clause into a statement about that state.
 *
 * A rank that has crashed does nothing until all ranks go back. In the proof it stays RCL_STANDS_UP
 * with the memory that it had, although this memory is lost. So no rank is RCL_STANDS_DEAD.
 *
 *     whole.c           words, clauses
 *     whole_shape.c     the clauses of each whole, whatever the protocol
 *     places.c          the places of which a term speaks
 *     line_moves.c      moves of the world, as they change words
 *     line_actions.c    actions of a step, as they change words
 *     line_ask.c        questions to Z3 about states before a move
 *     line_proof.c      each clause, after each move
 */
#ifndef RECLINE_PROVE_WHOLE_H
#define RECLINE_PROVE_WHOLE_H

#include "protocols/line.h"
#include "prove/prove_rank.h"

enum { WHOLE_RANKS = 8 };
enum { COMMITS_MOST = 1 << 30 }; /* a bound of the proof, which no run reaches */

/* The enumerations number four groups of words: words that belong to no rank, words of a rank,
 * words of a pair of ranks, and words of a pair of ranks and a kind of control message. */
enum global_word { GLOBAL_COMMITTED, GLOBAL_COMMITTING, GLOBAL_WORDS };
enum rank_word {
  WORD_STANDING,
  WORD_HELD,
  WORD_TIMER,
  WORD_CAPTURING,
  WORD_STORING,
  WORD_RESTORABLE,
  WORD_DURABLE,
  WORD_STORING_LOG,
  WORD_DURABLE_LOG,
  WORD_LOGGED,
  WORD_OLDER,
  WORD_JOINED,
  WORD_OWN, /* the first word of the rank's own contribution to a barrier */
  RANK_WORDS = WORD_OWN + RCL_WORDS
};
/* Names the colours of messages (struct rcl_whole_colour). */
enum colour { ANY_COLOUR = -1, WHITE, RED, COLOURS };
enum colour_word { COLOUR_COUNT, COLOUR_WORD, COLOUR_WORDS };
/* Numbers the words of a pair of ranks. There are two counts (enum counted) for each of the three
 * memories that may belong to a program. */
enum channel_word {
  CHANNEL_MESSAGES,
  CHANNEL_COLOUR, /* count and word of white messages, then of red ones */
  CHANNEL_COUNTS = CHANNEL_COLOUR + COLOURS * COLOUR_WORDS,
  CHANNEL_SHARES = CHANNEL_COUNTS + 2 * 3,
  CHANNEL_SHARE, /* the first word of the first contribution */
  CHANNEL_WORDS = CHANNEL_SHARE + RCL_WHOLE_SHARES * RCL_WORDS
};
enum control_word { WORD_COUNT, WORD_PLACE, WORD_ABOUT, WORD_VALUE, WORD_AHEAD, CONTROL_WORDS };

/* Numbers the memories of a rank: its state, the state from which the rank starts again, and the
 * states stored with the image and with the log of the next checkpoint. */
enum memory_of { OF_STATE, OF_COMMITTED, OF_NEWER, OF_LOG, MEMORIES };

/* Names what the programs of a pair of ranks count. */
enum counted { COUNT_SENT, COUNT_GIVEN };

/* Holds a clause about one or two ranks. The protocol states it, or it holds for every protocol. */
struct told {
  char *name, *text;
  int i, j;     /* the ranks, or -1 if there is none */
  bool own;     /* the protocol states the clause */
  Z3_ast holds; /* a term over the names of the words */
};

struct whole {
  struct rank_world w; /* the rank that is looked at */
  int ranks;
  uint32_t kinds; /* number of kinds of control messages */
  uint32_t words; /* number of words in the state of a rank */
  bool logs;      /* the protocol stores logs with its images */
  bool below;     /* the protocol is below the matching: messages and control messages share
                     channels, and a rank may be captured at any time */
  bool ordered;   /* channels keep their order */
  bool coloured;  /* messages of the program have words of the protocol */
  /* paths of a step that meet become one, because a rank that logs each message has many paths,
   * one for each way in which its lists are filled */
  bool merges;
  uint32_t config[WHOLE_RANKS];           /* objects */
  uint32_t memory[WHOLE_RANKS][MEMORIES]; /* objects */
  /* objects of which a clause gets pointers */
  uint32_t shown, shown_ranks, shown_channels, controls;
  uint32_t count; /* number of words */
  Z3_ast *before;
  char **names;
  GPtrArray *clauses; /* struct told */
  GHashTable *places; /* term -> its places (places.c), or NULL before the first request */
};

/* These functions return the number of a word. */
uint32_t word_of_rank(const struct whole *, int rank, enum rank_word);
uint32_t word_of_memory(const struct whole *, int rank, enum memory_of, uint32_t word);
uint32_t word_of_channel(const struct whole *, int from, int to, uint32_t word);
uint32_t word_of_count(const struct whole *, int from, int to, enum memory_of, enum counted);
uint32_t word_of_colour(const struct whole *, int from, int to, enum colour, enum colour_word);
uint32_t word_of_control(const struct whole *, int from, int to, uint32_t kind, enum control_word);
uint32_t words_of_pair(const struct whole *);

/* Takes the protocol of that name from a clone of `module`. Returns false if there is none. */
bool whole_init(struct whole *, LLVMModuleRef module, const char *name, const struct prove_worlds *,
                gint64 until);
void whole_clear(struct whole *);

/* Makes h->w, the rank that is looked at, that rank. */
void whole_turn_to(struct whole *, int rank);

/* Returns whether a rank has 0 in that word as long as it has yet to start. */
static inline bool rank_word_is_lost(unsigned word)
{
  return word == WORD_HELD || word == WORD_TIMER || word == WORD_CAPTURING ||
         word == WORD_STORING || word == WORD_STORING_LOG || word >= WORD_JOINED;
}

/* Adds a clause. */
void whole_tell(struct whole *, bool own, const char *name, const char *text, int i, int j,
                Z3_ast holds);

/* Adds the clauses of the protocol. Returns NULL, or why the clauses are not known; the text stays
 * until the program ends. */
const char *whole_tell_line(struct whole *);

/* Returns `term` with each word k replaced by now[k], that is, what the term says about the state
 * `now`. */
Z3_ast whole_in(const struct whole *, Z3_ast term, const Z3_ast *now);

/* Returns a copy of the words. The caller frees it with g_free(). */
Z3_ast *whole_words(const struct whole *);

/* Copies the counts of a rank's program, with all peers, from a memory in the words `then` to a
 * memory in the words `now`, which may be the same words. */
void whole_copy_counts(const struct whole *, int rank, Z3_ast *now, enum memory_of to,
                       const Z3_ast *then, enum memory_of from);

/* ---- whole_shape.c ---- */

/* Adds the clauses that hold for every protocol, and asserts the conditions under which clauses are
 * executed. Returns NULL, or why the clauses are not known. */
const char *whole_tell_shape(struct whole *);

/* ---- places.c ---- */

/* Finds the places of which a term speaks. There is one place for the words that belong to no rank,
 * and one for the words of each rank, for each memory of a rank, and for each channel. A question
 * about few places needs only the clauses about these places, so it is answered quicker. */
enum { PLACE_WORDS = 2 };

/* Holds a set of places. */
struct places {
  uint64_t bits[PLACE_WORDS];
};

/* Returns the places of a term, which are remembered until whole_clear(). */
struct places places_of(struct whole *, Z3_ast);

static inline struct places places_joined(struct places a, struct places b)
{
  return (struct places){{a.bits[0] | b.bits[0], a.bits[1] | b.bits[1]}};
}

static inline struct places places_everywhere(void)
{
  return (struct places){{UINT64_MAX, UINT64_MAX}};
}

static inline bool places_are_within(struct places a, struct places b)
{
  return !(a.bits[0] & ~b.bits[0]) && !(a.bits[1] & ~b.bits[1]);
}

/* ---- terms of words ---- */

static inline Z3_ast number(const struct whole *h, uint32_t n)
{
  return Z3_mk_unsigned_int(h->w.x.z3, n, Z3_mk_bv_sort(h->w.x.z3, 32));
}

static inline Z3_ast same(const struct whole *h, Z3_ast a, Z3_ast b)
{
  return Z3_mk_eq(h->w.x.z3, a, b);
}

static inline Z3_ast is_number(const struct whole *h, Z3_ast a, uint32_t n)
{
  return same(h, a, number(h, n));
}

static inline Z3_ast negated(const struct whole *h, Z3_ast a)
{
  return Z3_mk_not(h->w.x.z3, a);
}

static inline Z3_ast both(const struct whole *h, Z3_ast a, Z3_ast b)
{
  Z3_ast all[] = {a, b};
  return Z3_mk_and(h->w.x.z3, 2, all);
}

static inline Z3_ast either(const struct whole *h, Z3_ast a, Z3_ast b)
{
  Z3_ast all[] = {a, b};
  return Z3_mk_or(h->w.x.z3, 2, all);
}

static inline Z3_ast implied(const struct whole *h, Z3_ast a, Z3_ast b)
{
  return Z3_mk_implies(h->w.x.z3, a, b);
}

static inline Z3_ast chosen(const struct whole *h, Z3_ast condition, Z3_ast a, Z3_ast b)
{
  return Z3_mk_ite(h->w.x.z3, condition, a, b);
}

static inline Z3_ast plus(const struct whole *h, Z3_ast a, Z3_ast b)
{
  return Z3_mk_bvadd(h->w.x.z3, a, b);
}

/* Returns the term that says that a message with that first word has the colour. */
static inline Z3_ast is_coloured(const struct whole *h, Z3_ast word, enum colour colour)
{
  Z3_context z = h->w.x.z3;
  Z3_ast white =
      same(h, Z3_mk_extract(z, 0, 0, word), Z3_mk_extract(z, 0, 0, h->before[GLOBAL_COMMITTED]));
  return colour == WHITE ? white : negated(h, white);
}

/* Returns the checkpoint after the committed one, which is the only checkpoint that can be under
 * way. */
static inline Z3_ast next_checkpoint(const struct whole *h, const Z3_ast *now)
{
  return plus(h, now[GLOBAL_COMMITTED], number(h, 1));
}

#endif
