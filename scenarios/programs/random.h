/* Declares what the files of the program `random` share (random.c). */
#ifndef RECLINE_RANDOM_H
#define RECLINE_RANDOM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  EXIT_USAGE = 64,
  STEPS = 40, /* the default of the second argument */
  RANKS_MAX = 64,
  SLOTS = 4,          /* number of communicators at a time; the first one is MPI_COMM_WORLD */
  TRANSFERS_MAX = 48, /* most transfers in one step of a communicator */
  OPEN_MAX = 3,       /* most batches, or collectives, that a later step completes */
  POLLS_MAX = 24,    /* most tests in a loop before a wait follows, as protocols log each outcome */
  BLOCKS_MAX = 24,   /* number of blocks on the heap */
  STACK_BYTES = 512, /* messages up to this size lie on the stack */
  HEADER_WORDS = 4,
  NAMED_TAGS = 4, /* tags below this one are used in all steps */
  AREA_WORDS = 40000,
  STEP_TAGS = 4 /* number of tags that belong to one step only */
};

/* This function is part of recline's MPI layer. Without the layer, under plain smpirun, the program
 * runs nevertheless. */
extern void recline_potential_checkpoint(void) __attribute__((weak));
extern void recline_iteration(unsigned iteration) __attribute__((weak));

/* Returns whether the program runs without recline's layer. SMPI 3.32 computes some calls wrongly
 * (docs/random.md), so plain runs make other calls instead. With an even seed the result is the
 * same, as the order of arrival does not enter the state. */
static inline bool is_plain(void)
{
  return recline_potential_checkpoint == NULL;
}

#pragma GCC visibility push(hidden)

struct rng {
  uint64_t at;
};

struct group {
  bool live; /* the communicator exists, although this rank may be no member */
  MPI_Comm comm;
  int size, rank;
  int member[RANKS_MAX]; /* the members, as ranks of MPI_COMM_WORLD */
};

struct block {
  size_t words;
  uint64_t hash; /* hash of the content of the block */
  uint64_t word[];
};

enum problem {
  FINE,
  UNEXPECTED,
  LENGTH,
  HEADER,
  CONTENT,
  OVERRUN,
  FOREIGN,
  STATUS,
  SHAPE,
  STACK,
  HEAP,
  UNDONE,
  FLOW,
  SUM,
  PROBLEMS
};

extern const char *const problem_text[PROBLEMS];

struct finding {
  int problem, step, peer;
};

/* Holds the state of this rank. */
extern struct self {
  int rank, ranks, step;
  unsigned iteration;
  bool ordered; /* true with an odd seed: the order of arrival enters the state */
  uint64_t seed;
  uint64_t state;
  uint64_t history; /* hash of all that this rank has sent */
  uint64_t balance; /* sum of all values put into reductions by MPI_SUM, less the results */
  uint64_t sent[RANKS_MAX], got[RANKS_MAX];
  struct rng own;         /* generator of decisions that this rank makes alone */
  struct finding finding; /* first problem that was found */
  struct group group[SLOTS];
  struct batch *open;
  struct collect *begun; /* nonblocking collectives under way, in the order in which they began */
  struct block *block[BLOCKS_MAX];
} me;

extern uint64_t area[AREA_WORDS]; /* static room for messages: 320 kB */

/* ---- random_check.c: numbers, contents, what is wrong ---- */

/* These functions return pseudo-random numbers that depend only on their arguments. */
uint64_t mix(uint64_t a, uint64_t b);
int below(struct rng *rng, int limit);
bool one_in(struct rng *rng, int n);
uint64_t hash_words(const uint64_t *word, size_t count);
/* Notes the first problem; `peer` is the other rank that it concerns. */
void found(enum problem problem, int peer);
/* fold() changes the state of the rank. fold_outcome() does so only if the order of arrival enters
 * the state. */
void fold(uint64_t what);
void fold_outcome(uint64_t what);
/* Returns memory from the heap. Ends the program if there is none. */
void *room(size_t bytes);
/* Returns a generator from which all ranks draw the same numbers for `step` and `what`. */
struct rng rng_for(int step, uint64_t what);
/* Computes for `seconds` of simulated time, at the speed of the host. */
void compute(double seconds);
/* words_of() returns the number of words of a message of `bytes` bytes. `id` determines header and
 * filler of a message. read_message() returns a hash of the content, and notes what is wrong. */
size_t words_of(size_t bytes);
uint64_t filler(uint64_t key, size_t i);
void write_message(uint64_t *word, size_t bytes, uint64_t id, int dest);
uint64_t read_message(const uint64_t *word, size_t bytes, uint64_t id, int source);
/* Returns a receive buffer with a guard behind it; check_room() checks the guard. */
uint64_t *receive_room(size_t bytes);
void check_room(const uint64_t *word, size_t bytes, int source);

/* ---- random_messages.c ---- */

/* Draws a message length: none, short, or long enough for each of MPI's ways of sending. */
int random_bytes(struct rng *rng, bool may_be_large);
/* Returns a number that is the same at all members of the communicator. */
uint64_t group_hash(const struct group *group);
struct rng group_rng(int step, const struct group *group);
/* Completes batches that wait for a later step until at most `left` wait. */
void close_open(int left);
/* Does a step of messages; all members of `group` call it. */
void messages(int step, const struct group *group);

/* ---- random_collectives.c ---- */

/* These functions create and free the operation and the datatype of reductions, after MPI_Init and
 * before MPI_Finalize. */
void collectives_begin(void);
void collectives_end(void);
void shift(int step, const struct group *group);
void farm(int step, const struct group *group);
/* Ends nonblocking collectives until at most `left` are under way. */
void end_begun(int left);
void collective(int step, const struct group *group);

#pragma GCC visibility pop

#endif
